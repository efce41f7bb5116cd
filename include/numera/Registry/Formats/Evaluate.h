// SPDX-License-Identifier: MIT
//
// An operation on codes of one format, dispatched to Numerics.

#ifndef NUMERA_REGISTRY_FORMATS_EVALUATE_H
#define NUMERA_REGISTRY_FORMATS_EVALUATE_H

#include "numera/Numerics/Elementary/Exact.h"
#include "numera/Numerics/Exact/Compare.h"
#include "numera/Numerics/Operations/Convert.h"
#include "numera/Numerics/Operations/Elementary.h"
#include "numera/Registry/Formats/OpKind.h"
#include "llvm/ADT/ArrayRef.h"

namespace numera {

template <typename F>
uint64_t evaluate(const F &f, OpKind operation,
                  llvm::ArrayRef<uint64_t> operands, RoundingMode mode,
                  int32_t relations) {
  uint64_t x = operands[0];
  [[maybe_unused]] uint64_t y = operands.size() > 1 ? operands[1] : 0;
  [[maybe_unused]] uint64_t z = operands.size() > 2 ? operands[2] : 0;
  // The family's own, where it has one.
#define ARGUMENTS_1 x
#define ARGUMENTS_2 x, y
#define ARGUMENTS_3 x, y, z
#define UNPACKED_1 f.decode(x).operand()
#define UNPACKED_2 f.decode(x).operand(), f.decode(y).operand()
#define EVALUATE_Direct(op, operands)                                          \
  return numera::op(f, ARGUMENTS_##operands, mode);
#define EVALUATE_Ziv(op, operands)                                             \
  if constexpr (requires { f.op(ARGUMENTS_##operands, mode); })                \
    return f.op(ARGUMENTS_##operands, mode);                                   \
  else                                                                         \
    return numera::elementary(                                                 \
        f, x, fast::op, fast::op##Range,                                       \
        [&](double value) { return encodeFrom(f, value, mode); },              \
        [&](uint64_t code) {                                                   \
          return f.encode(exact::op(f.decode(code).operand()), mode);          \
        });
#define EVALUATE_Exact(op, operands)                                           \
  if constexpr (requires { f.op(ARGUMENTS_##operands, mode); })                \
    return f.op(ARGUMENTS_##operands, mode);                                   \
  else                                                                         \
    return f.encode(value::op(UNPACKED_##operands, mode.rounding), mode);
#define EVALUATE_Choice(op, operands)                                          \
  return numera::op(f, ARGUMENTS_##operands);
#define EVALUATE_Test(op, operands) return op##Of(f, x, y, relations);
#define EVALUATE_Cast(op, operands) return cast(f, f, x, mode);
#define EVALUATE_Step(op, operands) return fma(f, x, y, z, mode);
  auto cmpOf = [](const F &f, uint64_t x, uint64_t y, int32_t relations) {
    return cmp(f, x, y, relations);
  };
  auto isnanOf = [](const F &f, uint64_t x, uint64_t, int32_t) {
    return isnan(f, x);
  };
  switch (operation) {
#define NUMERA_OPERATION(enumerator, name, operands, form, ...)                \
  case OpKind::enumerator: {                                                   \
    EVALUATE_##form(name, operands)                                            \
  }
#include "numera/Numerics/Core/Operations.def"
#define NUMERA_FUNCTION(enumerator, name, operands) case OpKind::enumerator:
#define NUMERA_IDENTITY(enumerator, name, operands) case OpKind::enumerator:
#define NUMERA_PART(enumerator, name, operands) case OpKind::enumerator:
#include "numera/Registry/Formats/LibraryFunctions.def"
    break; // a library's alone
  }
#undef ARGUMENTS_1
#undef ARGUMENTS_2
#undef ARGUMENTS_3
#undef UNPACKED_1
#undef UNPACKED_2
#undef EVALUATE_Direct
#undef EVALUATE_Ziv
#undef EVALUATE_Exact
#undef EVALUATE_Choice
#undef EVALUATE_Test
#undef EVALUATE_Cast
#undef EVALUATE_Step
  return f.nanCode();
}

} // namespace numera

#endif // NUMERA_REGISTRY_FORMATS_EVALUATE_H
