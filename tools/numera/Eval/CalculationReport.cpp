// SPDX-License-Identifier: MIT

#include "CalculationReport.h"

#include "numera/Registry/Description/Decimal.h"
#include "numera/Registry/Description/FormatFacts.h"
#include "numera/Registry/Description/HexFloat.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <map>

using namespace llvm;
using namespace numera;

// ---- Values

/// The shortest number; NaR where NaN is a number among the others.
static std::string printNumber(const Format &format, uint64_t code) {
  const FormatFamily &family = format.getFamily();
  if (family.isTotallyOrdered() && family.decode(format, code).isNaN())
    return "NaR";
  return printShortest(format, code);
}

/// The exact number where it is no longer: 127, and not 130, which 8 bits round
/// to it.
static std::string printPlain(const Format &format, uint64_t code) {
  std::string shortest = printNumber(format, code);
  Unpacked value = format.getFamily().decode(format, code);
  std::string exact = printDecimal(value);
  bool isPlain =
      !value.isNaN() && !value.sticky && exact.size() <= shortest.size();
  return isPlain ? exact : shortest;
}

/// The same with the exact number where it is another and not long.
static std::string printWithExact(const Format &format, uint64_t code) {
  std::string plain = printPlain(format, code);
  Unpacked value = format.getFamily().decode(format, code);
  std::string exact = printDecimal(value);
  if (value.isNaN() || exact == plain || exact.size() > 40)
    return plain;
  return plain + (value.sticky ? " (" : " (exactly ") + exact + ")";
}

/// An element of a vector: exact where that is short.
static std::string printElement(const Format &format, uint64_t code) {
  Unpacked value = format.getFamily().decode(format, code);
  std::string exact = printDecimal(value);
  return value.isNaN() || value.sticky || exact.size() > 12
             ? printNumber(format, code)
             : exact;
}

static std::string printResult(const Calculation &calculation) {
  const CalculatorValue &result = calculation.result;
  if (!result.isVector && !calculation.isTruth)
    return printWithExact(calculation.format, result.codes[0]);
  SmallVector<std::string> elements;
  for (uint64_t code : result.codes)
    elements.push_back(calculation.isTruth
                           ? std::to_string(code)
                           : printElement(calculation.format, code));
  std::string text = join(elements, ", ");
  return result.isVector ? "[" + text + "]" : text;
}

/// `2: add(0.3333, 2) = 2.333`, `2[0]: …` for the first element of a vector.
static std::string printStep(const CalculatorStep &step) {
  const numera::Instruction &instruction = *step.instruction;
  std::string text = std::to_string(step.number);
  if (step.element)
    text += "[" + std::to_string(*step.element) + "]";
  text += ": " + instruction.name().str() + "(";
  StringRef separator = "";
  for (uint64_t operand : step.operands) {
    text += separator.str() + printPlain(instruction.operands, operand);
    separator = ", ";
  }
  text += ") = " + (instruction.isTruth()
                        ? std::to_string(step.result)
                        : printPlain(instruction.result, step.result));
  return step.outcome == Outcome::Exact
             ? text
             : text + " (" + nameOf(step.outcome).str() + ")";
}

// ---- Outcomes

std::string numera::printOutcomes(const Calculation &calculation) {
  // In the order of severity, then of first appearance.
  std::map<Outcome, MapVector<StringRef, size_t>> found;
  for (auto [instruction, outcome] : calculation.constants)
    ++found[outcome][instruction->name()];
  for (const CalculatorStep &step : calculation.steps)
    if (step.outcome != Outcome::Exact)
      ++found[step.outcome][step.instruction->name()];
  if (found.empty())
    return "exact";
  constexpr size_t most = 8;
  std::string text;
  for (const auto &[outcome, names] : found) {
    text += (text.empty() ? "" : "; ") + nameOf(outcome).str() + ": ";
    SmallVector<std::string> shown;
    for (auto [name, count] : ArrayRef(names.getArrayRef()).take_front(most))
      shown.push_back(count == 1
                          ? name.str()
                          : (name + " (" + Twine(count) + " times)").str());
    text += join(shown, ", ");
    if (names.size() > most)
      text += " and " + std::to_string(names.size() - most) + " others";
  }
  return text;
}

void numera::printText(const Calculation &calculation, bool wantsSteps,
                       bool wantsBits, raw_ostream &stream) {
  if (wantsSteps)
    for (const CalculatorStep &step : calculation.steps)
      stream << printStep(step) << '\n';
  stream << printResult(calculation) << '\n';
  if (wantsBits && !calculation.isTruth)
    for (uint64_t code : calculation.result.codes)
      stream << printCode(calculation.format, code) << "  "
             << printFields(calculation.format, code) << '\n';
  stream << printOutcomes(calculation) << '\n';
}

// ---- JSON

static void printElement(const Calculation &calculation, uint64_t code,
                         json::OStream &stream) {
  if (calculation.isTruth) {
    stream.attribute("truth", code != 0);
    return;
  }
  const Format &format = calculation.format;
  Unpacked value = format.getFamily().decode(format, code);
  stream.attribute("code", printCode(format, code));
  stream.attribute("bits", printFields(format, code));
  stream.attribute("value", printNearestHexFloat(value));
  stream.attribute("shortest", printNumber(format, code));
  stream.attribute("decimal", printDecimal(value));
}

static void printStep(const CalculatorStep &step, json::OStream &stream) {
  const numera::Instruction &instruction = *step.instruction;
  stream.attribute("operation", instruction.name());
  if (step.element)
    stream.attribute("element", int64_t(*step.element));
  stream.attribute("format", instruction.result.spelling());
  stream.attributeArray("operands", [&] {
    for (uint64_t operand : step.operands)
      stream.value(printCode(instruction.operands, operand));
  });
  if (instruction.isTruth())
    stream.attribute("truth", step.result != 0);
  else
    stream.attribute("result", printCode(instruction.result, step.result));
  stream.attribute("outcome", nameOf(step.outcome));
}

void numera::printJSON(const Calculation &calculation, bool wantsSteps,
                       json::OStream &stream) {
  const CalculatorValue &result = calculation.result;
  if (result.isVector)
    stream.attributeArray("elements", [&] {
      for (uint64_t code : result.codes)
        stream.object([&] { printElement(calculation, code, stream); });
    });
  else
    printElement(calculation, result.codes[0], stream);
  auto isExact = [](const CalculatorStep &step) {
    return step.outcome == Outcome::Exact;
  };
  stream.attribute("exact", calculation.constants.empty() &&
                                all_of(calculation.steps, isExact));
  stream.attribute("outcomes", printOutcomes(calculation));
  if (wantsSteps)
    stream.attributeArray("steps", [&] {
      for (const CalculatorStep &step : calculation.steps)
        stream.object([&] { printStep(step, stream); });
    });
}
