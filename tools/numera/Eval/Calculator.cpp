// SPDX-License-Identifier: MIT

#include "Calculator.h"
#include "Neighbours.h"

#include "numera/Numerics/Exact/Compare.h"
#include "numera/Numerics/Random/Random.h"

using namespace numera;

namespace {
struct Carried {
  uint64_t code;
  Outcome outcome;
};
} // namespace

/// By the rules of the result's format for this operation, with the random bits
/// of operation number `id`.
static Carried carryOutOperation(const numera::Instruction &instruction,
                                 llvm::ArrayRef<uint64_t> codes, uint64_t seed,
                                 uint32_t id, size_t index) {
  if (instruction.isTruth())
    return {evaluateOperation(instruction.operation, instruction.operands,
                              codes, Rounding::NearestEven,
                              instruction.relations),
            Outcome::Exact};
  llvm::SmallVector<Format, 3> formats(codes.size(), instruction.operands);
  OperationRules rules =
      rulesOf(instruction.operation, instruction.result, formats);
  if (rules.rounding == Rounding::Stochastic)
    rules.rounding.random = draw(randomKey(seed, /*step=*/0), id, /*sample=*/0,
                                 index, rules.rounding.randomBits);
  uint64_t code =
      evaluateOperation(instruction.operation, rules, formats, codes);
  return {code, outcomeOfOperation(instruction.operation, rules, formats, codes,
                                   code)};
}

static Carried carryOutNeighbour(const numera::Instruction &instruction,
                                 llvm::ArrayRef<uint64_t> codes) {
  const Format &format = instruction.result;
  const FormatFamily &family = format.getFamily();
  uint64_t x = codes[0];
  switch (instruction.neighbour) {
  case Neighbour::NextUp:
    return {neighbourOf(format, x, /*isAbove=*/true), Outcome::Exact};
  case Neighbour::NextDown:
    return {neighbourOf(format, x, /*isAbove=*/false), Outcome::Exact};
  case Neighbour::NextAfter: {
    uint64_t y = codes[1];
    auto is = [&](Relation relation) {
      return family.evaluate(OpKind::Cmp, format, {x, y}, Rounding::NearestEven,
                             relation) != 0;
    };
    if (family.decode(format, x).isNaN())
      return {x, Outcome::Exact};
    if (is(Equal) || family.decode(format, y).isNaN())
      return {y, Outcome::Exact};
    return {neighbourOf(format, x, /*isAbove=*/is(Less)), Outcome::Exact};
  }
  case Neighbour::Ulp:
    break;
  }
  Unpacked ulp = ulpOf(format, x);
  uint64_t code = family.encode(format, ulp, format.getConstantRounding());
  return {code, outcomeOfConstant(format, ulp, code)};
}

Calculation numera::calculate(llvm::ArrayRef<numera::Instruction> program,
                              uint64_t seed) {
  Calculation found = {.format = program.back().result,
                       .isTruth = program.back().isTruth()};
  llvm::SmallVector<CalculatorValue> stack;
  std::vector<CalculatorValue> variables;
  uint32_t number = 0;
  auto operate = [&](const numera::Instruction &instruction) {
    ++number;
    const Format &format = instruction.result;
    size_t count = instruction.operandCount();
    llvm::ArrayRef<CalculatorValue> operands(stack.end() - count, stack.end());
    CalculatorValue result;
    size_t length = 1;
    for (const CalculatorValue &operand : operands) {
      length = std::max(length, operand.codes.size());
      result.isVector |= operand.isVector;
    }
    for (size_t i = 0; i < length; ++i) {
      CalculatorStep step = {&instruction, number};
      if (result.isVector)
        step.element = i;
      for (const CalculatorValue &operand : operands)
        step.operands.push_back(operand.codes[operand.isVector ? i : 0]);
      Carried carried =
          instruction.kind == numera::Instruction::Kind::Neighbour
              ? carryOutNeighbour(instruction, step.operands)
              : carryOutOperation(instruction, step.operands, seed, number, i);
      step.result = carried.code;
      step.outcome = carried.outcome;
      // What goes on with a truth takes it as a number.
      result.codes.push_back(
          instruction.isTruth() && &instruction != &program.back()
              ? format.getFamily().encode(
                    format, Unpacked::fromInteger(false, step.result),
                    format.getConstantRounding())
              : step.result);
      found.steps.push_back(std::move(step));
    }
    stack.pop_back_n(count);
    stack.push_back(std::move(result));
  };
  for (const numera::Instruction &instruction : program) {
    switch (instruction.kind) {
    case numera::Instruction::Kind::Constant:
      if (Outcome outcome = outcomeOfConstant(
              instruction.result, instruction.exact, instruction.code);
          outcome != Outcome::Exact)
        found.constants.push_back({&instruction, outcome});
      [[fallthrough]];
    case numera::Instruction::Kind::Code:
      stack.push_back({{instruction.code}});
      break;
    case numera::Instruction::Kind::Vector: {
      CalculatorValue vector = {{}, /*isVector=*/true};
      for (auto *each = stack.end() - instruction.count; each != stack.end();
           ++each)
        vector.codes.push_back(each->codes[0]);
      stack.pop_back_n(instruction.count);
      stack.push_back(std::move(vector));
      break;
    }
    case numera::Instruction::Kind::Load:
      stack.push_back(variables[instruction.count]);
      break;
    case numera::Instruction::Kind::Store:
      variables.resize(std::max(variables.size(), instruction.count + 1));
      variables[instruction.count] = stack.pop_back_val();
      break;
    case numera::Instruction::Kind::Operation:
    case numera::Instruction::Kind::Neighbour:
      operate(instruction);
      break;
    }
  }
  found.result = std::move(stack.back());
  return found;
}
