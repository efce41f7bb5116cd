// SPDX-License-Identifier: MIT

#include "Calculator.h"

#include "numera/Numerics/Random/Random.h"
#include "numera/Registry/Formats/Evaluation.h"

using namespace numera;

/// By the rules of the result's format for this operation, with the random bits
/// of operation number `id`.
static uint64_t carryOut(const Instruction &instruction,
                         llvm::ArrayRef<uint64_t> codes, uint64_t seed,
                         uint32_t id) {
  if (instruction.isTruth())
    return evaluateOperation(instruction.operation, instruction.operands, codes,
                             Rounding::NearestEven, instruction.relations);
  llvm::SmallVector<Format, 3> formats(codes.size(), instruction.operands);
  OperationRules rules =
      rulesOf(instruction.operation, instruction.result, formats);
  if (rules.rounding == Rounding::Stochastic)
    rules.rounding.random = draw(randomKey(seed, /*step=*/0), id, /*sample=*/0,
                                 /*index=*/0, rules.rounding.randomBits);
  return evaluateOperation(instruction.operation, rules, formats, codes);
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
    step.result =
        carryOut(instruction, step.operands, seed, uint32_t(steps.size() + 1));
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
