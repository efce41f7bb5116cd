// SPDX-License-Identifier: MIT

#include "numera/Runtime/Convert.h"

#include <bit>
#include <limits>
#include <utility>

using namespace numera::host;

namespace {

/// A conversion of C++ rounds once, in the mode that is set: to nearest even,
/// in programs that set no other.
template <typename To, typename From>
void convertElements(const Array &from, Array &to) {
  const From *source = from.data<From>();
  To *target = to.data<To>();
  for (size_t i = 0, size = from.size(); i < size; ++i)
    target[i] = To(source[i]);
}

template <typename To> void convertTo(const Array &from, Array &to) {
  switch (from.dtype) {
  case DType::f2:
    for (size_t i = 0, size = from.size(); i < size; ++i)
      to.data<To>()[i] = numberOfHalf(from.data<uint16_t>()[i]);
    return;
  case DType::f4:
    return convertElements<To, float>(from, to);
  case DType::f8:
    return convertElements<To, double>(from, to);
  case DType::i1:
    return convertElements<To, int8_t>(from, to);
  case DType::i2:
    return convertElements<To, int16_t>(from, to);
  case DType::i4:
    return convertElements<To, int32_t>(from, to);
  case DType::i8:
    return convertElements<To, int64_t>(from, to);
  case DType::u1:
    return convertElements<To, uint8_t>(from, to);
  case DType::u2:
    return convertElements<To, uint16_t>(from, to);
  case DType::u4:
    return convertElements<To, uint32_t>(from, to);
  case DType::u8:
    return convertElements<To, uint64_t>(from, to);
  case DType::b1:
    // A byte of a file may hold more than 0 and 1; NumPy takes it for true.
    for (size_t i = 0, size = from.size(); i < size; ++i)
      to.data<To>()[i] = from.data<uint8_t>()[i] != 0;
    return;
  case DType::bf2:
    for (size_t i = 0, size = from.size(); i < size; ++i)
      to.data<To>()[i] = numberOfBFloat(from.data<uint16_t>()[i]);
    return;
  case DType::v16:
  case DType::v32: // no numbers (convertsNumbers)
    return;
  }
}

} // namespace

/// 1 sign, 5 exponent, 10 fraction. Not `_Float16`: not every compiler that
/// builds this has the type.
float numera::host::numberOfHalf(uint16_t code) {
  uint32_t sign = uint32_t(code & 0x8000) << 16;
  uint32_t exponent = code >> 10 & 31, fraction = code & 0x3FF;
  if (exponent == 0) {
    float magnitude = float(fraction) * 0x1p-24F;
    return sign ? -magnitude : magnitude;
  }
  if (exponent == 31)
    return fraction ? std::numeric_limits<float>::quiet_NaN()
                    : std::bit_cast<float>(sign | 0x7F800000);
  return std::bit_cast<float>(sign | (exponent + 127 - 15) << 23 |
                              fraction << 13);
}

float numera::host::numberOfBFloat(uint16_t code) {
  return std::bit_cast<float>(uint32_t(code) << 16);
}

bool numera::host::convertsNumbers(DType from, DType to) {
  bool areNumbers = from != DType::v16 && from != DType::v32;
  return from == to || (areNumbers && (to == DType::f4 || to == DType::f8));
}

bool numera::host::convertNumbers(Array &array, DType to, std::string &error) {
  if (array.dtype == to)
    return true;
  if (!convertsNumbers(array.dtype, to)) {
    error = "'" + std::string(spelling(array.dtype)) +
            "' is not converted to '" + std::string(spelling(to)) + "'";
    return false;
  }
  std::optional<Array> made = makeArray(array.shape, to, error);
  if (!made)
    return false;
  if (to == DType::f4)
    convertTo<float>(array, *made);
  else
    convertTo<double>(array, *made);
  array = std::move(*made);
  return true;
}
