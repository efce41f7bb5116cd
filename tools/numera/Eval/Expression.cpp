// SPDX-License-Identifier: MIT

#include "Expression.h"

#include "Support/CommandLine.h"
#include "numera/Numerics/Exact/Compare.h"
#include "numera/Registry/Formats/Number.h"
#include "numera/Registry/Formats/Words.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace numera;

namespace {

class Parser {
public:
  Parser(StringRef text, size_t begin, const Format &format,
         const Registry &registry, ExpressionError &error)
      : text(text), position(begin), format(format), registry(registry),
        error(error) {}

  bool parse();
  std::vector<numera::Instruction> take() { return std::move(program); }

private:
  bool parseComparison();
  bool parseSum();
  bool parseProduct();
  bool parseUnary();
  bool parsePrimary(bool negative);
  bool parseNumber(bool negative);
  bool parseName(bool negative);
  bool parseCode();
  bool parseFunction(StringRef name, OpKind operation, size_t column);
  bool parseCast(StringRef name, size_t column);

  void constant(Unpacked value, bool negative);
  void operate(OpKind operation, int32_t relations = 0);

  StringRef rest() const { return text.substr(position); }
  void skipSpaces() { position += rest().take_while(isSpace).size(); }
  char peek() {
    skipSpaces();
    return position < text.size() ? text[position] : '\0';
  }
  bool consume(StringRef token) {
    skipSpaces();
    if (!rest().starts_with(token))
      return false;
    position += token.size();
    return true;
  }
  bool fail(size_t column, const Twine &message) {
    error = {column, message.str()};
    return false;
  }
  bool unexpected(StringRef expected);
  bool unknown(StringRef name, size_t column);

  StringRef text;
  size_t position;
  Format format; ///< what stands here is computed in it
  const Registry &registry;
  ExpressionError &error;
  std::vector<numera::Instruction> program;
  /// Deeper than that nobody writes, and the stack is not endless.
  static constexpr unsigned deepest = 200;
  unsigned depth = 0;
};

bool isWordPart(char c) { return isAlnum(c) || c == '_'; }

/// Every operation but those with a notation of their own.
std::optional<OpKind> functionFromName(StringRef name) {
  std::optional<OpKind> operation = operationFromName(name);
  if (operation == OpKind::Cast || operation == OpKind::Mac ||
      operation == OpKind::Cmp)
    return std::nullopt;
  return operation;
}

// The first 96 bits of the constants, of which more follow.
constexpr Unpacked pi = {.kind = Kind::Finite,
                         .sticky = true,
                         .exponent = 1,
                         .significand = 0xc90fdaa22168c234,
                         .tail = 0xc4c6628b};
constexpr Unpacked e = {.kind = Kind::Finite,
                        .sticky = true,
                        .exponent = 1,
                        .significand = 0xadf85458a2bb4a9a,
                        .tail = 0xafdc5620};

} // namespace

// ---- Errors

/// What stands at the front of `text`, for a message: a word, or a character.
static std::string tokenAt(StringRef text) {
  StringRef word = text.take_while(isWordPart);
  if (!word.empty())
    return "'" + word.str() + "'";
  auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x20 || first == 0x7f)
    return "byte 0x" + utohexstr(first, /*LowerCase=*/true, 2);
  auto isContinuation = [](char c) { return (c & 0xc0) == 0x80; };
  size_t more = text.drop_front().take_while(isContinuation).size();
  return "'" + text.take_front(1 + more).str() + "'";
}

bool Parser::unexpected(StringRef expected) {
  skipSpaces();
  if (position == text.size())
    return fail(position, "the expression ends, expected " + expected);
  return fail(position, "found " + tokenAt(rest()) + ", expected " + expected);
}

