// SPDX-License-Identifier: MIT
//
// Determines the policy of each operation of a model.

#ifndef NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_RETYPE_RETYPERULES_H
#define NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_RETYPE_RETYPERULES_H

#include "FloatTypes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "numera/Dialect/Numera/Transforms/Retype/Policy.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace numera {

/// True for what moves values between a function and others, memory, or scaled
/// tensors, whose values are f32: they are there what they are in the model.
bool isBoundary(mlir::Operation *op);
/// True for what has numbers from nowhere: constants and empty tensors.
bool isNumberSource(mlir::Operation *op);
/// True for what computes nothing: its results are elements of what it reads.
bool onlyMoves(mlir::Operation *op);

/// The model's policy, and those of its rules. Which one an operation is under
/// stands in its location until `finish`, so that what it is rewritten to is
/// under the same.
class Policies {
public:
  Policies(mlir::ModuleOp module, const ResolvedPolicy &model);

  /// The first rule that matches each operation, before it becomes others. With
  /// `keepsOperators` their locations say what they were until `finish`.
  void match(bool keepsOperators = false);
  /// From here on there are operations that are under no rule of the model, but
  /// in f32, or in f64 where f32 does not hold the numbers of all its formats.
  void addReference();
  /// True for a model that needs them: scales that are given are read in f32.
  bool hasGivenScales();
  /// Makes an operation, with all inside, one of these.
  void putIntoReference(mlir::Operation *op);
  /// What only moves values takes the policy of what it moves; what is the same
  /// in all formats but for a rounding, constants and arguments that were
  /// moved, that of what reads it, and is there once for each of their formats.
  void settle(mlir::func::FuncOp function);
  /// Warns of rules that were for nothing, and writes into the module what the
  /// others were for.
  void finish();

  /// The policy for this operation.
  const ResolvedPolicy &of(mlir::Operation *op) const;
  /// The policy in whose format a value is; null for one that comes from
  /// outside: an argument, the result of a call, an element of memory.
  const ResolvedPolicy *of(mlir::Value value) const;
  /// The policy in whose format a value is read; null where any will do.
  const ResolvedPolicy *wantedBy(mlir::OpOperand &use) const;
  /// True for the scales of a scaled tensor that come from outside. They are no
  /// numbers of the model.
  bool isReadAsGiven(mlir::OpOperand &use) const;
  const ResolvedPolicy &ofModel() const { return model; }
  /// That of numbers of a type that no policy's format replaces.
  const ResolvedPolicy &ofKept(const Format &format) const;
  const FloatTypes &floats() const { return types; }

private:
  /// What a rule matched.
  struct Match {
    bool isFirst = false; ///< of an operation at least
    bool isAny = false;
    llvm::SetVector<mlir::StringAttr> operations; ///< that it was for
  };

  /// 0 is the model's; behind the rules comes the reference.
  const ResolvedPolicy &policyOf(unsigned rule) const;
  unsigned referenceRule() const { return unsigned(model.rules.size()) + 1; }
  std::optional<unsigned> ruleBehind(mlir::Value value) const;
  bool isNumber(mlir::Value value) const;
  bool isOnNumbers(mlir::Operation *op) const;
  bool isFree(mlir::Value value) const;
  unsigned ruleOfReader(mlir::OpOperand &use) const;
  void decide(mlir::Operation *op);
  void followReaders(mlir::Operation *op);
  void warn(const Policy::Rule &rule, const Match &match);

  mlir::ModuleOp module;
  const ResolvedPolicy &model;
  std::optional<ResolvedPolicy> reference;
  FloatTypes types;
  mutable std::vector<std::unique_ptr<ResolvedPolicy>> kept;
  llvm::SmallVector<Match> matches;
  llvm::SetVector<mlir::StringAttr> names, operators; ///< of the model
  /// What takes the format of its readers, while it has none.
  llvm::SetVector<mlir::Operation *> free;
};

} // namespace numera

#endif // NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_RETYPE_RETYPERULES_H
