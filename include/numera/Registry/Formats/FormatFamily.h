// SPDX-License-Identifier: MIT
//
// A family of formats: its parameters, their validation and spelling, and the
// host-side codec. To add one, write its files and a line in
// cmake/Families.cmake, or a plugin (Plugin.h). Nothing above this layer
// switches on families.

#ifndef NUMERA_REGISTRY_FORMATS_FORMATFAMILY_H
#define NUMERA_REGISTRY_FORMATS_FORMATFAMILY_H

#include "numera/Numerics/Carrier/EvaluationPath.h"
#include "numera/Numerics/Exact/Quire.h"
#include "numera/Numerics/Formats/Float.h"
#include "numera/Registry/Formats/Format.h"
#include "numera/Registry/Formats/OpKind.h"

namespace numera {

/// A parameter as written: `exponent: 5` in a file, `5` or `bias=9` in a
/// spelling. The key is resolved; the value is text.
struct Parameter {
  std::string key;
  std::string value;
};

/// An error in a parameter.
struct ParameterError {
  /// Index into the parameters; negative if it concerns the whole, for example
  /// a missing key.
  int index = -1;
  /// True if the key, not the value, is at fault.
  bool atKey = false;
  /// Lower case, no full stop, with the value found and what was expected.
  std::string message;
};

class ParameterReader;

class FormatFamily {
public:
  virtual ~FormatFamily() = default;

  /// The name in spellings, files and runtime symbols: `float`.
  virtual llvm::StringRef name() const = 0;
  /// The keys whose values come first in a spelling, without the key, in order:
  /// {"exponent", "mantissa"}.
  virtual llvm::ArrayRef<llvm::StringLiteral> positionalKeys() const = 0;
  /// The key a bare word of a spelling belongs to (`fn` → `specials`, `up` →
  /// `rounding`); empty if the family has no such word.
  llvm::StringRef keyOfWord(llvm::StringRef word) const;
  /// The words that set a parameter without a key, for messages.
  llvm::SmallVector<llvm::StringRef> words() const;

  /// Validates the parameters and makes the format. On failure returns a null
  /// Format and sets `error`. `name` is the name in the configuration, which
  /// only opaque formats keep. Besides the family's own keys, every family with
  /// arithmetic has `rounding`, `random-bits` and changes of operations, such
  /// as `mul.truncate-operands`.
  Format create(llvm::ArrayRef<Parameter> parameters, llvm::StringRef name,
                ParameterError &error) const;

  /// True if `name` is, or is meant to be, a name that a standard composes by a
  /// rule (`p3109_k8p3se`) and that no list contains.
  virtual bool isRuledName(llvm::StringRef) const { return false; }
  /// The format of such a name; null with a message if there is none.
  virtual Format formatOfRuledName(llvm::StringRef, std::string &) const {
    return {};
  }
  /// The name by such a rule; empty if there is none.
  virtual std::string ruledName(const Format &) const { return {}; }

  /// The canonical spelling.
  std::string spelling(const Format &format) const;
  virtual unsigned width(const Format &format) const = 0;

  /// A field of a code: `sign`, `exponent`, `significand`.
  struct Field {
    llvm::StringLiteral name;
    unsigned bits;
  };
  /// The fields of a code, from the top. Their widths add up to the format's
  /// width, and may depend on the code (a posit's regime).
  virtual llvm::SmallVector<Field> fields(const Format &format,
                                          uint64_t code) const = 0;

  /// False for opaque formats, whose arithmetic a registered library defines.
  /// The functions below must not be called for them, and they have no runtime
  /// entries.
  virtual bool hasArithmetic() const { return true; }

