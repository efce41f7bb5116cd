// SPDX-License-Identifier: MIT

#include "Laws.h"

#include "llvm/ADT/STLExtras.h"

namespace numera::check {

/// The role of an operation that has but one.
static std::optional<Role> roleOf(const Checked &checked) {
  switch (checked.operation) {
  case OpKind::RoundTo:
    return Role::RoundTo;
  case OpKind::AccumulatorMac:
    return Role::SumOfProduct;
  case OpKind::AccumulatorAdd:
    return Role::SumOfValue;
  case OpKind::Add:
    return Role::Add;
  case OpKind::Sub:
    return Role::Sub;
  case OpKind::Mul:
    return Role::Mul;
  case OpKind::Div:
    return Role::Div;
  case OpKind::Fma:
    return Role::Fma;
  case OpKind::Sqrt:
    return Role::Sqrt;
  case OpKind::Neg:
    return Role::Neg;
  case OpKind::Abs:
    return Role::Abs;
  case OpKind::Min:
    return Role::Min;
  case OpKind::Max:
    return Role::Max;
  case OpKind::IsNaN:
    return Role::IsNaN;
  case OpKind::Cmp:
    return checked.predicate == "olt"   ? std::optional(Role::Less)
           : checked.predicate == "oeq" ? std::optional(Role::Equal)
           : checked.predicate == "ogt" ? std::optional(Role::Greater)
                                        : std::nullopt;
  default:
    return std::nullopt;
  }
}

std::map<Role, Checked> rolesOf(llvm::ArrayRef<Checked> operations,
                                const Format &carrier) {
  std::map<Role, Checked> roles;
  for (const Checked &checked : operations) {
    if (std::optional<Role> role = roleOf(checked))
      roles.emplace(*role, checked);
    if (checked.operation != OpKind::Cast)
      continue;
    const Format &from = checked.operands[0].format,
                 &to = checked.result.format;
    if (from == formatF32())
      roles.emplace(Role::To, checked);
    if (to == formatF32())
      roles.emplace(Role::From, checked);
    if (carrier && from == carrier)
      roles.emplace(Role::ToCarrier, checked);
    if (carrier && to == carrier)
      roles.emplace(Role::FromCarrier, checked);
  }
  return roles;
}

static bool isNaN32(uint64_t bits) { return (bits & 0x7fffffff) > 0x7f800000; }

std::vector<bool> findNaNs(const std::vector<uint64_t> &codes,
                           const std::map<Role, Checked> &roles,
                           CallRole call) {
  std::vector<bool> nans(codes.size());
  Role teller = roles.count(Role::IsNaN) ? Role::IsNaN : Role::From;
  if (!roles.count(teller))
    return nans;
  std::vector<uint64_t> told = call(teller, {codes});
  for (size_t i = 0; i < codes.size(); ++i)
    nans[i] = teller == Role::IsNaN ? told[i] != 0 : isNaN32(told[i]);
  return nans;
}

//===----------------------------------------------------------------------===//
// The laws
//===----------------------------------------------------------------------===//

static void roundTrip(const Columns &in, CallRole call, Columns &sides) {
  std::vector<uint64_t> once = call(Role::To, in);
  sides = {call(Role::To, {call(Role::From, {once})}), once};
}

/// Bits of an f32 as an integer that ascends with its value.
static int64_t orderOf(uint64_t bits) {
  auto magnitude = int64_t(bits & 0x7fffffff);
  return bits >> 31 ? -magnitude : magnitude;
}

/// x and the next larger f32 keep their order: the sides are the two casts,
/// made equal where they do.
static void monotonic(const Columns &in, CallRole call, Columns &sides) {
  std::vector<uint64_t> next = in[0];
  for (uint64_t &bits : next)
    if (bits == 0x80000000) // -0
      bits = 1;
    else if (!isNaN32(bits) && (bits & 0x7fffffff) != 0x7f800000)
      bits += bits >> 31 ? -1 : 1;
  std::vector<uint64_t> low = call(Role::To, in), high = call(Role::To, {next});
  std::vector<uint64_t> below = call(Role::From, {low}),
                        above = call(Role::From, {high});
  for (size_t i = 0; i < low.size(); ++i)
    if (isNaN32(below[i]) || isNaN32(above[i]) ||
        orderOf(below[i]) <= orderOf(above[i]))
      high[i] = low[i];
  sides = {high, low};
}

static void addCommutes(const Columns &in, CallRole call, Columns &sides) {
  sides = {call(Role::Add, in), call(Role::Add, {in[1], in[0]})};
}
static void mulCommutes(const Columns &in, CallRole call, Columns &sides) {
  sides = {call(Role::Mul, in), call(Role::Mul, {in[1], in[0]})};
}

/// `value` cast from f32, as often as there are inputs.
static std::vector<uint64_t> constant(const Columns &in, CallRole call,
                                      uint64_t bits) {
  return call(Role::To, {std::vector<uint64_t>(in[0].size(), bits)});
}
static void addZero(const Columns &in, CallRole call, Columns &sides) {
  sides = {call(Role::Add, {in[0], constant(in, call, 0)}), in[0]};
  // Where there is a -0, -0 + 0 is +0.
  std::vector<uint64_t> minus = constant(in, call, 0x80000000);
  for (size_t i = 0; i < minus.size(); ++i)
    if (in[0][i] == minus[i])
      sides[0][i] = in[0][i];
}
static void mulOne(const Columns &in, CallRole call, Columns &sides) {
  sides = {call(Role::Mul, {in[0], constant(in, call, 0x3f800000)}), in[0]};
}
/// A law on codes of numbers that f32 holds: other codes are excused.
template <void (*law)(const Columns &, CallRole, Columns &)>
static void ofNumbers(const Columns &in, CallRole call, Columns &sides) {
  law(in, call, sides);
  std::vector<uint64_t> back = call(Role::To, {call(Role::From, in)});
  for (size_t i = 0; i < back.size(); ++i)
    if (back[i] != in[0][i])
      sides[0][i] = sides[1][i];
}
/// But for the sign of zero, which a sum need not know.
static void sumOfValue(const Columns &in, CallRole call, Columns &sides) {
  sides = {call(Role::SumOfValue, in), in[0]};
  std::vector<uint64_t> minus = constant(in, call, 0x80000000),
                        zero = constant(in, call, 0);
  for (size_t i = 0; i < minus.size(); ++i)
    if (in[0][i] == minus[i] && sides[0][i] == zero[i])
      sides[0][i] = minus[i];
}
static void sumOfOneTimes(const Columns &in, CallRole call, Columns &sides) {
  std::vector<uint64_t> one = constant(in, call, 0x3f800000);
  sides = {call(Role::SumOfProduct, {in[0], one}),
           call(Role::SumOfProduct, {one, in[0]})};
}
static void negTwice(const Columns &in, CallRole call, Columns &sides) {
  sides = {call(Role::Neg, {call(Role::Neg, in)}), in[0]};
}
static void subAddsNeg(const Columns &in, CallRole call, Columns &sides) {
  sides = {call(Role::Sub, in),
           call(Role::Add, {in[0], call(Role::Neg, {in[1]})})};
}

/// The sides are how many of <, = and > hold, and 1; of NaNs, no more than one.
static void trichotomy(const Columns &in, CallRole call, Columns &sides) {
  std::vector<uint64_t> less = call(Role::Less, in),
                        equal = call(Role::Equal, in),
                        greater = call(Role::Greater, in);
  sides = {{}, std::vector<uint64_t>(less.size(), 1)};
  for (size_t i = 0; i < less.size(); ++i)
    sides[0].push_back(less[i] + equal[i] + greater[i]);
}
static void mirrored(const Columns &in, CallRole call, Columns &sides) {
  sides = {call(Role::Less, in), call(Role::Greater, {in[1], in[0]})};
}
static void transitive(const Columns &in, CallRole call, Columns &sides) {
  std::vector<uint64_t> first = call(Role::Less, {in[0], in[1]}),
                        second = call(Role::Less, {in[1], in[2]}),
                        both = call(Role::Less, {in[0], in[2]});
  sides = {both, both};
  for (size_t i = 0; i < both.size(); ++i)
    sides[1][i] = both[i] | (first[i] & second[i]);
}

std::vector<Law> lawsOf(const Format &format,
                        const std::map<Role, Checked> &roles, bool isInF32) {
  CastType own, machine, truth;
  own.format = format;
  machine.format = formatF32();
  truth.integer = 8;
  auto shape = [](const CastType &operand, size_t count,
                  const CastType &result) {
    Checked checked;
    // A cast's inputs are drawn as those of casts are.
    checked.operation = count == 1 && operand.format == formatF32()
                            ? OpKind::Cast
                            : OpKind::Add;
    checked.operands.assign(count, operand);
    checked.result = result;
    return checked;
  };
  std::vector<Law> laws = {
      {"cast to f32 and back is the same code",
       {Role::To, Role::From},
       shape(machine, 1, own),
       roundTrip},
      {"casts from f32 keep the order",
       {Role::To, Role::From},
       shape(machine, 1, own),
       monotonic},
      {"x + y = y + x", {Role::Add}, shape(own, 2, own), addCommutes},
      {"x * y = y * x", {Role::Mul}, shape(own, 2, own), mulCommutes},
      {"x + 0 = x",
       {Role::Add, Role::To},
       shape(own, 1, own),
       isInF32 ? ofNumbers<addZero> : addZero},
      {"x * 1 = x",
       {Role::Mul, Role::To},
       shape(own, 1, own),
       isInF32 ? ofNumbers<mulOne> : mulOne},
      {"the sum of x alone is x",
       {Role::SumOfValue, Role::To},
       shape(own, 1, own),
       sumOfValue},
      {"the sum of x * 1 is that of 1 * x",
       {Role::SumOfProduct, Role::To},
       shape(own, 1, own),
       sumOfOneTimes},
      {"-(-x) = x", {Role::Neg}, shape(own, 1, own), negTwice},
      {"x - y = x + (-y)",
       {Role::Sub, Role::Add, Role::Neg},
       shape(own, 2, own),
       subAddsNeg},
      {"one of x < y, x = y, x > y holds",
       {Role::Less, Role::Equal, Role::Greater},
       shape(own, 2, truth),
       trichotomy},
      {"x < y is y > x",
       {Role::Less, Role::Greater},
       shape(own, 2, truth),
       mirrored},
      {"x < y and y < z give x < z",
       {Role::Less},
       shape(own, 3, truth),
       transitive},
  };
  llvm::erase_if(laws, [&](const Law &law) {
    return !llvm::all_of(law.needs,
                         [&](Role role) { return roles.count(role) != 0; });
  });
  return laws;
}

} // namespace numera::check
