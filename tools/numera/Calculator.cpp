// SPDX-License-Identifier: MIT

#include "Calculator.h"

#include "numera/Numerics/Random.h"

using namespace numera;

/// The rounding of an operation in its result's format, with its random bits
/// drawn.
static RoundingMode roundingOf(const Instruction &instruction, uint64_t seed,
                               uint32_t id) {
  RoundingMode mode = instruction.result.getRoundingMode();
  if (mode == Rounding::Stochastic)
    mode.random = draw(randomKey(seed, /*step=*/0), id, /*sample=*/0,
                       /*index=*/0, mode.randomBits);
  return mode;
}

static uint64_t carryOut(const Instruction &instruction,
                         llvm::ArrayRef<uint64_t> operands, RoundingMode mode) {
  const Format &from = instruction.operands, &to = instruction.result;
  if (instruction.operation == Operation::Cast && from != to)
    return to.getFamily().encode(to, from.getFamily().decode(from, operands[0]),
                                 mode);
  return to.getFamily().evaluate(instruction.operation, to, operands, mode,
                                 instruction.relations);
}

std::vector<CalculatorStep>
numera::calculate(llvm::ArrayRef<Instruction> program, uint64_t seed) {
  std::vector<CalculatorStep> steps;
  llvm::SmallVector<uint64_t> stack;
  for (const Instruction &instruction : program) {
    if (instruction.isConstant) {
      stack.push_back(instruction.code);
      continue;
    }
    CalculatorStep step = {instruction, {}, 0};
    unsigned count = operandCount(instruction.operation);
    step.operands.append(stack.end() - count, stack.end());
    stack.pop_back_n(count);
    RoundingMode mode =
        roundingOf(instruction, seed, uint32_t(steps.size() + 1));
    step.result = carryOut(instruction, step.operands, mode);
    // What goes on with a truth takes it as a number.
    const Format &format = instruction.result;
    Unpacked number = Unpacked::fromInteger(/*negative=*/false, step.result);
    stack.push_back(instruction.isTruth()
                        ? format.getFamily().encode(
                              format, number, format.getConstantRounding())
                        : step.result);
    steps.push_back(std::move(step));
  }
  return steps;
}
