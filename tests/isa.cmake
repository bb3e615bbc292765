# The instruction tables: the driver of tools/instances.py and tools/forms.py, and the conformance set where it
# is at hand.
add_executable(isa_batch ${CMAKE_SOURCE_DIR}/tools/isa_batch.c)
target_link_libraries(isa_batch PRIVATE ptxvet_internal)
if(Python3_FOUND)
  ptxvet_script_test(isa.instances ${Python3_EXECUTABLE} tests/isa_instances.py $<TARGET_FILE:isa_batch>)
endif()
