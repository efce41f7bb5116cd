// SPDX-License-Identifier: MIT
//
// Scaled tensors become tensors of elements and of scales. A tensor with blocks
// gets one more dimension, the index in the block, so that elements and scales
// are read along plain dimensions. A last block that is not full is filled up
// with zeros, which do not change its largest magnitude.

#include "ExpandScales.h"
#include "ExpandPacked.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/ViewLikeInterfaceUtils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "numera/Dialect/Numera/Transforms/Passes.h"

using namespace mlir;

namespace numera {
#define GEN_PASS_DEF_NUMERAEXPANDSCALES
#include "numera/Dialect/Numera/Transforms/Passes.h.inc"

//===----------------------------------------------------------------------===//
// Quantize and dequantize
//===----------------------------------------------------------------------===//

namespace {
/// The elements of a constant.
class Floats {
public:
  explicit Floats(DenseElementsAttr elements) {
    if (elements.isSplat())
      splat.assign(size_t(elements.getNumElements()),
                   elements.getSplatValue<float>());
    ArrayRef<char> bytes = elements.getRawData();
    numbers = elements.isSplat()
                  ? ArrayRef(splat)
                  : ArrayRef(reinterpret_cast<const float *>(bytes.data()),
                             bytes.size() / sizeof(float));
  }
  Floats(Floats &&) = default;

