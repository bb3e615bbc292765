# Rule pages into the program: docs/rules/PTXnnnn.md become byte arrays of one generated C file, so
# that `ptxvet explain` needs no source tree. Included, it defines ptxvet_pages(VARIABLE); run as a
# script (-DOUTPUT=... -DFOLDER=...), it writes the file.
if(CMAKE_SCRIPT_MODE_FILE AND DEFINED OUTPUT)
  file(GLOB pages ${FOLDER}/PTX[0-9][0-9][0-9][0-9].md)
  list(SORT pages)
  set(text "// Made from docs/rules by cmake/pages.cmake.\n#include \"findings/pages.h\"\n\n")
  set(rows "")
  foreach(page IN LISTS pages)
    get_filename_component(code ${page} NAME_WE)
    string(SUBSTRING ${code} 3 4 number)
    file(READ ${page} hex HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
    string(APPEND text "static const unsigned char page_${number}[] = {${bytes}0};\n")
    string(APPEND rows "    {1${number} - 10000, page_${number}, sizeof page_${number} - 1},\n")
  endforeach()
  string(APPEND text "\nconst struct rule_page_row rule_page_rows[] = {\n${rows}    {0, 0, 0},\n};\n")
  file(WRITE ${OUTPUT} "${text}")
  return()
endif()

set(PTXVET_PAGES_SCRIPT ${CMAKE_CURRENT_LIST_FILE})

# Sets VARIABLE to the generated source.
function(ptxvet_pages variable)
  set(folder ${CMAKE_SOURCE_DIR}/docs/rules)
  set(output ${CMAKE_BINARY_DIR}/generated/rule_pages.c)
  file(GLOB pages CONFIGURE_DEPENDS ${folder}/PTX*.md)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DFOLDER=${folder} -P ${PTXVET_PAGES_SCRIPT}
    DEPENDS ${pages} ${PTXVET_PAGES_SCRIPT} VERBATIM)
  set(${variable} ${output} PARENT_SCOPE)
endfunction()
