// SPDX-License-Identifier: MIT
//
// A format is data: a family and its parameters, which the family validates
// once. Everything else is derived. A format is identified by its canonical
// spelling, which names what differs from the family's defaults: `float<5,7>`,
// `float<4,3,fn>`, `posit<16,2>`. An opaque format is identified by its name
// and width.

#ifndef NUMERA_REGISTRY_FORMATS_FORMAT_H
#define NUMERA_REGISTRY_FORMATS_FORMAT_H

#include "numera/Numerics/Core/Rounding.h"
#include "numera/Registry/Formats/OpKind.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace numera {

class FormatFamily;

/// The word for a rounding or an overflow rule in files, spellings and flags:
/// `nearest-even`, `saturate`.
llvm::StringRef nameOf(Rounding rounding);
llvm::StringRef nameOf(Overflow overflow);
std::optional<Rounding> roundingFromName(llvm::StringRef name);
std::optional<Overflow> overflowFromName(llvm::StringRef name);

/// A change of one operation by a format's configuration, which models a
/// datapath (`operations: {mul: {truncate-operands: 3}}`).
struct OperationChange {
  OpKind operation{};
  std::optional<Rounding> rounding; ///< in place of the format's
  int32_t randomBits = 0;           ///< with a stochastic `rounding`
  std::optional<Overflow> overflow; ///< in place of the format's
  /// Low bits of the operands' significands that are cleared first, toward
  /// zero (F::truncate in Numerics).
  int32_t truncateOperands = 0;

  bool operator==(const OperationChange &) const = default;
};

/// The default number of random bits of a stochastic rounding.
inline constexpr int32_t defaultRandomBits = 32;

/// A number format. A value: copy and compare it freely. A default-constructed
/// Format is null.
class Format {
public:
  Format() = default;
  /// Called by a family, which has validated the parameters.
  Format(const FormatFamily &family, llvm::ArrayRef<int32_t> parameters,
         Rounding rounding = Rounding::NearestEven, llvm::StringRef name = {})
      : family(&family), parameters(parameters), rounding(rounding),
        name(name.str()) {}

  explicit operator bool() const { return family != nullptr; }
  bool operator==(const Format &other) const = default;

  const FormatFamily &getFamily() const { return *family; }
  /// The i32 constants that follow the operands of a runtime entry, in the
  /// family's order.
  llvm::ArrayRef<int32_t> getParameters() const { return parameters; }
  Rounding getRounding() const { return rounding; }
  /// How many random bits a stochastic rounding draws (1 to 32); else 0.
  int32_t getRandomBits() const { return randomBits; }
  /// The format's rounding, with the random bits of a stochastic one.
  RoundingMode getRoundingMode(uint32_t random = 0) const {
    return {rounding, randomBits, random};
  }
  /// The rounding of a constant, at compile time: nearest-even if the format
  /// rounds stochastically.
  RoundingMode getConstantRounding() const {
    return rounding == Rounding::Stochastic ? Rounding::NearestEven : rounding;
  }
  /// The changed operations, in the order of OpKind.
  llvm::ArrayRef<OperationChange> getChanges() const { return changes; }
  /// The change of `operation`, or null.
  const OperationChange *changeOf(OpKind operation) const;
  /// The same format with another rounding, or with other changes.
  Format withRounding(Rounding rounding, int32_t randomBits = 0) const;
  Format withChanges(llvm::ArrayRef<OperationChange> changes) const;
  /// The name of an opaque format; empty for every other.
  llvm::StringRef getOpaqueName() const { return name; }
  bool isOpaque() const { return !name.empty(); }

  /// The canonical spelling, e.g. `float<5,7>`; parses back to this format.
  std::string spelling() const;
  /// Bits a value occupies.
  unsigned width() const;
  /// Bits of the integer that stores a value: the smallest of 8, 16, 32, 64;
  /// of an opaque format also 128 or 256.
  unsigned storageBits() const;
  /// True for a format of more than 64 bits, which is opaque. Its codes stay in
  /// compiled programs: nothing on the host holds one in an integer.
  bool isWide() const { return width() > 64; }

  friend llvm::hash_code hash_value(const Format &format) {
    return llvm::hash_combine(
        format.family,
        llvm::hash_combine_range(format.parameters.begin(),
                                 format.parameters.end()),
        static_cast<int32_t>(format.rounding), format.randomBits,
        format.changes.size(), format.name);
  }

private:
  const FormatFamily *family = nullptr;
  llvm::SmallVector<int32_t, 8> parameters;
  Rounding rounding = Rounding::NearestEven;
  int32_t randomBits = 0;
  llvm::SmallVector<OperationChange, 0> changes;
  std::string name;
};

} // namespace numera

#endif // NUMERA_REGISTRY_FORMATS_FORMAT_H
