//===- Fourier.cpp - DFT and STFT -----------------------------------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
//
// A transform is one product of matrices. The real and imaginary parts of an
// element lie beside each other, as ONNX has them, and so do their factors in a
// constant matrix of cosines and sines.
//
//===----------------------------------------------------------------------===//
#include "List.h"
#include "Operators.h"
#include "Scalar.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "numera/Registry/Formats/FormatFamily.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"

using namespace mlir;

namespace numera::importer {

namespace {
/// A transform of `length` elements, of which it reads the first `used`.
struct Transform {
  int64_t length = 0;
  int64_t used = 0;
  bool isInverse = false;
  bool isOnesided = false;

  bool givesReal() const { return isInverse && isOnesided; }
  /// The elements that it gives.
  int64_t size() const {
    return isOnesided && !isInverse ? length / 2 + 1 : length;
  }
};

/// Cosines of parts of a turn. They are computed by Numera's f64, so that a
/// model is the same on every machine.
class Cosines {
public:
  explicit Cosines(int64_t parts) : parts(parts) {
    SpellingError error;
    format = parseFormatSpelling("float<11,52>", error);
  }

  /// Of a number of eighths of a part.
  double operator()(int64_t eighths) const {
    int64_t turn = 8 * parts, at = ((eighths % turn) + turn) % turn;
    at = std::min(at, turn - at);
    bool isNegative = at > 2 * parts;
    at = isNegative ? 4 * parts - at : at;
    double cosine = at <= parts ? evaluate(OpKind::Cos, at)
                                : evaluate(OpKind::Sin, 2 * parts - at);
    return isNegative ? -cosine : cosine;
  }

private:
  double evaluate(OpKind function, int64_t eighths) const {
    constexpr double pi = 0x1.921fb54442d18p+1;
    double angle = pi * double(eighths) / double(4 * parts);
    return llvm::bit_cast<double>(format.getFamily().evaluate(
        function, format, llvm::bit_cast<uint64_t>(angle),
        Rounding::NearestEven));
  }

