// SPDX-License-Identifier: MIT
//
// The operations of the `numera` dialect on codes of one format: decode, the
// exact operation, one rounding. If DoubleRounding.h proves that arithmetic in
// a carrier (f32 or f64) gives the same bits, they use it. Tests compare both
// paths.
//
// A format F here is FloatFormat, PositFormat or any other struct with their
// members. A family whose values are not binary fractions, or whose arithmetic
// is simpler on codes, defines operations as members with these names. Formats
// and rounding are ordinary arguments: compiled programs pass constants, and
// inlining specialises everything away.

#ifndef NUMERA_NUMERICS_OPERATIONS_OPERATIONS_H
#define NUMERA_NUMERICS_OPERATIONS_OPERATIONS_H

#include "numera/Numerics/Carrier/DoubleRounding.h"
#include "numera/Numerics/Exact/Divide.h"
#include "numera/Numerics/Exact/Integral.h"
#include "numera/Numerics/Exact/Multiply.h"
#include "numera/Numerics/Exact/SquareRoot.h"

namespace numera {

/// The exact path, for every format and mode. Tests compare the faster paths
/// with it.
namespace reference {
template <typename F>
constexpr uint64_t add(const F &f, uint64_t x, uint64_t y, RoundingMode mode) {
  return f.encode(exact::add(f.decode(x), f.decode(y), mode), mode);
}
template <typename F>
constexpr uint64_t sub(const F &f, uint64_t x, uint64_t y, RoundingMode mode) {
  return f.encode(exact::sub(f.decode(x), f.decode(y), mode), mode);
}
template <typename F>
constexpr uint64_t mul(const F &f, uint64_t x, uint64_t y, RoundingMode mode) {
  return f.encode(exact::mul(f.decode(x), f.decode(y)), mode);
}
template <typename F>
constexpr uint64_t div(const F &f, uint64_t x, uint64_t y, RoundingMode mode) {
  return f.encode(exact::div(f.decode(x), f.decode(y), mode), mode);
}
template <typename F>
constexpr uint64_t sqrt(const F &f, uint64_t x, RoundingMode mode) {
  return f.encode(exact::sqrt(f.decode(x), mode), mode);
}
template <typename F>
constexpr uint64_t fma(const F &f, uint64_t x, uint64_t y, uint64_t z,
                       RoundingMode mode) {
  return f.encode(exact::fma(f.decode(x), f.decode(y), f.decode(z), mode),
                  mode);
}
} // namespace reference

/// True if the format is the machine's own f32 or f64, whose arithmetic is
/// IEEE 754's and only needs its NaNs made canonical.
template <typename T, typename F> constexpr bool isMachine(const F &) {
  return false;
}
template <typename T> constexpr bool isMachine(const FloatFormat &f) {
  return f == Carrier<T>::format;
}

/// A machine result as a code.
template <typename T> constexpr uint64_t canonical(T value) {
  return value == value ? Carrier<T>::bits(value) : Carrier<T>::nan;
}
template <typename T> constexpr T machine(uint64_t code) {
  return Carrier<T>::value(static_cast<typename Carrier<T>::Word>(code));
}

/// True if carrier arithmetic may replace the exact path at all.
constexpr bool usesDoubleRounding() {
  return !__builtin_is_constant_evaluated();
}
/// True if the machine's own operations do.
constexpr bool usesMachine(RoundingMode mode) {
  return mode == Rounding::NearestEven && usesDoubleRounding();
}

/// Applies `operation` to the carriers of the operands and rounds once more.
template <typename T, typename F, typename Operation, typename... Codes>
constexpr uint64_t inLane(const F &f, RoundingMode mode, Operation operation,
                          Codes... codes) {
  return DoubleRounding<T>::finish(
      f, operation(DoubleRounding<T>::decodeAny(f, codes)...), mode);
}

/// The same for an operation that has a number for all numbers, and NaN else:
/// where NaN is one code, codes tell it for less.
template <typename T, typename F, typename Operation>
constexpr uint64_t numbersInLane(const F &f, RoundingMode mode,
                                 Operation operation, uint64_t x, uint64_t y) {
  if constexpr (requires { DoubleRounding<T>::decodeNumber(f, x); })
    if (mode == Rounding::NearestEven) {
      T result = operation(DoubleRounding<T>::decodeNumber(f, x),
                           DoubleRounding<T>::decodeNumber(f, y));
      uint64_t code = DoubleRounding<T>::encodeNumber(f, result);
      // Both, so that there is no branch.
      bool xIsNaN = f.isNaN(x & f.mask()), yIsNaN = f.isNaN(y & f.mask());
      bool isNaN = int{xIsNaN} | int{yIsNaN};
      return isNaN ? f.nanCode() : code;
    }
  return inLane<T>(f, mode, operation, x, y);
}

template <typename F>
constexpr uint64_t add(const F &f, uint64_t x, uint64_t y, RoundingMode mode) {
  if constexpr (requires { f.add(x, y, mode); })
    return f.add(x, y, mode);
  if (usesMachine(mode) && isMachine<float>(f))
    return canonical(machine<float>(x) + machine<float>(y));
  if (usesMachine(mode) && isMachine<double>(f))
    return canonical(machine<double>(x) + machine<double>(y));
  auto sum = [&]<typename T>(T a, T b) {
    return DoubleRounding<T>::sum(f, a, b, mode);
  };
  if (usesDoubleRounding() &&
      DoubleRounding<float>::addition(f, mode) != EvaluationPath::None)
    return numbersInLane<float>(f, mode, sum, x, y);
  if (usesDoubleRounding() &&
      DoubleRounding<double>::addition(f, mode) != EvaluationPath::None)
    return numbersInLane<double>(f, mode, sum, x, y);
  return reference::add(f, x, y, mode);
}

template <typename F>
constexpr uint64_t sub(const F &f, uint64_t x, uint64_t y, RoundingMode mode) {
  if constexpr (requires { f.sub(x, y, mode); })
    return f.sub(x, y, mode);
  if (usesMachine(mode) && isMachine<float>(f))
    return canonical(machine<float>(x) - machine<float>(y));
  if (usesMachine(mode) && isMachine<double>(f))
    return canonical(machine<double>(x) - machine<double>(y));
  auto difference = [&]<typename T>(T a, T b) {
    return DoubleRounding<T>::sum(f, a, -b, mode);
  };
  if (usesDoubleRounding() &&
      DoubleRounding<float>::addition(f, mode) != EvaluationPath::None)
    return numbersInLane<float>(f, mode, difference, x, y);
  if (usesDoubleRounding() &&
      DoubleRounding<double>::addition(f, mode) != EvaluationPath::None)
    return numbersInLane<double>(f, mode, difference, x, y);
  return reference::sub(f, x, y, mode);
}

template <typename F>
constexpr uint64_t mul(const F &f, uint64_t x, uint64_t y, RoundingMode mode) {
  if constexpr (requires { f.mul(x, y, mode); })
    return f.mul(x, y, mode);
  if (usesMachine(mode) && isMachine<float>(f))
    return canonical(machine<float>(x) * machine<float>(y));
  if (usesMachine(mode) && isMachine<double>(f))
    return canonical(machine<double>(x) * machine<double>(y));
  auto product = [&]<typename T>(T a, T b) {
    return DoubleRounding<T>::product(f, a, b, mode);
  };
  if (usesDoubleRounding() &&
      DoubleRounding<float>::multiplication(f, mode) != EvaluationPath::None)
    return numbersInLane<float>(f, mode, product, x, y);
  if (usesDoubleRounding() &&
      DoubleRounding<double>::multiplication(f, mode) != EvaluationPath::None)
    return numbersInLane<double>(f, mode, product, x, y);
  return reference::mul(f, x, y, mode);
}

/// True if division by `y` gives NaN for any dividend.
template <typename F> constexpr bool isPole(const F &f, uint64_t y) {
  if constexpr (requires { f.polesAreNaN(); })
    return f.polesAreNaN() && f.isZero(y);
  return false;
}

template <typename F>
constexpr uint64_t div(const F &f, uint64_t x, uint64_t y, RoundingMode mode) {
  if constexpr (requires { f.div(x, y, mode); })
    return f.div(x, y, mode);
  if (usesDoubleRounding() && isPole(f, y))
    return f.nanCode();
  if (usesMachine(mode) && isMachine<float>(f))
    return canonical(machine<float>(x) / machine<float>(y));
  if (usesMachine(mode) && isMachine<double>(f))
    return canonical(machine<double>(x) / machine<double>(y));
  auto quotient = [&]<typename T>(T a, T b) {
    return DoubleRounding<T>::quotient(f, a, b, mode);
  };
  if (usesDoubleRounding() &&
      DoubleRounding<float>::division(f, mode) != EvaluationPath::None)
    return inLane<float>(f, mode, quotient, x, y);
  if (usesDoubleRounding() &&
      DoubleRounding<double>::division(f, mode) != EvaluationPath::None)
    return inLane<double>(f, mode, quotient, x, y);
  return reference::div(f, x, y, mode);
}

template <typename F>
constexpr uint64_t sqrt(const F &f, uint64_t x, RoundingMode mode) {
  if constexpr (requires { f.sqrt(x, mode); })
    return f.sqrt(x, mode);
  if (usesMachine(mode) && isMachine<float>(f))
    return canonical(__builtin_sqrtf(machine<float>(x)));
  if (usesMachine(mode) && isMachine<double>(f))
    return canonical(__builtin_sqrt(machine<double>(x)));
  if (usesDoubleRounding() &&
      DoubleRounding<float>::root(f, mode) != EvaluationPath::None)
    return inLane<float>(
        f, mode, [](float a) { return __builtin_sqrtf(a); }, x);
  if (usesDoubleRounding() &&
      DoubleRounding<double>::root(f, mode) != EvaluationPath::None)
    return inLane<double>(
        f, mode, [](double a) { return __builtin_sqrt(a); }, x);
  return reference::sqrt(f, x, mode);
}

template <typename F>
constexpr uint64_t fma(const F &f, uint64_t x, uint64_t y, uint64_t z,
                       RoundingMode mode) {
  if constexpr (requires { f.fma(x, y, z, mode); })
    return f.fma(x, y, z, mode);
  if (usesMachine(mode) && isMachine<float>(f))
    return canonical(__builtin_fmaf(machine<float>(x), machine<float>(y),
                                    machine<float>(z)));
  if (usesMachine(mode) && isMachine<double>(f))
    return canonical(__builtin_fma(machine<double>(x), machine<double>(y),
                                   machine<double>(z)));
  auto fused = [&]<typename T>(T a, T b, T c) {
    return DoubleRounding<T>::fused(a, b, c, mode);
  };
  if (usesDoubleRounding() &&
      DoubleRounding<float>::fusion(f, mode) != EvaluationPath::None)
    return inLane<float>(f, mode, fused, x, y, z);
  if (usesDoubleRounding() &&
      DoubleRounding<double>::fusion(f, mode) != EvaluationPath::None)
    return inLane<double>(f, mode, fused, x, y, z);
  return reference::fma(f, x, y, z, mode);
}

template <typename F>
constexpr uint64_t rem(const F &f, uint64_t x, uint64_t y, RoundingMode mode) {
  if constexpr (requires { f.rem(x, y, mode); })
    return f.rem(x, y, mode);
  return f.encode(exact::rem(f.decode(x).operand(), f.decode(y).operand()),
                  mode);
}
template <typename F>
constexpr uint64_t rsqrt(const F &f, uint64_t x, RoundingMode mode) {
  if constexpr (requires { f.rsqrt(x, mode); })
    return f.rsqrt(x, mode);
  return f.encode(exact::rsqrt(f.decode(x), mode), mode);
}

/// x rounded to an integral value, exactly: f32 and f64 have every integral
/// value that is next to one of theirs. Adding and subtracting the number from
/// which on all are whole rounds the magnitude to nearest-even; whether that
/// went up or down says the rest. The sign of zero is x's.
template <typename T> constexpr T integralOf(T x, Rounding integral) {
#pragma clang fp contract(off)
  using C = Carrier<T>;
  constexpr T whole = T(uint64_t{1} << (C::format.precision() - 1));
  constexpr auto sign = typename C::Word{1} << (C::width - 1);
  auto word = C::bits(x);
  T magnitude = C::value(word & ~sign);
  T nearest = (magnitude + whole) - whole;
  bool isAway =
      integral == ((word & sign) != 0 ? Rounding::Down : Rounding::Up);
  T result = nearest;
  if (integral == Rounding::NearestAway)
    result = magnitude - nearest == T(0.5) ? nearest + 1 : nearest;
  else if (integral != Rounding::NearestEven)
    result = isAway ? (nearest < magnitude ? nearest + 1 : nearest)
                    : (nearest > magnitude ? nearest - 1 : nearest);
  // Infinities and NaN stay as they are.
  result = magnitude < whole ? result : magnitude;
  return C::value(C::bits(result) | (word & sign));
}

/// x rounded to an integral value, and to the format where that has no such
/// number.
template <typename F>
constexpr uint64_t roundToIntegral(const F &f, uint64_t x, Rounding integral,
                                   RoundingMode mode) {
  auto inCarrier = [=](auto value) { return integralOf(value, integral); };
  if (usesDoubleRounding() && isMachine<float>(f))
    return canonical(inCarrier(machine<float>(x)));
  if (usesDoubleRounding() && isMachine<double>(f))
    return canonical(inCarrier(machine<double>(x)));
  if (usesDoubleRounding() && DoubleRounding<float>::finishes(f, mode))
    return inLane<float>(f, mode, inCarrier, x);
  if (usesDoubleRounding() && DoubleRounding<double>::finishes(f, mode))
    return inLane<double>(f, mode, inCarrier, x);
  return f.encode(exact::roundToIntegral(f.decode(x), integral), mode);
}
#define NUMERA_TO_INTEGRAL(name, integral)                                     \
  template <typename F>                                                        \
  constexpr uint64_t name(const F &f, uint64_t x, RoundingMode mode) {         \
    if constexpr (requires { f.name(x, mode); })                               \
      return f.name(x, mode);                                                  \
    return roundToIntegral(f, x, Rounding::integral, mode);                    \
  }
NUMERA_TO_INTEGRAL(floor, Down)
NUMERA_TO_INTEGRAL(ceil, Up)
NUMERA_TO_INTEGRAL(trunc, TowardZero)
NUMERA_TO_INTEGRAL(round, NearestAway)
NUMERA_TO_INTEGRAL(roundeven, NearestEven)
#undef NUMERA_TO_INTEGRAL

template <typename F> constexpr uint64_t neg(const F &f, uint64_t x) {
  return f.negate(x);
}
template <typename F> constexpr uint64_t abs(const F &f, uint64_t x) {
  return f.absolute(x);
}

} // namespace numera

#endif // NUMERA_NUMERICS_OPERATIONS_OPERATIONS_H
