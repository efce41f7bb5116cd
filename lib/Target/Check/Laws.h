// SPDX-License-Identifier: MIT
//
// Laws that hold in any number format. They are tested if no format is named as
// equivalent.

#ifndef NUMERA_LIB_TARGET_CHECK_LAWS_H
#define NUMERA_LIB_TARGET_CHECK_LAWS_H

#include "Cases.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <functional>
#include <map>

namespace numera::check {

/// What a function of a law's program is to it.
enum class Role {
  From,
  To,
  FromCarrier,
  ToCarrier,
  RoundTo,
  SumOfProduct, ///< with the library's accumulator
  SumOfValue,
  Add,
  Sub,
  Mul,
  Div,
  Fma,
  Sqrt,
  Neg,
  Abs,
  Min,
  Max,
  Less,
  Equal,
  Greater,
  IsNaN
};

/// Calls the function of a role on operands, by operand.
using Columns = std::vector<std::vector<uint64_t>>;
using CallRole =
    llvm::function_ref<std::vector<uint64_t>(Role, const Columns &)>;

struct Law {
  std::string name; ///< `x + 0 = x`
  /// What it needs beside the casts and isnan, which tell NaNs where they are
  /// there.
  std::vector<Role> needs;
  /// The types of its operands and of what it compares: an addition's, say.
  Checked shape;
  /// For each input, the two sides, which must be the same code or both NaN.
  std::function<void(const Columns &inputs, CallRole call, Columns &result)>
      sides;
  /// NaNs must be the same as well.
  bool comparesNaNs = false;
};

/// The operations of the roles among those of a format. `carrier` is that of an
/// opaque format that rounds in it; else null.
std::map<Role, Checked> rolesOf(llvm::ArrayRef<Checked> operations,
                                const Format &carrier);

/// The laws of a format for which there are the operations. `isInF32`: casts to
/// f32 are exact, so that a code which does not come back is no number of the
/// format, but of the wider type that stores it.
std::vector<Law> lawsOf(const Format &format,
                        const std::map<Role, Checked> &roles, bool isInF32);

/// What the codes that the entry of a format names have to be to its
/// operations.
std::vector<Law> identityLaws(const Format &format,
                              const Identities &identities,
                              const std::map<Role, Checked> &roles);

/// What a format's `round_to` says: that it is the casts to the format and
/// back, and that each of the functions that it names is the operation of the
/// carrier and a rounding.
std::vector<Law> carrierLaws(const Lowering &roundTo,
                             const std::map<Role, Checked> &roles);

/// For each code, whether it is NaN, as far as the functions tell.
std::vector<bool> findNaNs(const std::vector<uint64_t> &codes,
                           const std::map<Role, Checked> &roles, CallRole call);

} // namespace numera::check

#endif // NUMERA_LIB_TARGET_CHECK_LAWS_H
