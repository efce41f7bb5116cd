// SPDX-License-Identifier: MIT
//
// Tests `identities: {zero: 0, lowest: 0x8001, …}` by the functions of the
// format.

#include "Laws.h"

namespace numera::check {

namespace {

class IdentityLaws {
public:
  IdentityLaws(const Format &format, const std::map<Role, Checked> &roles)
      : roles(roles) {
    own.format = format;
    truth.integer = 8;
  }

  std::vector<Law> laws;

  /// The code is what the number is cast to.
  void addCast(const char *name, const std::optional<APInt> &code,
               uint64_t number) {
    if (!code || !has(Role::To))
      return;
    add(name, own,
        [=, code = code->getZExtValue()](const Columns &in, CallRole call,
                                         Columns &sides) {
          std::vector<uint64_t> numbers(in[0].size(), number);
          sides = {call(Role::To, {numbers}), std::vector(in[0].size(), code)};
        });
  }

  /// No number is less than the code, or greater.
  void addBound(const char *name, const std::optional<APInt> &code,
                bool isLowest) {
    if (!code || !has(Role::Less))
      return;
    add(name, truth,
        [roles = roles, isLowest, code = code->getZExtValue()](
            const Columns &in, CallRole call, Columns &sides) {
          std::vector<uint64_t> bound(in[0].size(), code);
          std::vector<uint64_t> isBeyond =
              call(Role::Less,
                   isLowest ? Columns{in[0], bound} : Columns{bound, in[0]});
          // A NaN may be below all numbers.
          std::vector<bool> nans = findNaNs(in[0], roles, call);
          for (size_t i = 0; i < nans.size(); ++i)
            if (nans[i])
              isBeyond[i] = 0;
          sides = {isBeyond, std::vector<uint64_t>(in[0].size(), 0)};
        });
  }

  /// NaN stays NaN, by its code.
  void addNaN(const char *name, const std::optional<APInt> &code, Role role) {
    if (!code || !has(role))
      return;
    add(name, own,
        [=, code = code->getZExtValue()](const Columns &in, CallRole call,
                                         Columns &sides) {
          std::vector<uint64_t> nan(in[0].size(), code);
          sides = {call(role, {in[0], nan}), nan};
        });
  }

private:
  bool has(Role role) const { return roles.count(role) != 0; }
  void add(const char *name, const CastType &result, auto sides) {
    Checked shape;
    shape.operation = OpKind::Add;
    shape.operands = {own};
    shape.result = result;
    laws.push_back({name, {}, std::move(shape), sides});
  }

  const std::map<Role, Checked> &roles;
  CastType own, truth;
};

} // namespace

std::vector<Law> identityLaws(const Format &format,
                              const Identities &identities,
                              const std::map<Role, Checked> &roles) {
  IdentityLaws laws(format, roles);
  laws.addCast("zero is the cast of 0", identities.zero, 0);
  laws.addCast("one is the cast of 1", identities.one, 0x3f800000);
  laws.addBound("no number is below the lowest", identities.lowest, true);
  laws.addBound("no number is above the highest", identities.highest, false);
  laws.addNaN("x + nan = nan", identities.nan, Role::Add);
  laws.addNaN("x * nan = nan", identities.nan, Role::Mul);
  return std::move(laws.laws);
}

} // namespace numera::check
