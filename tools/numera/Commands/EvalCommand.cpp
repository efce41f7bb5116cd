// SPDX-License-Identifier: MIT
//
// `numera eval`: a calculator in any format.

#include "Commands.h"
#include "Eval/CalculationReport.h"
#include "Eval/LibraryCalculator.h"
#include "Support/CommandLine.h"
#include "Support/ModelFlags.h"
#include "numera/Registry/Description/FormatFacts.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace numera;

namespace {

struct EvalFlags {
  FormatSources sources;
  std::string rounding, overflow;
  std::optional<uint64_t> randomBits, seed;
  bool bits = false, steps = false, json = false;
};

} // namespace

/// One line with the place, as compilers have it.
static int fail(const ExpressionError &error) {
  // Messages quote the user's text, which may have line breaks in it.
  std::string line = error.message;
  for (char &c : line)
    c = static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  errs() << "expression:1:" << error.column + 1 << ": error: " << line << '\n';
  return 1;
}

/// The format with the rounding and the overflow rule of the command line; null
/// after one line of error.
static Format withFlags(Format format, const EvalFlags &flags) {
  std::string spelling = format.spelling();
  if (!flags.overflow.empty()) {
    std::optional<Overflow> rule = overflowFromName(flags.overflow);
    Format changed =
        rule ? format.getFamily().withOverflow(format, *rule) : Format();
    if (!changed) {
      fail("overflow '" + flags.overflow + "' does not go with " + spelling);
      return {};
    }
    format = changed;
  }
  if (!flags.rounding.empty()) {
    std::optional<Rounding> rounding = roundingFromName(flags.rounding);
    if (!rounding) {
      fail("rounding '" + flags.rounding +
           "' is unknown, expected nearest-even, nearest-away, nearest-zero, "
           "toward-zero, up, down, to-odd or stochastic");
      return {};
    }
    int32_t bits = rounding == Rounding::Stochastic ? defaultRandomBits : 0;
    format = format.withRounding(*rounding, bits);
  }
  if (!flags.randomBits)
    return format;
  if (format.getRounding() != Rounding::Stochastic) {
    fail("--random-bits is for stochastic rounding, but " + spelling +
         " rounds " + nameOf(format.getRounding()));
    return {};
  }
  if (*flags.randomBits < 1 || *flags.randomBits > 32) {
    fail("option '--random-bits' is '" + Twine(*flags.randomBits) +
         "', expected 1 to 32");
    return {};
  }
  return format.withRounding(Rounding::Stochastic, int32_t(*flags.randomBits));
}

static void printJSON(StringRef name, const Format &format,
                      const auto &calculation, const EvalFlags &flags) {
  json::OStream out(outs(), /*IndentSize=*/2);
  out.object([&] {
    out.attribute("format", name);
    out.attribute("spelling", format.spelling());
    if (!format.isOpaque()) {
      out.attribute("rounding", nameOf(format.getRounding()));
      out.attribute("overflow", overflowOf(format));
    }
    out.attribute("seed", flags.seed.value_or(0));
    printJSON(calculation, flags.steps, out);
  });
  outs() << '\n';
}

/// Without the place in what was compiled.
static std::string lineOf(Error error) {
  std::string line = toString(std::move(error));
  size_t at = line.find("error: ");
  return at == std::string::npos ? line : line.substr(at + strlen("error: "));
}

static int evaluate(StringRef text, const Registry &registry,
                    const EvalFlags &flags) {
  ExpressionError error;
  std::optional<ExpressionFormat> front = formatOf(text, error);
  if (!front)
    return fail(error);
  Format format = registry.lookupElement(front->name, error.message);
  error.column = front->column;
  if (!format)
    return fail(error);
  if (format.isOpaque() &&
      (!flags.rounding.empty() || !flags.overflow.empty() || flags.randomBits))
    return fail({front->column, "'" + front->name.str() +
                                    "' is opaque: its library rounds, and "
                                    "--rounding, --overflow and "
                                    "--random-bits are not for it"});
  if (!format.isOpaque())
    format = withFlags(format, flags);
  if (!format)
    return 1;
  std::optional<std::vector<numera::Instruction>> program =
      parseExpression(text, front->end, format, registry, error);
  if (!program)
    return fail(error);
  uint64_t seed = flags.seed.value_or(0);
  auto print = [&](const auto &calculation) {
    if (flags.json)
      printJSON(front->name, format, calculation, flags);
    else
      printText(calculation, flags.steps, flags.bits, outs());
    return 0;
  };
  if (needsLibrary(*program, registry)) {
    Expected<LibraryCalculation> found =
        calculateByLibrary(*program, registry, seed);
    return found ? print(*found)
                 : fail({front->end, lineOf(found.takeError())});
  }
  return print(calculate(*program, seed));
}

int numera::evalCommand(ArrayRef<const char *> arguments) {
  EvalFlags flags;
  CommandLine line("eval 'FORMAT: EXPRESSION' [options]",
                   "A calculator: numera eval 'posit16: 1/3 + 2', or 'f16: x = "
                   "[1, 2]; x * ulp(x)'. Each\noperation rounds once; the last "
                   "line says whether the result is exact.");
  addFormatsFlags(line, flags.sources);
  line.add({"rounding", "MODE", "round so, e.g. nearest-even, stochastic, up",
            &flags.rounding});
  line.add({"random-bits", "N", "random bits of stochastic rounding, 1 to 32",
            &flags.randomBits});
  line.add({"seed", "NUMBER", "seed of stochastic rounding", &flags.seed});
  line.add({"overflow", "RULE", "infinity, saturate, propagate or wrap",
            &flags.overflow});
  line.add({"bits", "", "print the code and its fields, too", &flags.bits});
  line.add({"steps", "", "print each operation", &flags.steps});
  line.add({"json", "", "print JSON", &flags.json});
  if (std::optional<int> status = line.parse(arguments))
    return *status;
  if (line.positional().size() != 1)
    return fail("expected one expression, as in numera eval 'posit16: 1/3 + "
                "2', found " +
                Twine(line.positional().size()));
  Registry registry;
  if (!loadRegistry(flags.sources, registry))
    return 1;
  return evaluate(line.positional()[0], registry, flags);
}