  /// The exact value of a code.
  virtual Unpacked decode(const Format &format, uint64_t code) const = 0;
  /// A value rounded once to the format.
  virtual uint64_t encode(const Format &format, const Unpacked &value,
                          RoundingMode mode) const = 0;
  /// The same of many f32, for a model's weights. Infinities and NaN are
  /// numbers of f32, too.
  virtual void encodeAll(const Format &format, llvm::ArrayRef<float> values,
                         RoundingMode mode,
                         llvm::MutableArrayRef<uint64_t> codes) const = 0;
  /// The operation on codes of one format, computed by the code that compiled
  /// programs run. `cmp` takes a set of Relation bits as `extra`; `cmp` and
  /// `isnan` give 0 or 1; `mac` is a * b + acc, rounded once.
  virtual uint64_t evaluate(OpKind operation, const Format &format,
                            llvm::ArrayRef<uint64_t> operands,
                            RoundingMode mode, int32_t extra = 0) const = 0;
  /// The same by the definition: decode, the exact operation, one rounding. It
  /// is the reference of `numera check`.
  virtual uint64_t evaluateExactly(OpKind operation, const Format &format,
                                   llvm::ArrayRef<uint64_t> operands,
                                   RoundingMode mode, int32_t extra = 0) const {
    return evaluate(operation, format, operands, mode, extra);
  }
  /// Clears the last `count` bits of the significand of a code, as
  /// `truncate-operands` does to an operand.
  virtual uint64_t truncate(const Format &format, uint64_t code,
                            int32_t count) const = 0;
  /// The same format with another overflow rule; null if the family has no such
  /// rule.
  virtual Format withOverflow(const Format &format,
                              Overflow overflow) const = 0;
  /// The overflow rule.
  virtual Overflow overflow(const Format &format) const = 0;
  /// True if overflow and underflow of its operations can be detected
  /// (Numerics/Flags/StatusFlags.h).
  virtual bool knowsRange() const { return false; }
  /// The status flags (numera::flag) of an operation on `operands`, absent ones
  /// zero, whose exact result is to be rounded to the format, by the code that
  /// compiled programs run; nullopt for formats without arithmetic.
  virtual std::optional<uint8_t> statusFlags(const Format &, const Unpacked &,
                                             const Unpacked (&)[3],
                                             RoundingMode) const {
    return std::nullopt;
  }
  /// False for codes that no operation with flags has as its result.
  virtual bool mayRaiseFlags(const Format &, uint64_t) const { return true; }
  /// True if the numbers of its formats are evenly spaced, as integers are.
  virtual bool isEvenlySpaced() const { return false; }
  /// The float format with the same codes and operations, or nullopt.
  virtual std::optional<FloatFormat> asFloat(const Format &) const {
    return std::nullopt;
  }
  /// True if values of the format need not be binary fractions. Then decode
  /// returns the first 96 bits of a value, and only casts and operations that
  /// the family defines itself are exact.
  virtual bool isIrrational() const { return false; }

  /// Significant bits, and the exponents of the least and of the largest finite
  /// value. They decide whether one format embeds in another.
  struct Range {
    int32_t precision, leastExponent, maxExponent;
    bool hasInfinity, hasNaN, hasNegativeZero;
    /// The exponent of the smallest number with a hidden bit, if the format has
    /// normal and subnormal numbers.
    std::optional<int32_t> normalExponent = std::nullopt;
  };
  virtual Range range(const Format &format) const = 0;
  /// Significant bits of the values in [2^exponent, 2^(exponent + 1)); 0 if
  /// there are none.
  virtual int32_t precisionAt(const Format &format, int32_t exponent) const = 0;
  /// How many codes are NaN, infinite or zero. Each other code is a finite
  /// number, and no two of them are the same number.
  struct SpecialCodes {
    uint64_t nan, infinity, zero;
  };
  virtual SpecialCodes specialCodes(const Format &format) const = 0;
  /// The code of the largest finite number.
  virtual uint64_t largest(const Format &format) const = 0;

  /// Codes of the lowest and the highest value: an infinity if the format has
  /// it, else the last number.
  virtual uint64_t lowest(const Format &format) const = 0;
  virtual uint64_t highest(const Format &format) const = 0;

  /// True if `numera_<family>_decode_f32_<bits>` (or f64) is exact.
  virtual bool embedsInF32(const Format &format) const = 0;
  virtual bool embedsInF64(const Format &format) const = 0;
  /// 32 or 64 if the format is the machine's f32 or f64, else 0.
  virtual unsigned machineWidth(const Format &) const { return 0; }

  /// How the step of a contraction runs on values in a carrier, if both of its
  /// roundings are to the format, nearest-even.
  struct CarrierStep {
    /// 32 or 64 if `numera_<family>_step_f<bits>_<bits>` is straight-line code
    /// for the format; 0 if steps should stay on codes.
    unsigned bits = 0;
    /// The forms of the short step, the best one first
    /// (Numerics/MultiplyAdd/Step.h). Fused is better on some CPUs, and
    /// Confined is for the blocks that it admits. Both take the numbers that
    /// are prepared for the first form.
    llvm::SmallVector<int32_t, 3> shortForms;
    /// The forms of the steps in binary16 (Numerics/MultiplyAdd/StepHalf.h):
    /// one for all products that the steps admit, and Confined.
    llvm::SmallVector<int32_t, 2> halfForms;
  };
  virtual CarrierStep carrierStep(const Format &) const { return {}; }

  // A carrier is the machine format of `width` bits, 32 or 64, in which values
  // of the format may stay between operations (Numerics/Carrier/Carrier.h).
  // `bits` is the bit pattern of a machine number.

