// SPDX-License-Identifier: MIT

#include "numera/Target/Driver/LayerErrors.h"
#include "numera/Registry/Description/FormatFacts.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cmath>
#include <numeric>

using namespace llvm;
using namespace numera;

static double toDouble(const Unpacked &value) {
  return std::ldexp(double(value.significand), value.exponent - 63);
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

std::optional<double> NumberErrors::sqnr() const {
  if (compared == 0 || signal == 0)
    return std::nullopt;
  return noise == 0 ? INFINITY : 10 * std::log10(signal / noise);
}

void NumberErrors::operator+=(const NumberErrors &other) {
  signal += other.signal;
  noise += other.noise;
  largest = std::max(largest, other.largest);
  largestUlps = std::max(largestUlps, other.largestUlps);
  ulps += other.ulps;
  compared += other.compared;
}

void LayerErrors::operator+=(const LayerErrors &other) {
  count += other.count;
  all += other.all;
  own += other.own;
  overflow += other.overflow;
  saturated += other.saturated;
  underflow += other.underflow;
  zeros += other.zeros;
  nan += other.nan;
  largest = std::max(largest, other.largest);
  exponents.resize(std::max(exponents.size(), other.exponents.size()));
  for (auto [sum, term] : zip(exponents, other.exponents))
    sum += term;
  used.resize(std::max(used.size(), other.used.size()));
  for (auto [sum, term] : zip(used, other.used))
    sum |= term;
}

//===----------------------------------------------------------------------===//
// One tensor
//===----------------------------------------------------------------------===//

/// One place more, for infinities and NaN.
static constexpr int exponents = 1025 - LayerErrors::firstExponent;

LayerScale::LayerScale(const Format &format)
    : known(!format.isOpaque()), perUlp(exponents) {
  if (!known)
    return;
  const FormatFamily &family = format.getFamily();
  FormatFamily::Range range = family.range(format);
  isEvenlySpaced = family.isEvenlySpaced();
  largest = toDouble(family.decode(format, family.largest(format)));
  leastExponent = range.leastExponent;
  greatestExponent = range.maxExponent;
  leastNormal = std::ldexp(1.0, range.normalExponent.value_or(leastExponent));
  // Numbers of 2^e and more lie 2^(e + 1 - precision) apart; below the least
  // and above the largest as there.
  for (int i = 0; i < exponents; ++i) {
    int exponent = std::clamp(i + LayerErrors::firstExponent, leastExponent,
                              greatestExponent);
    int precision = std::max(family.precisionAt(format, exponent), 1);
    perUlp[i] = std::ldexp(1.0, precision - 1 - exponent);
  }
  if (format.width() > 16 || !embeds(format, formatF32()))
    return;
  FormatFamily::SpecialCodes special = family.specialCodes(format);
  codeCount = (uint64_t(1) << format.width()) - special.nan;
  uint32_t all = 0;
  for (uint64_t code = 0; code >> format.width() == 0; ++code) {
    Unpacked value = family.decode(format, code);
    if (value.isFinite())
      all |= bit_cast<uint32_t>(float(toDouble(value)));
  }
  spareBits = all ? unsigned(countr_zero(all)) : 23;
}

namespace {

/// Sums in lanes, so that several numbers are added at once.
struct Lanes {
  static constexpr size_t count = 8;
  double signal[count] = {}, noise[count] = {}, largest[count] = {};
  double ulps[count] = {}, largestUlps[count] = {};
  uint64_t compared[count] = {};

  void add(size_t lane, double value, double reference, double perUlp) {
    double error = std::abs(value - reference);
    bool isFinite = error < INFINITY;
    error = isFinite ? error : 0;
    double x = isFinite ? reference : 0;
    compared[lane] += isFinite;
    signal[lane] += x * x;
    noise[lane] += error * error;
    largest[lane] = std::max(largest[lane], error);
    ulps[lane] += error * perUlp;
    largestUlps[lane] = std::max(largestUlps[lane], error * perUlp);
  }

  NumberErrors sum() const {
    NumberErrors errors;
    for (size_t i = 0; i < count; ++i)
      errors += {signal[i],      noise[i], largest[i],
                 largestUlps[i], ulps[i],  compared[i]};
    return errors;
  }
};

/// Counts of numbers in lanes.
struct Counts {
  uint64_t overflow[Lanes::count] = {}, saturated[Lanes::count] = {};
  uint64_t underflow[Lanes::count] = {}, zeros[Lanes::count] = {};
  uint64_t nan[Lanes::count] = {};
};

} // namespace

static uint64_t sum(const uint64_t (&lanes)[Lanes::count]) {
  return std::accumulate(std::begin(lanes), std::end(lanes), uint64_t(0));
}

template <typename V, typename R>
[[gnu::always_inline]] inline LayerErrors
LayerScale::measureSome(const V *value, const V *own, const R *reference,
                        size_t count) const {
  LayerErrors errors;
  errors.count = count;
  errors.exponents.resize(exponents);
  if (codeCount)
    errors.used.resize(size_t(1) << (32 - spareBits));
  Lanes all, alone;
  Counts counts;
  double greatest[Lanes::count] = {};
  // Neighbours often have one exponent: two counters of it need not wait for
  // each other.
  uint32_t inBinade[exponents][2] = {};
  // Places first, then sums in vectors, then what is looked up.
  constexpr size_t block = 512;
  static_assert(block % Lanes::count == 0);
  for (size_t first = 0; first < count; first += block) {
    size_t some = std::min(block, count - first);
    double x[block] = {}, y[block] = {}, z[block] = {}, units[block];
    int places[block];
    for (size_t i = 0; i < some; ++i) {
      x[i] = reference[first + i];
      y[i] = value[first + i];
      z[i] = own[first + i];
    }
    // Of zero and of subnormal f64, that below the least normal one.
    for (size_t i = 0; i < block; ++i)
      places[i] = std::min(int(bit_cast<uint64_t>(x[i]) << 1 >> 53) - 1023 -
                               LayerErrors::firstExponent,
                           exponents - 1);
    for (size_t i = 0; i < block; ++i)
      units[i] = perUlp[places[i]];
    for (size_t i = 0; i < block; i += Lanes::count)
      for (size_t lane = 0; lane < Lanes::count; ++lane) {
        double magnitude = std::abs(x[i + lane]), is = y[i + lane];
        bool isNumber = magnitude > 0 && magnitude < INFINITY;
        bool isBeyond = isNumber && magnitude > largest;
        greatest[lane] = std::max(greatest[lane], isNumber ? magnitude : 0.0);
        counts.overflow[lane] += isBeyond;
        counts.saturated[lane] += isBeyond && std::abs(is) == largest;
        counts.underflow[lane] += isNumber && magnitude < leastNormal;
        counts.zeros[lane] += isNumber && is == 0;
        counts.nan[lane] += is != is && magnitude == magnitude;
        all.add(lane, is, x[i + lane], units[i + lane]);
        alone.add(lane, z[i + lane], x[i + lane], units[i + lane]);
      }
    for (size_t i = 0; i < some; ++i)
      inBinade[places[i]][i % 2] += x[i] != 0;
    if (codeCount)
      for (size_t i = 0; i < some; ++i)
        if (y[i] == y[i])
          errors.used[bit_cast<uint32_t>(float(y[i])) >> spareBits] = 1;
    // What fills up the block was compared as zeros.
    all.compared[0] -= block - some;
    alone.compared[0] -= block - some;
  }
  for (int i = 0; i + 1 < exponents; ++i) // the last: infinities and NaN
    errors.exponents[i] = uint64_t(inBinade[i][0]) + inBinade[i][1];
  errors.all = all.sum();
  errors.own = alone.sum();
  errors.overflow = sum(counts.overflow);
  errors.saturated = sum(counts.saturated);
  errors.underflow = sum(counts.underflow);
  errors.zeros = sum(counts.zeros);
  errors.nan = sum(counts.nan);
  errors.largest = *std::max_element(std::begin(greatest), std::end(greatest));
  return errors;
}

static size_t elementsOf(const numera_tensor &tensor) {
  size_t count = 1;
  for (int32_t i = 0; i < tensor.rank; ++i)
    count *= size_t(tensor.shape[i]);
  return count;
}

// Sums in vectors are worth twice as much where vectors are twice as long.
// Without FMA, which would change their bits.
#ifdef __x86_64__
[[gnu::target_clones("avx2", "default")]]
#endif
LayerErrors LayerScale::measure(const numera_tensor &value,
                                const numera_tensor &own,
                                const numera_tensor &reference, size_t first,
                                size_t count) const {
  auto *v = static_cast<const float *>(value.data) + first;
  auto *o = static_cast<const float *>(own.data) + first;
  auto *r = static_cast<const float *>(reference.data) + first;
  auto *wideV = static_cast<const double *>(value.data) + first;
  auto *wideO = static_cast<const double *>(own.data) + first;
  auto *wideR = static_cast<const double *>(reference.data) + first;
  bool isWide = reference.dtype == NUMERA_F64;
  if (value.dtype == NUMERA_F64)
    return isWide ? measureSome(wideV, wideO, wideR, count)
                  : measureSome(wideV, wideO, r, count);
  return isWide ? measureSome(v, o, wideR, count) : measureSome(v, o, r, count);
}

std::optional<double> LayerScale::wastedBits(double magnitude) const {
  if (!known || magnitude == 0)
    return std::nullopt;
  double bits = std::log2(largest / magnitude);
  if (!isEvenlySpaced)
    bits = bits > 1 ? std::log2(bits) : 0;
  return std::max(bits, 0.0);
}

std::optional<uint64_t> LayerScale::codes() const {
  return codeCount ? std::optional(codeCount) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// All calls
//===----------------------------------------------------------------------===//

LayerCollector::LayerCollector(ArrayRef<LayerRow> rows,
                               const Registry &registry, unsigned threads)
    : threads(hardware_concurrency(threads)), rows(rows), sums(rows.size()) {
  std::string error;
  for (const LayerRow &row : rows)
    if (!known.contains(row.format))
      known.try_emplace(row.format,
                        LayerScale(registry.lookupFormat(row.format, error)));
  for (const LayerRow &row : rows)
    scales.push_back(&known.find(row.format)->second);
}

void LayerCollector::add(ArrayRef<numera_tensor> results) {
  // Parts are summed in their order, whatever the threads.
  constexpr size_t most = size_t(1) << 18;
  std::vector<std::vector<LayerErrors>> parts(rows.size());
  for (auto [row, scale] : enumerate(scales)) {
    ArrayRef<numera_tensor> tensors =
        results.slice(row * LayerRow::results, LayerRow::results);
    size_t count = elementsOf(tensors[LayerRow::Value]);
    parts[row].resize(divideCeil(count, most));
    for (auto [i, part] : enumerate(parts[row]))
      threads.async([scale = scale, &part, tensors, first = i * most,
                     some = std::min(most, count - i * most)] {
        part = scale->measure(tensors[LayerRow::Value], tensors[LayerRow::Own],
                              tensors[LayerRow::Reference], first, some);
      });
  }
  threads.wait();
  for (auto [sum, each] : zip_equal(sums, parts))
    for (const LayerErrors &part : each)
      sum += part;
}

std::optional<double> LayerCollector::sqnrOfInputs(size_t row) const {
  std::optional<double> least;
  for (int input : rows[row].inputs)
    if (std::optional<double> sqnr = sums[input].all.sqnr())
      least = std::min(least.value_or(INFINITY), *sqnr);
  return least;
}

/// JSON has no infinity and no NaN.
static json::Value orNull(std::optional<double> value) {
  return value && std::isfinite(*value) ? json::Value(*value)
                                        : json::Value(nullptr);
}

static void print(StringRef prefix, const NumberErrors &errors, bool hasUlps,
                  json::OStream &json) {
  auto attribute = [&](StringRef key, std::optional<double> value) {
    json.attribute((prefix + key).str(), orNull(value));
  };
  auto mean = [&](double sum) {
    return errors.compared ? std::optional(sum / double(errors.compared))
                           : std::nullopt;
  };
  attribute("sqnr_db", errors.sqnr());
  attribute("max_abs_error",
            errors.compared ? std::optional(errors.largest) : std::nullopt);
  attribute("max_ulp_error", hasUlps && errors.compared
                                 ? std::optional(errors.largestUlps)
                                 : std::nullopt);
  attribute("mean_ulp_error", hasUlps ? mean(errors.ulps) : std::nullopt);
}

void LayerCollector::print(size_t row, json::OStream &json) const {
  const LayerErrors &found = sums[row];
  const LayerScale &scale = *scales[row];
  json.attribute("name", json::fixUTF8(rows[row].name));
  json.attribute("operation", rows[row].operation);
  json.attribute("format", rows[row].format);
  json.attribute("inputs", json::Array(rows[row].inputs));
  json.attribute("count", found.count);
  json.attribute("input_sqnr_db", orNull(sqnrOfInputs(row)));
  ::print("", found.all, scale.isKnown(), json);
  ::print("own_", found.own, scale.isKnown(), json);
  auto share = [&](StringRef key, uint64_t part) {
    json.attribute(key, found.count ? double(part) / double(found.count) : 0.0);
  };
  share("overflow", found.overflow);
  share("saturated", found.saturated);
  share("underflow", found.underflow);
  share("zeros", found.zeros);
  share("nan", found.nan);
  json.attribute("wasted_bits", orNull(scale.wastedBits(found.largest)));
  json.attribute("codes", scale.codes() ? json::Value(*scale.codes())
                                        : json::Value(nullptr));
  json.attribute("used_codes",
                 scale.codes()
                     ? json::Value(uint64_t(llvm::count(found.used, 1)))
                     : json::Value(nullptr));
  if (scale.isKnown())
    json.attributeArray("format_exponents", [&] {
      json.value(scale.leastExponent);
      json.value(scale.greatestExponent);
    });
  json.attributeObject("exponents", [&] {
    for (auto [i, count] : enumerate(found.exponents))
      if (count)
        json.attribute(std::to_string(int(i) + LayerErrors::firstExponent),
                       count);
  });
}

void LayerCollector::print(json::OStream &json) const {
  json.attributeArray("layers", [&] {
    for (size_t row = 0; row < rows.size(); ++row)
      json.object([&] { print(row, json); });
  });
}
