//===- Pool.cpp - MaxPool and AveragePool ---------------------------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
#include "Operators.h"
#include "Window.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/STLExtras.h"
#include <limits>

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
static Tensor slide(Node &node, const Window &window, float init, Body body) {
  Emitter &emit = node.emit;
  MLIRContext *context = emit.b.getContext();
  unsigned spatial = window.rank(), kernel = 2 + spatial;
  unsigned loops = kernel + spatial;
  SmallVector<AffineExpr> image = {getAffineDimExpr(0, context),
                                   getAffineDimExpr(1, context)};
  window.appendTo(image, context, 2, kernel);
  AffineMap identity = AffineMap::getMultiDimIdentityMap(loops, context);

  Tensor padded = window.pad(node, init);
  Shape shape = {padded.shape[0], padded.shape[1]};
  for (int64_t size : window.output)
    shape.push_back(Dim::fixed(size));
  SmallVector<IteratorType> iterators(kernel, IteratorType::parallel);
  iterators.append(spatial, IteratorType::reduction);
  Value source = emit.value(padded);
  Value taps = emit.empty(fixedShape(window.kernel));
  Tensor result =
      emit.generic({{source, AffineMap::get(loops, 0, image, context)},
                    {taps, identity.getMinorSubMap(spatial)}},
                   emit.filled(shape, init), identity.getMajorSubMap(kernel),
                   iterators, [&](LocBuilder &b, ValueRange args) {
                     // args[1] is the unread element of `taps`.
                     return body(b, ValueRange{args[0], args[2]});
                   });
  result.shape = shape;
  return result;
}

LogicalResult importMaxPool(Node &node) {
  node.ignore("storage_order"); // Of the second result, which is not computed.
  Window window;
  if (failed(readWindow(node, window)))
    return failure();
  return node.finish(
      slide(node, window, -std::numeric_limits<float>::infinity(),
            [](LocBuilder &b, ValueRange args) -> Value {
              return arith::MaximumFOp::create(b, args[0], args[1]);
            }));
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
  Tensor sums =
      slide(node, window, 0.0f, [](LocBuilder &b, ValueRange args) -> Value {
        return arith::AddFOp::create(b, args[1], args[0]);
      });
  Tensor divisor = divisors(window, countPads);
  return node.finish(node.emit.map({&sums, &divisor}, sums.shape,
                                   [](LocBuilder &b, ValueRange args) -> Value {
                                     return arith::DivFOp::create(b, args[0],
                                                                  args[1]);
                                   }));
}

} // namespace numera::importer
