// SPDX-License-Identifier: MIT
//
// Constants of which loops take nothing but decoded codes, such as a bias.

#ifndef NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_CARRIER_DECODECONSTANTS_H
#define NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_CARRIER_DECODECONSTANTS_H

#include "numera/Dialect/Numera/IR/Numera.h"

namespace numera {

/// Decodes constants of a few elements in front of the loops that read them,
/// where they are folded: the loops have one type, and none decodes its bias
/// for every row.
void decodeConstants(mlir::Operation *root);

} // namespace numera

#endif // NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_CARRIER_DECODECONSTANTS_H
