// SPDX-License-Identifier: MIT
//
// Builds the lowering of one operation on scalars or on vectors of one
// dimension: the call that the registry names, the entry of the formats'
// family, or a composition of those where formats mix.

#ifndef NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_LOWERING_LOWERINGS_H
#define NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_LOWERING_LOWERINGS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include "numera/Dialect/Numera/IR/Numera.h"
#include "numera/Registry/Lowerings/Derivation.h"

namespace numera {

/// A scalar, or a vector of them, on its way through a lowering, with its
/// meaning.
struct Scalar {
  mlir::Value value;
  ElementKind kind;
};

/// What a diagnostic or a report calls a kind of element.
std::string nameOf(const Registry &registry, const ElementKind &kind);
/// The scalar type that holds an element on storage: a machine float for f32
/// and f64, else the integer.
mlir::Type storageType(mlir::MLIRContext *context, const ElementKind &kind);
/// `element`, or the vector of it that has the shape of `value`.
mlir::Type shapedLike(mlir::Value value, mlir::Type element);
/// A machine number as the integer of its bits, and back to `element`; anything
/// else as it is. Of a vector, each element.
mlir::Value toBits(mlir::OpBuilder &builder, mlir::Location loc,
                   mlir::Value value);
mlir::Value fromBits(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::Value value, mlir::Type element);
/// value != 0, of an integer or of each element.
mlir::Value isNonZero(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::Value value);
/// 32 or 64 for f32 and f64, else 0.
unsigned machineWidth(const ElementKind &kind);
/// True for a format whose operations the runtime knows.
bool hasArithmetic(const ElementKind &kind);

class StatusFlagsOp;

/// The canonical NaN in place of any other: of f32 or f64.
mlir::Value withCanonicalNaN(mlir::OpBuilder &builder, mlir::Location loc,
                             mlir::Value x);

class Lowerings {
public:
  Lowerings(mlir::ModuleOp module, const Registry &registry, Target target)
      : module(module), registry(registry), target(target) {}

  /// The lowering of `op`, with `values` in the place of its operands, at the
  /// builder's place: on storage, scalars or vectors of one dimension. Null
  /// after an error at `op`.
  mlir::Value lower(mlir::OpBuilder &builder, FormatOpInterface op,
                    mlir::ValueRange values);
  /// The status flags of an operation, i8: from its exact result where the
  /// rounded one may have any.
  mlir::Value lower(mlir::OpBuilder &builder, StatusFlagsOp op,
                    mlir::ValueRange values);
  /// The call that draws the bits of `op`.
  mlir::Value lower(mlir::OpBuilder &builder, RandomOp op);
  void lower(mlir::OpBuilder &builder, RandomFillOp op);
  /// The call that reads from the table of `op`.
  mlir::Value lower(mlir::OpBuilder &builder, LookupOp op,
                    mlir::ValueRange values);
  /// The call that reads a code of `op` in its buffer.
  mlir::Value lower(mlir::OpBuilder &builder, LoadPackedOp op);
  /// The same for a `decode`, `round_to` or `encode`.
  mlir::Value lowerCarrierOp(mlir::OpBuilder &builder, mlir::Operation *op,
                             mlir::ValueRange values);

  /// Calls a part of the accumulator of an opaque format on the memory and the
  /// codes of `operands`; an error at `op` where it is not registered. The
  /// result is null for a part that has none.
  mlir::FailureOr<mlir::Value> callPart(mlir::OpBuilder &, mlir::Operation *op,
                                        OpKind part, const Format &,
                                        llvm::ArrayRef<mlir::Value> operands);

  /// Calls the function of a lowering; a null `result` is none.
  mlir::Value callRegistered(mlir::OpBuilder &, mlir::Location,
                             const Lowering &, llvm::ArrayRef<mlir::Value>,
                             mlir::Type result);
  /// Without the bits above the format's width, whatever a library returns; of
  /// f32 and f64, with one NaN for all.
  static mlir::Value canonical(mlir::OpBuilder &, mlir::Location, mlir::Value,
                               const Format &);

