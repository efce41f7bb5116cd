// SPDX-License-Identifier: MIT

#include "Captures.h"
#include "Buffers/BufferUses.h"
#include "Loops.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace numera;

/// A constant tensor that code is better for knowing: a table that a lookup
/// reads, or a number or two. Weights are passed, so that layers that differ in
/// nothing else have one function.
static bool isKnownConstant(Operation *maker, Operation *usedIn) {
  constexpr int64_t few = 16;
  auto global = dyn_cast<memref::GetGlobalOp>(maker);
  return global && (global.getType().getNumElements() <= few ||
                    llvm::any_of(global->getUsers(), [&](Operation *user) {
                      return usedIn->isProperAncestor(user) &&
                             !isa<memref::LoadOp>(user);
                    }));
}

Captures::Captures(Operation *op, ValueRange others) {
  llvm::SetVector<Value> used;
  getUsedValuesDefinedAbove(op->getRegions(), used);
  used.insert(others.begin(), others.end());
  for (Value value : used) {
    Operation *maker = value.getDefiningOp();
    bool isRemade = maker && (maker->hasTrait<OpTrait::ConstantLike>() ||
                              isKnownConstant(maker, op));
    (isRemade ? remade : passed).push_back(value);
  }
}

void Captures::define(OpBuilder &builder, func::FuncOp function,
                      IRMapping &map) const {
  for (Value value : remade)
    builder.clone(*value.getDefiningOp(), map);
  map.map(passed, function.getArguments().take_back(passed.size()));
}

// ---- which memory is apart

Value numera::viewedBuffer(Value buffer) {
  while (auto view = buffer.getDefiningOp<ViewLikeOpInterface>())
    buffer = view.getViewSource();
  return buffer;
}

/// True if a view has all elements of what it is of.
static bool isWhole(Operation *view) {
  if (isa<memref::CollapseShapeOp, memref::ExpandShapeOp>(view))
    return true;
  auto part = dyn_cast<memref::SubViewOp>(view);
  return part && part.getType().hasStaticShape() &&
         part.getSourceType().hasStaticShape() &&
         part.getType().getNumElements() ==
             part.getSourceType().getNumElements();
}

Value numera::wholeBuffer(Value view) {
  while (Operation *maker = view.getDefiningOp()) {
    if (!isWhole(maker))
      break;
    view = cast<ViewLikeOpInterface>(maker).getViewSource();
  }
  return view;
}

Value numera::originOf(Value buffer) {
  buffer = viewedBuffer(buffer);
  if (auto argument = dyn_cast<BlockArgument>(buffer)) {
    bool isParameter =
        isa<FunctionOpInterface>(argument.getOwner()->getParentOp());
    return isParameter ? buffer : Value();
  }
  bool isKnown =
      isa_and_nonnull<memref::AllocOp, memref::AllocaOp, memref::GetGlobalOp>(
          buffer.getDefiningOp());
  return isKnown ? buffer : Value();
}

bool numera::isElsewhere(Value value, Value buffer) {
  if (!isa<BaseMemRefType>(value.getType()))
    return true;
  Value memory = originOf(value);
  return memory && memory != buffer;
}

/// For each value, true if it is the only one that reaches memory which belongs
/// to this function.
static SmallVector<bool> findApart(ArrayRef<Value> values) {
  SmallVector<Value> roots;
  llvm::SmallDenseMap<Value, unsigned> uses;
  bool isKnown = true;
  for (Value value : values) {
    bool isBuffer = isa<MemRefType>(value.getType());
    roots.push_back(isBuffer ? originOf(value) : Value());
    isKnown &= !isBuffer || roots.back();
    if (roots.back())
      ++uses[roots.back()];
  }
  SmallVector<bool> apart;
  for (Value root : roots)
    apart.push_back(
        isKnown && root && uses[root] == 1 &&
        (ownMemoryOf(root) || root.getDefiningOp<memref::AllocaOp>()));
  return apart;
}

/// Upstream's lowering keeps no attribute of an argument that becomes several:
/// numera-annotate-branches reads where the pointers are then.
void Captures::noteApart(func::FuncOp function) const {
  SmallVector<int64_t> pointers;
  int64_t position = function.getNumArguments() - int64_t(passed.size());
  for (auto [value, isApart] : llvm::zip_equal(passed, findApart(passed))) {
    auto buffer = dyn_cast<MemRefType>(value.getType());
    // Of allocated and aligned pointer, offset, sizes and strides, the second
    // is what elements are reached by.
    if (isApart)
      pointers.push_back(position + 1);
    position += buffer ? 3 + 2 * buffer.getRank() : 1;
  }
  if (!pointers.empty())
    function->setAttr(apartAttribute,
                      DenseI64ArrayAttr::get(function.getContext(), pointers));
}