  ArrayRef<float> get() const { return numbers; }

private:
  std::vector<float> splat;
  ArrayRef<float> numbers;
};
} // namespace

/// Null for what is no constant in f32.
static std::optional<Floats> constantFloats(Value value) {
  DenseElementsAttr elements;
  if (!value || !matchPattern(value, m_Constant(&elements)) ||
      !elements.getElementType().isF32())
    return std::nullopt;
  return Floats(elements);
}

static Value constantOfCodes(OpBuilder &builder, Location loc,
                             ArrayRef<int64_t> shape, const Format &format,
                             ArrayRef<uint64_t> codes) {
  Type element = typeOfFormat(builder.getContext(), format);
  auto type = RankedTensorType::get(shape, element);
  unsigned bits = format.storageBits(), bytes = bits / 8;
  std::vector<char> stored(codes.size() * bytes);
  for (auto [i, code] : llvm::enumerate(codes))
    std::memcpy(&stored[i * bytes], &code, bytes); // the low ones come first
  static_assert(llvm::endianness::native == llvm::endianness::little);
  if (llvm::all_equal(codes))
    stored.resize(std::min<size_t>(stored.size(), bytes));
  if (format == formatF32())
    return arith::ConstantOp::create(
        builder, loc, DenseElementsAttr::getFromRawBuffer(type, stored));
  auto storage = RankedTensorType::get(shape, builder.getIntegerType(bits));
  return ConstantOp::create(
      builder, loc, type, DenseElementsAttr::getFromRawBuffer(storage, stored));
}

/// What `constantOfCodes` was given.
static std::vector<uint64_t> codesOfConstant(Value constant) {
  auto elements = cast<DenseElementsAttr>(valueOfConstant(constant));
  ArrayRef<char> stored = elements.getRawData();
  unsigned bytes = elements.getElementType().getIntOrFloatBitWidth() / 8;
  std::vector<uint64_t> codes(size_t(elements.getNumElements()));
  for (auto [i, code] : llvm::enumerate(codes))
    std::memcpy(&code, &stored[elements.isSplat() ? 0 : i * bytes], bytes);
  return codes;
}

/// Codes of a tensor with its axis in blocks, zeros behind the last element.
static Value constantOfBlocks(OpBuilder &builder, Location loc,
                              RankedTensorType type, const ScaledFormat &format,
                              ArrayRef<uint64_t> codes) {
  int64_t axis = scalingOf(type).getAxis(), length = type.getDimSize(axis);
  int64_t block = std::min<int64_t>(format.scaling.block, length);
  int64_t blocks = llvm::divideCeil(length, block);
  SmallVector<int64_t> shape(type.getShape());
  shape[axis] = blocks;
  shape.insert(shape.begin() + axis + 1, block);
  if (blocks * block == length)
    return constantOfCodes(builder, loc, shape, format.element, codes);
  int64_t inner = 1;
  for (int64_t size : type.getShape().drop_front(axis + 1))
    inner *= size;
  std::vector<uint64_t> filled;
  for (size_t row = 0; row < codes.size(); row += length * inner) {
    llvm::append_range(filled, codes.slice(row, length * inner));
    filled.resize(filled.size() + (blocks * block - length) * inner);
  }
  return constantOfCodes(builder, loc, shape, format.element, filled);
}

/// Elements as the format keeps them in memory.
Value Expander::stored(Value elements, const ScaledFormat &format) {
  return format.scaling.isPacked
             ? throughPacked(builder, elements.getLoc(), elements)
             : elements;
}

bool Expander::foldQuantize(QuantizeOp op, Parts &parts) {
  RankedTensorType type = op.getType();
  auto values = constantFloats(op.getInput());
  auto given = constantFloats(op.getScales());
  auto givenZeros = constantFloats(op.getZeros());
  ScaledFormat format = scaledFormatOf(type);
  // What an opaque format's functions give is known when the program runs.
  if (!values || (op.getScales() && !given) || (op.getZeros() && !givenZeros) ||
      format.element.isOpaque())
    return false;
  ScaleGrid grid(format.scaling, type.getShape(), scalingOf(type).getAxis());
  ScaledTensor tensor = quantize(
      format, grid, values->get(), given ? given->get() : ArrayRef<float>(),
      givenZeros ? givenZeros->get() : ArrayRef<float>());
  Location loc = op.getLoc();
  parts.data = stored(constantOfCodes(builder, loc, type.getShape(),
                                      format.element, tensor.data),
                      format);
  if (format.isBlock() && type.getNumElements() > 0)
    parts.blocks = stored(
        constantOfBlocks(builder, loc, type, format, tensor.data), format);
  parts.scales = constantOfCodes(builder, loc, grid.shape(),
                                 format.scaling.scale, tensor.scales);
  if (format.hasZeroPoint())
    parts.zeros = constantOfCodes(builder, loc, grid.shape(), format.element,
                                  tensor.zeros);
  if (tensor.tensorScale)
    parts.tensorScale =
        constantOfCodes(builder, loc, {}, formatF32(),
                        llvm::bit_cast<uint32_t>(*tensor.tensorScale));
  // Elements are in the constant, and take less there.
  tensor.data = {};
  constants[op] = std::move(tensor);
  return true;
}

/// The values of a scaled tensor that is known, f32, as kernels for the CPU
/// take them; else null. Packed ones are read as they are in memory.
Value Expander::valuesOfConstant(Location loc, Value scaled) {
  auto type = cast<RankedTensorType>(scaled.getType());
  ScaledFormat format = scaledFormatOf(type);
  auto known = constants.find(scaled);
  if (known == constants.end() || target != Target::CPU ||
      format.scaling.isPacked)
    return {};
  ScaleGrid grid(format.scaling, type.getShape(), scalingOf(type).getAxis());
  ScaledTensor tensor = known->second;
  tensor.data = codesOfConstant(expanded.lookup(scaled).data);
  std::vector<float> values = dequantize(format, grid, tensor);
  auto plain = RankedTensorType::get(type.getShape(), builder.getF32Type());
  return arith::ConstantOp::create(
      builder, loc, DenseElementsAttr::get(plain, ArrayRef(values)));
}

/// What elements are divided by, or read by, for every scale.
Value Expander::divisors(Location loc, const Parts &parts,
                         const ScaledFormat &format, bool reciprocal) {
  auto sizes = tensor::getMixedSizes(builder, loc, parts.scales);
  auto rank = unsigned(sizes.size());
  SmallVector<ScaleAccess> operands = {
      {parts.scales, builder.getMultiDimIdentityMap(rank)}};
  if (parts.tensorScale)
    operands.push_back(
        {parts.tensorScale, AffineMap::get(rank, 0, {}, builder.getContext())});
  return mapElements(
      builder, loc, sizes, operands, builder.getF32Type(), format,
      [&](auto &steps, IRArithmetic &a, ValueRange values) {
        std::optional<Value> tensorScale;
        if (values.size() > 1)
          tensorScale = values[1];
        Value divisor = steps.divisor(values[0], tensorScale);
        return reciprocal
                   ? a.binary(OpKind::Div, a.constant(formatF32(), 1), divisor)
                   : divisor;
      });
}

/// Rule `min-max`.
void Expander::makeScalesAndZeros(QuantizeOp op, Value values,
                                  const Loops &loops, Parts &parts) {
  Location loc = op.getLoc();
  ScaledFormat format = scaledFormatOf(op.getType());
  if (Value given = op.getZeros()) {
    auto sizes = tensor::getMixedSizes(builder, loc, given);
    AffineMap each = builder.getMultiDimIdentityMap(unsigned(sizes.size()));
    parts.scales = op.getScales();
    parts.zeros = mapElements(
        builder, loc, sizes, {{given, each}}, op.getType().getElementType(),
        format, [](auto &steps, IRArithmetic &, ValueRange v) -> Value {
          return steps.element(v[0]);
        });
    return;
  }
  Range range = rangeWithZero(builder, loc, values, loops.kept);
  auto sizes = tensor::getMixedSizes(builder, loc, range.least);
  AffineMap each = builder.getMultiDimIdentityMap(unsigned(sizes.size()));
  parts.scales = mapElements(
      builder, loc, sizes, {{range.least, each}, {range.most, each}},
      builder.getF32Type(), format,
      [](auto &steps, IRArithmetic &, ValueRange v) -> Value {
        return steps.scaleOfRange(v[0], v[1]);
      });
  parts.zeros = mapElements(
      builder, loc, sizes, {{range.least, each}, {parts.scales, each}},
      op.getType().getElementType(), format,
      [](auto &steps, IRArithmetic &, ValueRange v) -> Value {
        return steps.zeroPoint(v[0], v[1]);
      });
}

void Expander::makeScales(QuantizeOp op, Value values, const Loops &loops,
                          Parts &parts) {
  Location loc = op.getLoc();
  ScaledFormat format = scaledFormatOf(op.getType());
  if (format.hasZeroPoint())
    return makeScalesAndZeros(op, values, loops, parts);
  Type element = typeOfFormat(builder.getContext(), format.scaling.scale);
  Value from = op.getScales();
  if (!from)
    from = largestMagnitude(builder, loc, values, loops.kept);
  auto sizes = tensor::getMixedSizes(builder, loc, from);
  auto rank = unsigned(sizes.size());
  AffineMap none = AffineMap::get(rank, 0, {}, builder.getContext());
  if (format.scaling.hasTensorScale) {
    Value amax =
        largestMagnitude(builder, loc, from, SmallVector<bool>(rank, false));
    parts.tensorScale =
        mapElements(builder, loc, {},
                    {{amax, AffineMap::get(0, 0, {}, builder.getContext())}},
                    builder.getF32Type(), format,
                    [](auto &steps, IRArithmetic &, ValueRange v) -> Value {
                      return steps.tensorScale(v[0]);
                    });
  }
  SmallVector<ScaleAccess> operands = {
      {from, builder.getMultiDimIdentityMap(rank)}};
  if (parts.tensorScale)
    operands.push_back({parts.tensorScale, none});
  bool isGiven = bool(op.getScales());
  parts.scales =
      mapElements(builder, loc, sizes, operands, element, format,
                  [&](auto &steps, IRArithmetic &a, ValueRange v) -> Value {
                    if (isGiven)
                      return a.formatOf(v[0]) == format.scaling.scale
                                 ? v[0]
                                 : a.cast(format.scaling.scale, v[0], {});
                    std::optional<Value> tensorScale;
                    if (v.size() > 1)
                      tensorScale = v[1];
                    return steps.scale(v[0], tensorScale);
                  });
}

/// Elements or values, what divides them, and the zero points if there are any.
static SmallVector<ScaleAccess> withScales(Value values, Value divisors,
                                           const Parts &parts,
                                           const Loops &loops) {
  SmallVector<ScaleAccess> operands = {{values, loops.elements},
                                       {divisors, loops.scales}};
  if (parts.zeros)
    operands.push_back({parts.zeros, loops.scales});
  return operands;
}

/// The zero point, which comes behind an element or a value and its divisor.
static std::optional<Value> zeroOf(ValueRange values) {
  return values.size() > 2 ? std::optional(values[2]) : std::nullopt;
}

void Expander::expand(QuantizeOp op) {
  Parts &parts = expanded[op.getResult()];
  if (!counts && foldQuantize(op, parts))
    return;
  Location loc = op.getLoc();
  RankedTensorType type = op.getType();
  ScaledFormat format = scaledFormatOf(type);
  int64_t axis = scalingOf(type).getAxis();
  Loops loops = loopsOf(type);
  Value values = op.getInput();
  parts.sizes = tensor::getMixedSizes(builder, loc, values);
  if (format.isBlock())
    values = split(loc, values, axis, format.scaling.block);
  makeScales(op, values, loops, parts);
  // A power of two has an exact reciprocal.
  bool hasReciprocal = format.scaling.scale == powersOfTwo();
  Value by = divisors(loc, parts, format, hasReciprocal);
  Value data = mapElements(
      builder, loc, tensor::getMixedSizes(builder, loc, values),
      withScales(values, by, parts, loops), type.getElementType(), format,
      [&](auto &steps, IRArithmetic &, ValueRange v) -> Value {
        return hasReciprocal ? steps.quantizeByReciprocal(v[0], v[1])
                             : steps.quantize(v[0], v[1], zeroOf(v));
      });
  data = stored(data, format);
  if (format.isBlock()) {
    parts.blocks = data;
    data = join(loc, data, axis, parts.sizes, type);
  }
  parts.data = data;
}

Value Expander::valuesOf(Location loc, Value scaled) {
  if (Value constant = valuesOfConstant(loc, scaled))
    return constant;
  auto type = cast<RankedTensorType>(scaled.getType());
  const Parts &parts = expanded.lookup(scaled);
  ScaledFormat format = scaledFormatOf(type);
  int64_t axis = scalingOf(type).getAxis();
  Loops loops = loopsOf(type);
  Value data = parts.data;
  if (format.isBlock())
    data = parts.blocks ? parts.blocks
                        : split(loc, data, axis, format.scaling.block);
  Value by = divisors(loc, parts, format, /*reciprocal=*/false);
  Value values = mapElements(
      builder, loc, tensor::getMixedSizes(builder, loc, data),
      withScales(data, by, parts, loops), builder.getF32Type(), format,
      [](auto &steps, IRArithmetic &, ValueRange v) -> Value {
        return steps.dequantize(v[0], v[1], zeroOf(v));
      });
  if (!format.isBlock())
    return values;
  return join(loc, values, axis,
              tensor::getMixedSizes(builder, loc, parts.data), type);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

LogicalResult Expander::expandAny(Operation *op) {
  builder.setInsertionPoint(op);
  if (auto quantize = dyn_cast<QuantizeOp>(op)) {
    expand(quantize);
    return success();
  }
  if (auto dequantize = dyn_cast<DequantizeOp>(op)) {
    dequantize.getResult().replaceAllUsesWith(
        valuesOf(op->getLoc(), dequantize.getInput()));
    return success();
  }
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return expand(generic);
  if (auto parts = dyn_cast<ScaledFromPartsOp>(op)) {
    expand(parts);
    return success();
  }
  if (auto parts = dyn_cast<ScaledPartsOp>(op)) {
    expand(parts);
    return success();
  }
  if (expandScaledArithmetic(op))
    return success();
  return op->emitError("'") << op->getName()
                            << "' takes a scaled tensor, which no scales are "
                               "known for; dequantize "
                               "it first";
}

/// Blocks take no scaled tensors any more: none of those that they took has
/// parts.
static LogicalResult checkBlocks(ModuleOp module) {
  WalkResult result = module.walk([&](Block *block) {
    for (Type type : block->getArgumentTypes())
      if (scalingOf(type)) {
        Operation *op = block->getParentOp();
        op->emitError("a block of '")
            << op->getName() << "' takes " << type
            << ", a scaled tensor; dequantize it first, or carry it in a loop "
               "of scf, whose parts numera-decompose-scaled-signatures carries";
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

static bool usesScaled(Operation *op) {
  auto isScaled = [](Type type) { return bool(scalingOf(type)); };
  return llvm::any_of(op->getOperandTypes(), isScaled) ||
         llvm::any_of(op->getResultTypes(), isScaled);
}

LogicalResult Expander::run(ModuleOp module) {
  SmallVector<Operation *> work;
  auto crossing = module.walk([&](Operation *op) {
    auto function = dyn_cast<FunctionOpInterface>(op);
    auto isScaled = [](Type type) { return bool(scalingOf(type)); };
    if (function && (llvm::any_of(function.getArgumentTypes(), isScaled) ||
                     llvm::any_of(function.getResultTypes(), isScaled))) {
      op->emitError("a scaled tensor crosses the boundary of '")
          << function.getName()
          << "'; numera-decompose-scaled-signatures passes its parts instead";
      return WalkResult::interrupt();
    }
    if (usesScaled(op))
      work.push_back(op);
    return WalkResult::advance();
  });
  if (crossing.wasInterrupted() || failed(checkBlocks(module)))
    return failure();
  llvm::DenseSet<Operation *> others;
  if (counts) {
    nameTensors(work);
    others = findOthers(module, work);
  }
  for (Operation *op : work)
    if (failed(expandAny(op)))
      return failure();
  if (counts && failed(returnCounts(work, others)))
    return failure();
  for (Operation *op : llvm::reverse(work))
    if (!isa<linalg::GenericOp>(op))
      op->erase();
  return success();
}

namespace {
struct ExpandScalesPass : impl::NumeraExpandScalesBase<ExpandScalesPass> {
  using Base::Base;
  void runOnOperation() override {
    FailureOr<Target> parsed = parseTarget(getOperation(), target);
    if (failed(parsed) ||
        failed(Expander(&getContext(), /*counts=*/false, *parsed)
                   .run(getOperation())))
      signalPassFailure();
  }
};
} // namespace

} // namespace numera
