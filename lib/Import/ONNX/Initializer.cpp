//===- Initializer.cpp - Elements stored in the model ---------------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
//
// A TensorProto keeps its elements in `raw_data` (little-endian) or in one of
// several typed fields; small types share `int32_data`. Both are checked
// against the shape before anything is read. Elements in another file are raw
// (External.cpp).
//
//===----------------------------------------------------------------------===//
#include "External.h"
#include "Node.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/Endian.h"
#include <onnx/onnx_pb.h>

using namespace mlir;
using onnx::TensorProto;

namespace numera::importer {

namespace {
/// A tensor as the file has it; `raw` is null where a typed field has it.
struct Stored {
  const TensorProto &proto;
  const char *raw = nullptr;
  size_t bytes = 0;
};
} // namespace

/// Elements of raw bytes, or of the typed field `stored`, as `Element`.
template <typename Element, typename Field>
static FailureOr<std::vector<Element>>
readElements(const Stored &proto, int64_t count, const Field &stored,
             Report report) {
  std::vector<Element> elements;
  if (!proto.raw) {
    if (int64_t(stored.size()) != count)
      return report("it holds " + Twine(stored.size()) +
                    " elements; its shape needs " + Twine(count));
    elements.reserve(count);
    for (auto element : stored)
      elements.push_back(static_cast<Element>(element));
    return elements;
  }
  if (proto.bytes != count * sizeof(Element))
    return report("it holds " + Twine(proto.bytes) +
                  " bytes; its shape needs " +
                  Twine(count * int64_t(sizeof(Element))));
  elements.reserve(count);
  for (int64_t i = 0; i < count; ++i)
    elements.push_back(
        llvm::support::endian::read<Element, llvm::endianness::little>(
            proto.raw + i * sizeof(Element)));
  return elements;
}

namespace {
/// The number of each code of few bits, computed once: weights repeat them.
class Numbers {
public:
  Numbers(unsigned bits, llvm::function_ref<float(unsigned)> compute)
      : compute(compute), numbers(size_t(1) << bits), isKnown(numbers.size()) {}
  float operator()(unsigned code) {
    if (!isKnown.test(code)) {
      numbers[code] = compute(code);
      isKnown.set(code);
    }
    return numbers[code];
  }

private:
  llvm::function_ref<float(unsigned)> compute;
  std::vector<float> numbers;
  llvm::BitVector isKnown;
};
} // namespace

/// 16-bit floats, whose bits are stored as integers.
static FailureOr<Tensor> readSmallFloats(const Stored &proto,
                                         const Shape &shape, int64_t count,
                                         const llvm::fltSemantics &semantics,
                                         Report report) {
  auto bits =
      readElements<uint16_t>(proto, count, proto.proto.int32_data(), report);
  if (failed(bits))
    return failure();
  auto compute = [&](unsigned code) {
    return llvm::APFloat(semantics, llvm::APInt(16, code)).convertToFloat();
  };
  std::vector<float> floats;
  floats.reserve(count);
  constexpr int64_t few = 1 << 12;
  if (count < few)
    for (uint16_t code : *bits)
      floats.push_back(compute(code));
  else
    for (Numbers numbers(16, compute); uint16_t code : *bits)
      floats.push_back(numbers(code));
  return Tensor::ofFloats(std::move(floats), shape);
}

template <typename Element, typename Field>
static FailureOr<Tensor> readFloats(const Stored &proto, const Shape &shape,
                                    int64_t count, const Field &stored,
                                    Report report) {
  auto elements = readElements<Element>(proto, count, stored, report);
  if (failed(elements))
    return failure();
  if constexpr (std::is_same_v<Element, double>)
    return Tensor::ofDoubles(std::move(*elements), shape);
  else
    return Tensor::ofFloats(std::move(*elements), shape);
}

template <typename Element, typename Field>
static FailureOr<Tensor> readInts(const Stored &proto, const Shape &shape,
                                  int64_t count, const Field &stored,
                                  Report report) {
  auto elements = readElements<Element>(proto, count, stored, report);
  if (failed(elements))
    return failure();
  std::vector<Dim> ints;
  ints.reserve(count);
  for (Element element : *elements)
    ints.push_back(Dim::fixed(int64_t(element)));
  return Tensor::ofInts(std::move(ints), shape, proto.proto.data_type());
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

/// Codes of less than 8 bits are packed, the first in the lowest bits.
static FailureOr<std::vector<uint8_t>>
readPacked(const Stored &proto, int64_t count, unsigned width, Report report) {
  int64_t each = 8 / width;
  auto bytes = readElements<uint8_t>(proto, (count + each - 1) / each,
                                     proto.proto.int32_data(), report);
  if (failed(bytes) || each == 1)
    return bytes;
  std::vector<uint8_t> codes;
  codes.reserve(count);
  for (int64_t i = 0; i < count; ++i)
    codes.push_back((*bytes)[i / each] >> (i % each * width) &
                    ((1u << width) - 1));
  return codes;
}

/// Codes of a format as numbers.
static FailureOr<Tensor> readCodes(const Stored &proto, const Shape &shape,
                                   int64_t count, const Format &format,
                                   Report report) {
  auto codes = readPacked(proto, count, format.width(), report);
  if (failed(codes))
    return failure();
  const FormatFamily &family = format.getFamily();
  const Format &f32 = formatF32();
  auto compute = [&](unsigned code) {
    uint64_t bits = f32.getFamily().encode(f32, family.decode(format, code),
                                           Rounding::NearestEven);
    return llvm::bit_cast<float>(static_cast<uint32_t>(bits));
  };
  std::vector<float> floats;
  floats.reserve(count);
  for (Numbers numbers(8, compute); uint8_t code : *codes)
    floats.push_back(numbers(code));
  return Tensor::ofFloats(std::move(floats), shape);
}

static FailureOr<Tensor> readSmallInts(const Stored &proto, const Shape &shape,
                                       int64_t count, Report report) {
  int64_t dataType = proto.proto.data_type();
  auto codes = readPacked(proto, count, widthOf(dataType), report);
  if (failed(codes))
    return failure();
  std::vector<Dim> ints;
  for (uint8_t code : *codes)
    ints.push_back(Dim::fixed(wrap(code, dataType)));
  return Tensor::ofInts(std::move(ints), shape, dataType);
}

static FailureOr<Tensor> readElementsOf(const Stored &stored,
                                        const Shape &shape, Report report) {
  int64_t count = *elementCount(shape);
  const TensorProto &proto = stored.proto;
  const auto &small = proto.int32_data();
  const auto &large = proto.uint64_data();
  if (Format format = codeFormat(proto.data_type()))
    return isInteger(proto.data_type())
               ? readSmallInts(stored, shape, count, report)
               : readCodes(stored, shape, count, format, report);
  switch (proto.data_type()) {
  case type::Float:
    return readFloats<float>(stored, shape, count, proto.float_data(), report);
  case type::Double:
    return readFloats<double>(stored, shape, count, proto.double_data(),
                              report);
  case type::Float16:
    return readSmallFloats(stored, shape, count, llvm::APFloat::IEEEhalf(),
                           report);
  case type::BFloat16:
    return readSmallFloats(stored, shape, count, llvm::APFloat::BFloat(),
                           report);
  case type::Int64:
    return readInts<int64_t>(stored, shape, count, proto.int64_data(), report);
  case type::UInt64:
    return readInts<uint64_t>(stored, shape, count, large, report);
  case type::UInt32:
    return readInts<uint32_t>(stored, shape, count, large, report);
  case type::Int32:
    return readInts<int32_t>(stored, shape, count, small, report);
  case type::Int16:
    return readInts<int16_t>(stored, shape, count, small, report);
  case type::UInt16:
    return readInts<uint16_t>(stored, shape, count, small, report);
  case type::Int8:
    return readInts<int8_t>(stored, shape, count, small, report);
  case type::UInt8:
  case type::Bool:
    return readInts<uint8_t>(stored, shape, count, small, report);
  default:
    return report("its element type " + dataTypeName(proto.data_type()) +
                  " is not supported; expected a type of real numbers or "
                  "booleans");
  }
}

FailureOr<Tensor> readTensor(const TensorProto &proto, StringRef folder,
                             Report report) {
  if (proto.has_segment())
    return report("it is stored in segments, which are not supported");
  FailureOr<Shape> shape = readShape(proto, report);
  if (failed(shape))
    return failure();
  Stored stored{proto};
  std::unique_ptr<llvm::MemoryBuffer> external;
  if (proto.data_location() == TensorProto::EXTERNAL) {
    external = readExternal(proto, folder, report);
    if (!external)
      return failure();
    stored.raw = external->getBufferStart();
    stored.bytes = external->getBufferSize();
  } else if (proto.has_raw_data()) {
    stored.raw = proto.raw_data().data();
    stored.bytes = proto.raw_data().size();
  }
  FailureOr<Tensor> tensor = readElementsOf(stored, *shape, report);
  if (succeeded(tensor))
    tensor->dataType = proto.data_type();
  return tensor;
}

} // namespace numera::importer
