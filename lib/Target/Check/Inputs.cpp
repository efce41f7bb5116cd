// SPDX-License-Identifier: MIT

#include "Inputs.h"
#include "Values.h"
#include "numera/Target/Check/Vectors.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace numera::check {

/// SplitMix64's finaliser (Steele, Lea, Flood: Fast Splittable Pseudorandom
/// Number Generators, 2014).
static uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

/// How many random inputs. An elementary function of a format of more than 16
/// bits costs as much as a hundred sums.
static uint64_t drawsOf(const Checked &checked, uint64_t count) {
  return costOf(checked.operation) < 40 ? count : count / 20;
}

/// Every n-th value.
static std::vector<uint64_t> thinned(const std::vector<uint64_t> &values,
                                     size_t most) {
  size_t step = (values.size() + most - 1) / most;
  std::vector<uint64_t> kept;
  for (size_t i = 0; i < values.size(); i += step)
    kept.push_back(values[i]);
  return kept;
}

Inputs::Inputs(const Registry &registry, const Checked &checked,
               const Options &options)
    : seed(mix(options.seed)) {
  unsigned bits = 0;
  for (const CastType &operand : checked.operands) {
    widths.push_back(widthOf(operand));
    bits += widths.back();
  }
  draws = drawsOf(checked, options.draws);
  // All of what is no more than is drawn at random; of f32, when asked.
  bool isUnary = widths.size() == 1;
  isExhaustive = (bits <= 16 && uint64_t{1} << bits <= options.draws) ||
                 (bits < 64 && uint64_t{1} << bits <= draws) ||
                 (isUnary && bits <= 32 && options.isSlow);
  if (isExhaustive) {
    boundaries = uint64_t{1} << bits;
    draws = 0;
    return;
  }
  Format result = meaningOf(registry, checked.result);
  combinations = 1;
  for (const CastType &operand : checked.operands) {
    Format meaning = meaningOf(registry, operand);
    bool isMachine = meaning == formatF32() || meaning == formatF64();
    if (!operand.format)
      lists.push_back(boundaryIntegers(result, operand.integer));
    else if (isMachine && isUnary && checked.operation == OpKind::Cast)
      lists.push_back(boundaryNumbers(meaning, result));
    else
      lists.push_back(boundaryCodes(meaning, operand.format.width()));
    // All triples would be too many.
    combined.push_back(lists.back());
    if (widths.size() > 2) {
      combined.back() = thinned(lists.back(), widths.size() > 3 ? 12 : 40);
      if (operand.format)
        append_range(combined.back(),
                     notableCodes(meaning, operand.format.width()));
    }
    combinations *= combined.back().size();
  }
  boundaries = std::min(combinations, options.draws);
}

/// A third anywhere, a third around a boundary value, a third around the
/// operand before (around 0 for the first), whose leading bits it shares:
/// operands far apart test little of an addition.
uint64_t Inputs::draw(uint64_t random, uint64_t other, size_t operand) const {
  uint64_t mask = ~uint64_t{0} >> (64 - widths[operand]);
  uint64_t pick = mix(random);
  uint64_t noise =
      mix(pick) >> (64 - widths[operand]) >> (pick >> 8) % widths[operand];
  const std::vector<uint64_t> &list = lists[operand];
  switch (pick % 3) {
  case 0:
    return random & mask;
  case 1:
    return (list[(pick >> 16) % list.size()] + noise) & mask;
  default:
    return (other ^ noise) & mask;
  }
}

Operands Inputs::at(uint64_t index) const {
  Operands operands{};
  if (isExhaustive) {
    for (size_t j = widths.size(); j-- > 0; index >>= widths[j])
      operands[j] = index & (~uint64_t{0} >> (64 - widths[j]));
    return operands;
  }
  if (index < boundaries) {
    // Where there are too many, some of all parts of the list.
    index = uint64_t(__uint128_t(index) * combinations / boundaries);
    for (size_t j = combined.size(); j-- > 0; index /= combined[j].size())
      operands[j] = combined[j][index % combined[j].size()];
    return operands;
  }
  uint64_t random = mix(seed ^ index);
  for (size_t j = 0; j < lists.size(); ++j) {
    random = mix(random + j);
    operands[j] = draw(random, j ? operands[j - 1] : 0, j);
  }
  return operands;
}

std::vector<Operands> inputsOf(const Registry &registry, const Checked &checked,
                               const Options &options) {
  Inputs inputs(registry, checked, options);
  std::vector<Operands> all(inputs.size());
  for (size_t i = 0; i < all.size(); ++i)
    all[i] = inputs.at(i);
  return all;
}

} // namespace numera::check
