# The dry run on its own: a program that runs launches without a judge.
add_executable(dryrun_rows ${CMAKE_CURRENT_SOURCE_DIR}/dryrun/rows.c)
target_link_libraries(dryrun_rows PRIVATE ptxvet_internal)
