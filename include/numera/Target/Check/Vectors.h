// SPDX-License-Identifier: MIT
//
// The inputs of `numera check` for other uses: test vectors.

#ifndef NUMERA_TARGET_CHECK_VECTORS_H
#define NUMERA_TARGET_CHECK_VECTORS_H

#include "numera/Target/Check/Check.h"

namespace numera::check {

/// The operands of an operation: all of them if they are no more than
/// `options.draws`, else as many combinations of boundary values and as many
/// random ones. The same options give the same operands.
std::vector<Operands> inputsOf(const Registry &registry, const Checked &checked,
                               const Options &options);

} // namespace numera::check

#endif // NUMERA_TARGET_CHECK_VECTORS_H
