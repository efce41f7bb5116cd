// SPDX-License-Identifier: MIT

#include "LibraryCalculator.h"
#include "Support/Reproducer.h"

#include "numera/Dialect/Numera/IR/Numera.h"
#include "numera/Numerics/Exact/Compare.h"
#include "numera/Registry/Description/Decimal.h"
#include "numera/Registry/Description/HexFloat.h"
#include "numera/Target/Driver/InMemory.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <cstring>

using namespace llvm;
using namespace numera;

using InstructionKind = numera::Instruction::Kind;

/// Why a program is not compiled; empty: it is. Codes beside a code are not
/// known, and nobody draws random bits.
static std::string refusalOf(ArrayRef<numera::Instruction> program) {
  for (const numera::Instruction &instruction : program) {
    if (instruction.kind == InstructionKind::Neighbour)
      return ("'" + instruction.name() +
              "' does not go with a library's format in one expression")
          .str();
    if (instruction.result.getRounding() == Rounding::Stochastic)
      return "stochastic rounding does not go with a library's format in one "
             "expression";
  }
  return "";
}

// ---- A program as MLIR

namespace {
/// Writes a function that returns the codes of the result, and all numbers that
/// are to be shown as f64. Numbers of vectors are computed one by one.
class FunctionWriter {
public:
  FunctionWriter(const Registry &registry, mlir::MLIRContext *context,
                 LibraryCalculation &found)
      : registry(registry), context(context), found(found) {}

  std::string write(ArrayRef<numera::Instruction> program);
  /// Puts numbers that the function returned in their places.
  void take(ArrayRef<double> numbers);

private:
  /// The names of its elements: `%7` is 7.
  struct Value {
    SmallVector<size_t, 1> elements;
    bool isVector = false;
  };

  size_t define(const Twine &operation) {
    body += ("  %" + Twine(defined) + " = " + operation + "\n").str();
    return defined++;
  }
  std::string typeOf(const Format &format) const {
    std::string text;
    raw_string_ostream(text) << typeOfFormat(context, format);
    return text;
  }
  bool casts(const Format &from, const Format &to) const {
    Lowering key;
    key.operation = OpKind::Cast;
    key.target = numera::Target::CPU;
    key.result = to;
    key.operands = {from};
    return registry.findLowering(key);
  }

  size_t constant(const numera::Instruction &instruction);
  size_t numberOfTruth(size_t truth, const Format &format);
  size_t toF64(size_t element, const Format &format);
  size_t operation(const numera::Instruction &instruction,
                   ArrayRef<size_t> operands);
  void operate(const numera::Instruction &instruction, bool isLast);
  /// Adds an element in f64 to what the function returns beside the codes;
  /// returns its place there.
  size_t show(size_t element) {
    shown.push_back(element);
    return shown.size() - 1;
  }
  std::string tensor(ArrayRef<size_t> elements, StringRef type);

  const Registry &registry;
  mlir::MLIRContext *context;
  LibraryCalculation &found;
  std::string body;
  size_t defined = 0;
  SmallVector<Value> stack;
  std::vector<Value> variables;
  SmallVector<size_t> shown; ///< elements in f64
  /// The places in `shown` of a step's operands and result, and of the results.
  std::vector<SmallVector<size_t, 4>> placesOfSteps;
  SmallVector<size_t> placesOfValues;
  uint32_t number = 0;
};
} // namespace

static std::string hexadecimal(uint64_t bits) {
  return "0x" + utohexstr(bits, /*LowerCase=*/false, 16);
}

