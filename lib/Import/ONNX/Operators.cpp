//===- Operators.cpp - The table of operators -----------------------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
#include "Operators.h"
#include "llvm/ADT/STLExtras.h"
#include <climits>
#include <list>

using namespace mlir;

namespace numera::importer {

namespace {
/// What the inputs may be.
enum class Elements {
  Float, ///< f32 or f64
  Any,   ///< integers too: the importer checks
  Every, ///< narrower floats as such, too
};

struct Operator {
  StringRef name;
  LogicalResult (*import)(Node &);
  unsigned minInputs;
  unsigned maxInputs;
  /// Narrower floats are computed with in f32, but for `Every`.
  Elements elements = Elements::Float;
  /// ONNX's own operators are in none.
  StringRef domain = {};
};

constexpr unsigned kMany = UINT_MAX;
/// As many, any of which may be left out.
constexpr unsigned kOptionalMany = UINT_MAX - 1;

constexpr StringRef kML = "ai.onnx.ml", kPreview = "ai.onnx.preview",
                    kTraining = "ai.onnx.preview.training";

constexpr Operator kOperators[] = {
    {"Abs", importUnary, 1, 1, Elements::Any},
    {"Adagrad", importOptimizer, 5, kMany, Elements::Any, kTraining},
    {"Adam", importOptimizer, 6, kMany, Elements::Any, kTraining},
    {"Add", importBinary, 2, 2, Elements::Any},
    {"AffineGrid", importAffineGrid, 2, 2, Elements::Any},
    {"And", importLogic, 2, 2, Elements::Any},
    {"ArgMax", importArg, 1, 1, Elements::Any},
    {"ArgMin", importArg, 1, 1, Elements::Any},
    {"ArrayFeatureExtractor", importArrayFeatureExtractor, 2, 2,
     Elements::Every, kML},
    {"Attention", importAttention, 3, 7, Elements::Any},
    {"AveragePool", importAveragePool, 1, 1},
    {"BatchNormalization", importBatchNormalization, 5, 5},
    {"Binarizer", importBinarizer, 1, 1, Elements::Any, kML},
    {"BitCast", importBitCast, 1, 1, Elements::Every},
    {"BitShift", importBitShift, 2, 2, Elements::Any},
    {"BitwiseAnd", importLogic, 2, 2, Elements::Any},
    {"BitwiseNot", importBitwiseNot, 1, 1, Elements::Any},
    {"BitwiseOr", importLogic, 2, 2, Elements::Any},
    {"BitwiseXor", importLogic, 2, 2, Elements::Any},
    {"BlackmanWindow", importWindow, 1, 1, Elements::Any},
    {"Cast", importCast, 1, 1, Elements::Every},
    {"CastLike", importCastLike, 2, 2, Elements::Every},
    {"CausalConvWithState", importCausalConvWithState, 2, 4},
    {"Celu", importUnary, 1, 1},
    {"CenterCropPad", importCenterCropPad, 2, 2, Elements::Any},
    {"Clip", importClip, 1, 3, Elements::Any},
    {"Col2Im", importCol2Im, 3, 3, Elements::Any},
    {"Compress", importCompress, 2, 2, Elements::Every},
    {"Concat", importConcat, 1, kMany, Elements::Every},
    {"Constant", importConstant, 0, 0},
    {"ConstantOfShape", importConstantOfShape, 1, 1, Elements::Any},
    {"Conv", importConv, 2, 3},
    {"ConvInteger", importIntegerProduct, 2, 4, Elements::Any},
    {"ConvTranspose", importConvTranspose, 2, 3},
    {"CumProd", importCumulate, 2, 2, Elements::Any},
    {"CumSum", importCumulate, 2, 2, Elements::Any},
    {"DFT", importDFT, 1, 3, Elements::Any},
    {"DeformConv", importDeformConv, 3, 5},
    {"DepthToSpace", importDepthToSpace, 1, 1, Elements::Every},
    {"DequantizeLinear", importDequantizeLinear, 2, 3, Elements::Every},
    {"Det", importDet, 1, 1},
    {"Div", importBinary, 2, 2, Elements::Any},
    {"Dropout", importDropout, 1, 3, Elements::Every},
    {"DynamicQuantizeLinear", importDynamicQuantizeLinear, 1, 1},
    {"Einsum", importEinsum, 1, kMany, Elements::Any},
    {"Elu", importUnary, 1, 1},
    {"Equal", importCompare, 2, 2, Elements::Any},
    {"Expand", importExpand, 2, 2, Elements::Every},
    {"EyeLike", importEyeLike, 1, 1, Elements::Every},
    {"Flatten", importFlatten, 1, 1, Elements::Every},
    {"FlexAttention", importFlexAttention, 3, 3, Elements::Any, kPreview},
    {"GRU", importRecurrent, 3, 6, Elements::Any},
    {"Gather", importGather, 2, 2, Elements::Every},
    {"GatherElements", importGatherElements, 2, 2, Elements::Every},
    {"GatherND", importGatherND, 2, 2, Elements::Every},
    {"Gelu", importGelu, 1, 1},
    {"Gemm", importGemm, 2, 3, Elements::Any},
    {"GlobalAveragePool", importGlobalPool, 1, 1},
    {"GlobalLpPool", importGlobalPool, 1, 1},
    {"GlobalMaxPool", importGlobalPool, 1, 1},
    {"Greater", importCompare, 2, 2, Elements::Any},
    {"GreaterOrEqual", importCompare, 2, 2, Elements::Any},
    {"GridSample", importGridSample, 2, 2},
    {"GroupNormalization", importGroupNormalization, 3, 3},
    {"HammingWindow", importWindow, 1, 1, Elements::Any},
    {"HannWindow", importWindow, 1, 1, Elements::Any},
    {"HardSigmoid", importUnary, 1, 1},
    {"HardSwish", importUnary, 1, 1},
    {"Hardmax", importHardmax, 1, 1},
    {"Identity", importIdentity, 1, 1, Elements::Every},
    {"If", importIf, 1, 1, Elements::Every},
    {"InstanceNormalization", importInstanceNormalization, 3, 3},
    {"IsInf", importIsSpecial, 1, 1},
    {"IsNaN", importIsSpecial, 1, 1},
    {"LRN", importLRN, 1, 1},
    {"LSTM", importRecurrent, 3, 8, Elements::Any},
    {"LayerNormalization", importLayerNormalization, 2, 3},
    {"LeakyRelu", importUnary, 1, 1},
    {"Less", importCompare, 2, 2, Elements::Any},
    {"LessOrEqual", importCompare, 2, 2, Elements::Any},
    {"LinearAttention", importLinearAttention, 3, 6},
    {"LogSoftmax", importSoftmax, 1, 1},
    {"Loop", importLoop, 2, kOptionalMany, Elements::Every},
    {"LpNormalization", importLpNormalization, 1, 1},
    {"LpPool", importLpPool, 1, 1},
    {"MatMul", importMatMul, 2, 2, Elements::Any},
    {"MatMulInteger", importIntegerProduct, 2, 4, Elements::Any},
    {"Max", importVariadic, 1, kMany, Elements::Any},
    {"MaxPool", importMaxPool, 1, 1, Elements::Any},
    {"MaxRoiPool", importMaxRoiPool, 2, 2},
    {"MaxUnpool", importMaxUnpool, 2, 3, Elements::Any},
    {"Mean", importVariadic, 1, kMany},
    {"MeanVarianceNormalization", importMeanVarianceNormalization, 1, 1},
    {"MelWeightMatrix", importMelWeightMatrix, 5, 5, Elements::Any},
    {"Min", importVariadic, 1, kMany, Elements::Any},
    {"Mish", importUnary, 1, 1},
    {"Mod", importMod, 2, 2, Elements::Any},
    {"Momentum", importOptimizer, 5, kMany, Elements::Any, kTraining},
    {"Mul", importBinary, 2, 2, Elements::Any},
    {"Neg", importUnary, 1, 1, Elements::Any},
    {"NegativeLogLikelihoodLoss", importLoss, 2, 3, Elements::Any},
    {"NonMaxSuppression", importNonMaxSuppression, 2, 5, Elements::Any},
    {"NonZero", importNonZero, 1, 1, Elements::Any},
    {"Not", importNot, 1, 1, Elements::Any},
    {"OneHot", importOneHot, 3, 3, Elements::Every},
    {"OptionalGetElement", importIdentity, 1, 1, Elements::Every},
    {"OptionalHasElement", importOptionalHasElement, 0, 1, Elements::Every},
    {"Or", importLogic, 2, 2, Elements::Any},
    {"PRelu", importBinary, 2, 2, Elements::Any},
    {"Pad", importPad, 1, 4, Elements::Any},
    {"Pow", importBinary, 2, 2, Elements::Any},
    {"QLinearConv", importQuantizedProduct, 8, 9, Elements::Every},
    {"QLinearMatMul", importQuantizedProduct, 8, 8, Elements::Every},
    {"QuantizeLinear", importQuantizeLinear, 2, 3, Elements::Every},
    {"RMSNormalization", importRMSNormalization, 2, 2},
    {"RNN", importRecurrent, 3, 6, Elements::Any},
    {"Range", importRange, 3, 3, Elements::Any},
    {"Reciprocal", importUnary, 1, 1},
    {"ReduceL1", importReduce, 1, 2, Elements::Any},
    {"ReduceL2", importReduce, 1, 2, Elements::Any},
    {"ReduceLogSum", importReduce, 1, 2, Elements::Any},
    {"ReduceLogSumExp", importReduce, 1, 2, Elements::Any},
    {"ReduceMax", importReduce, 1, 2, Elements::Any},
    {"ReduceMean", importReduce, 1, 2, Elements::Any},
    {"ReduceMin", importReduce, 1, 2, Elements::Any},
    {"ReduceProd", importReduce, 1, 2, Elements::Any},
    {"ReduceSum", importReduce, 1, 2, Elements::Any},
    {"ReduceSumSquare", importReduce, 1, 2, Elements::Any},
    {"Relu", importUnary, 1, 1, Elements::Any},
    {"Reshape", importReshape, 1, 2, Elements::Every},
    {"Resize", importResize, 1, 4, Elements::Any},
    {"ReverseSequence", importReverseSequence, 2, 2, Elements::Every},
    {"RoiAlign", importRoiAlign, 3, 3, Elements::Any},
    {"RotaryEmbedding", importRotaryEmbedding, 3, 4, Elements::Any},
    {"STFT", importSTFT, 2, 4, Elements::Any},
    {"Scan", importScan, 1, kMany, Elements::Every},
    {"Scatter", importScatterElements, 3, 3, Elements::Any},
    {"ScatterElements", importScatterElements, 3, 3, Elements::Any},
    {"ScatterND", importScatterND, 3, 3, Elements::Any},
    {"Selu", importUnary, 1, 1},
    {"Shape", importShape, 1, 1, Elements::Every},
    {"Shrink", importUnary, 1, 1, Elements::Any},
    {"Sigmoid", importUnary, 1, 1},
    {"Sign", importUnary, 1, 1, Elements::Any},
    {"Size", importSize, 1, 1, Elements::Every},
    {"Slice", importSlice, 1, 5, Elements::Every},
    {"Softmax", importSoftmax, 1, 1},
    {"SoftmaxCrossEntropyLoss", importLoss, 2, 3, Elements::Any},
    {"Softplus", importUnary, 1, 1},
    {"Softsign", importUnary, 1, 1},
    {"SpaceToDepth", importDepthToSpace, 1, 1, Elements::Every},
    {"Split", importSplit, 1, 2, Elements::Every},
    {"Squeeze", importSqueeze, 1, 2, Elements::Every},
    {"Sub", importBinary, 2, 2, Elements::Any},
    {"Sum", importVariadic, 1, kMany},
    {"SwiGLU", importSwiGLU, 2, 2},
    {"Swish", importUnary, 1, 1},
    {"TensorScatter", importTensorScatter, 2, 3, Elements::Every},
    {"TfIdfVectorizer", importTfIdfVectorizer, 1, 1, Elements::Any},
    {"ThresholdedRelu", importUnary, 1, 1},
    {"Tile", importTile, 2, 2, Elements::Every},
    {"TopK", importTopK, 1, 2, Elements::Any},
    {"Transpose", importTranspose, 1, 1, Elements::Every},
    {"Trilu", importTrilu, 1, 2, Elements::Any},
    {"Unique", importUnique, 1, 1, Elements::Any},
    {"Unsqueeze", importUnsqueeze, 1, 2, Elements::Every},
    {"Upsample", importResize, 1, 2, Elements::Any},
    {"Where", importWhere, 3, 3, Elements::Every},
    {"Xor", importLogic, 2, 2, Elements::Any},
// Of one input, and one operation.
#define SINGLE_1(onnx) {onnx, importUnary, 1, 1},
#define SINGLE_2(onnx)
#define SINGLE_3(onnx)
#define NUMERA_OPERATION(enumerator, name, operands, form, cost, onnx, mlir)   \
  SINGLE_##operands(onnx)
#include "numera/Numerics/Core/Operations.def"
};
} // namespace

/// Whether an operator takes tensors any dimension of which may be unknown.
/// Others know all but the first.
static bool takesAnySizes(const Operator &op) {
  // clang-format off
  constexpr LogicalResult (*elementwise[])(Node &) = {
      importBatchNormalization, importBinary, importBitCast, importBitShift,
      importBitwiseNot, importCast, importCastLike, importClip, importCompare,
      importDequantizeLinear, importDropout, importDynamicQuantizeLinear,
      importGelu, importIdentity, importIsSpecial, importLogic, importMod,
      importNot, importQuantizeLinear, importUnary, importVariadic, importWhere};
  constexpr LogicalResult (*others[])(Node &) = {
      importArg, importAttention, importConcat, importConstantOfShape,
      importCumulate, importExpand, importFlatten, importGather,
      importGatherElements, importGatherND, importGemm, importGlobalPool,
      importHardmax, importIf, importInstanceNormalization,
      importLayerNormalization, importLoop, importLpNormalization,
      importMatMul, importMeanVarianceNormalization, importOneHot,
      importOptionalHasElement, importRMSNormalization, importRange,
      importReduce, importReshape, importRotaryEmbedding, importScan,
      importScatterElements, importScatterND, importShape, importSize,
      importSlice, importSoftmax, importSplit, importSqueeze, importTile,
      importTopK, importTranspose, importTrilu, importUnsqueeze};
  // clang-format on
  return op.name == "MatMulInteger" || op.name == "QLinearMatMul" ||
         llvm::is_contained(elementwise, op.import) ||
         llvm::is_contained(others, op.import);
}

static LogicalResult checkSizes(Node &node, const Operator &op) {
  if (takesAnySizes(op))
    return success();
  // Sequences have the batch, and the step, in one of the first two.
  unsigned open =
      op.import == importRecurrent || op.import == importReverseSequence ? 2
                                                                         : 1;
  auto isDynamic = [](Dim dim) { return dim.isDynamic(); };
  for (unsigned i = 0; i < node.numInputs(); ++i)
    if (node.has(i) && node.input(i).rank() > open &&
        llvm::any_of(ArrayRef(node.input(i).shape).drop_front(open), isDynamic))
      return node.error(node.inputName(i) + " has shape " +
                        str(node.input(i).shape) +
                        "; expected no unknown size but that of the first "
                        "dimension");
  return success();
}

static LogicalResult checkInputs(Node &node, const Operator &op) {
  unsigned count = node.numInputs();
  if (count < op.minInputs || count > op.maxInputs) {
    std::string expected = std::to_string(op.minInputs);
    if (op.maxInputs >= kOptionalMany)
      expected += " or more";
    else if (op.maxInputs != op.minInputs)
      expected += " to " + std::to_string(op.maxInputs);
    return node.error(Twine(count) + " inputs; expected " + expected);
  }
  for (unsigned i = 0; i < count; ++i) {
    bool isNeeded = op.maxInputs != kOptionalMany &&
                    (i < op.minInputs || op.maxInputs == kMany);
    if (!node.has(i) && isNeeded)
      return node.error("input " + Twine(i) + " is left out");
    if (node.has(i) && op.elements == Elements::Float &&
        !node.input(i).isFromShape && failed(node.checkFloat(i)))
      return failure();
  }
  return success();
}

namespace {
/// The narrower floats that an operator takes, as f32, and what its results of
/// f32 become of it, by the elements of its first floats.
class Widening {
public:
  explicit Widening(Node &node) : node(node) {
    // The result of this one has the elements of its scale.
    unsigned first = node.op() == "RMSNormalization" ? 1 : 0;
    for (unsigned i = 0; i < node.numInputs(); ++i) {
      if (!node.has(i) || node.input(i).isIntegral())
        continue;
      int64_t own = node.input(i).dataType;
      if (!element && i >= first)
        element = own;
      if (!isNarrow(own))
        continue;
      wide.push_back(widen(node.emit, node.input(i)));
      replaced.push_back(i);
    }
    for (auto [i, tensor] : llvm::zip_equal(replaced, wide))
      node.inputs[i] = &tensor;
  }

