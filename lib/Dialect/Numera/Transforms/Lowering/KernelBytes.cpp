// SPDX-License-Identifier: MIT

#include "KernelBytes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "numera/Dialect/Numera/IR/Numera.h"

using namespace mlir;

namespace numera {

bool isOnBytes(Operation *op) {
  if (!isa<AddOp, SubOp, MulOp>(op) || op->getNumOperands() != 2)
    return false;
  auto interface = cast<FormatOpInterface>(op);
  auto *dialect = op->getContext()->getLoadedDialect<NumeraDialect>();
  ElementKind kind = interface.getResultElement();
  if (!kind.isFormat() || interface.getOperandElement(0) != kind ||
      interface.getOperandElement(1) != kind)
    return false;
  return llvm::any_of(
      ArrayRef<StringRef>{"f8E4M3FN", "f8E5M2"}, [&](StringRef name) {
        std::string error;
        return dialect->getRegistry().lookupFormat(name, error) == kind.format;
      });
}

bool isOnBytes(linalg::GenericOp generic) {
  Block *body = generic.getBody();
  auto isOwn = [&](Value value) { return value.getParentBlock() == body; };
  return llvm::all_of(body->without_terminator(),
                      [&](Operation &op) {
                        return isOnBytes(&op) &&
                               llvm::all_of(op.getOperands(), isOwn);
                      }) &&
         llvm::all_of(body->getTerminator()->getOperands(), isOwn) &&
         !body->without_terminator().empty();
}

SmallVector<SmallVector<Value>>
cloneOnBytes(OpBuilder &builder, linalg::GenericOp generic,
             ArrayRef<SmallVector<Value>> operands) {
  Location loc = generic.getLoc();
  Block *body = generic.getBody();
  IRMapping map;
  int64_t width = 0;
  auto wide = [&](Type element) { return VectorType::get(width, element); };
  for (auto [argument, elements] :
       llvm::zip_equal(body->getArguments(), operands)) {
    if (elements.empty())
      continue;
    width = int64_t(elements.size());
    map.map(argument, vector::FromElementsOp::create(
                          builder, loc, wide(argument.getType()), elements)
                          .getResult());
  }
  for (Operation &op : body->without_terminator()) {
    Operation *clone = builder.clone(op, map);
    clone->getResult(0).setType(wide(op.getResult(0).getType()));
  }
  SmallVector<SmallVector<Value>> results;
  for (Value result : body->getTerminator()->getOperands()) {
    auto elements =
        vector::ToElementsOp::create(builder, loc, map.lookup(result));
    results.emplace_back(elements.getResults());
  }
  return results;
}

} // namespace numera