size_t FunctionWriter::constant(const numera::Instruction &instruction) {
  const Format &format = instruction.result;
  if (instruction.kind == InstructionKind::Code || !format.isOpaque()) {
    uint64_t code = instruction.code;
    std::string type = typeOf(format);
    return format.getFamily().machineWidth(format) != 0
               ? define(
                     "arith.constant 0x" +
                     utohexstr(code, /*LowerCase=*/false, format.width() / 4) +
                     " : " + type)
               : define("numera.constant code " + hexadecimal(code) + " : " +
                        type);
  }
  bool isWide = casts(formatF64(), format);
  const Format &number = isWide ? formatF64() : formatF32();
  uint64_t bits = number.getFamily().encode(number, instruction.exact,
                                            Rounding::NearestEven);
  size_t made = define("arith.constant 0x" +
                       utohexstr(bits, /*LowerCase=*/false, isWide ? 16 : 8) +
                       (isWide ? " : f64" : " : f32"));
  return define("numera.cast %" + Twine(made) +
                (isWide ? " : f64 to " : " : f32 to ") + typeOf(format));
}

/// What goes on with a truth takes it as a number.
size_t FunctionWriter::numberOfTruth(size_t truth, const Format &format) {
  StringRef type =
      !format.isOpaque() || casts(formatF64(), format) ? "f64" : "f32";
  size_t made = define("arith.uitofp %" + Twine(truth) + " : i1 to " + type);
  std::string wanted = typeOf(format);
  return wanted == type ? made
                        : define("numera.cast %" + Twine(made) + " : " + type +
                                 " to " + wanted);
}

size_t FunctionWriter::toF64(size_t element, const Format &format) {
  if (format == formatF64())
    return element;
  std::string type = typeOf(format);
  bool isWide = !format.isOpaque() || casts(format, formatF64());
  size_t made = type == "f32"
                    ? element
                    : define("numera.cast %" + Twine(element) + " : " + type +
                             " to " + (isWide ? "f64" : "f32"));
  return isWide && type != "f32"
             ? made
             : define("arith.extf %" + Twine(made) + " : f32 to f64");
}

static StringRef predicateOf(int32_t relations) {
  switch (relations) {
  case Less:
    return "olt, ";
  case Less | Equal:
    return "ole, ";
  case Greater:
    return "ogt, ";
  case Greater | Equal:
    return "oge, ";
  case Equal:
    return "oeq, ";
  default:
    return "une, ";
  }
}

size_t FunctionWriter::operation(const numera::Instruction &instruction,
                                 ArrayRef<size_t> operands) {
  std::string names;
  for (size_t operand : operands)
    names += (names.empty() ? "%" : ", %") + std::to_string(operand);
  std::string text = ("numera." + nameOf(instruction.operation) + " ").str();
  if (instruction.operation == OpKind::Cmp)
    text += predicateOf(instruction.relations);
  text += names + " : " + typeOf(instruction.operands);
  if (instruction.operation == OpKind::Cast)
    text += " to " + typeOf(instruction.result);
  return define(text);
}

void FunctionWriter::operate(const numera::Instruction &instruction,
                             bool isLast) {
  ++number;
  size_t count = instruction.operandCount();
  ArrayRef<Value> operands(stack.end() - count, stack.end());
  Value result;
  size_t length = 1;
  for (const Value &operand : operands) {
    length = std::max(length, operand.elements.size());
    result.isVector |= operand.isVector;
  }
  for (size_t i = 0; i < length; ++i) {
    LibraryStep step = {&instruction, number, std::nullopt, {}, 0};
    if (result.isVector)
      step.element = i;
    SmallVector<size_t, 3> elements;
    SmallVector<size_t, 4> places;
    for (const Value &operand : operands) {
      elements.push_back(operand.elements[operand.isVector ? i : 0]);
      places.push_back(show(toF64(elements.back(), instruction.operands)));
    }
    bool isSame = instruction.operation == OpKind::Cast &&
                  instruction.operands == instruction.result;
    size_t made = isSame ? elements[0] : operation(instruction, elements);
    if (instruction.isTruth()) {
      places.push_back(
          show(define("arith.uitofp %" + Twine(made) + " : i1 to f64")));
      if (!isLast)
        made = numberOfTruth(made, instruction.result);
    } else {
      places.push_back(show(toF64(made, instruction.result)));
    }
    result.elements.push_back(made);
    found.steps.push_back(std::move(step));
    placesOfSteps.push_back(std::move(places));
  }
  stack.pop_back_n(count);
  stack.push_back(std::move(result));
}

