# SPDX-License-Identifier: MIT
# MLIR 22 and the flags that every target shares.
find_package(MLIR REQUIRED CONFIG)
if(NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR "found LLVM ${LLVM_PACKAGE_VERSION}, expected 22; "
                      "point CMAKE_PREFIX_PATH at it (Debian: /usr/lib/llvm-22)")
endif()
set(LLVM_RUNTIME_OUTPUT_INTDIR ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
set(LLVM_LIBRARY_OUTPUT_INTDIR ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)

separate_arguments(NUMERA_LLVM_DEFINITIONS NATIVE_COMMAND ${LLVM_DEFINITIONS})
add_definitions(${NUMERA_LLVM_DEFINITIONS})
include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
include_directories(${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/include)

# Contraction would change results between hosts; Numerics relies on every
# operation being rounded as it is written. Executables are -fPIC as well, so
# that they share precompiled headers with the libraries.
add_compile_options(-fPIC -ffp-contract=off -fno-exceptions -Wall -Wextra
                    -Wno-unused-parameter)
# LLVM's libraries have no sanitizers, and classes with casts of their own: types of
# objects are not looked at.
if(NUMERA_SANITIZE)
  add_compile_options(-fsanitize=${NUMERA_SANITIZE} -fno-omit-frame-pointer
                      -fno-sanitize-recover=all -fno-sanitize=vptr)
  add_link_options(-fsanitize=${NUMERA_SANITIZE})
endif()
# One runtime of the sanitizer for addresses or for threads in a process, which programs
# that have none, Python for one, load before all else (NUMERA_SANITIZER).
if(NUMERA_SANITIZE MATCHES "address|thread" AND NOT NUMERA_FUZZ)
  set(library asan)
  if(NUMERA_SANITIZE MATCHES "thread")
    set(library tsan)
  endif()
  execute_process(
    COMMAND ${CMAKE_CXX_COMPILER}
            -print-file-name=libclang_rt.${library}-${CMAKE_SYSTEM_PROCESSOR}.so
    OUTPUT_VARIABLE NUMERA_SANITIZER OUTPUT_STRIP_TRAILING_WHITESPACE)
  cmake_path(GET NUMERA_SANITIZER PARENT_PATH folder)
  add_link_options(-shared-libsan -Wl,-rpath,${folder})
endif()

# The tools that the compiled programs and the tests need.
set(NUMERA_LLVM_BINDIR ${LLVM_TOOLS_BINARY_DIR})
find_program(NUMERA_CLANGXX NAMES clang++ HINTS ${NUMERA_LLVM_BINDIR}
             NO_DEFAULT_PATH REQUIRED)
