// SPDX-License-Identifier: MIT
// Stands in for Universal: its names and types, other numbers. It throws, as
// the library's headers do.
#pragma once
#include <cstdint>
#include <cstring>
namespace sw::universal {
template <unsigned nbits, unsigned es> class posit {
public:
  posit() = default;
  explicit posit(double x) : value(float(x)) {
    if (nbits != 16)
      throw "16 bits";
  }
  posit &setbits(uint64_t code) {
    uint32_t bits = uint32_t(code) << 16;
    std::memcpy(&value, &bits, 4);
    return *this;
  }
  unsigned long long encoding() const noexcept {
    uint32_t bits;
    std::memcpy(&bits, &value, 4);
    return bits >> 16;
  }
  explicit operator double() const { return value; }
#define OP(op)                                                                 \
  friend posit operator op(posit x, posit y) { return posit(x.value op y.value); }
  OP(+) OP(-) OP(*) OP(/)
#undef OP
#define CMP(op)                                                                \
  friend bool operator op(posit x, posit y) { return x.value op y.value; }
  CMP(==) CMP(<) CMP(<=)
#undef CMP
private:
  float value = 0;
};
} // namespace sw::universal
