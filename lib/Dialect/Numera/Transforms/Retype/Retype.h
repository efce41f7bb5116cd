// SPDX-License-Identifier: MIT
//
// The steps of numera-retype.

#ifndef NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_RETYPE_RETYPE_H
#define NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_RETYPE_RETYPE_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include "numera/Dialect/Numera/Transforms/Retype/Policy.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace numera {

/// A constant of `format` with the value of an attribute of floats; an infinite
/// one becomes the lowest or highest value. For opaque formats, whose codes
/// only their library knows, a constant in the format of these floats and a
/// cast.
mlir::Value createConstant(mlir::OpBuilder &builder, mlir::Location loc,
                           const Format &format, mlir::TypedAttr value);

/// The type with this element type, or the element type for a scalar.
mlir::Type withElement(mlir::Type type, mlir::Type element);

/// Notes on an encoded constant what it was made from, for `fromOrigin`.
void keepOrigin(mlir::Value constant, mlir::TypedAttr value);
void dropOrigins(mlir::ModuleOp module);
/// A tensor of `format` made from the f32 of a constant, and moved as `value`
/// is, which has been rounded to another format; null where `value` comes from
/// something else as well.
mlir::Value fromOrigin(mlir::OpBuilder &builder, mlir::Value value,
                       const Format &format);

/// What stands for an operation of arith or math whose operands and results are
/// in formats already, if that is several operations: a value for each result;
/// else nothing. `bits` is the format of the model's float type in a bitcast.
llvm::SmallVector<mlir::Value> createExpansion(mlir::IRRewriter &rewriter,
                                               mlir::Operation *op,
                                               const Format &bits);

/// Replaces operations of the dialects vector and memref that compute, and
/// bitcasts of vectors and tensors, by operations of arith and math.
mlir::LogicalResult replaceSteps(mlir::ModuleOp module);
/// Those of memref, atomic changes: loads and stores, as no two threads of a
/// program share what a model writes.
void replaceAtomics(mlir::ModuleOp module);

/// An error at an operation of another dialect on numbers of a format that is
/// not known to only move them: it would compute on their codes.
mlir::LogicalResult checkMoves(mlir::ModuleOp module);

class Policies;
/// An error at tensors of vectors of a type that a policy replaces.
mlir::LogicalResult checkElements(mlir::ModuleOp module,
                                  const Policies &policies);

/// The formats whose codes bitcasts of the model read or write.
using BitcastFormats = llvm::DenseMap<mlir::Operation *, Format>;

/// An error at an operation in the form that lowering gives it, whose formats
/// are attributes, on types that a policy replaces; and at tensors of vectors
/// of them.
mlir::LogicalResult checkForms(mlir::ModuleOp module, const Policies &policies);

/// An error at a complex number whose parts a policy replaces, and at a loop
/// of affine that reduces such numbers.
mlir::LogicalResult checkParts(mlir::ModuleOp module, const Policies &policies);

/// Replaces operations of arith and math on values that have been retyped, and
/// encodes constants. Others that could compute on codes are errors.
mlir::LogicalResult replaceOperations(mlir::ModuleOp module,
                                      const Policies &policies,
                                      const BitcastFormats &bitcasts);

/// Rewrites contractions and sums, already in the formats of their policies, to
/// the accumulators of these. With `observe` contractions are left as they are,
/// and what they would quantize while the program runs is returned by public
/// functions. `onFloats` are the generics whose result had a float type of
/// MLIR: those of a type that is not replaced are contractions too.
mlir::LogicalResult
retypeContractions(mlir::ModuleOp module, const Policies &policies,
                   const llvm::SmallPtrSetImpl<mlir::Operation *> &onFloats,
                   bool observe);

/// Names of contractions, each its own: those that locations have, as the
/// importer's do, else `contraction`, with a count from the second one on.
class ContractionNames {
public:
  /// A copy that LayerCopies made has the name of its original.
  std::string next(mlir::linalg::GenericOp generic);

  /// The attribute by which a generic and its copies are one, in a function.
  static constexpr llvm::StringLiteral numberName = "numera.number";

  /// Remembers that scales were given to a tensor.
  void use(llvm::StringRef tensor) { scaled.insert(tensor); }
  bool isUsed(llvm::StringRef tensor) const { return scaled.contains(tensor); }

private:
  llvm::StringMap<unsigned> used;
  /// By function and number.
  llvm::DenseMap<std::pair<mlir::Operation *, int64_t>, std::string> numbered;
  llvm::StringSet<> scaled;
};

/// Puts the operands of a contraction whose factors are the arguments `lhs` and
/// `rhs` of its body, of which `inputs` are the generic's, into what the
/// policy stores them in.
mlir::LogicalResult
storeOperands(mlir::IRRewriter &rewriter, mlir::linalg::GenericOp generic,
              mlir::Value lhs, mlir::Value rhs, const ResolvedPolicy &policy,
              ContractionNames &names, const std::string &name,
              llvm::MutableArrayRef<mlir::Value> inputs);
/// A contraction's result through what the policy stores it in.
mlir::FailureOr<mlir::Value>
storeResult(mlir::IRRewriter &rewriter, mlir::Location loc, mlir::Value result,
            const ResolvedPolicy &policy, ContractionNames &names,
            const std::string &name, int64_t channelAxis);
/// The axis of the result along which weights have their channels.
int64_t channelAxisOfResult(mlir::linalg::GenericOp generic);

/// Keeps tensors scaled from operation to operation where policies are scaled
/// throughout, with scales of the worst case. Contractions have been retyped,
/// and read f32.
void propagateScales(mlir::ModuleOp module, const Policies &policies);

/// An operand of a contraction, by the name that scales are given to it.
struct Observed {
  std::string name;
  mlir::Value value;
};
/// Appends the operands that are no constants.
void observeOperands(mlir::linalg::GenericOp generic, mlir::Value lhs,
                     mlir::Value rhs, const std::string &name,
                     llvm::SmallVectorImpl<Observed> &observed);
/// Lets public functions return, after their results, what was observed in
/// them.
void returnObserved(mlir::ModuleOp module, llvm::ArrayRef<Observed> observed);

/// A sum over the reduction loops of `generic`, whose body ends in the addition
/// to its accumulator, in the policy's accumulator and blocked order, cast to
/// the format; null where a reduced size is not known.
mlir::Value createBlockedSum(mlir::IRRewriter &rewriter,
                             mlir::linalg::GenericOp generic,
                             const ResolvedPolicy &policy);

/// Lets public functions return, after their results, the words of the quires
/// that these results of theirs were rounded from. Contractions have been
/// retyped.
mlir::LogicalResult returnQuires(mlir::ModuleOp module,
                                 llvm::ArrayRef<unsigned> results);

/// Weights with equal elements share those of the first.
void uniteWeights(mlir::ModuleOp module);

/// Gives every operation that rounds stochastically, and has none, its random
/// bits, drawn by a numera.random with an id of its own. Functions that draw
/// take seed, step and sample as three trailing i64 and have the attribute
/// `numera.draws`.
llvm::LogicalResult assignRandomBits(mlir::ModuleOp module);

/// Replaces a loop by one that also carries the number of its turn, from 0: the
/// last argument of both regions, an i64.
mlir::scf::WhileOp withTurn(mlir::scf::WhileOp loop);
/// The region of `ancestor` that has `op`.
mlir::Region *regionAround(mlir::Operation *op, mlir::Operation *ancestor);

} // namespace numera

#endif // NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_RETYPE_RETYPE_H
