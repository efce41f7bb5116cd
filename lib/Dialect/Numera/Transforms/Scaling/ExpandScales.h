// SPDX-License-Identifier: MIT
//
// The parts of numera-expand-scales.

#ifndef NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_SCALING_EXPANDSCALES_H
#define NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_SCALING_EXPANDSCALES_H

#include "ScaleIR.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/BuiltinOps.h"
#include "numera/Dialect/Numera/IR/DenseCodes.h"
#include "numera/Dialect/Numera/IR/SharedElements.h"
#include "numera/Registry/Scaling/Quantize.h"

namespace numera {

/// What a scaled tensor becomes.
struct Parts {
  mlir::Value data;        ///< elements, in the tensor's shape
  mlir::Value blocks;      ///< elements, the axis in two dimensions; or null
  mlir::Value scales;      ///< one for each group of elements
  mlir::Value tensorScale; ///< tensor<f32>; or null
  mlir::Value zeros;       ///< the zero point of each scale, elements; or null
  llvm::SmallVector<mlir::OpFoldResult> sizes;
};

/// A constant: its scales, and the codes of its elements.
struct KnownTensor {
  ScaledTensor scales; ///< without elements
  DenseCodesBuilder codes;
  mlir::ElementsAttr values; ///< f32; null until something reads them
};

/// Loops over the elements of a scaled tensor, with blocks as two dimensions.
struct Loops {
  unsigned rank = 0;
  llvm::SmallVector<bool> kept; ///< those that scales change along
  mlir::AffineMap elements, scales, none;
};

class Expander {
public:
  Expander(mlir::MLIRContext *context, bool counts, Target target)
      : counts(counts), target(target), builder(context) {}

  mlir::LogicalResult run(mlir::ModuleOp module);

private:
  mlir::LogicalResult expandAny(mlir::Operation *op);
  void expand(QuantizeOp op);
  void expand(ScaledFromPartsOp op);
  void expand(ScaledPartsOp op);
  mlir::LogicalResult expand(mlir::linalg::GenericOp generic);
  /// False for an operation of another kind.
  bool expandScaledArithmetic(mlir::Operation *op);
  void expand(ScaledAddOp op);
  void expand(ScaledMatmulOp op);
  void expand(ScaledReluOp op);
  void expand(RequantizeOp op);
  void expand(WastedBitsOp op);

  static llvm::DenseSet<mlir::Operation *>
  findOthers(mlir::ModuleOp module, llvm::ArrayRef<mlir::Operation *> work);
  mlir::LogicalResult
  returnCounts(llvm::ArrayRef<mlir::Operation *> work,
               const llvm::DenseSet<mlir::Operation *> &others);
  static void nameTensors(llvm::ArrayRef<mlir::Operation *> work);

  mlir::Value stored(mlir::Value elements, const ScaledFormat &format);
  const Parts &partsOf(mlir::Value scaled);
  bool readsValues(const ScaledFormat &format) const;
  bool foldQuantize(QuantizeOp op, Parts &parts);
  mlir::Value valuesOfConstant(mlir::Location loc, mlir::Value scaled);
  void makeScales(QuantizeOp op, mlir::Value values, const Loops &loops,
                  Parts &parts);
  void makeScalesAndZeros(QuantizeOp op, mlir::Value values, const Loops &loops,
                          Parts &parts);
  mlir::Value divisors(mlir::Location loc, const Parts &parts,
                       const ScaledFormat &format, bool reciprocal);
  /// The values of a scaled tensor, f32.
  mlir::Value valuesOf(mlir::Location loc, mlir::Value scaled);
  void rescale(mlir::Operation *rounding,
               llvm::ArrayRef<std::pair<mlir::Value, mlir::AffineMap>> factors);

  mlir::Value split(mlir::Location loc, mlir::Value value, int64_t axis,
                    int64_t block);
  mlir::Value join(mlir::Location loc, mlir::Value blocks, int64_t axis,
                   llvm::ArrayRef<mlir::OpFoldResult> sizes,
                   mlir::RankedTensorType type);
  Loops loopsOf(mlir::RankedTensorType type);

  bool counts; ///< what tensors are like is returned
  Target target;
  mlir::OpBuilder builder;
  llvm::DenseMap<mlir::Value, Parts> expanded;
  llvm::DenseMap<mlir::Value, std::shared_ptr<KnownTensor>> constants;
  /// Those of constants by what they are quantized from, and to.
  llvm::DenseMap<mlir::Attribute, std::shared_ptr<KnownTensor>> quantized;
  SharedConstants weights; ///< of the model, in f32
};

} // namespace numera

#endif // NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_SCALING_EXPANDSCALES_H
