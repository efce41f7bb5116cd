// SPDX-License-Identifier: MIT

#include "Expression.h"
#include "Parser.h"

#include "numera/Numerics/Exact/Compare.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"

using namespace llvm;
using namespace numera;

// ---- Instructions

static constexpr std::pair<StringLiteral, Neighbour> neighbours[] = {
    {"ulp", Neighbour::Ulp},
    {"nextafter", Neighbour::NextAfter},
    {"nextup", Neighbour::NextUp},
    {"nextdown", Neighbour::NextDown}};

StringRef numera::nameOf(Neighbour function) {
  return find_if(neighbours,
                 [&](auto &each) { return each.second == function; })
      ->first;
}

std::optional<Neighbour> numera::neighbourFromName(StringRef name) {
  for (auto [text, function] : neighbours)
    if (text == name)
      return function;
  return std::nullopt;
}

size_t numera::Instruction::operandCount() const {
  switch (kind) {
  case Kind::Constant:
  case Kind::Code:
  case Kind::Load:
    return 0;
  case Kind::Vector:
    return count;
  case Kind::Store:
    return 1;
  case Kind::Operation:
    return numera::operandCount(operation);
  case Kind::Neighbour:
    break;
  }
  return neighbour == Neighbour::NextAfter ? 2 : 1;
}

StringRef numera::Instruction::name() const {
  return kind == Kind::Operation   ? nameOf(operation)
         : kind == Kind::Neighbour ? nameOf(neighbour)
                                   : text;
}

bool ExpressionParser::operate(numera::Instruction instruction, size_t column) {
  size_t count = instruction.operandCount();
  size_t length = 0;
  for (size_t other : ArrayRef(lengths).take_back(count)) {
    if (length != 0 && other != 0 && other != length)
      return fail(column, "vectors of " + Twine(length) + " and of " +
                              Twine(other) + " elements");
    length = std::max(length, other);
  }
  lengths.resize(lengths.size() - count);
  lengths.push_back(length);
  instruction.result = format;
  if (!instruction.operands)
    instruction.operands = format;
  program.push_back(std::move(instruction));
  return true;
}

// ---- Statements

bool ExpressionParser::parse() {
  bool isAssignment = false;
  for (;;) {
    skipSpaces();
    size_t column = position;
    if (!parseStatement(isAssignment))
      return false;
    bool hasEnded = !consume(";");
    if (hasEnded && peek() != '\0')
      return unexpected("an operator, ';' or the end");
    if (position == text.size() || peek() == '\0')
      break;
    if (!isAssignment)
      return fail(column, "nothing takes the value of this expression, "
                          "expected NAME = EXPRESSION before a ';'");
  }
  // The value of an assignment is that of its variable.
  if (isAssignment)
    program.push_back({.kind = numera::Instruction::Kind::Load,
                       .count = program.back().count,
                       .result = format});
  return true;
}

bool ExpressionParser::parseStatement(bool &isAssignment) {
  skipSpaces();
  size_t column = position;
  StringRef name = word();
  StringRef behind = rest().drop_front(name.size()).ltrim();
  isAssignment = !name.empty() && !isDigit(name[0]) &&
                 behind.starts_with("=") && !behind.starts_with("==");
  if (!isAssignment)
    return parseComparison();
  if (!checkNewName(name, column))
    return false;
  position = text.size() - behind.size() + 1;
  if (!parseComparison())
    return false;
  std::optional<size_t> known = findVariable(name);
  size_t variable = known.value_or(variables.size());
  if (!known)
    variables.push_back({name, 0, format});
  variables[variable].length = lengths.back();
  lengths.pop_back();
  program.push_back({.kind = numera::Instruction::Kind::Store,
                     .count = variable,
                     .result = format});
  return true;
}

// ---- Operators

bool ExpressionParser::parseComparison() {
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
  skipSpaces();
  size_t column = position;
  int32_t relations = takeOperator();
  if (relations == 0)
    return true;
  if (!parseSum() || !operate(OpKind::Cmp, column, relations))
    return false;
  skipSpaces();
  column = position;
  return takeOperator() == 0 ||
         fail(column, "comparisons do not chain, put one in parentheses");
}

bool ExpressionParser::parseSum() {
  if (!parseProduct())
    return false;
  for (;;) {
    char next = peek();
    if (next != '+' && next != '-')
      return true;
    size_t column = position++;
    if (!parseProduct() ||
        !operate(next == '+' ? OpKind::Add : OpKind::Sub, column))
      return false;
  }
}

bool ExpressionParser::parseProduct() {
  if (!parseUnary())
    return false;
  for (;;) {
    char next = peek();
    if (next != '*' && next != '/' && next != '%')
      return true;
    size_t column = position++;
    OpKind operation = next == '*'   ? OpKind::Mul
                       : next == '/' ? OpKind::Div
                                     : OpKind::Rem;
    if (!parseUnary() || !operate(operation, column))
      return false;
  }
}

/// The sign next to a number belongs to it; others are operations.
bool ExpressionParser::parseUnary() {
  size_t signs = 0, column = position;
  while (consume("-"))
    ++signs;
  size_t before = program.size();
  if (!parsePrimary(signs != 0))
    return false;
  bool isNumber = program.size() == before + 1 &&
                  program.back().kind == numera::Instruction::Kind::Constant &&
                  text[position - 1] != ')';
  for (size_t i = isNumber ? 1 : 0; i < signs; ++i)
    if (!operate(OpKind::Neg, column))
      return false;
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
  ExpressionParser parser(text, begin, format, registry, error);
  if (!parser.parse())
    return std::nullopt;
  return parser.take();
}

/// A function is registered for it.
static bool isRegistered(const numera::Instruction &instruction,
                         const Registry &registry) {
  return instruction.kind == numera::Instruction::Kind::Operation &&
         any_of(registry.lowerings(), [&](const Lowering &lowering) {
           return lowering.operation == instruction.operation &&
                  lowering.target != numera::Target::NVPTX &&
                  is_contained(lowering.operands, instruction.operands) &&
                  (instruction.isTruth() ||
                   lowering.result == instruction.result);
         });
}

bool numera::needsLibrary(ArrayRef<numera::Instruction> program,
                          const Registry &registry) {
  return any_of(program, [&](const numera::Instruction &instruction) {
    return instruction.result.isOpaque() ||
           (instruction.operands && instruction.operands.isOpaque()) ||
           isRegistered(instruction, registry);
  });
}
