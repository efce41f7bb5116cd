# SPDX-License-Identifier: MIT
# The toolchain's headers, parsed once: a source that uses MLIR's dialects
# spends 20 of its 22 seconds in them, and 2 seconds with these.
#
# There are two sets: NumeraPrecompiled has headers of MLIR and LLVM alone, so
# that no change of ours makes everything anew. NumeraPrecompiledDialect has the
# dialect's header as well, for the targets that link the dialect: it takes each
# of a hundred sources another second. The preset `dev` builds without either,
# which shows an include that a source lacks.

set(NUMERA_PRECOMPILED_HEADERS
  <mlir/Conversion/LLVMCommon/TypeConverter.h>
  <mlir/Dialect/Affine/IR/AffineOps.h>
  <mlir/Dialect/Arith/IR/Arith.h>
  <mlir/Dialect/Bufferization/IR/Bufferization.h>
  <mlir/Dialect/Func/IR/FuncOps.h>
  <mlir/Dialect/GPU/IR/GPUDialect.h>
  <mlir/Dialect/LLVMIR/LLVMDialect.h>
  <mlir/Dialect/Linalg/IR/Linalg.h>
  <mlir/Dialect/Linalg/Transforms/Transforms.h>
  <mlir/Dialect/Math/IR/Math.h>
  <mlir/Dialect/MemRef/IR/MemRef.h>
  <mlir/Dialect/SCF/IR/SCF.h>
  <mlir/Dialect/Tensor/IR/Tensor.h>
  <mlir/Dialect/Vector/IR/VectorOps.h>
  <mlir/Pass/PassManager.h>
  <mlir/Transforms/DialectConversion.h>
  <mlir/Transforms/GreedyPatternRewriteDriver.h>
  <llvm/IR/IRBuilder.h>
  <llvm/IR/Module.h>
  <llvm/Support/FormatVariadic.h>
  <llvm/Support/JSON.h>)

# numera_precompiled(NAME header …): a set of headers.
function(numera_precompiled name)
  # Needs a source; CMake adds the headers to it.
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/${name}.cpp CONTENT "")
  add_library(${name} OBJECT ${PROJECT_BINARY_DIR}/${name}.cpp)
  target_precompile_headers(${name} PRIVATE ${ARGN})
  # A file's date is not part of it, so that a compiler cache knows it again; it
  # is itself not cached, since it names files by absolute paths.
  target_compile_options(${name} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  set_target_properties(${name} PROPERTIES CXX_COMPILER_LAUNCHER "")
endfunction()

numera_precompiled(NumeraPrecompiled ${NUMERA_PRECOMPILED_HEADERS})
numera_precompiled(NumeraPrecompiledDialect ${NUMERA_PRECOMPILED_HEADERS}
  <mlir/Transforms/Passes.h>
  <numera/Dialect/Numera/IR/Numera.h>)
add_dependencies(NumeraPrecompiledDialect NumeraIRIncGen)

# numera_precompile(NAME [SET]): the sources of a target see those headers.
function(numera_precompile name)
  set(headers NumeraPrecompiled)
  if(ARGN)
    set(headers ${ARGN})
  endif()
  target_precompile_headers(${name} REUSE_FROM ${headers})
  if(CMAKE_CXX_COMPILER_LAUNCHER)
    set_target_properties(${name} PROPERTIES CXX_COMPILER_LAUNCHER
      "${CMAKE_COMMAND};-E;env;CCACHE_SLOPPINESS=pch_defines,time_macros;${CMAKE_CXX_COMPILER_LAUNCHER}")
  endif()
endfunction()
