//===- Initializer.cpp - Elements stored in the model ---------------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
//
// A TensorProto keeps its elements in `raw_data` (little-endian) or in one of
// several typed fields; small types share `int32_data`. Both are checked
// against the shape before anything is read.
//
//===----------------------------------------------------------------------===//
#include "Formats.h"
#include "Node.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/Endian.h"
#include <onnx/onnx_pb.h>

using namespace mlir;
using onnx::TensorProto;

namespace numera::importer {

/// Elements of `raw_data`, or of the typed field `stored`, as `Element`.
template <typename Element, typename Stored>
static FailureOr<std::vector<Element>>
readElements(const TensorProto &proto, int64_t count, const Stored &stored,
             Report report) {
  std::vector<Element> elements;
  if (!proto.has_raw_data()) {
    if (int64_t(stored.size()) != count)
      return report("it holds " + Twine(stored.size()) +
                    " elements; its shape needs " + Twine(count));
    elements.reserve(count);
    for (auto element : stored)
      elements.push_back(static_cast<Element>(element));
    return elements;
  }
  const std::string &raw = proto.raw_data();
  if (raw.size() != count * sizeof(Element))
    return report("it holds " + Twine(raw.size()) + " bytes; its shape needs " +
                  Twine(count * int64_t(sizeof(Element))));
  elements.reserve(count);
  for (int64_t i = 0; i < count; ++i)
    elements.push_back(
        llvm::support::endian::read<Element, llvm::endianness::little>(
            raw.data() + i * sizeof(Element)));
  return elements;
}

/// 16-bit floats, whose bits are stored as integers.
static FailureOr<Tensor> readSmallFloats(const TensorProto &proto,
                                         const Shape &shape, int64_t count,
                                         const llvm::fltSemantics &semantics,
                                         Report report) {
  auto bits = readElements<uint16_t>(proto, count, proto.int32_data(), report);
  if (failed(bits))
    return failure();
  std::vector<float> floats;
  floats.reserve(count);
  for (uint16_t code : *bits) {
    llvm::APFloat number(semantics, llvm::APInt(16, code));
    floats.push_back(number.convertToFloat());
  }
  return Tensor::ofFloats(std::move(floats), shape);
}

template <typename Element, typename Stored>
static FailureOr<Tensor> readFloats(const TensorProto &proto,
                                    const Shape &shape, int64_t count,
                                    const Stored &stored, Report report) {
  auto elements = readElements<Element>(proto, count, stored, report);
  if (failed(elements))
    return failure();
  std::vector<float> floats(elements->begin(), elements->end());
  return Tensor::ofFloats(std::move(floats), shape);
}

template <typename Element, typename Stored>
static FailureOr<Tensor> readInts(const TensorProto &proto, const Shape &shape,
                                  int64_t count, const Stored &stored,
                                  Report report) {
  auto elements = readElements<Element>(proto, count, stored, report);
  if (failed(elements))
    return failure();
  std::vector<Dim> ints;
  ints.reserve(count);
  for (Element element : *elements)
    ints.push_back(Dim::fixed(element));
  return Tensor::ofInts(std::move(ints), shape);
}

static FailureOr<Shape> readShape(const TensorProto &proto, Report report) {
  Shape shape;
  for (int64_t size : proto.dims())
    shape.push_back(Dim::fixed(size));
  if (shape.size() > kMaxRank)
    return report("it has " + Twine(shape.size()) +
                  " dimensions; expected at most " + Twine(kMaxRank));
  if (!elementCount(shape))
    return report("its shape " + str(shape) +
                  " is negative or exceeds 2^40 elements");
  return shape;
}

/// Codes of a format, packed where they have 4 bits, as numbers.
static FailureOr<Tensor> readCodes(const TensorProto &proto, const Shape &shape,
                                   int64_t count, const Format &format,
                                   Report report) {
  bool isPacked = format.width() == 4;
  int64_t bytes = isPacked ? (count + 1) / 2 : count;
  auto codes = readElements<uint8_t>(proto, bytes, proto.int32_data(), report);
  if (failed(codes))
    return failure();
  const FormatFamily &family = format.getFamily();
  const Format &f32 = formatF32();
  std::vector<float> floats;
  floats.reserve(count);
  for (int64_t i = 0; i < count; ++i) {
    uint64_t code =
        isPacked ? (*codes)[i / 2] >> (i % 2 * 4) & 0xf : (*codes)[i];
    uint64_t bits = f32.getFamily().encode(f32, family.decode(format, code),
                                           Rounding::NearestEven);
    floats.push_back(llvm::bit_cast<float>(static_cast<uint32_t>(bits)));
  }
  return Tensor::ofFloats(std::move(floats), shape);
}

static FailureOr<Tensor> readElementsOf(const TensorProto &proto,
                                        const Shape &shape, Report report);

FailureOr<Tensor> readTensor(const TensorProto &proto, Report report) {
  if (proto.data_location() == TensorProto::EXTERNAL)
    return report("its elements are in another file; expected a model that "
                  "holds them, as onnx.save writes by default");
  if (proto.has_segment())
    return report("it is stored in segments, which are not supported");
  FailureOr<Shape> shape = readShape(proto, report);
  if (failed(shape))
    return failure();
  FailureOr<Tensor> tensor = readElementsOf(proto, *shape, report);
  if (succeeded(tensor))
    tensor->dataType = proto.data_type();
  return tensor;
}

static FailureOr<Tensor> readElementsOf(const TensorProto &proto,
                                        const Shape &shape, Report report) {
  int64_t count = *elementCount(shape);
  const auto &small = proto.int32_data();
  if (Format format = codeFormat(proto.data_type()))
    return readCodes(proto, shape, count, format, report);
  switch (proto.data_type()) {
  case TensorProto::FLOAT:
    return readFloats<float>(proto, shape, count, proto.float_data(), report);
  case TensorProto::DOUBLE:
    return readFloats<double>(proto, shape, count, proto.double_data(), report);
  case TensorProto::FLOAT16:
    return readSmallFloats(proto, shape, count, llvm::APFloat::IEEEhalf(),
                           report);
  case TensorProto::BFLOAT16:
    return readSmallFloats(proto, shape, count, llvm::APFloat::BFloat(),
                           report);
  case TensorProto::INT64:
    return readInts<int64_t>(proto, shape, count, proto.int64_data(), report);
  case TensorProto::INT32:
    return readInts<int32_t>(proto, shape, count, small, report);
  case TensorProto::INT16:
    return readInts<int16_t>(proto, shape, count, small, report);
  case TensorProto::UINT16:
    return readInts<uint16_t>(proto, shape, count, small, report);
  case TensorProto::INT8:
    return readInts<int8_t>(proto, shape, count, small, report);
  case TensorProto::UINT8:
  case TensorProto::BOOL:
    return readInts<uint8_t>(proto, shape, count, small, report);
  default:
    std::string found = "number " + std::to_string(proto.data_type());
    if (TensorProto::DataType_IsValid(proto.data_type()))
      found = TensorProto::DataType_Name(
          static_cast<TensorProto::DataType>(proto.data_type()));
    return report("its element type " + found +
                  " is not supported; expected FLOAT, DOUBLE, FLOAT16, "
                  "BFLOAT16, BOOL or an integer type");
  }
}

} // namespace numera::importer
