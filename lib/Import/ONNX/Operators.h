//===- Operators.h - The operators that are imported -----------*- C++ -*-===//
// SPDX-License-Identifier: MIT
//===---------------------------------------------------------------------===//
//
// An importer is a function on a Node. The table in Operators.cpp lists
// importers with the checks that are common to all.
//
//===----------------------------------------------------------------------===//
#ifndef NUMERA_LIB_IMPORT_ONNX_OPERATORS_H
#define NUMERA_LIB_IMPORT_ONNX_OPERATORS_H

#include "Node.h"

namespace numera::importer {

/// Imports one node, whose inputs are there, by its row in the table.
llvm::LogicalResult importNode(Node &node);

// Contraction.cpp
llvm::LogicalResult importGemm(Node &node);
llvm::LogicalResult importMatMul(Node &node);

// Convolution.cpp
llvm::LogicalResult importConv(Node &node);

// Elementwise.cpp
llvm::LogicalResult importNeg(Node &node);
llvm::LogicalResult importUnary(Node &node);
llvm::LogicalResult importBinary(Node &node);
llvm::LogicalResult importVariadic(Node &node);
llvm::LogicalResult importClip(Node &node);

// Cast.cpp
llvm::LogicalResult importCast(Node &node);

// Fold.cpp: compile-time values
llvm::LogicalResult importConstant(Node &node);
llvm::LogicalResult importConstantOfShape(Node &node);
llvm::LogicalResult importGather(Node &node);
llvm::LogicalResult importShape(Node &node);
llvm::LogicalResult importSize(Node &node);
/// Neg of integers that are known.
llvm::LogicalResult negateIntegers(Node &node);
/// Add, Sub, Mul, Div of integers, all known.
llvm::LogicalResult foldIntegers(Node &node);

// Normalization.cpp
llvm::LogicalResult importBatchNormalization(Node &node);
llvm::LogicalResult importLayerNormalization(Node &node);
llvm::LogicalResult importSoftmax(Node &node);

// Pool.cpp
llvm::LogicalResult importAveragePool(Node &node);
llvm::LogicalResult importMaxPool(Node &node);

// Quantize.cpp
llvm::LogicalResult importDequantizeLinear(Node &node);
llvm::LogicalResult importDynamicQuantizeLinear(Node &node);
llvm::LogicalResult importQuantizeLinear(Node &node);

// Reduction.cpp
llvm::LogicalResult importGlobalPool(Node &node);
llvm::LogicalResult importReduce(Node &node);

// Reshape.cpp
llvm::LogicalResult importFlatten(Node &node);
llvm::LogicalResult importIdentity(Node &node);
llvm::LogicalResult importDropout(Node &node);
llvm::LogicalResult importReshape(Node &node);
llvm::LogicalResult importSqueeze(Node &node);
llvm::LogicalResult importTranspose(Node &node);
llvm::LogicalResult importUnsqueeze(Node &node);

// Slice.cpp
llvm::LogicalResult importConcat(Node &node);
llvm::LogicalResult importExpand(Node &node);
llvm::LogicalResult importPad(Node &node);
llvm::LogicalResult importSlice(Node &node);
llvm::LogicalResult importSplit(Node &node);

} // namespace numera::importer

#endif // NUMERA_LIB_IMPORT_ONNX_OPERATORS_H
