// SPDX-License-Identifier: MIT
//
// Expressions of the calculator, `posit16: x = 1/3; x + 2`
// (docs/CommandLine.md):
//
//   program    = format ":" statement {";" statement} [";"]
//   statement  = [name "="] comparison
//   comparison = sum [("<" | "<=" | "==" | "!=" | ">" | ">=") sum]
//   sum        = product {("+" | "-") product}
//   product    = unary {("*" | "/" | "%") unary}
//   unary      = {"-"} primary
//   primary    = number | "inf" | "nan" | "NaR" | "pi" | "e" | name
//              | "code" "(" integer ")" | "[" comparison {"," comparison} "]"
//              | function "(" comparison {"," comparison} ")"
//              | format "(" comparison ")" | "(" comparison ")"
//
// Functions are the operations of the dialect by name, and those of Neighbour.
// What stands in `format(…)` is computed in that format; the result is then
// cast to the one around it, as is a variable of another format. Numbers are
// rounded once, with their sign, as constants. All are applied to vectors
// element by element; a number beside a vector counts for each element.

#ifndef NUMERA_TOOLS_EVAL_EXPRESSION_H
#define NUMERA_TOOLS_EVAL_EXPRESSION_H

#include "numera/Registry/Registry.h"
#include <optional>
#include <vector>

namespace numera {

/// Functions on codes that are no operations of the dialect.
enum class Neighbour { Ulp, NextAfter, NextUp, NextDown };
llvm::StringRef nameOf(Neighbour function);
std::optional<Neighbour> neighbourFromName(llvm::StringRef name);

/// One step of an expression in postfix order. It takes the results before it
/// and leaves one; Store leaves none.
struct Instruction {
  enum class Kind {
    Constant,
    Code,      ///< a constant that is not rounded
    Vector,    ///< of the last `count` results
    Load,      ///< variable `count`
    Store,     ///< to variable `count`
    Operation, ///< on scalars, or on vectors of one length
    Neighbour
  };
  Kind kind = Kind::Operation;
  uint64_t code = 0;      ///< of a constant
  Unpacked exact = {};    ///< what a constant was rounded from
  llvm::StringRef text{}; ///< a constant as it is written
  size_t count = 0;
  OpKind operation{};
  Neighbour neighbour{};
  int32_t relations = 0; ///< of `cmp`
  Format operands{};     ///< the format of all of them
  Format result{};

  /// True if the result is 0 or 1 and no code.
  bool isTruth() const {
    return kind == Kind::Operation &&
           (operation == OpKind::Cmp || operation == OpKind::IsNaN);
  }
  /// What it takes of the results before it.
  size_t operandCount() const;
  /// `add`, `nextup`, or a constant as it is written.
  llvm::StringRef name() const;
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

/// Parses the statements that stand from `begin` on, computed in `format`.
/// Constants of opaque formats have no code. `text` must outlive them. One
/// result is left, the last statement's.
std::optional<std::vector<Instruction>>
parseExpression(llvm::StringRef text, size_t begin, const Format &format,
                const Registry &registry, ExpressionError &error);

/// True if one of the formats is opaque, or a function is registered for one of
/// the operations.
bool needsLibrary(llvm::ArrayRef<Instruction> program,
                  const Registry &registry);

} // namespace numera

#endif // NUMERA_TOOLS_EVAL_EXPRESSION_H
