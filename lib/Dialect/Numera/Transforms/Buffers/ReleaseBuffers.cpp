// SPDX-License-Identifier: MIT
//
// Bufferization allocates a buffer where its tensor was new, and releases it at
// the end of the block. A deep model would hold all of its layers' values at
// once. Here buffers live from their first use to their last, so that memory
// which is in the caches is used again.
//
// Uses are those of all values that may lead to the memory: views, and pointers
// as numbers, which kernels are called with.

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "numera/Dialect/Numera/Transforms/Passes.h"

using namespace mlir;

namespace numera {
#define GEN_PASS_DEF_NUMERARELEASEBUFFERS
#include "numera/Dialect/Numera/Transforms/Passes.h.inc"

namespace {

/// Whether a value of this type may lead to memory; also pointers as numbers.
bool mayLead(Type type, bool asNumbers) {
  return isa<BaseMemRefType, LLVM::LLVMPointerType, LLVM::LLVMStructType>(
             type) ||
         (asNumbers && (type.isIndex() || type.isInteger(64)));
}

/// The operations of a block in which a buffer's life begins and ends.
class Lifetime {
public:
  Lifetime(memref::AllocOp allocation, memref::DeallocOp release)
      : allocation(allocation), release(release) {}

  /// False if the memory may be reached in a way that is not followed.
  bool find();
  void shorten() {
    allocation->moveBefore(first);
    release->moveAfter(last);
  }

private:
  bool follow(OpOperand &use);
  void follow(ValueRange values, bool asNumbers = true) {
    for (Value value : values)
      if (mayLead(value.getType(), asNumbers) && seen.insert(value).second)
        reached.push_back(value);
  }

  memref::AllocOp allocation;
  memref::DeallocOp release;
  Operation *first = nullptr, *last = nullptr;
  SmallVector<Value> reached; ///< values that may lead to the memory
  llvm::SmallPtrSet<Value, 16> seen;
};

} // namespace

bool Lifetime::find() {
  follow(allocation->getResults());
  while (!reached.empty())
    for (OpOperand &use : reached.pop_back_val().getUses())
      if (use.getOwner() != release && !follow(use))
        return false;
  return first;
}

bool Lifetime::follow(OpOperand &use) {
  Operation *user = use.getOwner();
  Block *block = allocation->getBlock();
  Operation *place = block->findAncestorOpInBlock(*user);
  if (!place || place->hasTrait<OpTrait::IsTerminator>())
    return false;
  if (!first || place->isBeforeInBlock(first))
    first = place;
  if (!last || last->isBeforeInBlock(place))
    last = place;

  // Numbers that are read from memory, and its sizes, do not lead to it.
  if (isa<memref::LoadOp, LLVM::LoadOp, memref::DimOp, memref::AllocOp>(user))
    return true;
  // Whoever reads what is stored reaches it.
  if (isa<memref::StoreOp, LLVM::StoreOp>(user))
    return use.getOperandNumber() != 0;
  if (user->hasTrait<OpTrait::IsTerminator>())
    for (Operation *op = user->getParentOp(); op != block->getParentOp();
         op = op->getParentOp())
      follow(op->getResults());
  if (auto metadata = dyn_cast<memref::ExtractStridedMetadataOp>(user))
    follow(metadata.getBaseBuffer());
  else // what functions return as numbers is no pointer
    follow(user->getResults(), /*asNumbers=*/!isa<CallOpInterface>(user));
  return true;
}

namespace {
struct ReleaseBuffersPass : impl::NumeraReleaseBuffersBase<ReleaseBuffersPass> {
  void runOnOperation() override {
    SmallVector<Lifetime> lifetimes;
    getOperation()->walk([&](memref::DeallocOp release) {
      auto allocation = release.getMemref().getDefiningOp<memref::AllocOp>();
      if (!allocation || allocation->getBlock() != release->getBlock())
        return;
      Lifetime lifetime(allocation, release);
      if (lifetime.find())
        lifetimes.push_back(lifetime);
    });
    for (Lifetime &each : lifetimes)
      each.shorten();
  }
};
} // namespace

} // namespace numera
