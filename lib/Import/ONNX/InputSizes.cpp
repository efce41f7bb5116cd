//===- InputSizes.cpp - Sizes of inputs that a model leaves open ----------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
//
// Which dimensions of inputs are one size is said by their names, which the
// importer reads, and checked by the program.
//
//===----------------------------------------------------------------------===//
#include "Graph.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringExtras.h"
#include <onnx/onnx_pb.h>

using namespace mlir;

namespace numera::importer {

/// Whether PyTorch's exporter made the name, `s53`: it gives each input names
/// of its own, also where the model is only for inputs of equal sizes.
static bool isAutomatic(StringRef name) {
  return name.consume_front("s") && !name.empty() &&
         llvm::all_of(name, llvm::isDigit);
}

/// The names of first dimensions, which are the batch, and whether PyTorch's
/// exporter made up names without saying which sizes are equal.
LogicalResult Graph::readSizeNames() {
  llvm::StringMap<unsigned> inputsOf;
  bool isShared = false, isAnyAutomatic = false;
  for (const onnx::ValueInfoProto &info : proto.input()) {
    if (main.tensors.contains(info.name()))
      continue;
    llvm::StringSet<> names;
    for (auto [axis, dim] :
         llvm::enumerate(info.type().tensor_type().shape().dim())) {
      const std::string &name = dim.dim_param();
      if (dim.has_dim_value())
        continue;
      if (isAutomatic(name) && names.insert(name).second) {
        isAnyAutomatic = true;
        isShared |= ++inputsOf[name] > 1;
      }
      if (axis != 0)
        continue;
      if (!batchName || (batchName->empty() && !name.empty())) {
        batchName = name;
        batchInput = info.name();
      } else if (!name.empty() && name != *batchName && !isAutomatic(name)) {
        return error("input " + quote(info.name()) + ": dimension 0 (" +
                     quote(name) + ") differs from the batch " +
                     quote(*batchName) + " of input " + quote(batchInput) +
                     "; expected one batch size for all inputs");
      }
    }
  }
  unifiesAutomatic = isAnyAutomatic && !isShared;
  return success();
}

/// Which size a dimension of an input is: a letter that says what makes it one,
/// and a name. Those of one name are of one size, and so are all first ones,
/// the batch. Where PyTorch made up the names and uses none in two inputs,
/// those in one place of inputs of one rank are one too. Programs check it.
std::string Graph::keyOf(StringRef name, unsigned input, unsigned axis,
                         int64_t rank) {
  if (axis == 0 || (!name.empty() && batchName && name == *batchName))
    return "batch";
  if (name.empty())
    return ("u" + Twine(input) + "," + Twine(axis)).str();
  auto known = keys.find(name);
  if (known != keys.end())
    return known->second;
  if (unifiesAutomatic && isAutomatic(name))
    return ("s" + Twine(axis) + "," + Twine(rank)).str();
  return ("n" + name).str();
}

LogicalResult Graph::readDim(const onnx::ValueInfoProto &info, unsigned input,
                             unsigned axis, Dim &dim) {
  const auto &shape = info.type().tensor_type().shape();
  const auto &given = shape.dim(int(axis));
  if (given.has_dim_value()) {
    dim = Dim::fixed(given.dim_value());
    if (dim.count < 0)
      return error("input " + quote(info.name()) + ": dimension " +
                   Twine(axis) + " is " + Twine(dim.count) +
                   "; expected at least 0");
    return success();
  }
  std::string key = keyOf(given.dim_param(), input, axis, shape.dim_size());
  if (!given.dim_param().empty())
    keys.try_emplace(given.dim_param(), key);
  auto [size, isNew] = sizes.try_emplace(key);
  if (isNew)
    size->second = {emit.addSize(), input, axis};
  dim = size->second.dim;
  return success();
}

/// Dimensions of one name are of one size. Callers check it of first ones.
void Graph::checkSizes(unsigned input, Value argument, const Tensor &tensor) {
  for (const auto &[name, size] : sizes)
    for (auto [axis, dim] : llvm::enumerate(tensor.shape)) {
      bool isOther = size.input != input || size.axis != axis;
      bool isChecked = axis == 0 && size.axis == 0;
      if (isChecked || dim != size.dim || !isOther)
        continue;
      Value same = arith::CmpIOp::create(
          builder, arith::CmpIPredicate::eq,
          tensor::DimOp::create(builder, argument, int64_t(axis)),
          emit.size(dim));
      std::string text =
          "input " + std::to_string(input) + " " + quote(tensor.name) +
          " has another size in dimension " + std::to_string(axis) +
          " than input " + std::to_string(size.input) + " in dimension " +
          std::to_string(size.axis);
      if (name.starts_with("n"))
        text += ", which is " + quote(name.drop_front()) + " too";
      cf::AssertOp::create(builder, same, builder.getStringAttr(text));
    }
}

} // namespace numera::importer
