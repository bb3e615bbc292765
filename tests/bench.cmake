# The benchmark is built with the tests and run by hand (tests/bench/README.md); as a test it only has to
# run, on one small file.
add_executable(bench ${CMAKE_CURRENT_SOURCE_DIR}/bench/bench.c)
target_link_libraries(bench PRIVATE ptxvet_internal)
ptxvet_script_test(bench.runs $<TARGET_FILE:bench> --rounds 1 ${CMAKE_SOURCE_DIR}/corpus/triton2/gptq.ptx)
