// SPDX-License-Identifier: MIT
//
// A format is data: a family and its parameters, validated once by the family;
// everything else is derived. Its identity is its canonical spelling, which
// names what differs from the family's defaults: `float<5,7>`,
// `float<4,3,fn>`, `posit<16,2>`; an opaque format is its name and bits.

#ifndef NUMERA_REGISTRY_FORMAT_H
#define NUMERA_REGISTRY_FORMAT_H

#include "numera/Numerics/Rounding.h"
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

/// A number format. A value: copy and compare it freely. A default-constructed
/// Format is null.
class Format {
public:
  Format() = default;
  /// Made by a family, which has validated the parameters.
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
  /// The name of an opaque format; empty for every other.
  llvm::StringRef getOpaqueName() const { return name; }
  bool isOpaque() const { return !name.empty(); }

  /// The canonical spelling, e.g. `float<5,7>`; parses back to this format.
  std::string spelling() const;
  /// Bits a value occupies.
  unsigned width() const;
  /// Bits of the integer that stores a value: the smallest of 8, 16, 32, 64.
  unsigned storageBits() const;

  friend llvm::hash_code hash_value(const Format &format) {
    return llvm::hash_combine(
        format.family,
        llvm::hash_combine_range(format.parameters.begin(),
                                 format.parameters.end()),
        static_cast<int32_t>(format.rounding), format.name);
  }

private:
  const FormatFamily *family = nullptr;
  llvm::SmallVector<int32_t, 8> parameters;
  Rounding rounding = Rounding::NearestEven;
  std::string name;
};

} // namespace numera

#endif // NUMERA_REGISTRY_FORMAT_H
