// SPDX-License-Identifier: MIT
//
// `numera.status_flags`. It is separate from the other operations because only
// the counting passes create it.

#ifndef NUMERA_DIALECT_NUMERA_IR_STATUSFLAGS_H
#define NUMERA_DIALECT_NUMERA_IR_STATUSFLAGS_H

#include "numera/Dialect/Numera/IR/Numera.h"

#define GET_OP_CLASSES
#include "numera/Dialect/Numera/IR/NumeraStatusFlags.h.inc"

#endif // NUMERA_DIALECT_NUMERA_IR_STATUSFLAGS_H
