//===- Tensor.cpp - Shapes and compile-time tensors -----------------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
#include "Tensor.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/Support/MathExtras.h"

namespace numera::importer {

std::optional<int64_t> elementCount(llvm::ArrayRef<Dim> shape) {
  int64_t product = 1;
  for (Dim dim : shape)
    if (dim.count < 0 || llvm::MulOverflow(product, dim.count, product) ||
        product > kMaxElements)
      return std::nullopt;
  return product;
}

llvm::SmallVector<unsigned, Dim::kMaxSizes> Dim::factors() const {
  llvm::SmallVector<unsigned, kMaxSizes> numbers;
  for (uint64_t rest = sizes; rest != 0; rest >>= 16)
    numbers.push_back(rest & 0xffff);
  return numbers;
}

static uint64_t pack(llvm::MutableArrayRef<unsigned> factors) {
  llvm::sort(factors);
  uint64_t sizes = 0;
  for (unsigned number : llvm::reverse(factors))
    sizes = sizes << 16 | number;
  return sizes;
}

std::optional<Dim> multiply(Dim lhs, Dim rhs) {
  Dim product;
  auto factors = lhs.factors();
  llvm::append_range(factors, rhs.factors());
  if (factors.size() > Dim::kMaxSizes ||
      llvm::MulOverflow(lhs.count, rhs.count, product.count))
    return std::nullopt;
  product.sizes = pack(factors);
  return product;
}

std::optional<Dim> divide(Dim lhs, Dim rhs) {
  auto factors = lhs.factors();
  for (unsigned number : rhs.factors()) {
    auto *found = llvm::find(factors, number);
    if (found == factors.end())
      return std::nullopt;
    factors.erase(found);
  }
  if (rhs.count == 0 || (rhs.count == -1 && lhs.count == INT64_MIN) ||
      (lhs.isDynamic() && lhs.count % rhs.count != 0))
    return std::nullopt;
  return Dim{lhs.count / rhs.count, pack(factors)};
}

Dim product(llvm::ArrayRef<Dim> shape) {
  Dim total = Dim::fixed(1);
  for (Dim dim : shape) {
    std::optional<Dim> next = multiply(total, dim);
    if (!next)
      return Dim::fixed(-1);
    total = *next;
  }
  return total;
}

Shape fixedShape(llvm::ArrayRef<int64_t> sizes) {
  return llvm::map_to_vector<4>(sizes, Dim::fixed);
}

std::string str(llvm::ArrayRef<Dim> shape) {
  if (shape.empty())
    return "scalar";
  std::string text;
  for (Dim dim : shape) {
    if (!text.empty())
      text += 'x';
    if (!dim.isDynamic() || dim.count != 1)
      text += std::to_string(dim.count);
    if (dim.isDynamic())
      text += '?';
  }
  return text;
}

std::optional<Shape> broadcast(llvm::ArrayRef<Dim> lhs,
                               llvm::ArrayRef<Dim> rhs) {
  if (lhs.size() < rhs.size())
    std::swap(lhs, rhs);
  Shape shape(lhs);
  auto tail = llvm::MutableArrayRef<Dim>(shape).take_back(rhs.size());
  for (auto [out, dim] : llvm::zip_equal(tail, rhs)) {
    if (out == dim || dim.is(1))
      continue;
    if (!out.is(1))
      return std::nullopt;
    out = dim;
  }
  return shape;
}

bool Tensor::isDynamic() const {
  return host &&
         llvm::any_of(host->ints, [](Dim dim) { return dim.isDynamic(); });
}

double Tensor::number(size_t i) const {
  return isDouble() ? host->doubles[i] : host->floats[i];
}

std::optional<float> Tensor::scalar() const {
  if (isIntegral() || isDouble() || !host || host->floats.size() != 1)
    return std::nullopt;
  return host->floats.front();
}

mlir::TypedAttr Tensor::scalarAttr(mlir::MLIRContext *context) const {
  if (!host || elementCount(shape) != 1 || isDynamic())
    return {};
  if (isIntegral())
    return mlir::IntegerAttr::get(elementType(context, dataType),
                                  host->ints[0].count);
  mlir::Type element = isDouble() ? mlir::Type(mlir::Float64Type::get(context))
                                  : mlir::Float32Type::get(context);
  return mlir::FloatAttr::get(element, number(0));
}

bool Tensor::isEmpty() const {
  return llvm::any_of(shape, [](Dim dim) { return dim.count == 0; });
}

static Tensor ofHost(HostData data, Shape shape, int64_t dataType) {
  Tensor tensor;
  tensor.shape = std::move(shape);
  tensor.dataType = dataType;
  tensor.host = std::make_shared<HostData>(std::move(data));
  return tensor;
}

Tensor Tensor::ofFloats(std::vector<float> elements, Shape shape) {
  return ofHost({.floats = std::move(elements)}, std::move(shape), type::Float);
}

Tensor Tensor::ofDoubles(std::vector<double> elements, Shape shape) {
  return ofHost({.doubles = std::move(elements)}, std::move(shape),
                type::Double);
}

Tensor Tensor::ofInts(std::vector<Dim> elements, Shape shape,
                      int64_t dataType) {
  return ofHost({.ints = std::move(elements)}, std::move(shape), dataType);
}

Tensor Tensor::ofInts(llvm::ArrayRef<int64_t> list) {
  Shape ints = fixedShape(list);
  return ofInts({ints.begin(), ints.end()}, {Dim::fixed(list.size())});
}

llvm::SmallVector<int64_t> stridesOf(llvm::ArrayRef<Dim> shape) {
  llvm::SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;)
    strides[i - 1] = strides[i] * shape[i].count;
  return strides;
}

/// The source position of every output element, in row-major order.
template <typename Element>
static std::vector<Element>
gather(const std::vector<Element> &source, llvm::ArrayRef<Dim> shape,
       llvm::ArrayRef<int64_t> strides, int64_t origin) {
  std::vector<Element> elements(*elementCount(shape));
  llvm::SmallVector<int64_t> index(shape.size(), 0);
  int64_t position = origin;
  for (Element &element : elements) {
    element = source[position];
    for (size_t i = shape.size(); i-- > 0;) {
      position += strides[i];
      if (++index[i] < shape[i].count)
        break;
      position -= strides[i] * index[i];
      index[i] = 0;
    }
  }
  return elements;
}

Tensor gatherStrided(const Tensor &source, llvm::ArrayRef<Dim> shape,
                     llvm::ArrayRef<int64_t> strides, int64_t origin) {
  HostData data;
  if (source.isIntegral())
    data.ints = gather(source.host->ints, shape, strides, origin);
  else if (source.isDouble())
    data.doubles = gather(source.host->doubles, shape, strides, origin);
  else
    data.floats = gather(source.host->floats, shape, strides, origin);
  Tensor result = ofHost(std::move(data), Shape(shape), source.dataType);
  result.name = source.name;
  result.isFromShape = source.isFromShape;
  return result;
}

} // namespace numera::importer
