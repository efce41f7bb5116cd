// SPDX-License-Identifier: MIT
//
// A family whose formats are a struct F of Numerics. Everything but parameters,
// validation and spelling follows from F. A new family derives from
// ArithmeticFamily<F> in a file of its own, and has a line in
// cmake/Families.cmake.
//
// F must have parameterCount, of, store, width, precision, leastExponent,
// maxExponent, maxCode, hasInfinity, hasNaN, hasNegativeZero, isTotallyOrdered,
// isNaN, nanCode, canonical, order, orderOfValue, negate, absolute, truncate,
// decode and encode. Codes of positive magnitudes must ascend with their
// values. If -maxCode is not the lowest finite number, F has lowestCode.

#ifndef NUMERA_REGISTRY_FORMATS_ARITHMETICFAMILY_H
#define NUMERA_REGISTRY_FORMATS_ARITHMETICFAMILY_H

#include "numera/Numerics/Flags/StatusFlags.h"
#include "numera/Numerics/MultiplyAdd/Steps.h"
#include "numera/Registry/Formats/Evaluate.h"
#include "numera/Registry/Formats/ExactValue.h"
#include "numera/Registry/Formats/FormatFamily.h"
#include "numera/Registry/Formats/ParameterReader.h"

namespace numera {

/// True if a kernel that prepares numbers for `first` may also use `form`.
/// Fused and Confined use the numbers that are prepared for another form.
template <typename Step> bool mayFollow(const Step &first, StepForm form) {
  if constexpr (requires { first.preparesFor(form); })
    return (form != StepForm::Fused && form != StepForm::Confined) ||
           first.preparesFor(form);
  return true;
}

/// The forms of the short step that a format has, the preferred one first.
template <typename T, typename F>
llvm::SmallVector<int32_t, 3> shortForms(const F &f) {
  llvm::SmallVector<StepForm, 5> order = {StepForm::Gradual, StepForm::Normal,
                                          StepForm::Saturating, StepForm::Fused,
                                          StepForm::Confined};
  if constexpr (requires { ShortStep<T, F>::preferred(f); })
    order.insert(order.begin(), ShortStep<T, F>::preferred(f));
  llvm::SmallVector<int32_t, 3> forms;
  if constexpr (HasShortSteps<T, F>)
    for (StepForm form : order)
      if (ShortStep<T, F>{{f, form}}.exists() &&
          !llvm::is_contained(forms, static_cast<int32_t>(form)) &&
          (forms.empty() ||
           mayFollow(ShortStep<T, F>{{f, static_cast<StepForm>(forms[0])}},
                     form)))
        forms.push_back(static_cast<int32_t>(form));
  return forms;
}

/// The forms of its steps in binary16.
template <typename F> llvm::SmallVector<int32_t, 2> halfForms(const F &f) {
  llvm::SmallVector<int32_t, 2> forms;
  if constexpr (HasHalfSteps<F>)
    for (StepForm form :
         {StepForm::Saturating, StepForm::Overflowing, StepForm::Confined})
      if (HalfStep{f, form}.exists())
        forms.push_back(static_cast<int32_t>(form));
  return forms;
}

template <typename F> class ArithmeticFamily : public FormatFamily {
public:
  unsigned width(const Format &format) const override {
    return static_cast<unsigned>(layout(format).width());
  }

  Unpacked decode(const Format &format, uint64_t code) const override {
    return layout(format).decode(code);
  }
  uint64_t encode(const Format &format, const Unpacked &value,
                  RoundingMode mode) const override {
    return layout(format).encode(value, mode);
  }
  void encodeAll(const Format &format, llvm::ArrayRef<float> values,
                 RoundingMode mode,
                 llvm::MutableArrayRef<uint64_t> codes) const override {
    F f = layout(format);
    for (size_t i = 0; i < values.size(); ++i)
      codes[i] = encodeFrom<float>(f, values[i], mode);
  }
  uint64_t evaluate(OpKind operation, const Format &format,
                    llvm::ArrayRef<uint64_t> operands, RoundingMode mode,
                    int32_t extra) const override {
    return numera::evaluate(layout(format), operation, operands, mode, extra);
  }
  uint64_t evaluateExactly(OpKind operation, const Format &format,
                           llvm::ArrayRef<uint64_t> operands, RoundingMode mode,
                           int32_t extra) const override {
    F f = layout(format);
    if (!isRounded(operation) || hasOwn<F>(operation))
      return numera::evaluate(f, operation, operands, mode, extra);
    llvm::SmallVector<Unpacked, 3> values;
    for (uint64_t code : operands)
      values.push_back(f.decode(code).operand());
    return f.encode(exactValue(operation, values, mode), mode);
  }
  uint64_t truncate(const Format &format, uint64_t code,
                    int32_t count) const override {
    return layout(format).truncate(code, count);
  }
  Format withOverflow(const Format &format, Overflow overflow) const override {
    if constexpr (requires(F f) { f.overflow; }) {
      F f = layout(format);
      f.overflow = overflow;
      if (!allowsOverflow(overflow))
        return {};
      return Format(*this, parametersOf(f), format.getRounding())
          .withRounding(format.getRounding(), format.getRandomBits())
          .withChanges(format.getChanges());
    }
    return {};
  }

  Overflow overflow(const Format &format) const override {
    if constexpr (requires(F f) { f.overflow; })
      return layout(format).overflow;
    return Overflow::Saturate;
  }

  bool knowsRange() const override { return numera::knowsRange<F>; }
  std::optional<uint8_t> statusFlags(const Format &format,
                                     const Unpacked &exact,
                                     const Unpacked (&operands)[3],
                                     RoundingMode mode) const override {
    return flagsOf(layout(format), exact, operands, mode);
  }
  bool mayRaiseFlags(const Format &format, uint64_t code) const override {
    return numera::mayRaiseFlags(layout(format), code);
  }

  Range range(const Format &format) const override {
    F f = layout(format);
    return {.precision = f.precision(),
            .leastExponent = f.leastExponent(),
            .maxExponent = f.maxExponent(),
            .hasInfinity = f.hasInfinity(),
            .hasNaN = f.hasNaN(),
            .hasNegativeZero = f.hasNegativeZero()};
  }

  /// Assumes one NaN, one zero for each sign, and one infinity for each sign.
  SpecialCodes specialCodes(const Format &format) const override {
    F f = layout(format);
    bool hasTwo = f.isNegative(f.negate(f.maxCode()));
    return {.nan = f.hasNaN(),
            .infinity = f.hasInfinity() ? 1u + hasTwo : 0u,
            .zero = 1u + f.hasNegativeZero()};
  }

  /// From the first two codes of the binade: its values are evenly spaced.
  int32_t precisionAt(const Format &format, int32_t exponent) const override {
    F f = layout(format);
    uint64_t code = f.encode({.kind = Kind::Finite,
                              .exponent = exponent,
                              .significand = uint64_t{1} << 63},
                             Rounding::TowardZero);
    Unpacked value = f.decode(code);
    // A format may have numbers of a binade and not the power of two that
    // begins it (a takum's least one, where that code is zero).
    if (!value.isFinite() || value.exponent != exponent)
      value = code == f.maxCode() ? Unpacked::zero() : f.decode(++code);
    int32_t precision = 0;
    for (int i = 0; i < 2; ++i) {
      if (!value.isFinite() || value.exponent != exponent)
        return precision;
      int32_t bits = 64 - __builtin_ctzll(value.significand);
      precision = precision < bits ? bits : precision;
      if (code == f.maxCode())
        return precision;
      value = f.decode(++code);
    }
    return precision;
  }

  QuireLayout quire(const Format &format) const override {
    return quireLayout(layout(format));
  }

  uint64_t largest(const Format &format) const override {
    return layout(format).maxCode();
  }
  uint64_t highest(const Format &format) const override {
    return infinite(layout(format), /*negative=*/false);
  }
  uint64_t lowest(const Format &format) const override {
    return infinite(layout(format), /*negative=*/true);
  }

  bool embedsInF32(const Format &format) const override {
    return embeds(format, formatF32());
  }
  bool embedsInF64(const Format &format) const override {
    return embeds(format, formatF64());
  }
  bool hasCarrier(const Format &format, unsigned width) const override {
    return inCarrier(width, [&]<typename T>(T) {
      F f = layout(format);
      return DoubleRounding<T>::embeds(f) && DoubleRounding<T>::encodes(f);
    });
  }
  bool roundsInCarrier(const Format &format, unsigned width,
                       RoundingMode mode) const override {
    return inCarrier(width, [&]<typename T>(T) {
      return DoubleRounding<T>::rounds(layout(format), mode);
    });
  }
  bool approximatesInF32(const Format &format) const override {
    return Carrier<float>::approximates(layout(format));
  }
  EvaluationPath pathInCarrier(OpKind operation, const Format &format,
                               unsigned width,
                               RoundingMode mode) const override {
    return inCarrier(width, [&]<typename T>(T) {
      return doubleRoundingPath<T>(operation, layout(format), mode);
    });
  }
  uint64_t decodeToCarrier(const Format &format, unsigned width,
                           uint64_t code) const override {
    return inCarrier(width, [&]<typename T>(T) {
      return uint64_t{
          DoubleRounding<T>::bits(decodeTo<T>(layout(format), code))};
    });
  }
  uint64_t roundInCarrier(const Format &format, unsigned width, uint64_t bits,
                          RoundingMode mode) const override {
    return inCarrier(width, [&]<typename T>(T) {
      return uint64_t{DoubleRounding<T>::bits(
          roundTo<T>(layout(format), machine<T>(bits), mode))};
    });
  }
  uint64_t encodeFromCarrier(const Format &format, unsigned width,
                             uint64_t bits) const override {
    return inCarrier(width, [&]<typename T>(T) {
      return encodeExactly<T>(layout(format), machine<T>(bits));
    });
  }
  bool isTotallyOrdered() const override { return F::isTotallyOrdered; }
  /// Short if the machine's arithmetic computes it.
  Effort effort(OpKind operation, const Format &format) const override {
    if (!isRounded(operation))
      return Effort::Codes;
    for (unsigned width : {32, 64})
      if (hasCarrier(format, width) &&
          (operation == OpKind::Cast ||
           pathInCarrier(operation, format, width, format.getRounding()) !=
               EvaluationPath::None))
        return Effort::Short;
    return Effort::Slow;
  }

  unsigned machineWidth(const Format &format) const override {
    F f = layout(format);
    if (format.getRounding() != Rounding::NearestEven ||
        !format.getChanges().empty())
      return 0;
    return isMachine<float>(f) ? 32 : isMachine<double>(f) ? 64 : 0;
  }
  CarrierStep carrierStep(const Format &format) const override {
    F f = layout(format);
    // The exact step may go through f64 and start and end in f32.
    auto inF32 = shortForms<float>(f);
    if (stepsInLane<float>(f) || (embedsInF32(format) && !inF32.empty()))
      return {32, inF32,
              inF32.empty() ? decltype(halfForms(f)){} : halfForms(f)};
    if (stepsInLane<double>(f))
      return {64, shortForms<double>(f), {}};
    return {};
  }

protected:
  /// Reads the family's keys; `f` has the family's defaults.
  virtual bool read(ParameterReader &reader, F &f) const = 0;
  /// The family's part of the canonical spelling.
  virtual std::string spell(const F &f) const = 0;
  virtual bool allowsOverflow(Overflow overflow) const {
    return overflow != Overflow::Wrap;
  }

  static F layout(const Format &format) {
    return F::of(format.getParameters().data());
  }
  static llvm::SmallVector<int32_t> parametersOf(const F &f) {
    llvm::SmallVector<int32_t> parameters(F::parameterCount);
    f.store(parameters.data());
    return parameters;
  }

private:
  template <typename Function>
  static auto inCarrier(unsigned width, Function function) {
    return width == 32 ? function(float{}) : function(double{});
  }

  template <typename T>
  static EvaluationPath doubleRoundingPath(OpKind operation, const F &f,
                                           RoundingMode mode) {
    using L = DoubleRounding<T>;
    if (hasOwn<F>(operation))
      return EvaluationPath::None;
    switch (operation) {
    case OpKind::Add:
    case OpKind::Sub:
      return L::addition(f, mode);
    case OpKind::Mul:
      return L::multiplication(f, mode);
    case OpKind::Div:
      if constexpr (requires { f.polesAreNaN(); })
        if (f.polesAreNaN())
          return EvaluationPath::None;
      return L::division(f, mode);
    case OpKind::Sqrt:
      return L::root(f, mode);
    case OpKind::Fma:
      return L::fusion(f, mode);
    default:
      return EvaluationPath::None;
    }
  }

  /// True if the family defines the operation on codes itself.
  template <typename G> static constexpr bool hasOwn(OpKind operation) {
#define OWN(enumerator, name, ...)                                             \
  if constexpr (requires(G f, uint64_t code, RoundingMode mode) {              \
                  f.name(__VA_ARGS__ mode);                                    \
                })                                                             \
    if (operation == OpKind::enumerator)                                       \
      return true;
#define OWN_1(enumerator, name) OWN(enumerator, name, code, )
#define OWN_2(enumerator, name) OWN(enumerator, name, code, code, )
#define OWN_3(enumerator, name) OWN(enumerator, name, code, code, code, )
#define OWN_Direct(enumerator, name, operands) OWN_##operands(enumerator, name)
#define OWN_Ziv(enumerator, name, operands) OWN_##operands(enumerator, name)
#define OWN_Exact(enumerator, name, operands) OWN_##operands(enumerator, name)
#define OWN_Choice(enumerator, name, operands)
#define OWN_Test(enumerator, name, operands)
#define OWN_Cast(enumerator, name, operands)
#define OWN_Step(enumerator, name, operands) OWN_3(enumerator, fma)
#define NUMERA_OPERATION(enumerator, name, operands, form, ...)                \
  OWN_##form(enumerator, name, operands)
#include "numera/Numerics/Core/Operations.def"
#undef OWN_1
#undef OWN_2
#undef OWN_3
#undef OWN_Direct
#undef OWN_Ziv
#undef OWN_Exact
#undef OWN_Choice
#undef OWN_Test
#undef OWN_Cast
#undef OWN_Step
#undef OWN
    return false;
  }

  bool read(ParameterReader &reader,
            llvm::SmallVectorImpl<int32_t> &parameters) const final {
    F f{};
    if (!read(reader, f))
      return false;
    parameters = parametersOf(f);
    return true;
  }
  std::string spell(const Format &format) const final {
    return spell(layout(format));
  }

  /// Infinity or the last number, regardless of `overflow`. Code 0 is the
  /// lowest of an unsigned format.
  static uint64_t infinite(const F &f, bool negative) {
    uint64_t code = f.maxCode();
    if constexpr (requires { f.infinityCode(); })
      code = f.hasInfinity() ? f.infinityCode() : code;
    if (!negative)
      return code;
    if constexpr (requires { f.lowestCode(); })
      return f.lowestCode();
    code = f.negate(code);
    return f.isNegative(code) && !f.isNaN(code) ? code : 0;
  }
};

} // namespace numera

#endif // NUMERA_REGISTRY_FORMATS_ARITHMETICFAMILY_H
