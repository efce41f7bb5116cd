# SPDX-License-Identifier: MIT
# The Debian package that CPack makes (./dev deb): all that `cmake --install`
# installs, with what the policy of Debian asks for beside it.

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME numera)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "Numera maintainers <maintainers@numera.invalid>"
    CACHE STRING "Whom the package names as its maintainer")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE
    OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

# Not the Python package, which is a wheel.
set(CPACK_COMPONENTS_ALL Unspecified debian)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_DEB_COMPONENT_INSTALL ON)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY
    "compiler for number formats that no hardware has")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"Numera compiles models of ONNX and MLIR in floats of any width, posits,
takums, fixed-point, logarithmic and block formats, or in a format of your
own in C, for the CPU or for NVIDIA GPUs, with the same bits on both.
.
The package has the tools numera, numera-opt, numera-lsp-server and
numera-reduce, the C library libNumeraC, and the dialect and passes of MLIR
as a CMake package.")
# The shared libraries that the files link, and LLVM's, which is linked by a name
# of another package; clang where shared objects and executables are written or
# libraries in C are compiled, lld to link them faster.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS
    "libllvm${LLVM_VERSION_MAJOR} (>= 1:${LLVM_PACKAGE_VERSION})")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS
    "clang-${LLVM_VERSION_MAJOR}, lld-${LLVM_VERSION_MAJOR}")
# For families of formats and for compilers that have the dialect.
set(CPACK_DEBIAN_PACKAGE_SUGGESTS
    "cmake, llvm-${LLVM_VERSION_MAJOR}-dev, libmlir-${LLVM_VERSION_MAJOR}-dev, mlir-${LLVM_VERSION_MAJOR}-tools")
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
file(WRITE ${PROJECT_BINARY_DIR}/debian/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/debian/triggers)
include(CPack)

set(doc ${CMAKE_INSTALL_DATADIR}/doc/numera)
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(WRITE ${PROJECT_BINARY_DIR}/debian/changelog
"numera (${PROJECT_VERSION}) stable; urgency=medium

  * See ${doc}/CHANGELOG.md.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
file(READ ${PROJECT_SOURCE_DIR}/LICENSE license)
string(REGEX REPLACE "\n\n" "\n.\n" license "${license}")
string(REGEX REPLACE "\n(.)" "\n \\1" license "${license}")
file(WRITE ${PROJECT_BINARY_DIR}/debian/copyright
"Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Numera

Files: *
Copyright: 2026 The Numera authors
License: MIT

License: MIT
 ${license}")
execute_process(COMMAND gzip -9nkf ${PROJECT_BINARY_DIR}/debian/changelog
                COMMAND_ERROR_IS_FATAL ANY)
install(FILES ${PROJECT_BINARY_DIR}/debian/copyright
              ${PROJECT_BINARY_DIR}/debian/changelog.gz
        DESTINATION ${doc} COMPONENT debian EXCLUDE_FROM_ALL)

# libMLIR is in that folder alone.
file(WRITE ${PROJECT_BINARY_DIR}/debian/numera
"numera: custom-library-search-path RUNPATH /usr/lib/llvm-${LLVM_VERSION_MAJOR}/lib *
")
install(FILES ${PROJECT_BINARY_DIR}/debian/numera COMPONENT debian EXCLUDE_FROM_ALL
        DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides)
