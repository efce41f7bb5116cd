// SPDX-License-Identifier: MIT
//
// What public functions on memory take and give. A caller's arrays are dense,
// and its inputs are never changed:
//
//   func @f(%a: memref<4xf32>)               func @f(%a: memref<4xf32>)
//     …                                        %b = memref.alloc(), a copy
//     memref.store %x, %a[%i]          to      memref.store %x, %b[%i]
//     return %s : memref<2xf32, …>             …
//                                              return %r, a dense copy
//
// A function that returns nothing gives what it writes into its arguments.

#include "Signatures.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;

namespace numera {

static MemRefType withoutLayout(MemRefType type) {
  return MemRefType::get(type.getShape(), type.getElementType(),
                         MemRefLayoutAttrInterface(), type.getMemorySpace());
}

static bool hasLayout(Type type) {
  auto memory = dyn_cast<MemRefType>(type);
  return memory && !memory.getLayout().isIdentity();
}

/// True if a dense array can lie as the layout says.
static bool canBeDense(MemRefType type) {
  SmallVector<int64_t> strides, dense;
  int64_t offset, none;
  auto agrees = [](int64_t stride, int64_t wanted) {
    return ShapedType::isDynamic(stride) || stride == wanted;
  };
  return succeeded(type.getStridesAndOffset(strides, offset)) &&
         succeeded(withoutLayout(type).getStridesAndOffset(dense, none)) &&
         agrees(offset, 0) && llvm::equal(strides, dense, agrees);
}

/// True if a use may write into memory, or is not known.
static bool mayBeWritten(Value memory) {
  return llvm::any_of(memory.getUses(), [&](OpOperand &use) {
    Operation *op = use.getOwner();
    if (isa<func::ReturnOp, memref::DimOp>(op))
      return false;
    if (auto view = dyn_cast<ViewLikeOpInterface>(op);
        view && view.getViewSource() == memory)
      return llvm::any_of(op->getResults(), mayBeWritten);
    if (isa<memref::CastOp>(op))
      return mayBeWritten(op->getResult(0));
    if (auto tensor = dyn_cast<bufferization::ToTensorOp>(op))
      return bool(tensor.getWritable());
    auto effects = dyn_cast<MemoryEffectOpInterface>(op);
    if (!effects)
      return true;
    SmallVector<MemoryEffects::EffectInstance> found;
    effects.getEffectsOnValue(memory, found);
    return found.empty() ||
           llvm::any_of(found, [](const MemoryEffects::EffectInstance &effect) {
             return !isa<MemoryEffects::Read>(effect.getEffect());
           });
  });
}

/// A dense copy, and what makes it.
static std::pair<Value, SmallVector<Operation *>> copy(OpBuilder &builder,
                                                       Value memory) {
  Location loc = memory.getLoc();
  auto type = cast<MemRefType>(memory.getType());
  SmallVector<Operation *> made;
  SmallVector<Value> sizes;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (type.isDynamicDim(i)) {
      sizes.push_back(memref::DimOp::create(builder, loc, memory, i));
      made.push_back(sizes.back().getDefiningOp());
    }
  Value dense =
      memref::AllocOp::create(builder, loc, withoutLayout(type), sizes);
  made.push_back(memref::CopyOp::create(builder, loc, memory, dense));
  return {dense, made};
}

static SmallVector<unsigned> writtenArguments(func::FuncOp function) {
  SmallVector<unsigned> written;
  for (BlockArgument argument : function.getArguments())
    if (isa<MemRefType>(argument.getType()) && mayBeWritten(argument))
      written.push_back(argument.getArgNumber());
  return written;
}

/// What the model itself calls stays as it is.
static void keepForCalls(func::FuncOp function, SymbolTable &symbols,
                         ModuleOp module) {
  if (SymbolTable::symbolKnownUseEmpty(function, module))
    return;
  func::FuncOp called = function.clone();
  called.setPrivate();
  symbols.insert(called, std::next(function->getIterator()));
  (void)SymbolTable::replaceAllSymbolUses(function, called.getSymNameAttr(),
                                          module);
}

static void changeBoundary(func::FuncOp function, ArrayRef<unsigned> written) {
  OpBuilder builder(function.getContext());
  builder.setInsertionPointToStart(&function.front());
  SmallVector<Value> copies;
  for (unsigned i : written) {
    BlockArgument argument = function.getArgument(i);
    auto [dense, made] = copy(builder, argument);
    Value used = dense;
    if (dense.getType() != argument.getType())
      used = memref::CastOp::create(builder, argument.getLoc(),
                                    argument.getType(), dense);
    argument.replaceUsesWithIf(used, [&made = made](OpOperand &use) {
      return !llvm::is_contained(made, use.getOwner());
    });
    copies.push_back(dense);
  }
  bool returnsNothing = function.getNumResults() == 0;
  function.walk([&](func::ReturnOp op) {
    builder.setInsertionPoint(op);
    for (OpOperand &operand : op->getOpOperands())
      if (hasLayout(operand.get().getType()))
        operand.set(copy(builder, operand.get()).first);
    if (returnsNothing)
      op.getOperandsMutable().append(copies);
  });
  SmallVector<Type> results;
  if (returnsNothing)
    llvm::append_range(results, ValueRange(copies).getTypes());
  else
    for (Type type : function.getResultTypes())
      results.push_back(hasLayout(type) ? withoutLayout(cast<MemRefType>(type))
                                        : type);
  if (returnsNothing)
    for (size_t i = 0; i < results.size(); ++i)
      (void)function.insertResult(unsigned(i), results[i], {});
  else
    function.setFunctionType(builder.getFunctionType(
        function.getFunctionType().getInputs(), results));
}

/// The argument that a result of a function is; none for other values.
static BlockArgument argumentOf(Value result) {
  auto argument = dyn_cast<BlockArgument>(result);
  return argument && isa<func::FuncOp>(argument.getOwner()->getParentOp())
             ? argument
             : BlockArgument();
}

/// A result of a call is taken to be memory of its own. Where it is what the
/// caller gave, the caller goes on with that.
static LogicalResult returnOwn(func::FuncOp function, ModuleOp module) {
  std::optional<SymbolTable::UseRange> uses =
      SymbolTable::getSymbolUses(function, module);
  if (function.isExternal() || !uses || uses->empty())
    return success();
  auto op = dyn_cast<func::ReturnOp>(function.back().getTerminator());
  if (!op)
    return success();
  for (auto [i, result] : llvm::enumerate(op.getOperands())) {
    if (!isa<MemRefType>(result.getType()))
      continue;
    Value memory = result;
    while (auto view = memory.getDefiningOp<ViewLikeOpInterface>())
      memory = view.getViewSource();
    BlockArgument argument = argumentOf(memory);
    if (!argument)
      continue;
    if (memory != result || !function.getBody().hasOneBlock())
      return op.emitError("function '")
             << function.getName() << "', which others call, returns a part of "
             << "memory that it is given; return nothing, or a copy";
    for (SymbolTable::SymbolUse use : *uses)
      if (auto call = dyn_cast<func::CallOp>(use.getUser()))
        call.getResult(unsigned(i))
            .replaceAllUsesWith(call.getOperand(argument.getArgNumber()));
  }
  return success();
}

LogicalResult passMemoryDense(ModuleOp module) {
  module.getContext()->loadDialect<memref::MemRefDialect>();
  // Who frees what is known where everything is: the compiler says when.
  SmallVector<Operation *> frees;
  module.walk([&](memref::DeallocOp op) { frees.push_back(op); });
  for (Operation *op : frees)
    op->erase();
  SymbolTable symbols(module);
  for (auto function : llvm::to_vector(module.getOps<func::FuncOp>())) {
    if (failed(returnOwn(function, module)))
      return failure();
    if (!function.isPublic() || function.isExternal())
      continue;
    for (Type type : function.getArgumentTypes())
      if (hasLayout(type) && !canBeDense(cast<MemRefType>(type)))
        return function.emitError("function '")
               << function.getName() << "' takes " << type
               << ", and arrays of callers are dense; expected a memref "
                  "without a layout, or with a dynamic offset and strides";
    SmallVector<unsigned> written = writtenArguments(function);
    if (written.empty() && llvm::none_of(function.getResultTypes(), hasLayout))
      continue;
    keepForCalls(function, symbols, module);
    changeBoundary(function, written);
  }
  return success();
}

} // namespace numera
