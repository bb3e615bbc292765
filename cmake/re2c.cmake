# ptxvet_re2c(OUT_VAR a/b.re ...): for each a/b.re a file generated/a/b.re.h to include. Where re2c is
# found it is run; else the checked-in copy a/b.re.h is used (tests/generated.sh keeps it current).
find_program(RE2C_EXECUTABLE re2c)
set(PTXVET_RE2C_FLAGS -W -Werror -b -i --no-generation-date)

function(ptxvet_re2c out)
  set(generated "")
  foreach(source IN LISTS ARGN)
    set(result ${CMAKE_BINARY_DIR}/generated/${source}.h)
    get_filename_component(folder ${result} DIRECTORY)
    file(MAKE_DIRECTORY ${folder})
    if(RE2C_EXECUTABLE)
      add_custom_command(OUTPUT ${result}
        COMMAND ${RE2C_EXECUTABLE} ${PTXVET_RE2C_FLAGS} -o ${result} ${CMAKE_SOURCE_DIR}/${source}
        DEPENDS ${CMAKE_SOURCE_DIR}/${source} VERBATIM)
    else()
      add_custom_command(OUTPUT ${result}
        COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_SOURCE_DIR}/${source}.h ${result}
        DEPENDS ${CMAKE_SOURCE_DIR}/${source}.h VERBATIM)
    endif()
    list(APPEND generated ${result})
  endforeach()
  set(${out} ${generated} PARENT_SCOPE)
endfunction()