  int64_t parts;
  Format format;
};
} // namespace

/// The matrix of used · parts rows and size · parts columns.
static Tensor matrixOf(const Transform &transform, bool isComplex,
                       int64_t dataType) {
  int64_t n = transform.length;
  Cosines cosine(n);
  std::vector<double> cosines, sines;
  for (int64_t i = 0; i < n; ++i) {
    cosines.push_back(cosine(8 * i));
    sines.push_back(cosine(8 * i - 2 * n));
  }
  int64_t in = isComplex ? 2 : 1, out = transform.givesReal() ? 1 : 2;
  int64_t rows = transform.used * in, columns = transform.size() * out;
  std::vector<double> matrix(size_t(rows * columns));
  for (int64_t i = 0; i < transform.used; ++i)
    for (int64_t k = 0; k < transform.size(); ++k) {
      // exp(± 2 pi i k / n): the sine of -x is that of the turn less x.
      int64_t along = i * k % n, back = (n - along) % n;
      int64_t plus = transform.isInverse ? along : back;
      int64_t minus = transform.isInverse ? back : along;
      // The other half of a spectrum is this one's mirror image.
      bool isTwice = transform.givesReal() && i != 0 && 2 * i != n;
      double factor = isTwice ? 2 : 1;
      double *real = &matrix[size_t(i * in * columns + k * out)];
      real[0] = factor * cosines[along];
      if (out == 2)
        real[1] = sines[plus];
      if (in == 1)
        continue;
      double *imaginary = real + columns;
      imaginary[0] = factor * sines[minus];
      if (out == 2)
        imaginary[1] = cosines[along];
    }
  Shape shape = fixedShape({rows, columns});
  if (dataType == type::Double)
    return Tensor::ofDoubles(std::move(matrix), shape);
  return Tensor::ofFloats({matrix.begin(), matrix.end()}, shape);
}

/// The transform along `axis` of x, whose last dimension holds the parts of its
/// elements.
static std::optional<Tensor> transformed(Node &node, const Tensor &x,
                                         int64_t axis, Transform transform) {
  Emitter &emit = node.emit;
  int64_t rank = x.rank(), in = x.shape.back().count;
  SmallVector<int64_t> order, back(rank);
  for (int64_t i = 0; i < rank - 1; ++i)
    if (i != axis)
      order.push_back(i);
  order.append({axis, rank - 1});
  for (auto [i, from] : llvm::enumerate(order))
    back[from] = int64_t(i);
  bool isLast = axis == rank - 2;
  Tensor rows = isLast ? x : emit.transpose(x, order);
  Shape shape = rows.shape;
  // The length may be the dimension's, and that anything.
  if (failed(node.checkFoldable(fixedShape({transform.length}))))
    return std::nullopt;
  transform.used = std::min(shape[rank - 2].count,
                            transform.givesReal() ? transform.length / 2 + 1
                                                  : transform.length);
  if (failed(node.checkFoldable(
          fixedShape({transform.used * in, transform.size() * 2}))))
    return std::nullopt;
  if (!shape[rank - 2].is(transform.used)) {
    shape[rank - 2] = Dim::fixed(transform.used);
    SmallVector<int64_t> starts(rank, 0), steps(rank, 1);
    rows = emit.slice(rows, shape, starts, steps);
  }
  Dim others = product(ArrayRef(shape).drop_back(2));
  rows = emit.reshape(rows, {others, Dim::fixed(transform.used * in)});
  auto found = matmul(node, rows, matrixOf(transform, in == 2, x.dataType));
  if (!found)
    return std::nullopt;
  if (transform.isInverse)
    found =
        emit.map({&*found}, found->shape, [&](LocBuilder &b, ValueRange args) {
          return div(b, args[0],
                     constant(b, args[0].getType(), double(transform.length)));
        });
  shape[rank - 2] = Dim::fixed(transform.size());
  shape[rank - 1] = Dim::fixed(transform.givesReal() ? 1 : 2);
  Tensor result = emit.reshape(*found, shape);
  return isLast ? result : emit.transpose(result, back);
}

/// The one integer of an input, or nothing after an error.
static std::optional<int64_t> single(Node &node, unsigned i) {
  auto list = node.constants(i);
  if (!list)
    return std::nullopt;
  if (list->size() != 1) {
    (void)node.error(node.inputName(i) + " has shape " +
                     str(node.input(i).shape) + "; expected a scalar");
    return std::nullopt;
  }
  return list->front();
}

/// Fails unless input 0 has floats with one or two parts.
static LogicalResult checkParts(Node &node, bool isOnesided, bool isInverse) {
  const Tensor &x = node.input(0);
  if (failed(node.checkFloat(0)))
    return failure();
  Dim parts = x.rank() < 2 ? Dim::fixed(0) : x.shape.back();
  if (!parts.is(1) && !parts.is(2))
    return node.error(node.inputName(0) + " has shape " + str(x.shape) +
                      "; expected a last dimension of 1, or 2 of complex "
                      "numbers");
  if (isOnesided && !parts.is(isInverse ? 2 : 1))
    return node.error(node.inputName(0) + " has shape " + str(x.shape) +
                      "; onesided expects " + (isInverse ? "complex" : "real") +
                      " numbers");
  return success();
}

//===----------------------------------------------------------------------===//
// DFT
//===----------------------------------------------------------------------===//

/// The shape of a DFT along `axis`, or nothing where there is none; its length
/// is set where the node does not give it.
static std::optional<Shape> shapeAlong(const Tensor &x, int64_t axis,
                                       Transform &transform) {
  Dim size = x.shape[axis];
  if (size.isDynamic())
    return std::nullopt;
  if (transform.length == 0)
    transform.length =
        transform.givesReal() ? 2 * (size.count - 1) : size.count;
  if (transform.length < 1 || size.count < 1)
    return std::nullopt;
  Shape shape = x.shape;
  shape[axis] = Dim::fixed(transform.size());
  shape.back() = Dim::fixed(transform.givesReal() ? 1 : 2);
  return shape;
}

static LogicalResult alongAxis(Node &node, int64_t axis, Transform transform) {
  const Tensor &x = node.input(0);
  if (axis == x.rank() - 1)
    return node.error("axis " + Twine(axis) + " of " + str(x.shape) +
                      " holds the parts of numbers; expected one before it");
  if (!shapeAlong(x, axis, transform))
    return node.error("axis " + Twine(axis) + " of " + str(x.shape) +
                      " gives a transform of no fixed length");
  auto result = transformed(node, x, axis, transform);
  return result ? node.finish(*result) : failure();
}

/// The axis is known when the model runs. Those along which the result has the
/// shape that the model declares are there to choose; the program fails for
/// another.
static LogicalResult alongChosen(Node &node, const Transform &transform) {
  const Tensor &x = node.input(0), &which = node.input(2);
  if (failed(node.checkInteger(2)))
    return failure();
  if (elementCount(which.shape) != 1)
    return node.error(node.inputName(2) + " has shape " + str(which.shape) +
                      "; expected a scalar");
  std::optional<Shape> declared = node.declared(0), shape;
  SmallVector<int64_t> axes;
  for (int64_t axis = 0; axis < x.rank() - 1; ++axis) {
    Transform one = transform;
    auto found = shapeAlong(x, axis, one);
    if (!found || (declared && declared != found))
      continue;
    if (shape && shape != found)
      return node.error(node.inputName(2) +
                        " is computed when the model runs, and the model does "
                        "not declare the shape of the result");
    shape = found;
    axes.push_back(axis);
  }
  if (!shape)
    return node.error("no axis of " + str(x.shape) +
                      " gives the shape that the model declares");
  Emitter &emit = node.emit;
  LocBuilder &b = emit.b;
  Value given =
      toIndex(b, Emitter::at(b, emit.value(emit.reshape(which, {})), {}));
  Value isBehind = compare(b, Order::Less, given, index(b, 0));
  Value chosen = select(b, isBehind, add(b, given, index(b, x.rank())), given);
  Value isKnown = constant(b, b.getI1Type(), 0);
  std::optional<Tensor> result;
  for (int64_t axis : axes) {
    Value isThis = compare(b, Order::Equal, chosen, index(b, axis));
    isKnown = either(b, isKnown, isThis);
    if (failed(alongAxis(node, axis, transform)))
      return failure();
    Tensor one = node.results.pop_back_val();
    result = !result ? one
                     : emit.map({&one, &*result}, *shape,
                                [&](LocBuilder &b, ValueRange args) {
                                  return select(b, isThis, args[0], args[1]);
                                });
  }
  cf::AssertOp::create(b, isKnown,
                       b.getStringAttr("DFT of '" + node.name() +
                                       "' has an axis along which the result "
                                       "has another shape"));
  return node.finish(*result);
}

LogicalResult importDFT(Node &node) {
  Transform transform;
  transform.isInverse = node.integer("inverse", 0);
  transform.isOnesided = node.integer("onesided", 0);
  bool isAttribute = node.opset < 20;
  int64_t axis = isAttribute ? node.integer("axis", 1) : -2;
  if (node.failed() ||
      failed(checkParts(node, transform.isOnesided, transform.isInverse)))
    return failure();
  if (isAttribute && node.has(2))
    return node.error("3 inputs; expected 1 to 2 before operator set 20");
  if (node.has(1)) {
    auto length = single(node, 1);
    if (!length)
      return failure();
    if (*length < 1 || *length > kMaxFolded)
      return node.error("a length of " + Twine(*length) +
                        "; expected 1 to 2^26");
    transform.length = *length;
  }
  if (node.has(2) && !node.input(2).host)
    return alongChosen(node, transform);
  if (node.has(2)) {
    auto given = single(node, 2);
    if (!given)
      return failure();
    axis = *given;
  }
  axis = node.axis(axis, node.input(0).rank());
  return node.failed() ? failure() : alongAxis(node, axis, transform);
}

//===----------------------------------------------------------------------===//
// STFT
//===----------------------------------------------------------------------===//

/// The step from a frame to the next, and the number of frames: what the model
/// declares where the step is known when the model runs. The program fails for
/// a step that gives another.
static LogicalResult readFrames(Node &node, int64_t length, Value &step,
                                int64_t &frames) {
  LocBuilder &b = node.emit.b;
  int64_t rest = node.input(0).shape[1].count - length;
  if (node.input(1).host) {
    auto given = single(node, 1);
    if (!given)
      return failure();
    if (*given < 1)
      return node.error("a step of " + Twine(*given) + "; expected 1 or more");
    step = index(b, *given);
    frames = rest / *given + 1;
    return success();
  }
  std::optional<Shape> declared = node.declared(0);
  if (failed(node.checkInteger(1)))
    return failure();
  if (elementCount(node.input(1).shape) != 1)
    return node.error(node.inputName(1) + " has shape " +
                      str(node.input(1).shape) + "; expected a scalar");
  if (!declared || declared->size() != 4 || (*declared)[1].isDynamic() ||
      (*declared)[1].count < 1 || (*declared)[1].count > rest + 1)
    return node.error(node.inputName(1) +
                      " is computed when the model runs, and the model does "
                      "not declare how many frames there are");
  frames = (*declared)[1].count;
  Tensor scalar = node.emit.reshape(node.input(1), {});
  step = toIndex(b, Emitter::at(b, node.emit.value(scalar), {}));
  // frames - 1 steps fit, and no more.
  Value last = mul(b, step, index(b, frames - 1));
  Value isRight =
      both(b, compare(b, Order::Less, index(b, 0), step),
           both(b, compare(b, Order::LessOrEqual, last, index(b, rest)),
                compare(b, Order::Less, index(b, rest), add(b, last, step))));
  cf::AssertOp::create(b, isRight,
                       b.getStringAttr("STFT of '" + node.name() +
                                       "' has another number of frames than "
                                       "the model declares"));
  return success();
}

LogicalResult importSTFT(Node &node) {
  Transform transform;
  transform.isOnesided = node.integer("onesided", 1);
  if (node.failed() || failed(node.checkRank(0, 3)) ||
      failed(checkParts(node, transform.isOnesided, false)))
    return failure();
  const Tensor &x = node.input(0);
  if (x.shape[1].isDynamic())
    return node.error("along the batch, of " + str(x.shape));
  transform.length = x.shape[1].count;
  if (node.has(2)) {
    if (failed(node.checkRank(2, 1)) || failed(node.checkFloat(2)))
      return failure();
    transform.length = node.input(2).shape[0].count;
  }
  std::optional<Shape> declared = node.declared(0);
  if (node.has(3) && !node.input(3).host && declared && declared->size() == 4) {
    // A half of the spectrum says less than its length: it is even.
    int64_t size = (*declared)[2].count;
    if (!node.has(2))
      transform.length = transform.isOnesided ? 2 * (size - 1) : size;
    if (failed(requireSizes(node, 3, {Dim::fixed(transform.length)})))
      return failure();
  } else if (node.has(3)) {
    auto given = single(node, 3);
    if (!given)
      return failure();
    transform.length = *given;
  }
  Dim length = Dim::fixed(transform.length);
  if (length.count < 1 || length.count > x.shape[1].count)
    return node.error("frames of " + Twine(length.count) + " elements of " +
                      str(x.shape) + "; expected 1 to " +
                      Twine(x.shape[1].count));
  if (node.has(2) && (node.input(2).shape[0] != length ||
                      node.input(2).dataType != x.dataType))
    return node.error(node.inputName(2) + " is of " +
                      dataTypeName(node.input(2).dataType) + " " +
                      str(node.input(2).shape) + "; expected " +
                      dataTypeName(x.dataType) + " " + str({length}));
  Value step;
  int64_t frames = 0;
  if (failed(readFrames(node, length.count, step, frames)))
    return failure();
  Emitter &emit = node.emit;
  Shape shape = {x.shape[0], Dim::fixed(frames), length, x.shape[2]};
  if (failed(node.checkSize(shape)))
    return failure();
  Value source = emit.value(x);
  Tensor cut = emit.generate(
      shape, x.dataType, [&](LocBuilder &b, ValueRange at) -> Value {
        Value place = add(b, mul(b, at[1], step), at[2]);
        return Emitter::at(b, source, {at[0], place, at[3]});
      });
  if (node.has(2))
    cut = emit.mapAlong({{&cut, {0, 1, 2, 3}}, {&node.input(2), {2}}}, shape,
                        [](LocBuilder &b, ValueRange args) {
                          return mul(b, args[0], args[1]);
                        });
  auto result = transformed(node, cut, 2, transform);
  return result ? node.finish(*result) : failure();
}

} // namespace numera::importer
