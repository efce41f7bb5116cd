// SPDX-License-Identifier: MIT

#include "numera/Registry/Formats/ExactValue.h"
#include "numera/Numerics/Elementary/Exact.h"

using namespace numera;

Unpacked numera::exactValue(OpKind operation, llvm::ArrayRef<Unpacked> operands,
                            Rounding mode) {
  const Unpacked &x = operands[0];
  const Unpacked &y = operands.size() > 1 ? operands[1] : x;
  const Unpacked &z = operands.size() > 2 ? operands[2] : x;
#define ARGUMENTS_1 x
#define ARGUMENTS_2 x, y
#define ARGUMENTS_3 x, y, z
#define VALUE_Direct(op, operands) return value::op(ARGUMENTS_##operands, mode);
#define VALUE_Ziv(op, operands) VALUE_Direct(op, operands)
#define VALUE_Exact(op, operands) VALUE_Direct(op, operands)
#define VALUE_Choice(op, operands) VALUE_Direct(op, operands)
#define VALUE_Test(op, operands) break; // their operands have one format
#define VALUE_Cast(op, operands) return x;
#define VALUE_Step(op, operands) return value::fma(x, y, z, mode);
  switch (operation) {
#define NUMERA_OPERATION(enumerator, name, operands, form, ...)                \
  case OpKind::enumerator:                                                     \
    VALUE_##form(name, operands)
#include "numera/Numerics/Core/Operations.def"
#define NUMERA_FUNCTION(enumerator, name, operands) case OpKind::enumerator:
#define NUMERA_IDENTITY(enumerator, name, operands) case OpKind::enumerator:
#define NUMERA_PART(enumerator, name, operands) case OpKind::enumerator:
#include "numera/Registry/Formats/LibraryFunctions.def"
    break; // a library's alone
  }
  return Unpacked::nan();
}
