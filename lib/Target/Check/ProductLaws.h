// SPDX-License-Identifier: MIT
//
// Laws of a library's product of matrices, which hold for any rounding of sums.

#ifndef NUMERA_LIB_TARGET_CHECK_PRODUCTLAWS_H
#define NUMERA_LIB_TARGET_CHECK_PRODUCTLAWS_H

#include "Module.h"

namespace numera::check {

/// Tries the laws of a `matmul`, a `dot` or an accumulator's sums of products
/// on products of many shapes, each law in a child process: a result for each.
/// An error is one line: that it does not compile.
llvm::Expected<std::vector<Result>> checkProduct(const Registry &registry,
                                                 const Checked &product,
                                                 const Options &options);

} // namespace numera::check

#endif // NUMERA_LIB_TARGET_CHECK_PRODUCTLAWS_H
