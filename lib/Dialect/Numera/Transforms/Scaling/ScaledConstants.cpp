// SPDX-License-Identifier: MIT
//
// Constants in scaled formats are quantized by the compiler.

#include "ExpandScales.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace numera {

/// The elements of a constant in f32, or one for all of them; nothing for
/// another value.
static ArrayRef<float> constantFloats(Value value) {
  Attribute elements;
  if (!value || !numera::elementType(value.getType()).isF32() ||
      !matchPattern(value, m_Constant(&elements)))
    return {};
  ArrayRef<char> bytes = rawElements(elements);
  return {reinterpret_cast<const float *>(bytes.data()),
          bytes.size() / sizeof(float)};
}

/// All elements of a constant; `repeated` holds them if there is one for all.
static ArrayRef<float> allFloats(Value value, std::vector<float> &repeated) {
  ArrayRef<float> floats = constantFloats(value);
  if (floats.size() != 1)
    return floats;
  auto type = cast<ShapedType>(value.getType());
  repeated.assign(size_t(type.getNumElements()), floats.front());
  return repeated;
}

static Value constantOfCodes(OpBuilder &builder, Location loc,
                             ArrayRef<int64_t> shape, const Format &format,
                             function_ref<uint64_t(int64_t)> codeAt) {
  Type element = typeOfFormat(builder.getContext(), format);
  Type storage = builder.getIntegerType(format.storageBits());
  auto type = RankedTensorType::get(shape, element);
  DenseCodesBuilder codes(storage, type.getNumElements());
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    codes.set(i, codeAt(i));
  if (format == formatF32())
    return arith::ConstantOp::create(builder, loc, codes.build(type));
  return ConstantOp::create(builder, loc, type,
                            codes.build(type.clone(storage)));
}

static Value constantOfCodes(OpBuilder &builder, Location loc,
                             ArrayRef<int64_t> shape, const Format &format,
                             ArrayRef<uint64_t> codes) {
  return constantOfCodes(builder, loc, shape, format,
                         [&](int64_t i) { return codes[size_t(i)]; });
}

/// A constant's codes with its axis in blocks, zeros behind the last element.
static Value constantOfBlocks(OpBuilder &builder, Location loc,
                              RankedTensorType type, const ScaledFormat &format,
                              const DenseCodesBuilder &codes) {
  int64_t axis = scalingOf(type).getAxis(), length = type.getDimSize(axis);
  int64_t block = std::min<int64_t>(format.scaling.block, length);
  int64_t blocks = llvm::divideCeil(length, block);
  SmallVector<int64_t> shape(type.getShape());
  shape[axis] = blocks;
  shape.insert(shape.begin() + axis + 1, block);
  int64_t inner = 1;
  for (int64_t size : type.getShape().drop_front(axis + 1))
    inner *= size;
  return constantOfCodes(
      builder, loc, shape, format.element, [&](int64_t i) -> uint64_t {
        int64_t row = i / (blocks * block * inner);
        int64_t place = i % (blocks * block * inner);
        return place < length * inner ? codes.get(row * length * inner + place)
                                      : 0;
      });
}

/// What the elements of a constant follow from.
static Attribute keyOf(QuantizeOp op) {
  SmallVector<Attribute> key = {TypeAttr::get(op.getType())};
  for (Value operand : {op.getInput(), op.getScales(), op.getZeros()}) {
    Attribute elements;
    if (operand)
      matchPattern(operand, m_Constant(&elements));
    key.push_back(elements ? elements : UnitAttr::get(op.getContext()));
  }
  return ArrayAttr::get(op.getContext(), key);
}

/// True if constants of a format are read as values of f32.
bool Expander::readsValues(const ScaledFormat &format) const {
  // Packed ones are read as they are in memory.
  return target == Target::CPU && !format.scaling.isPacked;
}

