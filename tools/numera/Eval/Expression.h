// SPDX-License-Identifier: MIT
//
// Expressions of the calculator, `posit16: 1/3 + 2` (docs/CommandLine.md):
//
//   expression = format ":" comparison
//   comparison = sum [("<" | "<=" | "==" | "!=" | ">" | ">=") sum]
//   sum        = product {("+" | "-") product}
//   product    = unary {("*" | "/" | "%") unary}
//   unary      = {"-"} primary
//   primary    = number | "inf" | "nan" | "pi" | "e" | "code" "(" integer ")"
//              | function "(" comparison {"," comparison} ")"
//              | format "(" comparison ")" | "(" comparison ")"
//
// Functions are the operations of the dialect by name. What stands in
// `format(…)` is computed in that format; the result is then cast to the one
// around it. Numbers are rounded once, with their sign, as constants.

#ifndef NUMERA_TOOLS_EVAL_EXPRESSION_H
#define NUMERA_TOOLS_EVAL_EXPRESSION_H

#include "numera/Registry/Registry.h"
#include <optional>
#include <vector>

namespace numera {

/// One step of an expression in postfix order: a constant, or an operation on
/// the results before it.
struct Instruction {
  bool isConstant = false;
  uint64_t code = 0; ///< of a constant
  OpKind operation{};
  int32_t relations = 0; ///< of `cmp`
  Format operands{};     ///< the format of all of them
  Format result{};

  /// True if the result is 0 or 1 and no code.
  bool isTruth() const {
    return !isConstant &&
           (operation == OpKind::Cmp || operation == OpKind::IsNaN);
  }
};

/// Where an expression is wrong: the column, from 0, and how.
struct ExpressionError {
  size_t column = 0;
  std::string message;
};

/// The text of the format at the front, and where the rest begins.
struct ExpressionFormat {
  llvm::StringRef name;
  size_t column, end;
};
std::optional<ExpressionFormat> formatOf(llvm::StringRef text,
                                         ExpressionError &error);

/// Parses what stands from `begin` on, computed in `format`, which has
/// arithmetic.
std::optional<std::vector<Instruction>>
parseExpression(llvm::StringRef text, size_t begin, const Format &format,
                const Registry &registry, ExpressionError &error);

/// What to say of a format that only a library computes in.
std::string opaqueInExpression(llvm::StringRef name);

} // namespace numera

#endif // NUMERA_TOOLS_EVAL_EXPRESSION_H
