// SPDX-License-Identifier: MIT

#ifndef NUMERA_LIB_TARGET_VECTORFORMS_H
#define NUMERA_LIB_TARGET_VECTORFORMS_H

#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

namespace numera {

/// Defines every vector form that the module declares (Registry/VectorForm.h),
/// as calls of the scalar function, which then is linked as any other is.
/// Runs before the libraries and the runtime are linked. Fails where the
/// program has another function of the scalar one's name.
llvm::Error defineVectorForms(llvm::Module &module);

/// The scalar function whose vector form `function` is, by that definition;
/// null where it is none.
llvm::Function *scalarOf(const llvm::Function &function);

} // namespace numera

#endif // NUMERA_LIB_TARGET_VECTORFORMS_H
