// SPDX-License-Identifier: MIT
//
// One entry of the registry: (operation, target, result format, operand
// formats) → a function.

#ifndef NUMERA_REGISTRY_LOWERINGS_LOWERING_H
#define NUMERA_REGISTRY_LOWERINGS_LOWERING_H

#include "numera/Registry/Formats/Format.h"
#include "llvm/ADT/APInt.h"
#include <optional>
#include <string>
#include <vector>

namespace numera {

/// The target of a lowering. `Any` is written "*".
enum class Target { Any, CPU, NVPTX };
llvm::StringRef nameOf(Target target); ///< "*", "cpu", "nvptx"

/// An integer or machine type in a cast's `from:` or `to:`, or a format.
/// Integers are spelled i8 … i64 (signed) and u8 … u64.
struct CastType {
  Format format;        ///< null for an integer
  unsigned integer = 0; ///< 8, 16, 32, 64
  bool isSigned = true;
};
/// The integer type of that name, if it is one.
std::optional<CastType> integerFromName(llvm::StringRef name);

/// A function that computes a lowering for many codes at once, with the bits of
/// the scalar function for each.
struct VectorVariant {
  std::string symbol;
  /// The number of codes in the vectors that it takes and returns; 0: it takes
  /// arrays of any length, `void (R *results, const T *operands…, size_t
  /// length)`.
  unsigned lanes = 0;
};

/// One registered lowering: a C function on storage integers (f32 and f64 are
/// float and double).
struct Lowering {
  OpKind operation;
  Target target = Target::Any;
  Format result;                ///< of `cmp` and `isnan`: the operands' format
  std::vector<Format> operands; ///< as many as the operation takes
  unsigned fromInteger = 0;     ///< a cast from an integer of that width
  unsigned toInteger = 0;       ///< a cast to an integer of that width
  bool integerIsSigned = true;
  std::string predicate; ///< of `cmp`, as in arith.cmpf: `olt`; empty: any
  std::optional<Rounding> rounding; ///< empty: what the result's format has
  int32_t randomBits = 0;           ///< 0: the format's, else the default
  std::string symbol;
  std::optional<VectorVariant> vector; ///< on the CPU, of machine code
  /// Of a `round_to`, a bit for each operation whose function equals the
  /// carrier's own operation, followed by this rounding.
  uint64_t carried = 0;
  /// Of a `round_to`: the format whose rounding it equals, for every number of
  /// the carrier; null: none is named.
  Format equivalent = {};
  std::string library;  ///< name of a Library; empty: the one that defines it
  std::string location; ///< file:line:column of its entry

  /// The rounding mode of the function.
  RoundingMode getRoundingMode() const;
  /// Its rounding mode if the entry names none.
  RoundingMode getOwnRoundingMode() const;
};

/// The statement that an operation on opaque formats gives on the CPU, for all
/// operands, the result of the operation on their equivalent formats
/// (Target/Check/Proofs.h).
struct Proof {
  Lowering key;
  /// For one operand: a code that gives another result.
  struct Exception {
    uint64_t operand, result;
  };
  std::vector<Exception> exceptions = {};
};

/// Codes of an opaque format that its entry, or its library, defines, as
/// integers of its storage.
struct Identities {
  std::optional<llvm::APInt> zero, one, lowest, highest, nan;

  std::optional<llvm::APInt> &of(OpKind identity);
};

} // namespace numera

#endif // NUMERA_REGISTRY_LOWERINGS_LOWERING_H
