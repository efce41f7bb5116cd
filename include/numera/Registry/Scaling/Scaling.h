// SPDX-License-Identifier: MIT
//
// Scaled formats, whose elements share scales. There are two families: `scaled`
// has one scale for a tensor or for each channel, and `block` has one scale for
// a number of neighbouring elements along an axis (block floating point, OCP
// MX, NVFP4). A Format defines the meaning of the code of one number; a
// ScaledFormat defines the meaning of a tensor. docs/Semantics/Scaling.md has
// the rules.

#ifndef NUMERA_REGISTRY_SCALING_SCALING_H
#define NUMERA_REGISTRY_SCALING_SCALING_H

#include "numera/Registry/Formats/Format.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/bit.h"
#include <optional>
#include <string>

namespace numera {

/// How a scale follows from amax, the largest magnitude of the elements that
/// share it. emax is the exponent of the element format's full scale.
enum class ScaleRule {
  Floor,       ///< 2^(floor(log2 amax) - emax): OCP MX
  Ceil,        ///< 2^(ceil(log2 amax) - emax)
  Even,        ///< Floor, of amax rounded to the element's precision
  RoundUpCeil, ///< amax / full scale, rounded up to a power of two
  Absmax,      ///< amax / full scale, rounded to the scale's format
  Range,       ///< amax itself; values are data · scale / full scale
  MinMax,      ///< (most - least) / the element's range, with a zero point
};

/// `floor`, `round-up-ceil`.
llvm::StringRef nameOf(ScaleRule rule);
std::optional<ScaleRule> scaleRuleFromName(llvm::StringRef name);
llvm::SmallVector<llvm::StringRef> scaleRuleNames();

/// How the elements of a tensor share scales.
struct Scaling {
  /// The format of the scales.
  Format scale;
  ScaleRule rule = ScaleRule::Floor;
  /// The number of neighbours along an axis that share a scale; 0: all elements
  /// of a tensor, or of a channel, do.
  int32_t block = 0;
  /// True if the scales of blocks are relative to one more scale, an f32 of the
  /// whole tensor.
  bool hasTensorScale = false;
  /// True if elements are stored without gaps between them.
  bool isPacked = false;
  /// The number to which the largest element is scaled; 0: fullScale() of the
  /// element.
  float fullScale = 0;

  bool operator==(const Scaling &) const = default;
  friend llvm::hash_code hash_value(const Scaling &scaling) {
    return llvm::hash_combine(scaling.scale, static_cast<int>(scaling.rule),
                              scaling.block, scaling.hasTensorScale,
                              scaling.isPacked,
                              llvm::bit_cast<uint32_t>(scaling.fullScale));
  }
};

/// Elements with scales. A default-constructed one is null.
struct ScaledFormat {
  Format element;
  Scaling scaling;

  explicit operator bool() const { return static_cast<bool>(element); }
  bool operator==(const ScaledFormat &) const = default;
  bool isBlock() const { return scaling.block != 0; }
  bool hasZeroPoint() const { return scaling.rule == ScaleRule::MinMax; }
  /// The number to which the largest element is scaled.
  double fullScale() const;

  /// For example `block<float<4,3,fn>,32>`, `scaled<fixed<7,0>,power-of-two>`.
  /// It names what differs from the family's defaults, and parses back.
  std::string spelling() const;
  /// Bits an element, including its share of the block's scale.
  double bitsPerElement() const;
};

/// The default full scale: the largest number of a format, or 1 for posits and
/// takums, whose numbers lose significant bits toward the largest. Not for an
/// opaque format.
double fullScale(const Format &element);

/// Looks up a format by name or spelling; null, with a message, if there is
/// none.
using FormatLookup =
    llvm::function_ref<Format(llvm::StringRef text, std::string &error)>;

/// The scaled format of a spelling; null, with a message, if there is none.
ScaledFormat parseScaledFormat(FormatLookup lookup, llvm::StringRef text,
                               std::string &error);
/// True for `i2` to `i32` and `u2` to `u32`, which elements may be.
bool isIntegerElement(llvm::StringRef text);
/// The formats of an element (`i8` is an integer) and of a scale (including
/// `power-of-two`) by name or spelling; null, with a message, if there is none.
Format lookupElement(FormatLookup lookup, llvm::StringRef text,
                     std::string &error);
Format lookupScale(FormatLookup lookup, llvm::StringRef text,
                   std::string &error);
/// f8E8M0FNU, the format of powers of two.
Format powersOfTwo();
/// The defaults of a scaled format with such scales.
Scaling defaultScaling(bool isBlock, const Format &scale);
/// True for `block<…>` and `scaled<…>`.
bool isScaledSpelling(llvm::StringRef text);

/// A message about an invalid combination; empty if the format is valid.
std::string checkScaledFormat(const ScaledFormat &format);

} // namespace numera

#endif // NUMERA_REGISTRY_SCALING_SCALING_H
