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
/// Whether there are importers of operators of the domain.
bool importsDomain(llvm::StringRef domain);

// Arithmetic.cpp
llvm::LogicalResult importBinary(Node &node);
llvm::LogicalResult importBitShift(Node &node);
llvm::LogicalResult importClip(Node &node);
llvm::LogicalResult importCompare(Node &node);
llvm::LogicalResult importLogic(Node &node);
llvm::LogicalResult importMod(Node &node);
llvm::LogicalResult importVariadic(Node &node);
llvm::LogicalResult importWhere(Node &node);
/// The shape of all inputs' broadcast, or nothing after an error.
std::optional<Shape> broadcastAll(Node &node);
/// The shape of numpy's broadcast, or nothing when they disagree. The program
/// checks that sizes are equal of which that is not known.
std::optional<Shape> broadcast(Node &node, llvm::ArrayRef<Dim> lhs,
                               llvm::ArrayRef<Dim> rhs);
/// The size that both are, which the program checks where it is not known;
/// nothing where they differ.
std::optional<Dim> requireSame(Node &node, Dim lhs, Dim rhs);

// Cast.cpp
llvm::LogicalResult importBitCast(Node &node);
llvm::LogicalResult importCast(Node &node);
llvm::LogicalResult importCastLike(Node &node);
/// A tensor as one of `dataType`, as Cast does it by default.
Tensor convertTo(Emitter &emit, const Tensor &tensor, int64_t dataType);
/// A narrower float as f32, and back.
Tensor widen(Emitter &emit, const Tensor &tensor);
Tensor narrow(Emitter &emit, const Tensor &tensor, int64_t dataType);

// Contraction.cpp
llvm::LogicalResult importGemm(Node &node);
llvm::LogicalResult importMatMul(Node &node);
/// numpy's product, or nothing after an error.
std::optional<Tensor> matmul(Node &node, Tensor lhs, Tensor rhs);

// Convolution.cpp
llvm::LogicalResult importConv(Node &node);

// ConvTranspose.cpp
llvm::LogicalResult importConvTranspose(Node &node);

// Einsum.cpp
llvm::LogicalResult importEinsum(Node &node);

// Elementwise.cpp
llvm::LogicalResult importBitwiseNot(Node &node);
llvm::LogicalResult importGelu(Node &node);
llvm::LogicalResult importIsSpecial(Node &node);
llvm::LogicalResult importNot(Node &node);
llvm::LogicalResult importUnary(Node &node);

// Fold.cpp: compile-time values
llvm::LogicalResult importConstant(Node &node);
llvm::LogicalResult importConstantOfShape(Node &node);
llvm::LogicalResult importShape(Node &node);
llvm::LogicalResult importSize(Node &node);
/// Neg of integers that are multiples of sizes that are not known.
llvm::LogicalResult negateIntegers(Node &node);
/// Add, Sub, Mul, Div, Max, Min of such, where the result is known.
std::optional<Tensor> foldIntegers(Node &node, llvm::ArrayRef<Dim> shape);
/// Add, Mul, Max or Min of all elements of input 0, which has some.
std::optional<Tensor> foldReduction(Node &node, llvm::StringRef op);
/// Where of such, where the result is known.
std::optional<Tensor> selectKnown(Node &node, llvm::ArrayRef<Dim> shape);

// Fourier.cpp
llvm::LogicalResult importDFT(Node &node);
llvm::LogicalResult importSTFT(Node &node);

// NonMaxSuppression.cpp
llvm::LogicalResult importNonMaxSuppression(Node &node);

// Normalization.cpp
llvm::LogicalResult importBatchNormalization(Node &node);
llvm::LogicalResult importLayerNormalization(Node &node);
llvm::LogicalResult importSoftmax(Node &node);

// Pad.cpp
llvm::LogicalResult importCenterCropPad(Node &node);
llvm::LogicalResult importPad(Node &node);

// Pool.cpp
llvm::LogicalResult importAveragePool(Node &node);
llvm::LogicalResult importLpPool(Node &node);
llvm::LogicalResult importMaxPool(Node &node);

// Quantize.cpp
llvm::LogicalResult importDequantizeLinear(Node &node);
llvm::LogicalResult importDynamicQuantizeLinear(Node &node);
llvm::LogicalResult importQuantizeLinear(Node &node);

// Recurrent.cpp
/// LSTM, GRU and RNN.
llvm::LogicalResult importRecurrent(Node &node);

// Reduction.cpp
llvm::LogicalResult importArg(Node &node);
llvm::LogicalResult importGlobalPool(Node &node);
llvm::LogicalResult importReduce(Node &node);
Tensor absolute(Emitter &emit, const Tensor &x);
Tensor power(Emitter &emit, const Tensor &x, double exponent);

