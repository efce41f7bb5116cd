// SPDX-License-Identifier: MIT
//
// The multiply-add step of a contraction with `accumulate: same` for fixed
// point that saturates: 7 machine operations on carriers or vectors of them,
// exact for all operands.
//
// With u the format's unit and m = 1.5 * 2^(q-1) u, RN(m + a b) is m plus the
// product rounded to a multiple of u, ties to even, while the sum lies between
// 2^(q-1) u and 2^q u. Beyond that it is rounded to some other number there,
// which saturates all the same. Numbers near m are positive, so that their
// words are in the order of their values, and saturating is a minimum and a
// maximum of integers; c is held as m + c for that. Sums are exact.

#ifndef NUMERA_NUMERICS_MULTIPLYADD_STEPFIXED_H
#define NUMERA_NUMERICS_MULTIPLYADD_STEPFIXED_H

#include "numera/Numerics/Formats/Fixed.h"
#include "numera/Numerics/MultiplyAdd/Step.h"

namespace numera {

/// The step of one fixed-point format in carrier T. The operands are prepared
/// once, then the step runs on prepared carriers or on vectors of them.
template <typename T> struct FixedStep {
  using Traits = Carrier<T>;
  static constexpr int32_t q = Traits::format.precision();

  FixedFormat format;
  StepForm form = StepForm::Gradual; ///< there is just this one

  /// True if the steps of this format are exact.
  constexpr bool exists() const {
    // The sum of two numbers lies within 2^(q-2) units.
    return form == StepForm::Gradual && format.overflow != Overflow::Wrap &&
           format.magnitudeBits() + 1 <= q - 2;
  }
  constexpr bool admits(Magnitudes<T>) const { return true; }

  constexpr T first(T a) const { return a; }
  /// One prepared form is enough.
  constexpr T second(T) const { return 0; }
  constexpr T prepared(T b) const { return b; }
  constexpr T start(T c) const { return c + magic(); }
  constexpr T result(T c) const { return c - magic(); }

  /// One step on prepared numbers. V is T or a vector of T.
  template <typename V> constexpr V operator()(V c, V first, V, V b) const {
    auto shift = static_cast<V>(magic());
    V product = saturated(step::fma(first, b, shift));
    return saturated(c + (product - shift));
  }

private:
  using Word = Traits::SignedWord;

  constexpr T magic() const {
    return Traits::value(Traits::powerBits(q - 1 - format.fraction)) * T{1.5};
  }
  /// A number of units, as an integer of the numbers near m.
  constexpr Word place(int64_t units) const {
    return static_cast<Word>(static_cast<Word>(Traits::bits(magic())) + units);
  }
  template <typename V> constexpr V saturated(V x) const {
    using I = step::IntegersOf<V>;
    int64_t reach = int64_t{1} << format.magnitudeBits();
    auto high = static_cast<I>(place(reach - 1));
    auto low = static_cast<I>(place(format.isSigned ? -reach : 0));
    I word = __builtin_bit_cast(I, x);
    word = word < high ? word : high;
    word = word > low ? word : low;
    return __builtin_bit_cast(V, word);
  }
};

template <typename T> struct ShortStep<T, FixedFormat> : FixedStep<T> {};

} // namespace numera

#endif // NUMERA_NUMERICS_MULTIPLYADD_STEPFIXED_H
