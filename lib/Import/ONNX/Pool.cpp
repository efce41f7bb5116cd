//===- Pool.cpp - MaxPool, AveragePool and LpPool -------------------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
#include "Operators.h"
#include "Scalar.h"
#include "Window.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using utils::IteratorType;

namespace numera::importer {

static LogicalResult readWindow(Node &node, Window &window) {
  const Tensor &x = node.input(0);
  if (x.rank() < 3)
    return node.error(node.inputName(0) + " has shape " + str(x.shape) +
                      "; expected batch, channels and spatial dimensions");
  std::optional<SmallVector<int64_t>> kernel = node.integers("kernel_shape");
  if (node.failed())
    return failure();
  if (!kernel)
    return node.error("attribute 'kernel_shape' is missing");
  if (int64_t(kernel->size()) != x.rank() - 2)
    return node.error("attribute 'kernel_shape' has " + Twine(kernel->size()) +
                      " entries; expected " + Twine(x.rank() - 2));
  for (int64_t size : *kernel)
    if (size < 1 || size > (int64_t(1) << 31))
      return node.error("attribute 'kernel_shape' holds " + Twine(size) +
                        "; expected at least 1 and at most 2^31");
  window.kernel = *kernel;
  return window.read(node, node.integer("ceil_mode", 0));
}

/// Reduces each window: loops over the result, then over the kernel, whose
/// sizes come from a tensor that is never read.
static Tensor slide(Node &node, const Tensor &x, const Window &window,
                    TypedAttr init, Body body) {
  Emitter &emit = node.emit;
  MLIRContext *context = emit.b.getContext();
  unsigned spatial = window.rank(), kernel = 2 + spatial;
  unsigned loops = kernel + spatial;
  SmallVector<AffineExpr> image = {getAffineDimExpr(0, context),
                                   getAffineDimExpr(1, context)};
  window.appendTo(image, context, 2, kernel);
  AffineMap identity = AffineMap::getMultiDimIdentityMap(loops, context);

  Tensor padded = window.pad(node, x, init);
  Shape shape = {padded.shape[0], padded.shape[1]};
  for (int64_t size : window.output)
    shape.push_back(Dim::fixed(size));
  SmallVector<IteratorType> iterators(kernel, IteratorType::parallel);
  iterators.append(spatial, IteratorType::reduction);
  Value source = emit.value(padded);
  Value taps = emit.empty(fixedShape(window.kernel));
  Tensor result = emit.generic(
      {{source, AffineMap::get(loops, 0, image, context)},
       {taps, identity.getMinorSubMap(spatial)}},
      emit.filled(shape, init), identity.getMajorSubMap(kernel), iterators,
      [&](LocBuilder &b, ValueRange args) {
        // args[1] is the unread element of `taps`.
        return body(b, ValueRange{args[0], args[2]});
      },
      x.dataType);
  result.shape = shape;
  return result;
}

/// Where in the input the maximum of each window is, the first if there are
/// several: counted row-major, or with the last two dimensions swapped.
static Tensor maximumIndices(Node &node, const Window &window,
                             const Tensor &maxima, bool columnMajor) {
  Emitter &emit = node.emit;
  const Tensor &x = node.input(0);
  Value source = emit.value(x), greatest = emit.value(maxima);
  unsigned spatial = window.rank();
  SmallVector<int64_t> strides = stridesOf(x.shape);
  SmallVector<int64_t> places = strides;
  if (columnMajor) {
    int64_t stride = 1;
    for (unsigned i = 0; i < spatial; ++i) {
      places[i + 2] = stride;
      stride *= x.shape[i + 2].count;
    }
  }
  Type i64 = emit.b.getI64Type();
  auto none = cast<TypedAttr>(emit.b.getI64IntegerAttr(INT64_MAX));
  return emit.generateReduced(
      maxima.shape, window.kernel, none, type::Int64,
      [&](LocBuilder &b, ValueRange at) -> Value {
        SmallVector<Value> from = {at[0], at[1]};
        Value inside = constant(b, b.getI1Type(), 1);
        Value place = add(b, mul(b, at[0], index(b, places[0])),
                          mul(b, at[1], index(b, places[1])));
        for (unsigned i = 0; i < spatial; ++i) {
          Value start = sub(b, mul(b, at[2 + i], index(b, window.strides[i])),
                            index(b, window.low[i]));
          Value tap =
              add(b, start,
                  mul(b, at[2 + spatial + i], index(b, window.dilations[i])));
          Value size = index(b, window.input[i]);
          inside =
              both(b, inside,
                   both(b, compare(b, Order::LessOrEqual, index(b, 0), tap),
                        compare(b, Order::Less, tap, size)));
          from.push_back(clampIndex(b, tap, size));
          place = add(b, place, mul(b, tap, index(b, places[2 + i])));
        }
        Value here = Emitter::at(b, source, from);
        Value most = Emitter::at(b, greatest, at.take_front(2 + spatial));
        Value found = both(b, inside, compare(b, Order::Equal, here, most));
        Value candidate = select(b, found, fromIndex(b, place, i64),
                                 arith::ConstantOp::create(b, none));
        return min(b, candidate, at.back());
      });
}

LogicalResult importMaxPool(Node &node) {
  bool columnMajor = node.integer("storage_order", 0);
  Window window;
  if (failed(readWindow(node, window)))
    return failure();
  const Tensor &x = node.input(0);
  bool noSign = isUnsigned(x.dataType);
  Tensor maxima =
      slide(node, x, window, least(node.emit.element(x.dataType), noSign),
            [&](LocBuilder &b, ValueRange args) {
              return max(b, args[0], args[1], noSign);
            });
  if (failed(node.finish(maxima)) || !node.hasOutput(1))
    return failure(node.failed());
  return node.finish(maximumIndices(node, window, maxima, columnMajor));
}

/// The p-th root of the sum of the p-th powers of magnitudes.
LogicalResult importLpPool(Node &node) {
  int64_t p = node.integer("p", 2);
  Window window;
  if (failed(readWindow(node, window)))
    return failure();
  const Tensor &x = node.input(0);
  Tensor powers = power(node.emit, absolute(node.emit, x), double(p));
  Tensor sums = slide(
      node, powers, window, node.emit.number(0, x.dataType),
      [](LocBuilder &b, ValueRange args) { return add(b, args[1], args[0]); });
  return node.finish(power(node.emit, sums, 1.0 / double(p)));
}

/// How many elements of dimension i each window averages: those of the input
/// and, when asked for, of its padding; never those that ceil_mode adds.
static SmallVector<int64_t> counts(const Window &window, unsigned i,
                                   bool countPads) {
  int64_t first = countPads ? -window.low[i] : 0;
  int64_t last = window.input[i] + (countPads ? window.high[i] : 0);
  int64_t step = window.dilations[i];
  SmallVector<int64_t> list;
  for (int64_t o = 0; o < window.output[i]; ++o) {
    int64_t start = o * window.strides[i] - window.low[i];
    // Taps start + k step with k in [from, to).
    int64_t from = start < first ? llvm::divideCeil(first - start, step) : 0;
    int64_t to = start < last ? llvm::divideCeil(last - start, step) : 0;
    list.push_back(std::max<int64_t>(0, std::min(to, window.kernel[i]) - from));
  }
  return list;
}

/// The divisors of all windows: one number where they agree, else one for each
/// position.
static Tensor divisors(const Window &window, bool countPads) {
  std::vector<float> elements = {1.0f};
  bool uniform = true;
  for (unsigned i = 0; i < window.rank(); ++i) {
    SmallVector<int64_t> list = counts(window, i, countPads);
    uniform &= llvm::all_equal(list);
    std::vector<float> next;
    next.reserve(elements.size() * list.size());
    for (float outer : elements)
      for (int64_t inner : list)
        next.push_back(outer * inner);
    elements = std::move(next);
  }
  if (uniform)
    return Tensor::ofFloats({elements.front()}, {});
  return Tensor::ofFloats(std::move(elements), fixedShape(window.output));
}

LogicalResult importAveragePool(Node &node) {
  bool countPads = node.integer("count_include_pad", 0);
  Window window;
  if (failed(readWindow(node, window)))
    return failure();
  std::optional<int64_t> positions = elementCount(fixedShape(window.output));
  if (!positions || *positions > kMaxFolded)
    return node.error("windows at " + str(fixedShape(window.output)) +
                      " positions; expected at most 2^26");
  Tensor sums = slide(
      node, node.input(0), window, node.emit.number(0, node.input(0).dataType),
      [](LocBuilder &b, ValueRange args) { return add(b, args[1], args[0]); });
  Tensor divisor =
      convertTo(node.emit, divisors(window, countPads), node.input(0).dataType);
  return node.finish(node.emit.map(
      {&sums, &divisor}, sums.shape,
      [](LocBuilder &b, ValueRange args) { return div(b, args[0], args[1]); }));
}

} // namespace numera::importer