std::string FunctionWriter::tensor(ArrayRef<size_t> elements, StringRef type) {
  std::string names;
  for (size_t element : elements)
    names += (names.empty() ? "%" : ", %") + std::to_string(element);
  std::string whole =
      ("tensor<" + Twine(elements.size()) + "x" + type + ">").str();
  define("tensor.from_elements " + names + " : " + whole);
  return whole;
}

std::string FunctionWriter::write(ArrayRef<numera::Instruction> program) {
  for (const numera::Instruction &instruction : program) {
    bool isLast = &instruction == &program.back();
    switch (instruction.kind) {
    case InstructionKind::Constant:
    case InstructionKind::Code:
      stack.push_back({{constant(instruction)}});
      break;
    case InstructionKind::Vector: {
      Value vector = {{}, /*isVector=*/true};
      for (auto *each = stack.end() - instruction.count; each != stack.end();
           ++each)
        vector.elements.push_back(each->elements[0]);
      stack.pop_back_n(instruction.count);
      stack.push_back(std::move(vector));
      break;
    }
    case InstructionKind::Load:
      stack.push_back(variables[instruction.count]);
      break;
    case InstructionKind::Store:
      variables.resize(std::max(variables.size(), instruction.count + 1));
      variables[instruction.count] = stack.pop_back_val();
      break;
    case InstructionKind::Operation:
    case InstructionKind::Neighbour: // which is refused
      operate(instruction, isLast);
      break;
    }
  }
  const numera::Instruction &last = program.back();
  Value result = stack.back();
  found.isVector = result.isVector;
  found.isTruth = last.isTruth();
  found.codeBits = last.result.width();
  for (size_t element : result.elements)
    placesOfValues.push_back(
        show(found.isTruth
                 ? define("arith.uitofp %" + Twine(element) + " : i1 to f64")
                 : toF64(element, last.result)));
  std::string codes =
      tensor(result.elements, found.isTruth ? "i1" : typeOf(last.result));
  size_t codesAt = defined - 1;
  std::string numbers = tensor(shown, "f64");
  return ("func.func @f() -> (" + codes + ", " + numbers + ") {\n" + body +
          "  return %" + Twine(codesAt) + ", %" + Twine(defined - 1) + " : " +
          codes + ", " + numbers + "\n}\n")
      .str();
}

void FunctionWriter::take(ArrayRef<double> numbers) {
  for (auto [step, places] : zip_equal(found.steps, placesOfSteps)) {
    for (size_t place : ArrayRef(places).drop_back())
      step.operands.push_back(numbers[place]);
    step.result = numbers[places.back()];
  }
  for (size_t place : placesOfValues)
    found.values.push_back(numbers[place]);
}

Expected<LibraryCalculation>
numera::calculateByLibrary(ArrayRef<numera::Instruction> program,
                           const Registry &registry, uint64_t seed) {
  if (std::string refusal = refusalOf(program); !refusal.empty())
    return createStringError(refusal);
  LibraryCalculation found;
  Compiler compiler(registry);
  mlir::OwningOpRef<mlir::ModuleOp> module = compiler.emptyModule();
  FunctionWriter writer(registry, module->getContext(), found);
  CompileOptions options;
  // Formats are in the types: there is nothing to retype.
  options.format = options.accumulate = "f32";
  options.outputAs = "storage,f64";
  options.optimization = 0;
  std::string text = writer.write(program);
  // LLVM takes long for more in one function.
  constexpr size_t most = 1000;
  size_t count = found.steps.size() +
                 count_if(program, [](const numera::Instruction &instruction) {
                   return instruction.operandCount() == 0;
                 });
  if (count > most)
    return createStringError(
        "with a library's format an expression has at most " + Twine(most) +
        " numbers and operations on them, here are " + Twine(count) +
        "; 'numera run' runs a model on arrays");
  Expected<std::unique_ptr<Program>> made =
      compileInMemory(compiler, registry, text, "expression", options);
  if (!made)
    return made.takeError();
  numera_options call = NUMERA_OPTIONS;
  call.seed = seed;
  std::vector<host::Array> outputs;
  {
    ProgramRuns runs;
    if (Error error = (*made)->call("f", {}, outputs, call))
      return std::move(error);
  }
  const host::Array &codes = outputs[0], &numbers = outputs[1];
  found.codeBytes = unsigned(sizeOf(codes.dtype));
  found.codes.assign(reinterpret_cast<const char *>(codes.bytes.get()),
                     codes.byteSize);
  writer.take({numbers.data<double>(), numbers.size()});
  return found;
}

