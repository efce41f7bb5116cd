// SPDX-License-Identifier: MIT
//
// Elements of large constants that several parts of a process may hold, and
// that can be released. Those of a DenseElementsAttr stay as long as the
// context lives, also where nothing needs them any more: weights in f32 that
// have been encoded, for example.

#ifndef NUMERA_DIALECT_NUMERA_IR_SHAREDELEMENTS_H
#define NUMERA_DIALECT_NUMERA_IR_SHAREDELEMENTS_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectInterface.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringMap.h"
#include <memory>

namespace numera {

/// Bytes that live as long as someone has them.
using SharedBytes = std::shared_ptr<const char>;

/// Those of a context, whose numera dialect has this. As a constant they are a
/// DenseResourceElementsAttr. Not to be used by several threads at a time.
class SharedElements : public mlir::DialectInterface::Base<SharedElements> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SharedElements)

  explicit SharedElements(mlir::Dialect *dialect) : Base(dialect) {}
  static SharedElements &of(mlir::MLIRContext *context);

  /// What is worth it: fewer bytes are a DenseElementsAttr, from which more is
  /// folded.
  static constexpr size_t leastBytes = size_t(1) << 16;
  /// Where memory of `allocate` begins, and a vector may.
  static constexpr size_t alignment = 64;
  /// Memory for so many bytes, which are not set.
  static std::shared_ptr<char> allocate(size_t bytes);

  /// A constant of all elements of `type`, whose elements take whole bytes.
  mlir::DenseResourceElementsAttr create(mlir::ShapedType type,
                                         SharedBytes bytes);
  /// The same, or where it is not worth it a constant that the context keeps.
  mlir::ElementsAttr createConstant(mlir::ShapedType type, SharedBytes bytes);
  /// The bytes of a constant of `create`; null if they have been released, or
  /// the constant is another.
  static SharedBytes find(mlir::Attribute constant);
  /// Lets go of the bytes. Nothing may read the constant from here on.
  static void release(mlir::Attribute constant);

private:
  llvm::StringMap<SharedBytes> known; ///< by the names of resources
};

/// The shared elements of a module's constants, while a pass replaces what
/// reads them.
class SharedConstants {
public:
  /// Finds those of all constants inside of `root`.
  void find(mlir::Operation *root);
  /// One use of a constant needs its elements no longer. The last one releases
  /// them. Does nothing for other values.
  void release(mlir::Value constant);
  /// Constants with equal elements share those of the first.
  void unite();
  /// Erases constants without uses, and releases what no other has.
  void eraseUnused();
  /// The same, and makes the elements of others dense, one after the other: of
  /// all, or of those that `isWanted` holds for.
  void
  makeDense(llvm::function_ref<bool(mlir::Operation *)> isWanted = nullptr);

private:
  llvm::SmallVector<mlir::Operation *> constants; ///< of arith and numera
  llvm::DenseMap<mlir::Attribute, size_t> uses;
};

/// The elements of `arith.constant` or `numera.constant`; null of others.
mlir::Attribute elementsOf(mlir::Operation *constant);

/// The bytes of all elements, or of one for all of them, of dense constants
/// and those of resources. Empty for others, and where they were released.
llvm::ArrayRef<char> rawElements(mlir::Attribute constant);

/// The same constant with elements that the context keeps; null for what has
/// none.
mlir::DenseElementsAttr denseElements(mlir::Attribute constant);

/// Makes the shared elements of all operations dense.
void makeElementsDense(mlir::ModuleOp module);

/// A copy whose shared elements are released apart from those of `module`.
mlir::OwningOpRef<mlir::ModuleOp> cloneModule(mlir::ModuleOp module);

} // namespace numera

#endif // NUMERA_DIALECT_NUMERA_IR_SHAREDELEMENTS_H
