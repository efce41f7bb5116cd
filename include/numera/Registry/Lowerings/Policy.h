// SPDX-License-Identifier: MIT
//
// The policy of a configuration file: how a model is rewritten.

#ifndef NUMERA_REGISTRY_LOWERINGS_POLICY_H
#define NUMERA_REGISTRY_LOWERINGS_POLICY_H

#include "numera/Registry/Scaling/Scaling.h"
#include "llvm/ADT/StringMap.h"
#include <string>
#include <vector>

namespace numera {

/// The axis of a tensor along which its blocks lie.
struct BlockAxis {
  /// Usual: for operands the axis that is summed over, for results the axis of
  /// the channels.
  enum class Kind { Usual, Summed, Channel, Number };
  Kind kind = Kind::Usual;
  int32_t number = 0; ///< with Number; negative: counted from the last
};

/// The format in which operands or results of contractions are stored, if it is
/// not the format of the model.
struct Role {
  Format format;       ///< numbers without a scale; null: none
  ScaledFormat scaled; ///< null: none
  /// True if each channel has a scale; otherwise there is one scale, or blocks.
  bool isPerChannel = false;
  BlockAxis blockAxis; ///< where `scaled` has blocks
  /// True if numbers without a scale, in `format` or the model's format, are
  /// stored without gaps between them; `scaled` has its own flag.
  bool isPacked = false;

  explicit operator bool() const { return format || scaled || isPacked; }
};

/// How `numera-retype` rewrites a model.
struct Policy {
  enum class Accumulate { Default, Same, Quire, TensorCore, Named };
  /// The value for `same`, `quire` and `tensorcore`; Default for any other
  /// word.
  static Accumulate accumulateFromName(llvm::StringRef name);

  /// The formats of the float types of a model that the format replaces; empty:
  /// not named.
  std::vector<Format> replaced;
  Format defaultFormat;       ///< null: not named
  ScaledFormat defaultScaled; ///< instead of it; null: not named
  Role weights, activations, outputs;
  /// Scales that are known before a program runs (`numera calibrate`), by the
  /// names of contractions and operands: `conv1.lhs`.
  llvm::StringMap<std::vector<float>> scales;
  /// The zero points of these scales, integers, if the format has zero points.
  llvm::StringMap<std::vector<float>> zeroPoints;
  Accumulate accumulate = Accumulate::Default;
  Format accumulator; ///< with Named

  /// How some operations are rewritten instead. A rule with a format is a
  /// complete policy; a rule without one changes only what it names.
  struct Rule {
    std::string name;      ///< a pattern of names of operations; empty: any
    std::string operation; ///< a pattern of operators; empty: any
    Format format;         ///< null, like `scaled`: not named
    ScaledFormat scaled;
    Role weights, activations, outputs;
    Accumulate accumulate = Accumulate::Default;
    Format accumulator;
    std::string location; ///< file:line:column of its entry

    bool hasFormat() const { return format || scaled; }
    /// True if the rule matches an operation with this name and operator
    /// (`onnx.Softmax`, `linalg.matmul`). Patterns may leave out the dialect,
    /// and are not case-sensitive for operators.
    bool matches(llvm::StringRef name, llvm::StringRef operatorName) const;
    /// `conv1*`, `op softmax`, `conv1* of op conv`, for messages.
    std::string pattern() const;
  };
  /// The first rule that matches applies.
  std::vector<Rule> rules;
};

} // namespace numera

#endif // NUMERA_REGISTRY_LOWERINGS_POLICY_H
