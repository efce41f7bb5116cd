// SPDX-License-Identifier: MIT
//
// Scaled formats: elements of a format that share a scale. Two families of
// them: `scaled`, one scale for a tensor or a channel of it, and `block`, one
// for every so many elements along an axis (block floating point, OCP MX,
// NVFP4). Unlike a Format, which says what the code of one number means, a
// ScaledFormat says what tensors mean. docs/Semantics/Scaling.md has the rules.

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

/// How a scale follows from the largest magnitude, amax, of what it is for.
/// emax is the exponent of the element's full scale.
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
  /// What a scale is stored in.
  Format scale;
  ScaleRule rule = ScaleRule::Floor;
  /// So many neighbours along an axis share a scale; 0: all of a tensor, or of
  /// a channel, do.
  int32_t block = 0;
  /// The scales of blocks are relative to one more scale, an f32 of the whole
  /// tensor.
  bool hasTensorScale = false;
  /// Elements are stored without gaps between them.
  bool isPacked = false;
  /// What scales aim at; 0: fullScale() of the element.
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
  /// What scales aim at.
  double fullScale() const;

  /// `block<float<4,3,fn>,32>`, `scaled<fixed<7,0>,power-of-two>`: what
  /// differs from the family's defaults is named. Parses back.
  std::string spelling() const;
  /// Bits an element takes, with its part of the block's scale.
  double bitsPerElement() const;
};

/// What scales aim at where nobody says it: the largest number of a format; 1
/// where numbers lose significant bits on their way there, as those of posits
/// and takums do. Not of an opaque format.
double fullScale(const Format &element);

/// The format of a name or spelling; null, with a message, if it is none.
using FormatLookup =
    llvm::function_ref<Format(llvm::StringRef text, std::string &error)>;

/// The format of a spelling; null, with a message, if it is none.
ScaledFormat parseScaledFormat(FormatLookup lookup, llvm::StringRef text,
                               std::string &error);
/// True for `i2` to `i32` and `u2` to `u32`, which elements may be.
bool isIntegerElement(llvm::StringRef text);
/// The formats of an element (`i8` is an integer) and of a scale
/// (`power-of-two` is one) by name or spelling; null, with a message.
Format lookupElement(FormatLookup lookup, llvm::StringRef text,
                     std::string &error);
Format lookupScale(FormatLookup lookup, llvm::StringRef text,
                   std::string &error);
/// f8E8M0FNU, the format of powers of two.
Format powersOfTwo();
/// What nobody says of a scaled format with such scales.
Scaling defaultScaling(bool isBlock, const Format &scale);
/// True for `block<…>` and `scaled<…>`.
bool isScaledSpelling(llvm::StringRef text);

/// A message about what does not go together; empty if all does.
std::string checkScaledFormat(const ScaledFormat &format);

} // namespace numera

#endif // NUMERA_REGISTRY_SCALING_SCALING_H
