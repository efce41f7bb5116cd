// SPDX-License-Identifier: MIT
//
// The parser of the calculator's expressions: Expression.cpp has statements and
// operators, Operands.cpp what they are applied to.

#ifndef NUMERA_TOOLS_EVAL_PARSER_H
#define NUMERA_TOOLS_EVAL_PARSER_H

#include "Expression.h"

#include "llvm/ADT/StringExtras.h"

namespace numera {

class ExpressionParser {
public:
  ExpressionParser(llvm::StringRef text, size_t begin, const Format &format,
                   const Registry &registry, ExpressionError &error)
      : text(text), position(begin), format(format), registry(registry),
        error(error) {}

  bool parse();
  std::vector<Instruction> take() { return std::move(program); }

private:
  /// A number has the length 0.
  struct Variable {
    llvm::StringRef name;
    size_t length;
    Format format;
  };

  bool parseStatement(bool &isAssignment);
  bool parseComparison();
  bool parseSum();
  bool parseProduct();
  bool parseUnary();
  bool parsePrimary(bool negative);
  bool parseNumber(bool negative);
  bool parseName(bool negative);
  bool parseVariable(size_t variable);
  bool parseVector();
  bool parseCode();
  bool parseCall(llvm::StringRef name, size_t column);
  bool parseFunction(llvm::StringRef name, Instruction function, size_t column);
  bool parseCast(llvm::StringRef name, size_t column);

  void constant(Unpacked value, bool negative, size_t column);
  /// Adds an instruction on values of `format`; an error if their lengths
  /// differ.
  bool operate(Instruction instruction, size_t column);
  bool operate(OpKind operation, size_t column, int32_t relations = 0) {
    return operate({.operation = operation, .relations = relations}, column);
  }
  bool checkNewName(llvm::StringRef name, size_t column);
  std::optional<size_t> findVariable(llvm::StringRef name) const;

  static bool isWordPart(char c) { return llvm::isAlnum(c) || c == '_'; }
  llvm::StringRef rest() const { return text.substr(position); }
  llvm::StringRef word() const { return rest().take_while(isWordPart); }
  void skipSpaces() { position += rest().take_while(llvm::isSpace).size(); }
  char peek() {
    skipSpaces();
    return position < text.size() ? text[position] : '\0';
  }
  bool consume(llvm::StringRef token) {
    skipSpaces();
    if (!rest().starts_with(token))
      return false;
    position += token.size();
    return true;
  }
  bool fail(size_t column, const llvm::Twine &message) {
    error = {column, message.str()};
    return false;
  }
  bool unexpected(llvm::StringRef expected);
  bool unknown(llvm::StringRef name, size_t column);

  llvm::StringRef text;
  size_t position;
  Format format; ///< what stands here is computed in it
  const Registry &registry;
  ExpressionError &error;
  std::vector<Instruction> program;
  std::vector<Variable> variables;
  /// Of the results that are left so far.
  std::vector<size_t> lengths;
  /// Deeper than that nobody writes, and the stack is not endless.
  static constexpr unsigned deepest = 200;
  unsigned depth = 0;
};

} // namespace numera

#endif // NUMERA_TOOLS_EVAL_PARSER_H
