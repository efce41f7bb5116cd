// SPDX-License-Identifier: MIT
//
// What a configuration file says of how a model is rewritten.

#ifndef NUMERA_REGISTRY_LOWERINGS_POLICY_H
#define NUMERA_REGISTRY_LOWERINGS_POLICY_H

#include "numera/Registry/Scaling/Scaling.h"
#include "llvm/ADT/StringMap.h"
#include <string>
#include <vector>

namespace numera {

/// The axis of a tensor along which its blocks lie.
struct BlockAxis {
  /// Usual: of operands the axis that is summed over, of results the channels'.
  enum class Kind { Usual, Summed, Channel, Number };
  Kind kind = Kind::Usual;
  int32_t number = 0; ///< with Number; below 0 counted from behind the last
};

/// What the operands or the results of contractions are stored in, where it is
/// not the format of the model.
struct Role {
  Format format;       ///< numbers without a scale; null: none
  ScaledFormat scaled; ///< null: none
  /// Each channel has a scale; else `scaled` has one, or blocks.
  bool isPerChannel = false;
  BlockAxis blockAxis; ///< where `scaled` has blocks
  /// Numbers without a scale, of `format` or of the model's, are stored without
  /// gaps between them; `scaled` says it of its own.
  bool isPacked = false;

  explicit operator bool() const { return format || scaled || isPacked; }
};

/// What `numera-retype` does to a model.
struct Policy {
  enum class Accumulate { Default, Same, Quire, TensorCore, Named };
  /// Of `same`, `quire` and `tensorcore`; Default for any other word.
  static Accumulate accumulateFromName(llvm::StringRef name);

  Format defaultFormat;       ///< null: not named
  ScaledFormat defaultScaled; ///< instead of it; null: not named
  Role weights, activations, outputs;
  /// Scales that are known before a program runs (`numera calibrate`), by the
  /// names of contractions and operands: `conv1.lhs`.
  llvm::StringMap<std::vector<float>> scales;
  /// The zero points that go with them, integers, where the format has some.
  llvm::StringMap<std::vector<float>> zeroPoints;
  Accumulate accumulate = Accumulate::Default;
  Format accumulator; ///< with Named

  /// What some operations are rewritten to instead. With a format it is a
  /// policy of its own; else it changes what it names.
  struct Rule {
    std::string name;      ///< a pattern of names of operations; empty: any
    std::string operation; ///< a pattern of operators; empty: any
    Format format;         ///< null, as the next: not named
    ScaledFormat scaled;
    Role weights, activations, outputs;
    Accumulate accumulate = Accumulate::Default;
    Format accumulator;
    std::string location; ///< file:line:column of its entry

    bool hasFormat() const { return format || scaled; }
    /// True for an operation of that name, of an operator (`onnx.Softmax`,
    /// `linalg.matmul`) that may be named without its dialect, in any case.
    bool matches(llvm::StringRef name, llvm::StringRef operatorName) const;
    /// `conv1*`, `op softmax`, `conv1* of op conv`, for messages.
    std::string pattern() const;
  };
  /// The first one that matches holds.
  std::vector<Rule> rules;
};

} // namespace numera

#endif // NUMERA_REGISTRY_LOWERINGS_POLICY_H