bool Parser::unknown(StringRef name, size_t column) {
  std::vector<StringRef> candidates = {"code", "inf", "nan", "pi"};
#define NUMERA_OPERATION(enumerator, name, operands, ...)                      \
  if (functionFromName(#name))                                                 \
    candidates.push_back(#name);
#include "numera/Numerics/Core/Operations.def"
  for (const Registry::NamedFormat &named : registry.formats())
    candidates.push_back(named.name);
  std::string message = "unknown function or format '" + name.str() + "'";
  if (StringRef meant = nearest(name, candidates); !meant.empty())
    return fail(column, message + ", did you mean '" + meant + "'?");
  return fail(column, message);
}

std::string numera::opaqueInExpression(StringRef name) {
  return "format '" + name.str() +
         "' is opaque: only its library computes in it; 'numera run' runs "
         "functions of an .mlir file in it";
}

// ---- The program

void Parser::constant(Unpacked value, bool negative) {
  value.negative ^= negative && !value.isNaN();
  program.push_back({.isConstant = true,
                     .code = format.getFamily().encode(
                         format, value, format.getConstantRounding()),
                     .result = format});
}

void Parser::operate(OpKind operation, int32_t relations) {
  program.push_back({.operation = operation,
                     .relations = relations,
                     .operands = format,
                     .result = format});
}

// ---- Operators

bool Parser::parse() {
  if (!parseComparison())
    return false;
  skipSpaces();
  return position == text.size() || unexpected("an operator or the end");
}

bool Parser::parseComparison() {
  static constexpr std::pair<StringLiteral, int32_t> operators[] = {
      {"<=", Less | Equal}, {">=", Greater | Equal},
      {"==", Equal},        {"!=", Less | Greater | Unordered},
      {"<", Less},          {">", Greater}};
  auto takeOperator = [&]() -> int32_t {
    for (auto [token, relations] : operators)
      if (consume(token))
        return relations;
    return 0;
  };
  if (++depth > deepest)
    return fail(position, "nested deeper than " + Twine(deepest) + " levels");
  auto leave = scope_exit([&] { --depth; });
  if (!parseSum())
    return false;
  int32_t relations = takeOperator();
  if (relations == 0)
    return true;
  if (!parseSum())
    return false;
  operate(OpKind::Cmp, relations);
  skipSpaces();
  size_t column = position;
  return takeOperator() == 0 ||
         fail(column, "comparisons do not chain, put one in parentheses");
}

bool Parser::parseSum() {
  if (!parseProduct())
    return false;
  for (;;) {
    char next = peek();
    if (next != '+' && next != '-')
      return true;
    ++position;
    if (!parseProduct())
      return false;
    operate(next == '+' ? OpKind::Add : OpKind::Sub);
  }
}

bool Parser::parseProduct() {
  if (!parseUnary())
    return false;
  for (;;) {
    char next = peek();
    if (next != '*' && next != '/' && next != '%')
      return true;
    ++position;
    if (!parseUnary())
      return false;
    operate(next == '*'   ? OpKind::Mul
            : next == '/' ? OpKind::Div
                          : OpKind::Rem);
  }
}

/// The sign next to a number belongs to it; others are operations.
bool Parser::parseUnary() {
  size_t signs = 0;
  while (consume("-"))
    ++signs;
  size_t before = program.size();
  if (!parsePrimary(signs != 0))
    return false;
  bool isNumber = program.size() == before + 1 && program.back().isConstant &&
                  text[position - 1] != ')';
  for (size_t i = isNumber ? 1 : 0; i < signs; ++i)
    operate(OpKind::Neg);
  return true;
}

// ---- Operands

bool Parser::parsePrimary(bool negative) {
  char next = peek();
  if (isDigit(next) || next == '.')
    return parseNumber(negative);
  if (isAlpha(next) || next == '_')
    return parseName(negative);
  if (!consume("("))
    return unexpected("a number");
  if (!parseComparison())
    return false;
  return consume(")") || unexpected("an operator or ')'");
}

bool Parser::parseNumber(bool negative) {
  StringRef number = rest().take_front(lengthOfNumber(rest()));
  std::optional<Unpacked> value = numera::parseNumber(number);
  if (!value)
    return unexpected("a number");
  position += number.size();
  StringRef tail = rest().take_while(isWordPart);
  if (!tail.empty() || rest().starts_with("."))
    return fail(position - number.size(),
                "'" + number + rest().take_while([](char c) {
                  return isWordPart(c) || c == '.';
                }) + "' is not a number");
  constant(*value, negative);
  return true;
}

bool Parser::parseName(bool negative) {
  size_t column = position;
  StringRef name = rest().take_while(isWordPart);
  position += name.size();
  if (name == "inf" || name == "nan" || name == "pi" || name == "e") {
    constant(name == "inf"   ? Unpacked::infinity()
             : name == "nan" ? Unpacked::nan()
             : name == "pi"  ? pi
                             : e,
             negative);
    return true;
  }
  // `<` behind a family's name begins a spelling, not a comparison.
  if (rest().starts_with("<") && findFamily(name)) {
    size_t end = rest().find('>');
    position = end == StringRef::npos ? text.size() : position + end + 1;
    name = text.slice(column, position);
  }
  if (peek() != '(') {
    std::string error;
    if (name == "code" || functionFromName(name) ||
        registry.lookupFormat(name, error))
      return unexpected("'(' behind '" + name.str() + "'");
    if (name.contains('<'))
      return fail(column, error);
    return unknown(name, column);
  }
  ++position;
  if (name == "code")
    return parseCode();
  if (std::optional<OpKind> operation = functionFromName(name))
    return parseFunction(name, *operation, column);
  return parseCast(name, column);
}

bool Parser::parseCode() {
  skipSpaces();
  size_t column = position;
  StringRef digits = rest().take_while(isWordPart);
  APInt code;
  if (digits.getAsInteger(0, code))
    return unexpected("a code such as 0x40");
  position += digits.size();
  if (code.getActiveBits() > format.width())
    return fail(column, "code " + digits + " has more than " +
                            Twine(format.width()) + " bits, the width of '" +
                            format.spelling() + "'");
  program.push_back(
      {.isConstant = true, .code = code.getZExtValue(), .result = format});
  return consume(")") || unexpected("')'");
}

bool Parser::parseFunction(StringRef name, OpKind operation, size_t column) {
  unsigned expected = operandCount(operation), found = 0;
  do {
    if (!parseComparison())
      return false;
    ++found;
  } while (consume(","));
  if (!consume(")"))
    return unexpected("an operator, ',' or ')'");
  if (found != expected)
    return fail(column, "'" + name + "' takes " + Twine(expected) +
                            (expected == 1 ? " operand" : " operands") +
                            ", found " + Twine(found));
  operate(operation);
  return true;
}

bool Parser::parseCast(StringRef name, size_t column) {
  std::string message;
  Format inner = registry.lookupFormat(name, message);
  if (!inner && name.contains('<'))
    return fail(column, message);
  if (!inner)
    return unknown(name, column);
  if (!inner.getFamily().hasArithmetic())
    return fail(column, opaqueInExpression(name));
  Format outer = std::exchange(format, inner);
  if (!parseComparison())
    return false;
  if (!consume(")"))
    return unexpected("an operator or ')'");
  format = outer;
  operate(OpKind::Cast);
  program.back().operands = inner;
  return true;
}

// ---- Entry

std::optional<ExpressionFormat> numera::formatOf(StringRef text,
                                                 ExpressionError &error) {
  size_t colon = text.find(':');
  size_t column = text.take_while(isSpace).size();
  StringRef name = text.slice(column, colon).rtrim();
  if (colon == StringRef::npos || name.empty()) {
    error = {column, "expected a format, as in 'posit16: 1/3 + 2'"};
    return std::nullopt;
  }
  return ExpressionFormat{name, column, colon + 1};
}

std::optional<std::vector<numera::Instruction>>
numera::parseExpression(StringRef text, size_t begin, const Format &format,
                        const Registry &registry, ExpressionError &error) {
  Parser parser(text, begin, format, registry, error);
  if (!parser.parse())
    return std::nullopt;
  return parser.take();
}
