// SPDX-License-Identifier: MIT

#include "ScaledCheck.h"
#include "CheckReport.h"
#include "numera/Registry/Description/FormatFacts.h"

#include "numera/Dialect/Numera/IR/Numera.h"
#include "numera/Registry/Scaling/Quantize.h"
#include "numera/Target/Driver/InMemory.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <random>

using namespace llvm;
using namespace numera;

uint64_t ScaledReport::tried() const {
  uint64_t sum = 0;
  for (const ScaledLaw &law : laws)
    sum += law.tried;
  return sum;
}
uint64_t ScaledReport::bad() const {
  return uint64_t(
      count_if(laws, [](const ScaledLaw &law) { return law.mismatches != 0; }));
}

namespace {

/// Quantizes and reads back what it is given, by a compiled program.
class RoundTrip {
public:
  RoundTrip(const Registry &registry, const ScaledFormat &format)
      : registry(registry), format(format), compiler(registry) {}

  Error compile();
  Expected<std::vector<float>> run(ArrayRef<float> values) const;

  int64_t rows() const { return 48; }
  /// Three blocks and a part of one.
  int64_t columns() const {
    return format.isBlock() ? int64_t(3 * format.scaling.block) + 1 : 37;
  }
  /// Blocks lie along rows; without them, a row is a channel.
  int64_t axis() const { return format.isBlock() ? 1 : 0; }

private:
  const Registry &registry;
  const ScaledFormat &format;
  Compiler compiler;
  std::unique_ptr<Program> program;
};

} // namespace

Error RoundTrip::compile() {
  std::string text;
  raw_string_ostream stream(text);
  mlir::OwningOpRef<mlir::ModuleOp> module = compiler.emptyModule();
  auto plain = mlir::RankedTensorType::get(
      {rows(), columns()}, mlir::Float32Type::get(module->getContext()));
  mlir::Type scaled = scaledType(plain, format, axis());
  stream << "func.func @trip(%x: " << plain << ") -> " << plain
         << " {\n  %q = numera.quantize %x : " << plain << " to " << scaled
         << "\n  %v = numera.dequantize %q : " << scaled << " to " << plain
         << "\n  return %v : " << plain << "\n}\n";
  CompileOptions options;
  options.format = "f32";
  Expected<std::unique_ptr<Program>> made =
      compileInMemory(compiler, registry, text, "check", options);
  if (!made)
    return made.takeError();
  program = std::move(*made);
  return Error::success();
}

Expected<std::vector<float>> RoundTrip::run(ArrayRef<float> values) const {
  std::string error;
  std::optional<host::Array> array =
      host::makeArray({rows(), columns()}, host::DType::f4, error);
  if (!array)
    return createStringError(error);
  copy(values, array->data<float>());
  std::vector<host::Array> outputs;
  numera_options options = NUMERA_OPTIONS;
  if (Error failure = program->call("trip", {&*array}, outputs, options))
    return std::move(failure);
  const auto *first = outputs.front().data<float>();
  return std::vector<float>(first, first + values.size());
}

/// Numbers of every size, and what rules treat in ways of their own.
static std::vector<float> draw(const RoundTrip &trip,
                               const ScaledFormat &format,
                               std::mt19937_64 &random) {
  std::vector<float> values;
  std::normal_distribution<double> normal;
  std::uniform_int_distribution<int> exponents(-140, 120), pick(0, 40);
  auto full = float(format.fullScale());
  const float special[] = {0,         -0.0f,
                           NAN,       INFINITY,
                           -INFINITY, 0x1p-149f,
                           0x1p-126f, 0x1.fffffep127f,
                           full,      std::nextafter(full, INFINITY),
                           1,         2};
  for (int64_t row = 0; row < trip.rows(); ++row) {
    int exponent = exponents(random);
    bool isZero = pick(random) == 0;
    // NaN and infinities stand in rows of their own, but for a scale of all.
    bool hasSpecials = !format.scaling.hasTensorScale && pick(random) < 8;
    for (int64_t column = 0; column < trip.columns(); ++column) {
      double number = isZero ? 0 : std::ldexp(normal(random), exponent);
      if (pick(random) < 4) // a power of two, or next to one
        number = std::ldexp(1 + std::ldexp(double(pick(random) % 3) - 1, -23),
                            exponent);
      values.push_back(hasSpecials && pick(random) < 4
                           ? special[size_t(pick(random)) % std::size(special)]
                           : float(number));
    }
  }
  return values;
}

/// True of equal bits, and of NaN and NaN.
static bool isSame(float x, float y) {
  return bit_cast<uint32_t>(x) == bit_cast<uint32_t>(y) ||
         (std::isnan(x) && std::isnan(y));
}

static void compare(ScaledLaw &law, ArrayRef<float> inputs,
                    ArrayRef<float> found, ArrayRef<float> expected) {
  for (size_t i = 0; i < found.size(); ++i) {
    ++law.tried;
    if (isSame(found[i], expected[i]))
      continue;
    if (law.mismatches++ == 0)
      law.example =
          formatv("{0:e9} becomes {1:e9}, expected {2:e9}", double(inputs[i]),
                  double(found[i]), double(expected[i]));
  }
}

