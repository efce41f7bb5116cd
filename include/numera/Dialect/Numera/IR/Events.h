// SPDX-License-Identifier: MIT
//
// `numera.events`, which only what counts makes: apart from the operations of
// programs.

#ifndef NUMERA_DIALECT_NUMERA_IR_EVENTS_H
#define NUMERA_DIALECT_NUMERA_IR_EVENTS_H

#include "numera/Dialect/Numera/IR/Numera.h"

#define GET_OP_CLASSES
#include "numera/Dialect/Numera/IR/NumeraEvents.h.inc"

#endif // NUMERA_DIALECT_NUMERA_IR_EVENTS_H
