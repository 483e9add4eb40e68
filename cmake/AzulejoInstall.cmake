# What `cmake --install` puts where. Two components: "runtime" is all that an
# engine with a warmed cache needs; "compiler" adds the compiler library, the
# tuning worker and the command.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS azulejo_shared EXPORT azulejoTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/azulejo
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT runtime
  FILES_MATCHING PATTERN "*.h")
install(FILES ${CMAKE_BINARY_DIR}/include/azulejo/Version.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/azulejo COMPONENT runtime)

# The compiler component, by output name: a target joins when it is built.
foreach(target AzulejoCompiler azulejo_compiler azulejo-compiler)
  if(TARGET ${target})
    install(TARGETS ${target}
      LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT compiler)
  endif()
endforeach()
foreach(target azulejo azulejo_cli azulejo-worker azulejo_worker)
  if(TARGET ${target})
    install(TARGETS ${target}
      RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT compiler)
  endif()
endforeach()

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/azulejo)
install(EXPORT azulejoTargets NAMESPACE azulejo:: DESTINATION ${package}
  COMPONENT runtime)
configure_package_config_file(
  ${CMAKE_SOURCE_DIR}/cmake/azulejoConfig.cmake.in
  ${CMAKE_BINARY_DIR}/azulejoConfig.cmake
  INSTALL_DESTINATION ${package} PATH_VARS CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/azulejoConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/azulejoConfig.cmake
  ${CMAKE_BINARY_DIR}/azulejoConfigVersion.cmake
  DESTINATION ${package} COMPONENT runtime)

# From the folder of the .pc file back to the prefix, so that an installed tree
# may be moved.
file(RELATIVE_PATH AZULEJO_PC_PREFIX
  /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(${CMAKE_SOURCE_DIR}/cmake/azulejo.pc.in
  ${CMAKE_BINARY_DIR}/azulejo.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/azulejo.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT runtime)