static std::vector<float> byDefinition(const RoundTrip &trip,
                                       const ScaledFormat &format,
                                       ArrayRef<float> values) {
  float largest = largestMagnitude(values);
  std::vector<float> result;
  auto columns = size_t(trip.columns());
  size_t length = format.isBlock() ? size_t(format.scaling.block) : columns;
  for (size_t row = 0; row < values.size(); row += columns)
    for (size_t first = 0; first < columns; first += length) {
      size_t count = std::min(length, columns - first);
      append_range(result,
                   valuesByDefinition(format, values.slice(row + first, count),
                                      largest));
    }
  return result;
}

/// As constants are, when a program is compiled.
static std::vector<float> asConstants(const RoundTrip &trip,
                                      const ScaledFormat &format,
                                      ArrayRef<float> values) {
  ScaleGrid grid(format.scaling, {trip.rows(), trip.columns()}, trip.axis());
  return dequantize(format, grid, quantize(format, grid, values));
}

/// True if numbers that are values already keep their scales: these are the
/// powers of two of their largest, all of which the scales' format has, the
/// largest element is in the binade of full scale, and none is beyond it, as
/// those of posits and the least of integers are. Negative numbers, which
/// elements without a sign lose, may have made the scales: the binade is then
/// whole.
static bool keepsValues(const ScaledFormat &format) {
  const FormatFamily &family = format.element.getFamily();
  const Format &scale = format.scaling.scale;
  FormatFamily::Range scales = scale.getFamily().range(scale);
  int32_t emax = std::ilogb(format.fullScale());
  Unpacked largest =
      family.decode(format.element, family.largest(format.element));
  bool isSigned =
      family.decode(format.element, family.lowest(format.element)).negative;
  bool isWhole = countl_one(largest.significand) ==
                 family.precisionAt(format.element, largest.exponent);
  return (isSigned || isWhole) && format.scaling.rule == ScaleRule::Floor &&
         scales.leastExponent <= -127 && scales.maxExponent >= 127 &&
         largest.exponent == emax &&
         all_of(ArrayRef{family.lowest(format.element),
                         family.largest(format.element)},
                [&](uint64_t code) {
                  Unpacked value = family.decode(format.element, code);
                  return !value.isFinite() || value.isZero() ||
                         value.exponent <= emax;
                });
}

Expected<ScaledReport> numera::checkScaled(const Registry &registry,
                                           const ScaledFormat &format,
                                           uint64_t draws, uint64_t seed) {
  ScaledReport report;
  report.name = registry.nameOf(format);
  if (report.name.empty())
    report.name = format.spelling();
  report.format = format;
  if (format.element.isOpaque())
    return createStringError(
        "elements of '" + report.name +
        "' are a library's: check their format by its own name");
  // Zero points have no second definition here.
  bool isDefined = !format.hasZeroPoint();
  report.laws.push_back({.law = "values = those of constants"});
  if (isDefined)
    report.laws.push_back({.law = "values = those of the clauses"});
  bool keeps = keepsValues(format);
  if (keeps)
    report.laws.push_back({.law = "values of values = values"});
  RoundTrip trip(registry, format);
  if (Error error = trip.compile())
    return std::move(error);
  std::mt19937_64 random(seed);
  auto each = uint64_t(trip.rows() * trip.columns());
  for (uint64_t done = 0; done < draws; done += each) {
    std::vector<float> inputs = draw(trip, format, random);
    Expected<std::vector<float>> found = trip.run(inputs);
    if (!found)
      return found.takeError();
    compare(report.laws[0], inputs, *found, asConstants(trip, format, inputs));
    if (isDefined)
      compare(report.laws[1], inputs, *found,
              byDefinition(trip, format, inputs));
    if (!keeps)
      continue;
    Expected<std::vector<float>> again = trip.run(*found);
    if (!again)
      return again.takeError();
    compare(report.laws[2], *found, *again, *found);
  }
  return report;
}

void numera::printText(const ScaledReport &report, raw_ostream &out) {
  out << report.name << ' ' << report.format.spelling() << '\n';
  for (const ScaledLaw &law : report.laws) {
    out << "  " << left_justify(law.law, 40) << left_justify("law", 14)
        << right_justify(utostr(law.tried), 12)
        << right_justify(utostr(law.mismatches), 12) << '\n';
    if (law.mismatches)
      out << "    " << law.example << '\n';
  }
  out << report.name << ": "
      << CheckReport::summary(report.laws.size(), report.tried(), report.bad())
      << '\n';
}

void numera::printJSON(const ScaledReport &report, json::OStream &json) {
  json.object([&] {
    json.attribute("name", report.name);
    json.attribute("spelling", report.format.spelling());
    json.attributeArray("laws", [&] {
      for (const ScaledLaw &law : report.laws)
        json.object([&] {
          json.attribute("operation", law.law);
          json.attribute("inputs", int64_t(law.tried));
          json.attribute("mismatches", int64_t(law.mismatches));
          json.attribute("example", law.mismatches ? json::Value(law.example)
                                                   : json::Value(nullptr));
        });
    });
    json.attribute("inputs", int64_t(report.tried()));
    json.attribute("not_as_expected", int64_t(report.bad()));
  });
}
