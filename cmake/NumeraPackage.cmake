# SPDX-License-Identifier: MIT
# What is installed beside the tools and the runtime, so that
# find_package(Numera) finds all of it.
include(CMakePackageConfigHelpers)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/numera/Conversion
                  ${PROJECT_SOURCE_DIR}/include/numera/Dialect
                  ${PROJECT_BINARY_DIR}/include/numera/Dialect
                  ${PROJECT_SOURCE_DIR}/include/numera/Numerics
                  ${PROJECT_SOURCE_DIR}/include/numera/Registry
                  ${PROJECT_SOURCE_DIR}/include/numera/Runtime
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/numera
        FILES_MATCHING PATTERN "*.h" PATTERN "*.def" PATTERN "*.td" PATTERN "*.inc"
        PATTERN CMakeFiles EXCLUDE)
install(FILES ${PROJECT_SOURCE_DIR}/include/numera/InitAll.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/numera)
# What numera_add_family compiles.
install(FILES ${PROJECT_SOURCE_DIR}/runtime/Entries.cpp
              ${PROJECT_SOURCE_DIR}/runtime/SinglePhases.h
              ${PROJECT_SOURCE_DIR}/lib/Registry/Formats/PluginEntry.cpp
        DESTINATION ${CMAKE_INSTALL_DATADIR}/numera)

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/Numera)
configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/NumeraConfig.cmake.in
  ${PROJECT_BINARY_DIR}/NumeraConfig.cmake
  INSTALL_DESTINATION ${package}
  PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_DATADIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/NumeraConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/NumeraConfig.cmake
              ${PROJECT_BINARY_DIR}/NumeraConfigVersion.cmake
              ${PROJECT_SOURCE_DIR}/cmake/NumeraBitcode.cmake
              ${PROJECT_SOURCE_DIR}/cmake/NumeraFamily.cmake
        DESTINATION ${package})
install(EXPORT NumeraTargets NAMESPACE numera:: DESTINATION ${package})

# The component Dialect: what numera-opt registers, as archives.
get_property(archives GLOBAL PROPERTY NUMERA_KNOWN_BY_NumeraInitAll)
list(REMOVE_DUPLICATES archives)
install(TARGETS ${archives} EXPORT NumeraDialectTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/numera)
install(EXPORT NumeraDialectTargets NAMESPACE numera:: DESTINATION ${package})

# The pages and the examples, in folders as here, so that links stay right.
set(doc ${CMAKE_INSTALL_DATADIR}/doc/numera)
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md
        DESTINATION ${doc})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${doc}
        FILES_MATCHING PATTERN "*.md" PATTERN "*.svg" PATTERN man EXCLUDE)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples DESTINATION ${doc}
        PATTERN __pycache__ EXCLUDE PATTERN results EXCLUDE)
include(NumeraDebian)
