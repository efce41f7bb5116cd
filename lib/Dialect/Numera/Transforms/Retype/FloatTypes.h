// SPDX-License-Identifier: MIT
//
// The float types of a model, of which a policy's format replaces some. Numbers
// of another type are in the format of that name: the type's codes are the
// format's. f32 and f64 stay types of MLIR, every other float type becomes the
// dialect's.

#ifndef NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_RETYPE_FLOATTYPES_H
#define NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_RETYPE_FLOATTYPES_H

#include "mlir/IR/BuiltinTypes.h"
#include "numera/Registry/Registry.h"
#include "llvm/ADT/DenseMap.h"

namespace numera {

/// The format of a float type of MLIR; null for one that has none (f80, f128).
Format formatOfFloat(const Registry &registry, mlir::FloatType type);

class FloatTypes {
public:
  /// `replaced`: the formats of the types that are.
  FloatTypes(const Registry &registry, llvm::ArrayRef<Format> replaced)
      : registry(registry), replaced(replaced) {}

  /// True for numbers, tensors and memrefs of a type that is replaced.
  bool isReplaced(mlir::Type type) const;
  /// True if the numbers of a tensor, or a number, are codes of a format, but
  /// of no type of the dialect yet: float types other than f32 and f64.
  static bool isSmall(mlir::Type type);

  /// What a type is at the boundary of a function and in memory: the numbers
  /// that the model has there.
  mlir::Type outside(mlir::Type type) const;
  /// What it is between operations under a policy with this format.
  mlir::Type inside(mlir::Type type, const Format &format) const;

  /// The format of numbers of a float type, or of a tensor's or memref's; null
  /// for anything else.
  Format formatOf(mlir::Type type) const;

private:
  const Registry &registry;
  llvm::ArrayRef<Format> replaced;
  mutable llvm::DenseMap<mlir::Type, Format> formats; ///< of element types
};

} // namespace numera

#endif // NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_RETYPE_FLOATTYPES_H
