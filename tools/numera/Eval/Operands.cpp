// SPDX-License-Identifier: MIT

#include "Parser.h"

#include "numera/Registry/Formats/Number.h"
#include "numera/Registry/Formats/Words.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace numera;

using InstructionKind = numera::Instruction::Kind;

/// Every operation but those with a notation of their own.
static std::optional<OpKind> functionFromName(StringRef name) {
  std::optional<OpKind> operation = operationFromName(name);
  if (operation == OpKind::Cast || operation == OpKind::Mac ||
      operation == OpKind::Cmp)
    return std::nullopt;
  return operation;
}

// The first 96 bits of the constants, of which more follow.
static constexpr Unpacked pi = {.kind = numera::Kind::Finite,
                                .sticky = true,
                                .exponent = 1,
                                .significand = 0xc90fdaa22168c234,
                                .tail = 0xc4c6628b};
static constexpr Unpacked e = {.kind = numera::Kind::Finite,
                               .sticky = true,
                               .exponent = 1,
                               .significand = 0xadf85458a2bb4a9a,
                               .tail = 0xafdc5620};
static constexpr std::pair<StringLiteral, Unpacked> constants[] = {
    {"inf", Unpacked::infinity()},
    {"nan", Unpacked::nan()},
    {"NaR", Unpacked::nan()},
    {"pi", pi},
    {"e", e}};

static const Unpacked *constantFromName(StringRef name) {
  for (const auto &[text, value] : constants)
    if (text == name)
      return &value;
  return nullptr;
}

// ---- Errors

bool ExpressionParser::unexpected(StringRef expected) {
  skipSpaces();
  if (position == text.size())
    return fail(position, "the expression ends, expected " + expected);
  std::string found = "'" + word().str() + "'";
  if (word().empty()) {
    auto first = static_cast<unsigned char>(rest()[0]);
    auto isContinuation = [](char c) { return (c & 0xc0) == 0x80; };
    size_t more = rest().drop_front().take_while(isContinuation).size();
    found = first < 0x20 || first == 0x7f
                ? "byte 0x" + utohexstr(first, /*LowerCase=*/true, 2)
                : "'" + rest().take_front(1 + more).str() + "'";
  }
  return fail(position, "found " + found + ", expected " + expected);
}

