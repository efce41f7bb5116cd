# SPDX-License-Identifier: MIT
# The toolchain's headers, parsed once: a source that uses MLIR's dialects
# spends 20 of its 22 seconds in them, and 2 seconds with these.
#
# Only headers of MLIR and LLVM stand here, so that no change of ours makes
# everything anew. The preset `dev` builds without them, which shows an include
# that a source lacks.

# Needs a source; CMake adds the headers to it.
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/Precompiled.cpp CONTENT "")
add_library(NumeraPrecompiled OBJECT ${PROJECT_BINARY_DIR}/Precompiled.cpp)
target_precompile_headers(NumeraPrecompiled PRIVATE
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
# A file's date is not part of it, so that a compiler cache knows it again; it
# is itself not cached, since it names files by absolute paths.
target_compile_options(NumeraPrecompiled PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
set_target_properties(NumeraPrecompiled PROPERTIES CXX_COMPILER_LAUNCHER "")

# numera_precompile(NAME): the sources of a target see those headers.
function(numera_precompile name)
  target_precompile_headers(${name} REUSE_FROM NumeraPrecompiled)
  if(CMAKE_CXX_COMPILER_LAUNCHER)
    set_target_properties(${name} PROPERTIES CXX_COMPILER_LAUNCHER
      "${CMAKE_COMMAND};-E;env;CCACHE_SLOPPINESS=pch_defines,time_macros;${CMAKE_CXX_COMPILER_LAUNCHER}")
  endif()
endfunction()
