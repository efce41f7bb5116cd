// SPDX-License-Identifier: MIT
//
// Which parts of a scalar function have a vector form.

#ifndef NUMERA_LIB_TARGET_VECTORIZE_SLOWBLOCKS_H
#define NUMERA_LIB_TARGET_VECTORIZE_SLOWBLOCKS_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/ValueHandle.h"

#include <optional>

namespace numera {

/// True for what may stand in a lane: numbers of up to 64 bits, addresses.
bool isLaneType(const llvm::Type *type);
/// True for notes to the optimiser, which no lane needs.
bool isNote(const llvm::Instruction &instruction);

/// True for a conversion to bf16 that has variants on vectors.
bool isBfloatConversion(const llvm::CallInst &call);

/// An edge that was cut: what is at `block` leaves if `condition` is `sense`.
struct SlowExit {
  llvm::BasicBlock *block;
  /// Followed where it is replaced: a phi is by its only value once the blocks
  /// that were cut off are gone.
  llvm::WeakTrackingVH condition;
  bool sense;
};

/// Removes the blocks that have no vector form from `function`, which has no
/// switches and one return, with the edges to them. What is left has no cycle,
/// and every path in it ends in the return. None, and no change, if nothing
/// would be left.
std::optional<llvm::SmallVector<SlowExit>>
cutOffSlowBlocks(llvm::Function &function);

} // namespace numera

#endif // NUMERA_LIB_TARGET_VECTORIZE_SLOWBLOCKS_H
