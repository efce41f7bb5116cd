// SPDX-License-Identifier: MIT

#include "BufferUses.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "numera/Dialect/Numera/IR/Numera.h"

using namespace mlir;
using namespace numera;

LogicalResult numera::checkIsInMemory(Operation *root) {
  WalkResult result = root->walk([](linalg::LinalgOp op) {
    if (op.hasPureBufferSemantics())
      return WalkResult::advance();
    op.emitError("'") << op->getName()
                      << "' is on tensors, which this pass does not take; put "
                         "them into memory first (one-shot-bufferize)";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

LogicalResult numera::checkIsOnCodes(Operation *root) {
  auto isOfDialect = [](Type type) {
    Type element = getElementTypeOrSelf(type);
    return isa<MemRefType>(type) &&
           isa_and_nonnull<NumeraDialect>(&element.getDialect());
  };
  WalkResult result = root->walk([&](linalg::LinalgOp op) {
    if (llvm::none_of(op->getOperandTypes(), isOfDialect))
      return WalkResult::advance();
    op.emitError("'") << op->getName()
                      << "' has a type of numera, which this pass does not "
                         "take; lower types first (numera-lower-types)";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

Value numera::ownMemoryOf(Value buffer) {
  while (auto view = buffer.getDefiningOp<ViewLikeOpInterface>())
    buffer = view.getViewSource();
  if (buffer.getDefiningOp<memref::AllocOp>())
    return buffer;
  auto argument = dyn_cast<BlockArgument>(buffer);
  auto function =
      argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp())
               : func::FuncOp();
  auto results = function
                     ? function->getAttrOfType<ArrayAttr>(destinationsAttribute)
                     : ArrayAttr();
  if (!results)
    return {};
  // They come last, one for each result that has one.
  size_t destinations =
      llvm::count_if(results, llvm::IsaPred<DenseI64ArrayAttr>);
  bool isDestination =
      argument.getArgNumber() >= function.getNumArguments() - destinations;
  return isDestination ? buffer : Value();
}

/// All operations that use `memory` or a view of it; nothing if one of them
/// hands it on.
static std::optional<llvm::SmallPtrSet<Operation *, 8>> usersOf(Value memory) {
  llvm::SmallPtrSet<Operation *, 8> users;
  SmallVector<Value> views = {memory};
  while (!views.empty()) {
    Value view = views.pop_back_val();
    for (Operation *user : view.getUsers()) {
      users.insert(user);
      if (isa<memref::ExtractAlignedPointerAsIndexOp>(user))
        return std::nullopt;
      for (Value result : user->getResults())
        if (isa<ViewLikeOpInterface>(user))
          views.push_back(result);
        else if (isa<BaseMemRefType>(result.getType()))
          return std::nullopt;
    }
  }
  return users;
}

linalg::FillOp numera::fillBefore(Operation *op, Value buffer) {
  Value memory = ownMemoryOf(buffer);
  auto users = memory ? usersOf(memory) : std::nullopt;
  if (!users)
    return {};
  while ((op = op->getPrevNode())) {
    auto fill = dyn_cast<linalg::FillOp>(op);
    if (fill && fill.getOutputs().front() == buffer)
      return fill;
    bool touches = false;
    op->walk([&](Operation *inner) {
      touches |= users->contains(inner) && !isa<ViewLikeOpInterface>(inner);
    });
    if (touches)
      return {};
  }
  return {};
}