  void narrowResults() {
    if (!isNarrow(element))
      return;
    for (auto [i, result] : llvm::enumerate(node.results)) {
      // The mean and the deviation of a norm are f32.
      bool staysWide = i > 0 && node.op() == "LayerNormalization";
      if (result.dataType == type::Float && !staysWide)
        result = narrow(node.emit, result, element);
    }
  }

private:
  Node &node;
  int64_t element = 0;
  SmallVector<unsigned> replaced;
  std::list<Tensor> wide;
};
} // namespace

bool importsDomain(StringRef domain) {
  return llvm::any_of(
      kOperators, [&](const Operator &row) { return row.domain == domain; });
}

LogicalResult importNode(Node &node) {
  const Operator *op = llvm::find_if(kOperators, [&](const Operator &row) {
    return row.name == node.op() && row.domain == node.domain();
  });
  if (op == std::end(kOperators))
    return node.error("this operator is not supported");
  std::optional<Widening> widening;
  if (op->elements != Elements::Every)
    widening.emplace(node);
  if (failed(checkInputs(node, *op)) || failed(checkSizes(node, *op)) ||
      failed(op->import(node)) || node.failed())
    return failure();
  if (widening)
    widening->narrowResults();
  return node.checkAttributes();
}

} // namespace numera::importer
