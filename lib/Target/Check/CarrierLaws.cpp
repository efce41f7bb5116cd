// SPDX-License-Identifier: MIT
//
// Tests the statements of a `round_to` about a library, in the arithmetic of
// this machine.

#include "Laws.h"
#include "numera/Registry/Lowerings/Derivation.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include <cmath>
#include <limits>

namespace numera::check {

namespace {

/// The carrier's numbers as their bits.
template <typename T> struct Machine {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;

  static T number(uint64_t bits) { return llvm::bit_cast<T>(Bits(bits)); }
  /// NaN is canonical, as it is between operations of a program.
  static uint64_t bits(T number) {
    return llvm::bit_cast<Bits>(
        std::isnan(number) ? std::numeric_limits<T>::quiet_NaN() : number);
  }

  static T least(T x, T y) {
    if (std::isnan(x) || std::isnan(y))
      return std::numeric_limits<T>::quiet_NaN();
    return x == y ? (std::signbit(x) ? x : y) : std::fmin(x, y);
  }

  /// The operation as the carrier has it, on bits; a test gives 0 or 1.
  static uint64_t operate(Role role, llvm::ArrayRef<uint64_t> operands) {
    T x = number(operands[0]);
    T y = operands.size() > 1 ? number(operands[1]) : T();
    switch (role) {
    case Role::Add:
      return bits(x + y);
    case Role::Sub:
      return bits(x - y);
    case Role::Mul:
      return bits(x * y);
    case Role::Div:
      return bits(x / y);
    case Role::Fma:
      return bits(std::fma(x, y, number(operands[2])));
    case Role::Sqrt:
      return bits(std::sqrt(x));
    case Role::Neg:
      return bits(-x);
    case Role::Abs:
      return bits(std::fabs(x));
    case Role::Min:
      return bits(least(x, y));
    case Role::Max:
      return bits(-least(-x, -y));
    case Role::Less:
      return x < y;
    case Role::Equal:
      return x == y;
    case Role::Greater:
      return x > y;
    default:
      return std::isnan(x);
    }
  }
  static uint64_t middle(uint64_t x, uint64_t y) {
    return bits(number(x) / 2 + number(y) / 2);
  }
};

struct CarrierLaw {
  OpKind operation;
  Role role;
  const char *name;
};

} // namespace

static constexpr CarrierLaw operations[] = {
    {OpKind::Add, Role::Add, "x + y"},
    {OpKind::Sub, Role::Sub, "x - y"},
    {OpKind::Mul, Role::Mul, "x * y"},
    {OpKind::Div, Role::Div, "x / y"},
    {OpKind::Fma, Role::Fma, "fma(x, y, z)"},
    {OpKind::Sqrt, Role::Sqrt, "sqrt(x)"},
    {OpKind::Neg, Role::Neg, "-x"},
    {OpKind::Abs, Role::Abs, "|x|"},
    {OpKind::Min, Role::Min, "min(x, y)"},
    {OpKind::Max, Role::Max, "max(x, y)"},
    {OpKind::Cmp, Role::Less, "x < y"},
    {OpKind::Cmp, Role::Equal, "x = y"},
    {OpKind::Cmp, Role::Greater, "x > y"},
    {OpKind::IsNaN, Role::IsNaN, "isnan(x)"},
};

static std::vector<uint64_t> operate(Role role, bool isF32,
                                     const Columns &columns) {
  std::vector<uint64_t> results;
  std::vector<uint64_t> operands(columns.size());
  for (size_t i = 0; i < columns[0].size(); ++i) {
    for (size_t j = 0; j < columns.size(); ++j)
      operands[j] = columns[j][i];
    results.push_back(isF32 ? Machine<float>::operate(role, operands)
                            : Machine<double>::operate(role, operands));
  }
  return results;
}

/// round_to(v) and v cast to the format and back, where NaNs are one.
static void roundsAsCasts(std::vector<uint64_t> numbers, bool isF32,
                          CallRole call, Columns &sides) {
  sides = {call(Role::RoundTo, {numbers}), {}};
  for (uint64_t &bits : numbers)
    bits = isF32 ? Machine<float>::bits(Machine<float>::number(bits))
                 : Machine<double>::bits(Machine<double>::number(bits));
  sides[1] = call(Role::FromCarrier, {call(Role::ToCarrier, {numbers})});
}

std::vector<Law> carrierLaws(const Lowering &roundTo,
                             const std::map<Role, Checked> &roles) {
  std::vector<Law> laws;
  auto has = [&](Role role) { return roles.count(role) != 0; };
  if (!has(Role::RoundTo) || !has(Role::ToCarrier) || !has(Role::FromCarrier))
    return laws;
  CastType own, machine, truth;
  own.format = roundTo.result;
  machine.format = roundTo.operands.front();
  truth.integer = 8;
  bool isF32 = machine.format == formatF32();
  std::string carrier = isF32 ? "f32" : "f64";
  auto shape = [](OpKind operation, const CastType &operand, size_t count,
                  const CastType &result) {
    Checked checked;
    checked.operation = operation;
    checked.operands.assign(count, operand);
    checked.result = result;
    return checked;
  };
  auto add = [&](std::string name, Checked inputs, auto sides) {
    laws.push_back({std::move(name), {}, std::move(inputs), sides, true});
  };

  add("round_to is the cast and back", shape(OpKind::Cast, machine, 1, machine),
      [=](const Columns &in, CallRole call, Columns &sides) {
        roundsAsCasts(in[0], isF32, call, sides);
      });
  add("round_to((x + y) / 2) is the casts", shape(OpKind::Add, own, 2, machine),
      [=](const Columns &in, CallRole call, Columns &sides) {
        std::vector<uint64_t> x = call(Role::FromCarrier, {in[0]}),
                              y = call(Role::FromCarrier, {in[1]});
        for (size_t i = 0; i < x.size(); ++i)
          x[i] = isF32 ? Machine<float>::middle(x[i], y[i])
                       : Machine<double>::middle(x[i], y[i]);
        roundsAsCasts(x, isF32, call, sides);
      });
  add("a cast to " + carrier + " and back: same code",
      shape(OpKind::Cast, machine, 1, own),
      [](const Columns &in, CallRole call, Columns &sides) {
        std::vector<uint64_t> once = call(Role::ToCarrier, in);
        sides = {call(Role::ToCarrier, {call(Role::FromCarrier, {once})}),
                 once};
      });
  add("all NaNs are cast to one code", shape(OpKind::Cast, machine, 1, own),
      [=](const Columns &in, CallRole call, Columns &sides) {
        std::vector<uint64_t> numbers = in[0];
        for (uint64_t &bits : numbers)
          bits = isF32 ? Machine<float>::bits(Machine<float>::number(bits))
                       : Machine<double>::bits(Machine<double>::number(bits));
        sides = {call(Role::ToCarrier, in), call(Role::ToCarrier, {numbers})};
      });
  for (const CarrierLaw &law : operations) {
    if (!(roundTo.carried >> unsigned(law.operation) & 1) || !has(law.role))
      continue;
    bool isTest =
        law.operation == OpKind::Cmp || law.operation == OpKind::IsNaN;
    add(std::string(law.name) + " is that of " + carrier +
            (isTest ? "" : ", rounded"),
        shape(OpKind::Add, own, operandCount(law.operation),
              isTest ? truth : own),
        [=, role = law.role](const Columns &in, CallRole call, Columns &sides) {
          Columns numbers;
          for (const std::vector<uint64_t> &column : in)
            numbers.push_back(call(Role::FromCarrier, {column}));
          std::vector<uint64_t> result = operate(role, isF32, numbers);
          if (!isTest)
            result = call(Role::ToCarrier, {result});
          sides = {call(role, in), result};
        });
  }
  return laws;
}

} // namespace numera::check
