// SPDX-License-Identifier: MIT

#include "PlainSums.h"
#include "numera/Registry/Description/FormatFacts.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"
#include <atomic>

using namespace llvm;
using namespace numera;
using namespace numera::layers;

static double toDouble(const Unpacked &value) {
  double magnitude = std::ldexp(double(value.significand), value.exponent - 63);
  return value.negative ? -magnitude : magnitude;
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
  inUlps += other.inUlps;
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
  finite += other.finite;
  largest = std::max(largest, other.largest);
}

void LayerErrors::addPlaces(const LayerErrors &other) {
  for (auto [to, from] : zip_equal(exponents, other.exponents))
    to += from;
  for (auto [to, from] : zip_equal(used, other.used))
    to |= from;
}

//===----------------------------------------------------------------------===//
// One tensor
//===----------------------------------------------------------------------===//

LayerScale::LayerScale(const Format &format)
    : known(!format.isOpaque()), perUlp(exponents) {
  if (!known) {
    largest = INFINITY;
    lowest = -INFINITY;
    makeFloatTables();
    return;
  }
  const FormatFamily &family = format.getFamily();
  FormatFamily::Range range = family.range(format);
  isEvenlySpaced = family.isEvenlySpaced();
  largest = toDouble(family.decode(format, family.largest(format)));
  lowest = toDouble(lowestOf(format));
  leastExponent = range.leastExponent;
  greatestExponent = range.maxExponent;
  leastNormal = std::ldexp(1.0, range.normalExponent.value_or(leastExponent));
  // Below the least and above the largest as there.
  for (int i = 0, last = INT_MIN; i < exponents; ++i) {
    int exponent = std::clamp(i + LayerErrors::firstExponent, leastExponent,
                              greatestExponent);
    perUlp[i] = exponent == last ? perUlp[i - 1]
                                 : 1 / toDouble(ulpAt(format, exponent));
    last = exponent;
  }
  makeFloatTables();
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

/// Of some elements of one tensor.
struct LayerScale::Sums {
  ErrorSums all, own;
  NumberCounts counts;
  Binades binades;
  PlainSums plain;
};

void LayerScale::makeFloatTables() {
  perUlpOfF32.assign(256, perUlp[0]);
  perUlpOfF32[0] = 0;
  for (int field = 1; field < 255; ++field)
    perUlpOfF32[field] = perUlp[field - 127 - LayerErrors::firstExponent];
  constexpr float most = std::numeric_limits<float>::max();
  auto down = [](double value) {
    auto rounded = float(std::min(value, double(most)));
    return rounded > value ? std::nextafter(rounded, 0.0f) : rounded;
  };
  limits.largest = down(largest);
  limits.lowest = lowest < 0 ? -down(-lowest) : 0;
  limits.heldLargest = limits.largest == largest ? limits.largest : NAN;
  limits.heldLowest = limits.lowest == lowest ? limits.lowest : NAN;
  limits.nearEnd = std::min(limits.largest, std::abs(limits.lowest));
  limits.leastNormal = down(leastNormal);
  if (limits.leastNormal < leastNormal)
    limits.leastNormal = std::nextafter(limits.leastNormal, INFINITY);
}

void LayerScale::makeRoom(LayerErrors &found) const {
  found.exponents.resize(exponents);
  if (codeCount)
    found.used.resize(divideCeil(uint64_t(1) << (32 - spareBits), 32));
}

/// Places first, then sums in vectors, then what is looked up.
template <typename V, typename R>
void LayerScale::addBlock(const V *value, const V *own, const R *reference,
                          size_t count, Sums &sums, LayerErrors &found) const {
  double x[block] = {}, y[block] = {}, z[block] = {}, units[block];
  int places[block];
  for (size_t i = 0; i < count; ++i) {
    x[i] = reference[i];
    y[i] = value[i];
    z[i] = own[i];
  }
  // Of zero and of subnormal f64, that below the least normal one.
  for (size_t i = 0; i < block; ++i)
    places[i] = std::min(int(bit_cast<uint64_t>(x[i]) << 1 >> 53) - 1023 -
                             LayerErrors::firstExponent,
                         exponents - 1);
  for (size_t i = 0; i < block; ++i)
    units[i] = x[i] == 0 ? 0 : perUlp[places[i]];
  for (size_t i = 0; i < block; i += lanes)
    for (size_t lane = 0; lane < lanes; ++lane) {
      double reference = x[i + lane], unit = units[i + lane];
      sums.counts.add(lane, y[i + lane], reference, largest, lowest,
                      leastNormal);
      sums.all.add(lane, y[i + lane], reference, unit);
      sums.own.add(lane, z[i + lane], reference, unit);
    }
  for (size_t i = 0; i < count; ++i) {
    int field = places[i] - Binades::firstPlace;
    if (field > 0 && field < 255)
      ++sums.binades.fields[i % Binades::counters][field];
    else if (x[i] != 0 && places[i] + 1 < exponents)
      ++found.exponents[size_t(places[i])];
  }
  if (codeCount)
    for (size_t i = 0; i < count; ++i)
      if (y[i] == y[i])
        mark(found.used.data(), bit_cast<uint32_t>(float(y[i])) >> spareBits);
  // What fills up the block was compared as zeros.
  sums.all.compared[0] -= block - count;
  sums.own.compared[0] -= block - count;
  sums.counts.finite[0] -= block - count;
}

/// The same of f32, most of which are plain: a whole block, whose numbers
/// beyond `count` are zeros. False without having added anything if not.
[[gnu::always_inline]] inline bool
LayerScale::addPlainBlock(const float *value, const float *own,
                          const float *reference, size_t count, Sums &sums,
                          LayerErrors &found) const {
  Places places;
  if (!sums.plain.scan(value, own, reference, limits, spareBits, places))
    return false;
  sums.plain.count += count;
  sums.plain.rest += block - count;
  const double *perUlp = perUlpOfF32.data();
  for (size_t lane = 0; lane < lanes; lane += halfLanes) {
    HalfSums all(sums.all, lane), owns(sums.own, lane);
    if (own == value)
      sums.plain.add<false>(lane, value, own, reference, perUlp, places,
                            sums.binades, all, owns);
    else
      sums.plain.add<true>(lane, value, own, reference, perUlp, places,
                           sums.binades, all, owns);
    all.storeTo(sums.all, lane);
    owns.storeTo(sums.own, lane);
  }
  if (codeCount)
    markAll(found.used.data(), places, count);
  return true;
}

template <typename V, typename R>
[[gnu::always_inline]] inline LayerErrors
LayerScale::measureSome(const V *value, const V *own, const R *reference,
                        size_t count, LayerErrors &found) const {
  Sums sums;
  // Of a layer that reads none but exact numbers.
  bool isSame = value == own || std::memcmp(value, own, count * sizeof(V)) == 0;
  if (isSame)
    own = value;
  for (size_t first = 0; first < count; first += block) {
    const V *v = value + first, *o = own + first;
    const R *r = reference + first;
    size_t some = std::min(block, count - first);
    // The last block, which is read below as well.
    [[maybe_unused]] float rest[3][block];
    if constexpr (std::is_same_v<V, float> && std::is_same_v<R, float>) {
      if (some < block) {
        std::memset(rest, 0, sizeof rest);
        v = std::copy_n(v, some, rest[0]) - some;
        r = std::copy_n(r, some, rest[1]) - some;
        o = isSame ? v : std::copy_n(o, some, rest[2]) - some;
      }
      if (addPlainBlock(v, o, r, some, sums, found))
        continue;
    }
    addBlock(v, o, r, some, sums, found);
  }
  LayerErrors errors;
  errors.count = count;
  sums.binades.addTo(found.exponents);
  sums.plain.addTo(sums.all, sums.binades);
  sums.plain.addTo(sums.own, sums.binades);
  sums.plain.addTo(sums.counts);
  errors.all = sums.all.sum();
  errors.own = isSame ? errors.all : sums.own.sum();
  const NumberCounts &counts = sums.counts;
  errors.overflow = NumberCounts::sum(counts.overflow);
  errors.saturated = NumberCounts::sum(counts.saturated);
  errors.underflow = NumberCounts::sum(counts.underflow);
  errors.zeros = NumberCounts::sum(counts.zeros);
  errors.nan = NumberCounts::sum(counts.nan);
  errors.finite = NumberCounts::sum(counts.finite);
  errors.largest = *llvm::max_element(counts.greatest);
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
[[gnu::target_clones("arch=x86-64-v3", "default")]]
#endif
LayerErrors LayerScale::measure(const numera_tensor &value,
                                const numera_tensor &own,
                                const numera_tensor &reference, size_t first,
                                size_t count, LayerErrors &found) const {
  auto *v = static_cast<const float *>(value.data) + first;
  auto *o = static_cast<const float *>(own.data) + first;
  auto *r = static_cast<const float *>(reference.data) + first;
  auto *wideV = static_cast<const double *>(value.data) + first;
  auto *wideO = static_cast<const double *>(own.data) + first;
  auto *wideR = static_cast<const double *>(reference.data) + first;
  bool isWide = reference.dtype == NUMERA_F64;
  if (value.dtype == NUMERA_F64)
    return isWide ? measureSome(wideV, wideO, wideR, count, found)
                  : measureSome(wideV, wideO, r, count, found);
  return isWide ? measureSome(v, o, wideR, count, found)
                : measureSome(v, o, r, count, found);
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

void LayerCollector::add(size_t row, ArrayRef<numera_tensor> tensors) {
  const numera_tensor &value = tensors[LayerRow::Value];
  LayerErrors &sum = sums[row];
  const LayerScale &scale = *scales[row];
  scale.makeRoom(sum);
  size_t count = elementsOf(value);
  // Of one size, whatever the threads: sums have the same bits.
  constexpr size_t most = size_t(1) << 16;
  std::vector<LayerErrors> parts(divideCeil(count, most));
  std::atomic<size_t> next = 0;
  auto measureParts = [&](LayerErrors &found) {
    for (size_t i; (i = next++) < parts.size();)
      parts[i] = scale.measure(value, tensors[LayerRow::Own],
                               tensors[LayerRow::Reference], i * most,
                               std::min(most, count - i * most), found);
  };
  size_t tasks = std::min<size_t>(parts.size(), threads.getMaxConcurrency());
  if (tasks > 1) {
    // Each has exponents and marks of its own.
    std::vector<LayerErrors> found(tasks);
    for (LayerErrors &each : found)
      threads.async([&each, &scale, &measureParts] {
        scale.makeRoom(each);
        measureParts(each);
      });
    threads.wait();
    for (const LayerErrors &each : found)
      sum.addPlaces(each);
  } else {
    measureParts(sum);
  }
  for (const LayerErrors &part : parts)
    sum += part;
}

void LayerCollector::add(ArrayRef<numera_tensor> results) {
  for (size_t row = 0; row < rows.size(); ++row)
    add(row, results.slice(row * LayerRow::results, LayerRow::results));
}

void LayerCollector::collectFrom(numera_options &options) {
  options.show_row_context = this;
  options.show_row = [](void *collector, uint32_t row,
                        const numera_tensor tensors[]) {
    static_cast<LayerCollector *>(collector)->add(
        row, ArrayRef(tensors, size_t(LayerRow::results)));
  };
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
  bool isInUlps = hasUlps && errors.inUlps;
  attribute("sqnr_db", errors.sqnr());
  attribute("max_abs_error",
            errors.compared ? std::optional(errors.largest) : std::nullopt);
  attribute("max_ulp_error",
            isInUlps ? std::optional(errors.largestUlps) : std::nullopt);
  attribute("mean_ulp_error",
            isInUlps ? std::optional(errors.ulps / double(errors.inUlps))
                     : std::nullopt);
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
  share("lost", found.finite - found.all.compared);
  share("own_lost", found.finite - found.own.compared);
  json.attribute("wasted_bits", orNull(scale.wastedBits(found.largest)));
  json.attribute("codes", scale.codes() ? json::Value(*scale.codes())
                                        : json::Value(nullptr));
  uint64_t used = 0;
  for (uint32_t word : found.used)
    used += uint64_t(popcount(word));
  json.attribute("used_codes",
                 scale.codes() ? json::Value(used) : json::Value(nullptr));
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