  /// Calls `numera_<family>_<op>_<bits>`(operands, parameters…, trailing…,
  /// last), or its vector form where an operand is a vector; `result` is a
  /// scalar's type. A null `result` is none, a null `last` no argument.
  mlir::Value callEntry(mlir::OpBuilder &, mlir::Location, const Format &,
                        llvm::Twine op, llvm::ArrayRef<mlir::Value> operands,
                        llvm::ArrayRef<int32_t> trailing, mlir::Type result,
                        mlir::Value last = {});
  /// The same with the symbol `numera_<family>_<op>`.
  mlir::Value callFamily(mlir::OpBuilder &, mlir::Location, const Format &,
                         llvm::Twine op, llvm::ArrayRef<mlir::Value> operands,
                         llvm::ArrayRef<int32_t> trailing, mlir::Type result,
                         mlir::Value last = {});

  /// A call of a function on scalars, or of its vector form.
  mlir::Value call(mlir::OpBuilder &, mlir::Location, llvm::StringRef symbol,
                   llvm::ArrayRef<mlir::Value> operands, mlir::Type result);
  /// A number as an Unpacked (Numerics/Core/Unpacked.h) in an i128.
  mlir::Value unpack(mlir::OpBuilder &, mlir::Location, const Scalar &);
  /// A number whose last `count` bits are cut off.
  mlir::Value truncate(mlir::OpBuilder &, mlir::Location, const Scalar &,
                       int32_t count);

private:
  struct Request {
    mutable FormatOpInterface
        op; ///< for location, errors, predicate, signedness
    OpKind operation;
    ElementKind result;
    OperationRules rules;
    mlir::Value random = {}; ///< an i32, where the rounding is stochastic
  };
  /// A cast to `result` that changes nothing.
  static Request exactCast(FormatOpInterface op, const ElementKind &result);

  mlir::Value dispatch(mlir::OpBuilder &, const Request &,
                       llvm::ArrayRef<Scalar>);
  mlir::Value registered(mlir::OpBuilder &, const Request &,
                         llvm::ArrayRef<Scalar>);
  mlir::Value cast(mlir::OpBuilder &, const Request &, const Scalar &);
  mlir::Value truncated(mlir::OpBuilder &, const Request &,
                        llvm::ArrayRef<Scalar>);
  mlir::Value mac(mlir::OpBuilder &, const Request &, MacOp,
                  llvm::ArrayRef<Scalar>);
  mlir::Value uniform(mlir::OpBuilder &, const Request &,
                      llvm::ArrayRef<Scalar>);
  mlir::Value machineStep(mlir::OpBuilder &, const Request &,
                          llvm::ArrayRef<Scalar>);
  mlir::Value mixed(mlir::OpBuilder &, const Request &, llvm::ArrayRef<Scalar>);
  mlir::Value opaque(mlir::OpBuilder &, const Request &,
                     llvm::ArrayRef<Scalar>);
  mlir::Value throughFormat(mlir::OpBuilder &, const Request &,
                            llvm::ArrayRef<Scalar>, const Format &);
  mlir::Value derived(mlir::OpBuilder &, const Request &,
                      llvm::ArrayRef<Scalar>, const Derivation &);
  mlir::Value choose(mlir::OpBuilder &, const Request &, llvm::ArrayRef<Scalar>,
                     mlir::Value isLess);
  mlir::Value lowerOpaqueCarrierOp(mlir::OpBuilder &, mlir::Operation *,
                                   mlir::Value);
  /// True if the result is true or false.
  static bool isTest(OpKind operation) {
    return operation == OpKind::Cmp || operation == OpKind::IsNaN;
  }
  Format carrierOf(const Request &, llvm::ArrayRef<Scalar>) const;
  mlir::Value missing(const Request &, llvm::ArrayRef<Scalar>);

  Lowering key(const Request &, llvm::ArrayRef<Scalar>) const;

  mlir::Value randomBits(mlir::OpBuilder &, const Request &);
  mlir::func::FuncOp declare(llvm::StringRef symbol, mlir::FunctionType type);
  mlir::Value pack(mlir::OpBuilder &, const Request &, mlir::Value);
  /// The table in memory.
  mlir::LLVM::GlobalOp globalOf(mlir::OpBuilder &, mlir::DenseElementsAttr);

  /// By what they compute and their types.
  llvm::DenseMap<std::pair<mlir::DictionaryAttr, mlir::FunctionType>,
                 mlir::func::FuncOp>
      flagFunctions;
  mlir::ModuleOp module;
  const Registry &registry;
  Target target;
  llvm::DenseMap<mlir::Attribute, mlir::LLVM::GlobalOp> tables;
};

} // namespace numera

#endif // NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_LOWERING_LOWERINGS_H