// Reshape.cpp
llvm::LogicalResult importFlatten(Node &node);
llvm::LogicalResult importIdentity(Node &node);
llvm::LogicalResult importOptionalHasElement(Node &node);
llvm::LogicalResult importReshape(Node &node);
llvm::LogicalResult importSqueeze(Node &node);
llvm::LogicalResult importTranspose(Node &node);
llvm::LogicalResult importUnsqueeze(Node &node);

// Slice.cpp
llvm::LogicalResult importConcat(Node &node);
llvm::LogicalResult importExpand(Node &node);
llvm::LogicalResult importSlice(Node &node);
llvm::LogicalResult importSplit(Node &node);

// Arrange.cpp
llvm::LogicalResult importDepthToSpace(Node &node);
llvm::LogicalResult importEyeLike(Node &node);
llvm::LogicalResult importOneHot(Node &node);
llvm::LogicalResult importRange(Node &node);
llvm::LogicalResult importReverseSequence(Node &node);
llvm::LogicalResult importTile(Node &node);
llvm::LogicalResult importTrilu(Node &node);

// Gather.cpp
llvm::LogicalResult importGather(Node &node);
llvm::LogicalResult importGatherElements(Node &node);
llvm::LogicalResult importGatherND(Node &node);
llvm::LogicalResult importScatterElements(Node &node);
llvm::LogicalResult importScatterND(Node &node);
llvm::LogicalResult importTensorScatter(Node &node);

// Order.cpp
llvm::LogicalResult importCompress(Node &node);
llvm::LogicalResult importCumulate(Node &node);
llvm::LogicalResult importHardmax(Node &node);
llvm::LogicalResult importNonZero(Node &node);
llvm::LogicalResult importTopK(Node &node);
/// The places of the flags that are set. Their number is `count`, which the
/// model declares; the program fails for another. Without it, it is computed.
Tensor placesOf(Node &node, const Tensor &flags, std::optional<int64_t> count);
/// The size of dimension `axis` of the result, as the model declares it. Fails
/// where it does not and the size cannot be computed.
std::optional<int64_t> declaredSize(Node &node, unsigned output, size_t axis);

// Attention.cpp
llvm::LogicalResult importAttention(Node &node);
llvm::LogicalResult importCausalConvWithState(Node &node);
llvm::LogicalResult importRotaryEmbedding(Node &node);
llvm::LogicalResult importSwiGLU(Node &node);

// Branches.cpp
llvm::LogicalResult importIf(Node &node);

// LinearAttention.cpp
llvm::LogicalResult importLinearAttention(Node &node);

// Loops.cpp
llvm::LogicalResult importLoop(Node &node);

// Scan.cpp
llvm::LogicalResult importScan(Node &node);

/// BatchNormalization in training mode, with the shapes checked.
llvm::LogicalResult trainBatchNormalization(Node &node, float epsilon,
                                            float momentum);

// Composite.cpp
llvm::LogicalResult importGroupNormalization(Node &node);
llvm::LogicalResult importInstanceNormalization(Node &node);
llvm::LogicalResult importIntegerProduct(Node &node);
llvm::LogicalResult importLRN(Node &node);
llvm::LogicalResult importLoss(Node &node);
llvm::LogicalResult importLpNormalization(Node &node);
llvm::LogicalResult importMeanVarianceNormalization(Node &node);
llvm::LogicalResult importQuantizedProduct(Node &node);
llvm::LogicalResult importRMSNormalization(Node &node);

// AffineGrid.cpp
llvm::LogicalResult importAffineGrid(Node &node);

// Col2Im.cpp
llvm::LogicalResult importCol2Im(Node &node);

// MaxUnpool.cpp
llvm::LogicalResult importMaxRoiPool(Node &node);
llvm::LogicalResult importMaxUnpool(Node &node);

// Det.cpp
llvm::LogicalResult importDet(Node &node);

// Dropout.cpp
llvm::LogicalResult importDropout(Node &node);

// FlexAttention.cpp
llvm::LogicalResult importFlexAttention(Node &node);

// MachineLearning.cpp
llvm::LogicalResult importArrayFeatureExtractor(Node &node);
llvm::LogicalResult importBinarizer(Node &node);

// Ngrams.cpp
llvm::LogicalResult importTfIdfVectorizer(Node &node);

// Optimizers.cpp
/// Adagrad, Adam and Momentum.
llvm::LogicalResult importOptimizer(Node &node);

// Signal.cpp
llvm::LogicalResult importMelWeightMatrix(Node &node);
llvm::LogicalResult importWindow(Node &node);

// DeformConv.cpp
llvm::LogicalResult importDeformConv(Node &node);

// RoiAlign.cpp
llvm::LogicalResult importRoiAlign(Node &node);

// Unique.cpp
llvm::LogicalResult importUnique(Node &node);

// GridSample.cpp
llvm::LogicalResult importGridSample(Node &node);

// Resize.cpp
llvm::LogicalResult importResize(Node &node);

} // namespace numera::importer

#endif // NUMERA_LIB_IMPORT_ONNX_OPERATORS_H
