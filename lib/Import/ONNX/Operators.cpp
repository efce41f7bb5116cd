//===- Operators.cpp - The table of operators -----------------------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
#include "Operators.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <climits>
#include <set>

using namespace mlir;

namespace numera::importer {

namespace {
/// What the inputs may be.
enum class Elements {
  Float, ///< all f32
  Any,   ///< f32 or i64: the importer checks
  Every, ///< formats too
};

struct Operator {
  StringRef name;
  LogicalResult (*import)(Node &);
  unsigned minInputs;
  unsigned maxInputs;
  Elements elements = Elements::Float;
};

constexpr unsigned kMany = UINT_MAX;

constexpr Operator kOperators[] = {
    {"Add", importBinary, 2, 2, Elements::Any},
    {"AveragePool", importAveragePool, 1, 1},
    {"BatchNormalization", importBatchNormalization, 5, 5},
    {"Cast", importCast, 1, 1, Elements::Every},
    {"Clip", importClip, 1, 3},
    {"Concat", importConcat, 1, kMany, Elements::Any},
    {"Constant", importConstant, 0, 0},
    {"ConstantOfShape", importConstantOfShape, 1, 1, Elements::Any},
    {"Conv", importConv, 2, 3},
    {"DequantizeLinear", importDequantizeLinear, 2, 3, Elements::Every},
    {"Div", importBinary, 2, 2, Elements::Any},
    {"Dropout", importDropout, 1, 3, Elements::Any},
    {"DynamicQuantizeLinear", importDynamicQuantizeLinear, 1, 1},
    {"Elu", importUnary, 1, 1},
    {"Expand", importExpand, 2, 2, Elements::Any},
    {"Flatten", importFlatten, 1, 1, Elements::Any},
    {"Gather", importGather, 2, 2, Elements::Any},
    {"Gemm", importGemm, 2, 3},
    {"GlobalAveragePool", importGlobalPool, 1, 1},
    {"GlobalMaxPool", importGlobalPool, 1, 1},
    {"HardSigmoid", importUnary, 1, 1},
    {"HardSwish", importUnary, 1, 1},
    {"Identity", importIdentity, 1, 1, Elements::Every},
    {"LayerNormalization", importLayerNormalization, 2, 3},
    {"LeakyRelu", importUnary, 1, 1},
    {"LogSoftmax", importSoftmax, 1, 1},
    {"MatMul", importMatMul, 2, 2},
    {"Max", importVariadic, 1, kMany},
    {"MaxPool", importMaxPool, 1, 1},
    {"Min", importVariadic, 1, kMany},
    {"Mul", importBinary, 2, 2, Elements::Any},
    {"Neg", importNeg, 1, 1, Elements::Any},
    {"PRelu", importBinary, 2, 2},
    {"Pad", importPad, 1, 4, Elements::Any},
    {"Pow", importBinary, 2, 2, Elements::Any},
    {"QuantizeLinear", importQuantizeLinear, 2, 3, Elements::Every},
    {"Reciprocal", importUnary, 1, 1},
    {"ReduceMax", importReduce, 1, 2, Elements::Any},
    {"ReduceMean", importReduce, 1, 2, Elements::Any},
    {"ReduceMin", importReduce, 1, 2, Elements::Any},
    {"ReduceSum", importReduce, 1, 2, Elements::Any},
    {"Relu", importUnary, 1, 1},
    {"Reshape", importReshape, 2, 2, Elements::Any},
    {"Shape", importShape, 1, 1, Elements::Any},
    {"Sigmoid", importUnary, 1, 1},
    {"Size", importSize, 1, 1, Elements::Any},
    {"Slice", importSlice, 1, 5, Elements::Any},
    {"Softmax", importSoftmax, 1, 1},
    {"Split", importSplit, 1, 2, Elements::Any},
    {"Squeeze", importSqueeze, 1, 2, Elements::Any},
    {"Sub", importBinary, 2, 2, Elements::Any},
    {"Sum", importVariadic, 1, kMany},
    {"Transpose", importTranspose, 1, 1, Elements::Any},
    {"Unsqueeze", importUnsqueeze, 1, 2, Elements::Any},
// Of one input, and one operation.
#define SINGLE_1(onnx) {onnx, importUnary, 1, 1},
#define SINGLE_2(onnx)
#define SINGLE_3(onnx)
#define NUMERA_OPERATION(enumerator, name, operands, form, cost, onnx, mlir)   \
  SINGLE_##operands(onnx)
#include "numera/Numerics/Core/Operations.def"
};
} // namespace

static std::string supportedNames() {
  std::set<StringRef> names;
  for (const Operator &op : kOperators)
    if (!op.name.empty())
      names.insert(op.name);
  return llvm::join(names, ", ");
}

static LogicalResult checkInputs(Node &node, const Operator &op) {
  unsigned count = node.numInputs();
  if (count < op.minInputs || count > op.maxInputs) {
    std::string expected = std::to_string(op.minInputs);
    if (op.maxInputs == kMany)
      expected += " or more";
    else if (op.maxInputs != op.minInputs)
      expected += " to " + std::to_string(op.maxInputs);
    return node.error(Twine(count) + " inputs; expected " + expected);
  }
  for (unsigned i = 0; i < count; ++i) {
    if (!node.has(i) && (i < op.minInputs || op.maxInputs == kMany))
      return node.error("input " + Twine(i) + " is left out");
    if (node.has(i) && op.elements != Elements::Every &&
        failed(node.checkNoFormat(i)))
      return failure();
    if (node.has(i) && op.elements == Elements::Float &&
        failed(node.checkFloat(i)))
      return failure();
  }
  return success();
}

LogicalResult importNode(Node &node) {
  const Operator *op = llvm::find_if(
      kOperators, [&](const Operator &row) { return row.name == node.op(); });
  if (op == std::end(kOperators))
    return node.error("this operator is not supported; supported are " +
                      supportedNames());
  if (failed(checkInputs(node, *op)) || failed(op->import(node)) ||
      node.failed())
    return failure();
  return node.checkAttributes();
}

} // namespace numera::importer
