//===- Window.cpp - The sliding windows of Conv and the pools -------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
#include "Window.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace numera::importer {

/// Attributes beyond this are damage, and would overflow.
constexpr int64_t kMaxAttribute = int64_t(1) << 31;

LogicalResult readList(Node &node, StringRef name, size_t count,
                       int64_t byDefault, int64_t least,
                       SmallVector<int64_t> &list) {
  list = node.integers(name).value_or(SmallVector<int64_t>(count, byDefault));
  if (list.size() != count)
    return node.error("attribute " + quote(name) + " has " +
                      Twine(list.size()) + " entries; expected " +
                      Twine(count));
  for (int64_t entry : list)
    if (entry < least || entry > kMaxAttribute)
      return node.error("attribute " + quote(name) + " holds " + Twine(entry) +
                        "; expected at least " + Twine(least) +
                        " and at most 2^31");
  return failure(node.failed());
}

std::optional<std::string> readPadMode(Node &node) {
  std::string mode = node.text("auto_pad", "NOTSET");
  if (mode.empty())
    mode = "NOTSET";
  if (llvm::is_contained({"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"},
                         StringRef(mode)))
    return mode;
  (void)node.error("attribute 'auto_pad' is " + quote(mode) +
                   "; expected NOTSET, SAME_UPPER, SAME_LOWER or VALID");
  return std::nullopt;
}

LogicalResult readPads(Node &node, size_t rank, StringRef mode,
                       SmallVector<int64_t> &pads) {
  if (failed(readList(node, "pads", 2 * rank, 0, 0, pads)))
    return failure();
  bool explicitPads = llvm::any_of(pads, [](int64_t pad) { return pad != 0; });
  if (mode != "NOTSET" && explicitPads)
    return node.error("attribute 'pads' is given beside auto_pad = " +
                      quote(mode) + "; expected one of them");
  return success();
}

/// Output size and padding of dimension i. Sizes are at most 2^40 and
/// attributes 2^31, so nothing overflows.
LogicalResult Window::resolve(Node &node, unsigned i, StringRef mode,
                              bool ceil) {
  int64_t extent = (kernel[i] - 1) * dilations[i] + 1;
  if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
    output[i] = llvm::divideCeil(input[i], strides[i]);
    int64_t total =
        std::max<int64_t>(0, (output[i] - 1) * strides[i] + extent - input[i]);
    (mode == "SAME_UPPER" ? low : high)[i] = total / 2;
    (mode == "SAME_UPPER" ? high : low)[i] = total - total / 2;
    return success();
  }
  int64_t room = input[i] + low[i] + high[i] - extent;
  if (room < 0)
    return node.error("a window of " + Twine(extent) +
                      " over spatial "
                      "dimension " +
                      Twine(i) + ", which has size " + Twine(input[i]) +
                      " and " + Twine(low[i] + high[i]) +
                      " of padding; expected a window that fits");
  output[i] = room / strides[i] + 1;
  // A window that starts behind the input and its leading pad is dropped.
  if (ceil && room % strides[i] != 0 &&
      output[i] * strides[i] < input[i] + low[i]) {
    excess[i] = output[i] * strides[i] - room;
    ++output[i];
  }
  return success();
}

LogicalResult Window::read(Node &node, bool ceil) {
  ArrayRef<Dim> spatial = ArrayRef(node.input(0).shape).drop_front(2);
  for (auto [i, dim] : llvm::enumerate(spatial)) {
    if (dim.isDynamic())
      return node.error("spatial dimension " + Twine(i) +
                        " depends on the batch size; expected a fixed size");
    input.push_back(dim.count);
  }
  std::optional<std::string> mode = readPadMode(node);
  SmallVector<int64_t> pads;
  if (!mode || failed(readList(node, "strides", rank(), 1, 1, strides)) ||
      failed(readList(node, "dilations", rank(), 1, 1, dilations)) ||
      failed(readPads(node, rank(), *mode, pads)))
    return failure();
  low.assign(pads.begin(), pads.begin() + rank());
  high.assign(pads.begin() + rank(), pads.end());
  output.assign(rank(), 0);
  excess.assign(rank(), 0);
  for (unsigned i = 0; i < rank(); ++i)
    if (failed(resolve(node, i, *mode, ceil)))
      return failure();

  Shape padded = node.input(0).shape;
  for (unsigned i = 0; i < rank(); ++i)
    padded[i + 2].count += low[i] + high[i] + excess[i];
  return node.checkSize(padded);
}

Tensor Window::pad(Node &node, const Tensor &x, TypedAttr number) const {
  SmallVector<int64_t> before(2, 0), after(2, 0);
  for (unsigned i = 0; i < rank(); ++i) {
    before.push_back(low[i]);
    after.push_back(high[i] + excess[i]);
  }
  return node.emit.pad(x, before, after, number);
}

Tensor Window::pad(Node &node, const Tensor &x, double number) const {
  return pad(node, x, node.emit.number(number, x.dataType));
}

void Window::appendTo(SmallVectorImpl<AffineExpr> &exprs, MLIRContext *context,
                      unsigned outputLoop, unsigned kernelLoop) const {
  for (unsigned i = 0; i < rank(); ++i)
    exprs.push_back(getAffineDimExpr(outputLoop + i, context) * strides[i] +
                    getAffineDimExpr(kernelLoop + i, context) * dilations[i]);
}

} // namespace numera::importer