bool ExpressionParser::unknown(StringRef name, size_t column) {
  std::vector<StringRef> candidates = {"code"};
  for (const auto &[text, value] : constants)
    if (text.size() > 1) // not e, which any letter is near
      candidates.push_back(text);
  for (const Variable &variable : variables)
    candidates.push_back(variable.name);
  for (Neighbour each : {Neighbour::Ulp, Neighbour::NextAfter,
                         Neighbour::NextUp, Neighbour::NextDown})
    candidates.push_back(nameOf(each));
#define NUMERA_OPERATION(enumerator, name, operands, ...)                      \
  if (functionFromName(#name))                                                 \
    candidates.push_back(#name);
#include "numera/Numerics/Core/Operations.def"
  for (const Registry::NamedFormat &named : registry.formats())
    candidates.push_back(named.name);
  std::string message =
      "unknown function, variable or format '" + name.str() + "'";
  if (StringRef meant = nearest(name, candidates); !meant.empty())
    return fail(column, message + ", did you mean '" + meant + "'?");
  return fail(column, message);
}

// ---- Names

std::optional<size_t> ExpressionParser::findVariable(StringRef name) const {
  for (auto [index, variable] : enumerate(variables))
    if (variable.name == name)
      return index;
  return std::nullopt;
}

bool ExpressionParser::checkNewName(StringRef name, size_t column) {
  std::string error;
  StringRef known;
  if (constantFromName(name))
    known = "a constant";
  else if (name == "code" || functionFromName(name) || neighbourFromName(name))
    known = "a function";
  else if (registry.lookupFormat(name, error))
    known = "a format";
  return known.empty() || fail(column, "'" + name + "' is " + known +
                                           ", expected another name of a "
                                           "variable");
}

// ---- Operands

void ExpressionParser::constant(Unpacked value, bool negative, size_t column) {
  value.negative ^= negative && !value.isNaN();
  if (negative) // the sign before it
    column = text.rfind('-', column);
  // A library rounds those of its formats as the program runs.
  uint64_t code = 0;
  if (!format.isOpaque())
    code =
        format.getFamily().encode(format, value, format.getConstantRounding());
  program.push_back({.kind = InstructionKind::Constant,
                     .code = code,
                     .exact = value,
                     .text = text.slice(column, position),
                     .result = format});
  lengths.push_back(0);
}

bool ExpressionParser::parsePrimary(bool negative) {
  char next = peek();
  if (isDigit(next) || next == '.')
    return parseNumber(negative);
  if (isAlpha(next) || next == '_')
    return parseName(negative);
  if (consume("["))
    return parseVector();
  if (!consume("("))
    return unexpected("a number");
  if (!parseComparison())
    return false;
  return consume(")") || unexpected("an operator or ')'");
}

bool ExpressionParser::parseNumber(bool negative) {
  size_t column = position;
  StringRef number = rest().take_front(lengthOfNumber(rest()));
  std::optional<Unpacked> value = numera::parseNumber(number);
  if (!value)
    return unexpected("a number");
  position += number.size();
  if (!word().empty() || rest().starts_with("."))
    return fail(column, "'" + number + rest().take_while([](char c) {
      return isWordPart(c) || c == '.';
    }) + "' is not a number");
  constant(*value, negative, column);
  return true;
}

bool ExpressionParser::parseVector() {
  size_t count = 0;
  do {
    skipSpaces();
    size_t column = position;
    if (!parseComparison())
      return false;
    if (lengths.back() != 0)
      return fail(column, "a vector in a vector, expected a number");
    ++count;
  } while (consume(","));
  if (!consume("]"))
    return unexpected("an operator, ',' or ']'");
  lengths.resize(lengths.size() - count);
  lengths.push_back(count);
  program.push_back(
      {.kind = InstructionKind::Vector, .count = count, .result = format});
  return true;
}

bool ExpressionParser::parseName(bool negative) {
  size_t column = position;
  StringRef name = word();
  position += name.size();
  if (const Unpacked *value = constantFromName(name)) {
    constant(*value, negative, column);
    return true;
  }
  if (std::optional<size_t> variable = findVariable(name))
    return parseVariable(*variable);
  // `<` behind a family's name begins a spelling, not a comparison.
  if (rest().starts_with("<") && findFamily(name)) {
    size_t end = rest().find('>');
    position = end == StringRef::npos ? text.size() : position + end + 1;
    name = text.slice(column, position);
  }
  if (peek() == '(') {
    ++position;
    return parseCall(name, column);
  }
  std::string error;
  if (name == "code" || functionFromName(name) || neighbourFromName(name) ||
      registry.lookupFormat(name, error))
    return unexpected("'(' behind '" + name.str() + "'");
  if (name.contains('<'))
    return fail(column, error);
  return unknown(name, column);
}

bool ExpressionParser::parseVariable(size_t variable) {
  const auto &[name, length, own] = variables[variable];
  program.push_back(
      {.kind = InstructionKind::Load, .count = variable, .result = own});
  lengths.push_back(length);
  if (own == format)
    return true;
  return operate({.operation = OpKind::Cast, .operands = own}, position);
}

bool ExpressionParser::parseCall(StringRef name, size_t column) {
  if (name == "code")
    return parseCode();
  if (std::optional<OpKind> operation = functionFromName(name))
    return parseFunction(name, {.operation = *operation}, column);
  if (std::optional<Neighbour> function = neighbourFromName(name))
    return parseFunction(
        name, {.kind = InstructionKind::Neighbour, .neighbour = *function},
        column);
  return parseCast(name, column);
}

bool ExpressionParser::parseCode() {
  skipSpaces();
  size_t column = position;
  StringRef digits = word();
  APInt code;
  if (digits.getAsInteger(0, code))
    return unexpected("a code such as 0x40");
  position += digits.size();
  if (code.getActiveBits() > format.width())
    return fail(column, "code " + digits + " has more than " +
                            Twine(format.width()) + " bits, the width of '" +
                            format.spelling() + "'");
  if (code.getActiveBits() > 64)
    return fail(column, "code " + digits + " has more than 64 bits");
  program.push_back({.kind = InstructionKind::Code,
                     .code = code.getZExtValue(),
                     .text = digits,
                     .result = format});
  lengths.push_back(0);
  return consume(")") || unexpected("')'");
}

bool ExpressionParser::parseFunction(StringRef name,
                                     numera::Instruction function,
                                     size_t column) {
  if (function.kind == InstructionKind::Neighbour && format.isOpaque())
    return fail(column,
                "'" + name + "' needs the order of the codes, which of '" +
                    format.getOpaqueName() + "' its library alone knows");
  size_t expected = function.operandCount(), found = 0;
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
  return operate(std::move(function), column);
}

bool ExpressionParser::parseCast(StringRef name, size_t column) {
  std::string message;
  Format inner = registry.lookupElement(name, message);
  if (!inner && name.contains('<'))
    return fail(column, message);
  if (!inner)
    return unknown(name, column);
  Format outer = std::exchange(format, inner);
  if (!parseComparison())
    return false;
  if (!consume(")"))
    return unexpected("an operator or ')'");
  format = outer;
  return operate({.operation = OpKind::Cast, .operands = inner}, column);
}