// ---- Output

std::string LibraryCalculation::printCode(size_t element) const {
  std::string text;
  for (unsigned i = 0; i < codeBytes; ++i)
    text = toHex(StringRef(codes).substr(element * codeBytes + i, 1),
                 /*LowerCase=*/true) +
           text;
  return "0x" + StringRef(text).take_back((codeBits + 3) / 4).str();
}

static std::string printNumber(double value) {
  return printShortest(formatF64(), bit_cast<uint64_t>(value));
}

static std::string printStep(const LibraryStep &step) {
  std::string text = std::to_string(step.number);
  if (step.element)
    text += "[" + std::to_string(*step.element) + "]";
  text += ": " + step.instruction->name().str() + "(";
  StringRef separator = "";
  for (double operand : step.operands) {
    text += separator.str() + printNumber(operand);
    separator = ", ";
  }
  return text + ") = " + printNumber(step.result);
}

static constexpr StringLiteral unknown =
    "a library computes: it is not known whether that is exact";

void numera::printText(const LibraryCalculation &calculation, bool wantsSteps,
                       bool wantsBits, raw_ostream &stream) {
  if (wantsSteps)
    for (const LibraryStep &step : calculation.steps)
      stream << printStep(step) << '\n';
  SmallVector<std::string> elements;
  for (double value : calculation.values)
    elements.push_back(printNumber(value));
  std::string text = join(elements, ", ");
  stream << (calculation.isVector ? "[" + text + "]" : text) << '\n';
  if (wantsBits && !calculation.isTruth)
    for (size_t i = 0; i < calculation.values.size(); ++i)
      stream << calculation.printCode(i) << '\n';
  stream << unknown << '\n';
}

void numera::printJSON(const LibraryCalculation &calculation, bool wantsSteps,
                       json::OStream &stream) {
  auto printElement = [&](size_t i) {
    double value = calculation.values[i];
    if (calculation.isTruth)
      return stream.attribute("truth", value != 0);
    Unpacked number =
        formatF64().getFamily().decode(formatF64(), bit_cast<uint64_t>(value));
    stream.attribute("code", calculation.printCode(i));
    stream.attribute("value", printNearestHexFloat(number));
    stream.attribute("shortest", printNumber(value));
    stream.attribute("decimal", printDecimal(number));
  };
  if (calculation.isVector)
    stream.attributeArray("elements", [&] {
      for (size_t i = 0; i < calculation.values.size(); ++i)
        stream.object([&] { printElement(i); });
    });
  else
    printElement(0);
  stream.attribute("exact", nullptr);
  stream.attribute("outcomes", unknown);
  if (!wantsSteps)
    return;
  stream.attributeArray("steps", [&] {
    for (const LibraryStep &step : calculation.steps)
      stream.object([&] {
        stream.attribute("operation", step.instruction->name());
        if (step.element)
          stream.attribute("element", int64_t(*step.element));
        stream.attribute("format", step.instruction->result.spelling());
        stream.attributeArray("operands", [&] {
          for (double operand : step.operands)
            stream.value(printNumber(operand));
        });
        if (step.instruction->isTruth())
          stream.attribute("truth", step.result != 0);
        else
          stream.attribute("result", printNumber(step.result));
      });
  });
}
