// SPDX-License-Identifier: MIT

#include "Values.h"

#include "numera/Numerics/Exact/Integral.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace numera::check {

namespace {

/// Values in the order in which they came, each once.
class Collected {
public:
  explicit Collected(unsigned width) : mask(~uint64_t{0} >> (64 - width)) {}

  void add(uint64_t bits) { values.push_back(bits & mask); }
  void addAround(uint64_t bits, int reach = 1) {
    for (int i = -reach; i <= reach; ++i)
      add(bits + uint64_t(int64_t(i)));
  }
  std::vector<uint64_t> take() {
    llvm::sort(values);
    values.erase(std::unique(values.begin(), values.end()), values.end());
    return std::move(values);
  }

private:
  uint64_t mask;
  std::vector<uint64_t> values;
};

/// Codes around the numbers of note.
void addNumbers(const Format &format, Collected &codes) {
  const FormatFamily &family = format.getFamily();
  for (uint64_t code :
       {family.largest(format), family.lowest(format), family.highest(format),
        family.encode(format, Unpacked::nan(), Rounding::NearestEven)})
    codes.addAround(code);
  for (uint64_t magnitude : {1, 2, 3, 5, 7, 10, 255, 256})
    for (int32_t scale : {-8, -2, -1, 0, 1})
      for (bool negative : {false, true})
        codes.addAround(family.encode(
            format, Unpacked::fromInteger(negative, magnitude, scale),
            Rounding::NearestEven));
}

uint64_t bitsOf(const Format &machine, const Unpacked &value) {
  return machine.getFamily().encode(machine, value, Rounding::NearestEven);
}

/// The least number of `machine` in (low, high] that rounds to the code of
/// `high`; both are bits of positive, or of negative numbers.
uint64_t turn(const Format &machine, const Format &meaning, uint64_t low,
              uint64_t high) {
  auto codeOf = [&](uint64_t bits) {
    return meaning.getFamily().encode(meaning,
                                      machine.getFamily().decode(machine, bits),
                                      Rounding::NearestEven);
  };
  uint64_t target = codeOf(high);
  while (high - low > 1) {
    uint64_t middle = low + (high - low) / 2;
    (codeOf(middle) == target ? high : low) = middle;
  }
  return high;
}

} // namespace

std::vector<uint64_t> boundaryCodes(const Format &meaning, unsigned width) {
  Collected codes(width);
  uint64_t sign = uint64_t{1} << (width - 1);
  for (unsigned k = 0; k < width; ++k)
    for (uint64_t base : {uint64_t{1} << k, sign - (uint64_t{1} << k)}) {
      codes.addAround(base);
      codes.addAround(base | sign);
    }
  if (meaning)
    addNumbers(meaning, codes);
  return codes.take();
}

std::vector<uint64_t> notableCodes(const Format &meaning, unsigned width) {
  Collected codes(width);
  uint64_t sign = uint64_t{1} << (width - 1);
  for (uint64_t base : {uint64_t{0}, sign / 4, sign / 2})
    for (uint64_t side : {uint64_t{0}, sign}) {
      codes.addAround(base | side);
      codes.addAround((base | side) + sign / 8, 0);
    }
  if (!meaning)
    return codes.take();
  const FormatFamily &family = meaning.getFamily();
  codes.addAround(family.largest(meaning));
  codes.addAround(family.lowest(meaning));
  for (bool negative : {false, true})
    for (uint64_t magnitude : {1, 3})
      codes.add(family.encode(meaning,
                              Unpacked::fromInteger(negative, magnitude),
                              Rounding::NearestEven));
  codes.add(family.encode(meaning, Unpacked::nan(), Rounding::NearestEven));
  return codes.take();
}

std::vector<uint64_t> boundaryIntegers(const Format &meaning, unsigned width) {
  Collected integers(width);
  integers.addAround(0, 20);
  for (unsigned k = 0; k < width; ++k) {
    integers.addAround(uint64_t{1} << k, 3);
    integers.addAround(~(uint64_t{1} << k), 3);
    integers.addAround(uint64_t{3} << k >> 1);
  }
  if (!meaning)
    return integers.take();
  for (uint64_t code : boundaryCodes(meaning, meaning.width())) {
    Unpacked value = meaning.getFamily().decode(meaning, code);
    if (value.isFinite())
      integers.addAround(exact::toInteger(value, 64, true));
  }
  return integers.take();
}

std::vector<uint64_t> boundaryNumbers(const Format &machine,
                                      const Format &meaning) {
  Collected numbers(machine.width());
  for (uint64_t bits : boundaryCodes(machine, machine.width()))
    numbers.add(bits);
  if (!meaning)
    return numbers.take();
  std::vector<uint64_t> codes;
  if (meaning.width() <= 16)
    for (uint64_t code = 0; code >> meaning.width() == 0; ++code)
      codes.push_back(code);
  else
    codes = boundaryCodes(meaning, meaning.width());
  const FormatFamily &family = meaning.getFamily();
  uint64_t sign = uint64_t{1} << (machine.width() - 1);
  std::optional<uint64_t> before;
  for (uint64_t code : codes) {
    Unpacked value = family.decode(meaning, code);
    if (value.isNaN())
      continue;
    uint64_t bits = bitsOf(machine, value);
    numbers.addAround(bits);
    // Codes in sequence have values in sequence, up or down; the boundary ones
    // leave gaps, between which some turn is as good as any.
    if (before && (*before & sign) == (bits & sign) && *before != bits)
      numbers.addAround(turn(machine, meaning, std::min(*before, bits),
                             std::max(*before, bits)),
                        2);
    before = bits;
  }
  return numbers.take();
}

} // namespace numera::check
