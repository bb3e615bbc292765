# What is installed: the program with its man page and completions, libptxvet shared and static
# with its header, pkg-config and CMake packages; CPack's .deb; the release tarball.
include(CMakePackageConfigHelpers)

# The shared library exports what ptxvet.h marks, and nothing else.
add_library(ptxvet_shared SHARED $<TARGET_OBJECTS:ptxvet_objects>)
set_target_properties(ptxvet_shared PROPERTIES OUTPUT_NAME ptxvet EXPORT_NAME ptxvet
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR} LINKER_LANGUAGE C)
target_link_libraries(ptxvet_shared PRIVATE PkgConfig::JANSSON Threads::Threads ${CMAKE_DL_LIBS} m)
target_link_options(ptxvet_shared PRIVATE -Wl,--exclude-libs,ALL)
if(PTXVET_SANITIZE)
  target_link_options(ptxvet_shared PRIVATE -fsanitize=${PTXVET_SANITIZE})
endif()
target_include_directories(ptxvet_shared INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
install(TARGETS ptxvet_shared EXPORT ptxvetTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})

# The static library is one object whose internal symbols are local: they cannot clash.
set(static_object ${CMAKE_BINARY_DIR}/ptxvet_static.o)
set(static_library ${CMAKE_BINARY_DIR}/libptxvet.a)
if(CMAKE_OBJCOPY AND NOT PTXVET_SANITIZE)
  add_custom_command(OUTPUT ${static_library}
    COMMAND ${CMAKE_LINKER} -r -o ${static_object} $<TARGET_OBJECTS:ptxvet_objects>
    COMMAND ${CMAKE_OBJCOPY} --localize-hidden ${static_object}
    COMMAND ${CMAKE_COMMAND} -E rm -f ${static_library}
    COMMAND ${CMAKE_AR} qcD ${static_library} ${static_object}
    DEPENDS ptxvet_objects $<TARGET_OBJECTS:ptxvet_objects>
    COMMAND_EXPAND_LISTS VERBATIM)
  add_custom_target(ptxvet_static ALL DEPENDS ${static_library})
  install(FILES ${static_library} DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()

install(TARGETS ptxvet_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY include/ptxvet DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

configure_file(cmake/ptxvet.pc.in ${CMAKE_BINARY_DIR}/ptxvet.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/ptxvet.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/ptxvet)
install(EXPORT ptxvetTargets NAMESPACE ptxvet:: DESTINATION ${package_dir})
configure_package_config_file(cmake/ptxvetConfig.cmake.in ${CMAKE_BINARY_DIR}/ptxvetConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/ptxvetConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/ptxvetConfig.cmake ${CMAKE_BINARY_DIR}/ptxvetConfigVersion.cmake
  DESTINATION ${package_dir})

# Pages that the program makes of its own tables; not where it cannot run here.
if(NOT CMAKE_CROSSCOMPILING)
  set(pages ${CMAKE_BINARY_DIR}/pages)
  set(page_files)
  foreach(page man:ptxvet.1 bash:ptxvet.bash zsh:_ptxvet fish:ptxvet.fish)
    string(REPLACE ":" ";" parts ${page})
    list(GET parts 0 topic)
    list(GET parts 1 file)
    add_custom_command(OUTPUT ${pages}/${file}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${pages}
      COMMAND ptxvet_program help ${topic} > ${pages}/${file} DEPENDS ptxvet_program VERBATIM)
    list(APPEND page_files ${pages}/${file})
  endforeach()
  add_custom_target(ptxvet_pages ALL DEPENDS ${page_files})
  install(FILES ${pages}/ptxvet.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${pages}/ptxvet.bash RENAME ptxvet
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${pages}/_ptxvet DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES ${pages}/ptxvet.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()
install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES docs/ptxvet.schema.json docs/json.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs/example DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME ptxvet)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "ptxvet maintainers <maintainers@ptxvet.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "check NVIDIA PTX and judge its launches without a GPU")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
include(CPack)