bool Expander::foldQuantize(QuantizeOp op, Parts &parts) {
  RankedTensorType type = op.getType();
  std::vector<float> repeated[3];
  ArrayRef<float> values = allFloats(op.getInput(), repeated[0]);
  ArrayRef<float> given = allFloats(op.getScales(), repeated[1]);
  ArrayRef<float> givenZeros = allFloats(op.getZeros(), repeated[2]);
  ScaledFormat format = scaledFormatOf(type);
  // What an opaque format's functions give is known when the program runs.
  if (!matchPattern(op.getInput(), m_Constant()) ||
      int64_t(values.size()) != type.getNumElements() ||
      (op.getScales() && given.empty()) ||
      (op.getZeros() && givenZeros.empty()) || format.element.isOpaque())
    return false;
  Location loc = op.getLoc();
  std::shared_ptr<KnownTensor> &known = quantized[keyOf(op)];
  ScaleGrid grid(format.scaling, type.getShape(), scalingOf(type).getAxis());
  if (!known) {
    ScaledTensor scales = scalesFor(format, grid, values, given, givenZeros);
    ScaledElements elements(format, grid, scales);
    DenseCodesBuilder codes(
        builder.getIntegerType(format.element.storageBits()),
        type.getNumElements());
    for (int64_t i = 0; i < type.getNumElements(); ++i)
      codes.set(i, elements.quantize(i, values[size_t(i)]));
    known = std::make_shared<KnownTensor>(
        KnownTensor{std::move(scales), std::move(codes), {}});
  }
  const ScaledTensor &scales = known->scales;
  parts.scales = constantOfCodes(builder, loc, grid.shape(),
                                 format.scaling.scale, scales.scales);
  if (format.hasZeroPoint())
    parts.zeros = constantOfCodes(builder, loc, grid.shape(), format.element,
                                  scales.zeros);
  if (scales.tensorScale)
    parts.tensorScale =
        constantOfCodes(builder, loc, {}, formatF32(),
                        llvm::bit_cast<uint32_t>(*scales.tensorScale));
  constants[op] = known;
  weights.release(op.getInput());
  return true;
}

/// The parts of a scaled tensor. Elements of a constant become a part when
/// something asks for them: what reads values alone needs no codes.
const Parts &Expander::partsOf(Value scaled) {
  Parts &parts = expanded[scaled];
  auto known = constants.find(scaled);
  if (parts.data || known == constants.end())
    return parts;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(scaled.getDefiningOp());
  auto type = cast<RankedTensorType>(scaled.getType());
  ScaledFormat format = scaledFormatOf(type);
  const DenseCodesBuilder &codes = known->second->codes;
  parts.data = stored(constantOfCodes(builder, scaled.getLoc(), type.getShape(),
                                      format.element,
                                      [&](int64_t i) { return codes.get(i); }),
                      format);
  if (format.isBlock() && type.getNumElements() > 0)
    parts.blocks =
        stored(constantOfBlocks(builder, scaled.getLoc(), type, format, codes),
               format);
  return parts;
}

/// The values of a scaled tensor that is known, f32, as kernels for the CPU
/// take them; else null.
Value Expander::valuesOfConstant(Location loc, Value scaled) {
  auto type = cast<RankedTensorType>(scaled.getType());
  ScaledFormat format = scaledFormatOf(type);
  auto known = constants.find(scaled);
  if (known == constants.end() || !readsValues(format))
    return {};
  KnownTensor &constant = *known->second;
  if (!constant.values) {
    ScaleGrid grid(format.scaling, type.getShape(), scalingOf(type).getAxis());
    ScaledElements elements(format, grid, constant.scales);
    size_t count = size_t(type.getNumElements());
    std::shared_ptr<char> values =
        SharedElements::allocate(count * sizeof(float));
    for (size_t i = 0; i < count; ++i) {
      float value =
          elements.dequantize(int64_t(i), constant.codes.get(int64_t(i)));
      std::memcpy(values.get() + i * sizeof(float), &value, sizeof(float));
    }
    constant.values =
        SharedElements::of(builder.getContext())
            .createConstant(
                RankedTensorType::get(type.getShape(), builder.getF32Type()),
                values);
  }
  return arith::ConstantOp::create(builder, loc,
                                   cast<TypedAttr>(constant.values));
}

} // namespace numera