  /// True if every value is a number of the carrier, and codes and carrier
  /// numbers are converted in straight-line code.
  virtual bool hasCarrier(const Format &, unsigned) const { return false; }
  /// True if a number of the carrier can be rounded to the format within the
  /// carrier.
  virtual bool roundsInCarrier(const Format &, unsigned, RoundingMode) const {
    return false;
  }
  /// True if straight-line code converts codes to f32, and f32 to itself
  /// through the format, although not all values are numbers of f32: these are
  /// rounded once more, to nearest-even.
  virtual bool approximatesInF32(const Format &) const { return false; }
  /// How the carrier's own operation and one more rounding compute the
  /// operation on values of one format.
  virtual EvaluationPath pathInCarrier(OpKind, const Format &, unsigned,
                                       RoundingMode) const {
    return EvaluationPath::None;
  }
  virtual uint64_t decodeToCarrier(const Format &, unsigned, uint64_t) const {
    return 0;
  }
  virtual uint64_t roundInCarrier(const Format &, unsigned, uint64_t,
                                  RoundingMode) const {
    return 0;
  }
  /// The code of a number that is a value of the format, or a NaN.
  virtual uint64_t encodeFromCarrier(const Format &, unsigned, uint64_t) const {
    return 0;
  }
  /// True if NaN equals itself and is below every number.
  virtual bool isTotallyOrdered() const { return false; }

  /// What an operation takes on codes of up to 8 bits, for an element of a
  /// vector loop: what a table is weighed against. Of a cast, what decoding or
  /// encoding takes.
  enum class Effort {
    Codes, ///< a few instructions on integers: 0.05 to 0.3 ns
    Short, ///< decoded, computed and encoded, no branch: 0.2 to 0.5 ns
    Long,  ///< the same where fields have no fixed place: 0.5 to 0.9 ns
    Slow,  ///< a loop, a call, the exact form: more than 1 ns
  };
  virtual Effort effort(OpKind, const Format &) const { return Effort::Slow; }

  /// The quire of a format with arithmetic whose values are binary fractions,
  /// whatever its size: see quireOf().
  virtual QuireLayout quire(const Format &format) const = 0;
  /// True if sums of the family are exact where nobody names an accumulator.
  virtual bool accumulatesExactly() const { return false; }

protected:
  /// Every key of the family itself, positional ones included.
  virtual llvm::SmallVector<llvm::StringRef> keys() const = 0;
  /// The family's own words: pairs of word and key.
  virtual llvm::SmallVector<std::pair<llvm::StringRef, llvm::StringRef>>
  ownWords() const {
    return {};
  }
  /// Reads the family's keys into the parameters of a Format; false after a
  /// fault.
  virtual bool read(ParameterReader &reader,
                    llvm::SmallVectorImpl<int32_t> &parameters) const = 0;
  /// The family's part of the canonical spelling: `5,7` of float<5,7,up>.
  virtual std::string spell(const Format &format) const = 0;
};

/// Every family, in the order of cmake/Families.cmake, and then those that
/// plugins registered.
llvm::ArrayRef<const FormatFamily *> allFamilies();
/// Adds a family, which must live as long as the process, under a name that no
/// other has. Like loadPlugin, its caller, it must come before every lookup.
void registerFamily(const FormatFamily &family);
/// The family of that name, or null.
const FormatFamily *findFamily(llvm::StringRef name);

/// Where a spelling is wrong: the column (from 0) and what was expected.
struct SpellingError {
  size_t column = 0;
  std::string message;
};

/// Parses `family<…>`; a null Format and `error` on failure. `opaque` is
/// spelled `opaque<"name",bits>`.
Format parseFormatSpelling(llvm::StringRef text, SpellingError &error);

/// True if `text` may name a format: letters, digits and '_', no digit first.
bool isFormatName(llvm::StringRef text);

/// The f32 and f64 formats.
const Format &formatF32();
const Format &formatF64();

/// True if every value of `format`, including its NaN, infinities and -0, is a
/// value of `into`.
bool embeds(const Format &format, const Format &into);

/// The layout of the format's quire; nullopt with the reason in `error` if
/// there is none.
std::optional<QuireLayout> quireOf(const Format &format, std::string &error);

/// The default accumulator of a contraction, unless the family accumulates
/// exactly: the first of f32 and f64 that embeds the format's values and holds
/// its products exactly, exponent range aside; else the format itself.
Format defaultAccumulator(const Format &format);

} // namespace numera

#endif // NUMERA_REGISTRY_FORMATS_FORMATFAMILY_H
