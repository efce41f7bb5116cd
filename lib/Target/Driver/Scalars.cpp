// SPDX-License-Identifier: MIT
//
// A caller gives and gets arrays. A number at the boundary of a public function
// is one of rank 0 to it, so it becomes a tensor there:
//
//   func @f(%a: f32) -> f32        func @f(%t: tensor<f32>) -> tensor<f32>
//     …                              %a = tensor.extract %t[]
//     return %b              to      …
//                                    %u = tensor.from_elements %b
//                                    return %u
//
// Seed, step and sample, which end the arguments of a function that says that
// it draws, are no arrays: they come from the options of a call.

#include "Signatures.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "numera/Dialect/Numera/IR/Numera.h"

using namespace mlir;

namespace numera {

/// A number that has a dtype or a format; all else is an error later.
static bool isNumber(Type type) {
  return isa<FloatType, IntegerType, IndexType, NumType>(type);
}

static SmallVector<Type> withTensors(ArrayRef<Type> types) {
  return llvm::map_to_vector(types, [](Type type) -> Type {
    return isNumber(type) ? RankedTensorType::get({}, type) : type;
  });
}

static Value toTensor(OpBuilder &builder, Value value) {
  if (!isNumber(value.getType()))
    return value;
  return tensor::FromElementsOp::create(
      builder, value.getLoc(), RankedTensorType::get({}, value.getType()),
      value);
}
static Value toNumber(OpBuilder &builder, Value tensor) {
  return tensor::ExtractOp::create(builder, tensor.getLoc(), tensor,
                                   ValueRange());
}

/// How many arguments of a function are arrays to its callers.
static unsigned arrayArguments(func::FuncOp function) {
  unsigned count = function.getNumArguments();
  return function->hasAttr(drawsAttribute) ? count - std::min(count, 3u)
                                           : count;
}

static void changeBoundary(func::FuncOp function, FunctionType type) {
  OpBuilder builder(function.getContext());
  function.setFunctionType(type);
  builder.setInsertionPointToStart(&function.front());
  for (BlockArgument argument :
       function.getArguments().take_front(arrayArguments(function))) {
    if (!isNumber(argument.getType()))
      continue;
    argument.setType(RankedTensorType::get({}, argument.getType()));
    Value number = toNumber(builder, argument);
    argument.replaceAllUsesExcept(number, number.getDefiningOp());
  }
  function.walk([&](func::ReturnOp op) {
    builder.setInsertionPoint(op);
    for (OpOperand &operand : op->getOpOperands())
      operand.set(toTensor(builder, operand.get()));
  });
}

static void changeCall(func::CallOp call, unsigned arrayArguments) {
  OpBuilder builder(call);
  for (OpOperand &operand : call->getOpOperands().take_front(arrayArguments))
    operand.set(toTensor(builder, operand.get()));
  builder.setInsertionPointAfter(call);
  for (OpResult result : call->getResults()) {
    if (!isNumber(result.getType()))
      continue;
    result.setType(RankedTensorType::get({}, result.getType()));
    Value number = toNumber(builder, result);
    result.replaceAllUsesExcept(number, number.getDefiningOp());
  }
}

void passNumbersAsTensors(ModuleOp module) {
  module.getContext()->loadDialect<tensor::TensorDialect>();
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!function.isPublic() || function.isExternal())
      continue;
    FunctionType type = function.getFunctionType();
    unsigned arrays = arrayArguments(function);
    SmallVector<Type> inputs = withTensors(type.getInputs().take_front(arrays));
    llvm::append_range(inputs, type.getInputs().drop_front(arrays));
    auto changed = FunctionType::get(module.getContext(), inputs,
                                     withTensors(type.getResults()));
    auto uses = SymbolTable::getSymbolUses(function, module);
    // A function whose address is taken keeps its type.
    if (changed == type || !uses ||
        !llvm::all_of(*uses, [](const SymbolTable::SymbolUse &use) {
          return isa<func::CallOp>(use.getUser());
        }))
      continue;
    changeBoundary(function, changed);
    for (const SymbolTable::SymbolUse &use : *uses)
      changeCall(cast<func::CallOp>(use.getUser()), arrays);
  }
}

} // namespace numera
