// SPDX-License-Identifier: MIT
//
// Proofs about the functions of opaque formats.

#include "numera/Registry/Lowerings/RegistryEntries.h"
#include "llvm/ADT/STLExtras.h"

using namespace numera;

static bool isOpaque(const Format &format) {
  return format && format.isOpaque();
}

/// True if both are the same operation on the same types, rounded as the
/// format does it.
static bool isSame(const Lowering &proof, const Lowering &key) {
  return proof.operation == key.operation && proof.result == key.result &&
         proof.operands == key.operands &&
         proof.fromInteger == key.fromInteger &&
         proof.toInteger == key.toInteger &&
         (!(key.fromInteger || key.toInteger) ||
          proof.integerIsSigned == key.integerIsSigned) &&
         proof.predicate == key.predicate &&
         proof.getRoundingMode().pack() == key.getRoundingMode().pack();
}

const Proof *RegistryEntries::findProof(const Lowering &key) const {
  auto known = llvm::find_if(
      proven, [&](const Proof &proof) { return isSame(proof.key, key); });
  if (known == proven.end())
    return nullptr;
  const Proof *proof = &*known;
  llvm::SmallVector<Format, 4> formats(key.operands.begin(),
                                       key.operands.end());
  formats.push_back(key.result);
  llvm::erase_if(formats, [](const Format &each) { return !isOpaque(each); });
  for (const Format &format : formats)
    if (const NamedFormat *entry = entryOf(format);
        entry->proofs == NamedFormat::Proofs::Off)
      return nullptr;
  // The functions were run on the CPU: elsewhere they must be the same.
  if (key.target == Target::CPU)
    return proof;
  Lowering onCPU = key;
  onCPU.target = Target::CPU;
  const Lowering *here = findLowering(onCPU), *there = findLowering(key);
  if (here || there)
    return here == there ? proof : nullptr;
  // What is derived is made of their functions, and of built-in formats'.
  bool areThere = llvm::all_of(registered, [&](const Lowering &lowering) {
    llvm::SmallVector<Format, 4> all(lowering.operands.begin(),
                                     lowering.operands.end());
    all.push_back(lowering.result);
    bool isInvolved = llvm::none_of(all, isOpaque) ||
                      llvm::any_of(all, [&](const Format &each) {
                        return llvm::is_contained(formats, each);
                      });
    return !isInvolved || lowering.target == Target::Any;
  });
  return areThere ? proof : nullptr;
}
