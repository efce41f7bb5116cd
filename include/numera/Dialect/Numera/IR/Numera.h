// SPDX-License-Identifier: MIT
//
// The `numera` dialect: types and attributes that name a format, and operations
// on them (docs/Dialect.md).

#ifndef NUMERA_DIALECT_NUMERA_IR_NUMERA_H
#define NUMERA_DIALECT_NUMERA_IR_NUMERA_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "numera/Registry/Formats/Evaluation.h"
#include "numera/Registry/Registry.h"

#include "numera/Dialect/Numera/IR/NumeraDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "numera/Dialect/Numera/IR/NumeraAttributes.h.inc"

#define GET_TYPEDEF_CLASSES
#include "numera/Dialect/Numera/IR/NumeraTypes.h.inc"

namespace numera {

/// The kind of an element of an operand or result: a format, or an integer.
struct ElementKind {
  Format format;             ///< null for an integer
  mlir::IntegerType integer; ///< null for a format

  bool isFormat() const { return static_cast<bool>(format); }
  bool operator==(const ElementKind &) const = default;
};

/// An element kind as an operation's `format` attribute.
mlir::Attribute attributeOf(mlir::MLIRContext *context,
                            const ElementKind &kind);

/// The registry of the context of `op`.
const Registry &registryOf(mlir::Operation *op);

/// `cpu` or `nvptx`, else an error at `op`.
mlir::FailureOr<Target> parseTarget(mlir::Operation *op, llvm::StringRef name);

/// The name of the model's node in a location; empty if there is none.
std::string nodeNameOf(mlir::Location loc);

/// The element type of a vector or tensor; any other type itself.
inline mlir::Type elementType(mlir::Type type) {
  return mlir::getElementTypeOrSelf(type);
}

/// The format of f32, f64 or `!numera.num`; null for any other type.
Format formatOfType(mlir::Type type);

/// The type of a value of `format`: f32 or f64 for these formats, else
/// `!numera.num`.
mlir::Type typeOfFormat(mlir::MLIRContext *context, const Format &format);

/// True if a cast changes no value: every value of `from` is a value of `to`,
/// `to` does not saturate the infinities that `from` has, and casts to it
/// truncate nothing.
bool isExactCast(const Format &from, const Format &to);
/// The same for a cast with its own rules.
bool isExactCast(const Format &from, const OperationRules &rules);

/// The attribute for a code in `numera.constant` and the folders: a storage
/// integer, or a float of a machine type.
mlir::TypedAttr constantOfCode(mlir::Type type, uint64_t code);
/// The value of a constant operand, as the constants of `numera` and arith hold
/// it; null if it is not a constant.
mlir::Attribute valueOfConstant(mlir::Attribute folded);
mlir::Attribute valueOfConstant(mlir::Value operand);

/// The encoding of a scaled tensor; null for any other type.
ScalingAttr scalingOf(mlir::Type type);
/// The element format and the scaling of a scaled tensor.
ScaledFormat scaledFormatOf(mlir::RankedTensorType type);
/// The type of a tensor of the shape of `values` in `format`, with scales along
/// `axis`, or with one scale if `axis` is negative.
mlir::RankedTensorType scaledType(mlir::RankedTensorType values,
                                  const ScaledFormat &format, int64_t axis);
/// The shape of the tensor of scales.
llvm::SmallVector<int64_t> scaleShapeOf(mlir::RankedTensorType type);
/// A part of a scaled tensor: a plain tensor, and the suffix of its name if the
/// scaled tensor has a name.
struct ScaledPart {
  mlir::RankedTensorType type;
  llvm::StringRef suffix;
};
/// The parts: elements, scales and, if the format has them, zero points or the
/// scale of the tensor.
llvm::SmallVector<ScaledPart> partsOf(mlir::RankedTensorType type);

/// True for a tensor whose codes are stored without gaps (#numera.packed).
bool isPacked(mlir::Type type);
/// The bytes that `count` codes of `width` bits take without gaps; dynamic for
/// a dynamic count.
int64_t packedBytes(int64_t count, int64_t width);

/// The words of a quire of the format (docs/Semantics/Quire.md, Q2); 0 for an
/// opaque format, whose accumulator only its library reads.
unsigned quireWords(const Format &format);
/// What a word of a quire, or of each quire of a tensor, has for a type: i64.
mlir::Type quireWordType(mlir::Type quire);
/// The same for all words.
llvm::SmallVector<mlir::Type> quireWordTypes(mlir::Type quire);

/// A predicate of arith.cmpf as a set of Relation bits
/// (Numerics/Exact/Compare.h).
int32_t relationsOf(mlir::arith::CmpFPredicate predicate);

/// The attribute of a function whose last three arguments, i64, are the seed,
/// step and sample of stochastic rounding.
inline constexpr llvm::StringLiteral drawsAttribute = "numera.draws";

/// On an argument or result that is of codes: the float type of MLIR that it
/// had, whose codes they are, for callers.
inline constexpr llvm::StringLiteral dtypeAttribute = "numera.dtype";

/// A number on results of a function whose elements may lie in any order of
/// their dimensions, the same for all that have the number. On arguments that
/// are matrices: in any order, of any sizes.
inline constexpr llvm::StringLiteral anyOrderAttribute = "numera.any_order";

/// The attribute of a function whose last arguments are destinations. For each
/// original result it has unit, if the function still returns it, or an array
/// with two numbers for each dimension: the argument and its dimension with the
/// same size, or -1 and -1 for a static size.
inline constexpr llvm::StringLiteral destinationsAttribute =
    "numera.destinations";

namespace detail {
ElementKind resultElement(mlir::Operation *op);
ElementKind operandElement(mlir::Operation *op, unsigned index);
OperationRules rulesOf(mlir::Operation *op);
bool drawsRandom(mlir::Operation *op);
mlir::LogicalResult verifyFormatOp(mlir::Operation *op);
Format quireFormat(mlir::Operation *op);
bool isAccumulation(mlir::Operation *op);
mlir::LogicalResult verifyQuireOp(mlir::Operation *op);
} // namespace detail

class MacOp;
/// The rules of the step, including its attributes.
StepRules stepRulesOf(MacOp op);

} // namespace numera

#include "numera/Dialect/Numera/IR/NumeraInterfaces.h.inc"

namespace numera {
/// True if the configuration registers a function for the operation, so that it
/// must not be folded.
bool isOverridden(FormatOpInterface op);

/// True if sums of the format can be exact: in its family's quire, or in the
/// accumulator of an opaque format's library. Else `error` has the reason.
bool hasQuire(const Registry &registry, const Format &format,
              std::string &error);
bool hasQuire(mlir::MLIRContext *context, const Format &format,
              std::string &error);

/// True if values of the format may stay in f32 or f64 (the `width`) between
/// operations. The family, or the entry of an opaque format, decides.
bool hasCarrier(mlir::MLIRContext *context, const Format &format,
                unsigned width);
} // namespace numera

#define GET_OP_CLASSES
#include "numera/Dialect/Numera/IR/NumeraOps.h.inc"

#endif // NUMERA_DIALECT_NUMERA_IR_NUMERA_H
