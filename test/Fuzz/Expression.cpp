// SPDX-License-Identifier: MIT
//
// Any text is an expression of `numera eval` with a value, or an error with a
// column in it. What is printed of a value is read as the same value.

#include "Eval/Calculator.h"
#include "Fuzz.h"
#include "numera/Registry/Description/Decimal.h"
#include "numera/Registry/Description/FormatFacts.h"
#include "numera/Registry/Description/HexFloat.h"
#include "numera/Registry/Formats/Number.h"

using namespace llvm;
using namespace numera;
using fuzz::promise;

static void promiseValue(const Format &format, uint64_t code) {
  promise(format.width() == 64 || code >> format.width() == 0,
          "a code has the width of its format");
  Unpacked value = format.getFamily().decode(format, code);
  (void)printDecimal(value);
  (void)printNearestHexFloat(value);
  (void)printFields(format, code);
  std::string shortest = printShortest(format, code);
  if (value.isNaN() || value.kind == Kind::Infinite)
    return;
  std::optional<Unpacked> read = parseNumber(shortest);
  promise(read.has_value(), "a printed value is a number: " + shortest);
  uint64_t again =
      format.getFamily().encode(format, *read, Rounding::NearestEven);
  promise(again == code, "the shortest number is the value's: " + shortest);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const Registry registry;
  StringRef text = fuzz::textOf(data, size);
  ExpressionError error;
  auto promiseError = [&] {
    promise(!error.message.empty() && error.column <= text.size(),
            "an error has a column and says something");
    return 0;
  };
  std::optional<ExpressionFormat> front = formatOf(text, error);
  if (!front)
    return promiseError();
  Format format = registry.lookupFormat(front->name, error.message);
  if (!format)
    return promiseError();
  if (!format.getFamily().hasArithmetic())
    return 0;
  std::optional<std::vector<Instruction>> program =
      parseExpression(text, front->end, format, registry, error);
  if (!program)
    return promiseError();
  promise(!program->empty(), "an expression has a last step");
  Calculation found = calculate(*program, /*seed=*/1);
  promise(!found.result.codes.empty(), "a result has a number");
  for (uint64_t code : found.result.codes)
    if (found.isTruth)
      promise(code <= 1, "a truth is 0 or 1");
    else
      promiseValue(found.format, code);
  return 0;
}
