//===- Gather.cpp - Elements at indices -----------------------------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
//
// Each element of the result is looked up. An index out of range, which the
// ONNX standard forbids, is an error where it is known, and otherwise the
// nearest one that is in range.
//
//===----------------------------------------------------------------------===//
#include "List.h"
#include "Operators.h"
#include "Scalar.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace numera::importer {

/// Elements of `data` along `axis`, as numpy.take.
template <typename Element>
static std::vector<Element> take(const std::vector<Element> &data,
                                 ArrayRef<int64_t> indices, int64_t outer,
                                 int64_t size, int64_t inner) {
  std::vector<Element> taken;
  taken.reserve(outer * indices.size() * inner);
  for (int64_t row = 0; row < outer; ++row)
    for (int64_t index : indices) {
      auto first = data.begin() + (row * size + index) * inner;
      taken.insert(taken.end(), first, first + inner);
    }
  return taken;
}

/// Fails for an index that is known and out of range.
static LogicalResult checkIndices(Node &node, unsigned i, int64_t size,
                                  const Twine &where) {
  const Tensor &indices = node.input(i);
  if (!indices.isIntegral())
    return node.checkInteger(i);
  if (!indices.host)
    return success();
  for (Dim index : indices.host->ints)
    if (index.isDynamic() || index.count < -size || index.count >= size)
      return node.error("index " + str({index}) + " into " +
                        str(node.input(0).shape) + " is out of range in " +
                        where);
  return success();
}

/// From constants at constant indices.
static Tensor takeKnown(const Tensor &data, const Tensor &where, int64_t axis,
                        const Shape &shape) {
  int64_t size = data.shape[axis].count;
  SmallVector<int64_t> indices;
  for (Dim index : where.host->ints)
    indices.push_back(index.count < 0 ? index.count + size : index.count);
  int64_t outer = product(ArrayRef(data.shape).take_front(axis)).count;
  int64_t inner = product(ArrayRef(data.shape).drop_front(axis + 1)).count;
  Tensor taken;
  if (data.isIntegral())
    taken = Tensor::ofInts(take(data.host->ints, indices, outer, size, inner),
                           shape, data.dataType);
  else if (data.isDouble())
    taken = Tensor::ofDoubles(
        take(data.host->doubles, indices, outer, size, inner), shape);
  else
    taken = Tensor::ofFloats(
        take(data.host->floats, indices, outer, size, inner), shape);
  taken.dataType = data.dataType;
  taken.isFromShape = data.isFromShape;
  return taken;
}

/// The sizes of a shape, before a loop that asks for them.
static SmallVector<Value> sizesOf(Emitter &emit, ArrayRef<Dim> shape) {
  return llvm::map_to_vector(shape,
                             [&](Dim size) { return emit.extent(size); });
}

/// The program ends where there are indices into a dimension that is found to
/// have no elements: they are out of range.
static void requireElements(Node &node, Dim size, ArrayRef<Dim> indices) {
  if (!size.isDynamic())
    return;
  LocBuilder &b = node.emit.b;
  Value zero = index(b, 0);
  Value isSome = compare(b, Order::Less, zero, node.emit.size(size));
  Value none =
      compare(b, Order::Equal, node.emit.extent(product(indices)), zero);
  require(node, either(b, isSome, none),
          "has indices into a dimension of no elements");
}

LogicalResult importGather(Node &node) {
  const Tensor &data = node.input(0), &where = node.input(1);
  int64_t axis = node.axis(node.integer("axis", 0), data.rank());
  if (node.failed())
    return failure();
  Dim size = data.shape[axis];
  if (!size.isDynamic() &&
      failed(checkIndices(node, 1, size.count, "dimension " + Twine(axis))))
    return failure();
  Shape shape(ArrayRef(data.shape).take_front(axis));
  shape.append(where.shape.begin(), where.shape.end());
  shape.append(data.shape.begin() + axis + 1, data.shape.end());
  if (failed(node.checkSize(shape)))
    return failure();
  if (data.host && !data.value && where.host && !where.value &&
      elementCount(shape) <= kMaxFolded)
    return node.finish(takeKnown(data, where, axis, shape));
  Emitter &emit = node.emit;
  requireElements(node, size, where.shape);
  Value source = emit.value(data), indices = emit.value(where);
  Value count = size.isDynamic() ? emit.size(size) : Value();
  unsigned rank = where.rank();
  return node.finish(emit.generate(
      shape, data.dataType, [&](LocBuilder &b, ValueRange at) -> Value {
        Value chosen =
            toIndex(b, Emitter::at(b, indices, at.slice(axis, rank)));
        SmallVector<Value> from(at.take_front(axis));
        from.push_back(
            wrapIndex(b, chosen, count ? count : index(b, size.count)));
        llvm::append_range(from, at.drop_front(axis + rank));
        return Emitter::at(b, source, from);
      }));
}

/// Whether one size is at most another, whatever those are that are not known.
static bool isWithin(Dim size, Dim most) {
  return size == most ||
         (!size.isDynamic() && !most.isDynamic() && size.count <= most.count);
}

LogicalResult importGatherElements(Node &node) {
  const Tensor &data = node.input(0), &where = node.input(1);
  int64_t axis = node.axis(node.integer("axis", 0), data.rank());
  if (node.failed() || failed(node.checkRank(1, data.rank())))
    return failure();
  for (int64_t i = 0; i < data.rank(); ++i)
    if (i != axis && !isWithin(where.shape[i], data.shape[i]))
      return node.error("indices of shape " + str(where.shape) + " into " +
                        str(data.shape) + "; expected at most its sizes");
  Dim size = data.shape[axis];
  if (!size.isDynamic() &&
      failed(checkIndices(node, 1, size.count, "dimension " + Twine(axis))))
    return failure();
  Emitter &emit = node.emit;
  requireElements(node, size, where.shape);
  Value source = emit.value(data), indices = emit.value(where);
  Value count = size.isDynamic() ? emit.size(size) : Value();
  return node.finish(emit.generate(
      where.shape, data.dataType, [&](LocBuilder &b, ValueRange at) -> Value {
        SmallVector<Value> from(at);
        Value chosen = toIndex(b, Emitter::at(b, indices, at));
        from[axis] = wrapIndex(b, chosen, count ? count : index(b, size.count));
        return Emitter::at(b, source, from);
      }));
}

LogicalResult importGatherND(Node &node) {
  const Tensor &data = node.input(0), &where = node.input(1);
  int64_t batch = node.integer("batch_dims", 0);
  if (node.failed() || failed(node.checkInteger(1)))
    return failure();
  if (where.rank() == 0 || where.shape.back().isDynamic() ||
      batch + where.shape.back().count > data.rank() || batch < 0 ||
      batch >= where.rank())
    return node.error("indices of shape " + str(where.shape) + " with " +
                      Twine(batch) + " batch dimensions into " +
                      str(data.shape));
  int64_t depth = where.shape.back().count, lead = where.rank() - 1;
  Shape shape(ArrayRef(where.shape).drop_back());
  shape.append(data.shape.begin() + batch + depth, data.shape.end());
  if (failed(node.checkSize(shape)))
    return failure();
  if (ArrayRef(data.shape).take_front(batch) !=
      ArrayRef(where.shape).take_front(batch))
    return node.error("indices of shape " + str(where.shape) + " with " +
                      Twine(batch) + " batch dimensions into " +
                      str(data.shape) + "; expected the same sizes in these");
  Emitter &emit = node.emit;
  Value source = emit.value(data), indices = emit.value(where);
  for (Dim size : ArrayRef(data.shape).slice(batch, depth))
    requireElements(node, size, ArrayRef(where.shape).drop_back());
  SmallVector<Value> counts =
      sizesOf(emit, ArrayRef(data.shape).slice(batch, depth));
  return node.finish(emit.generate(
      shape, data.dataType, [&](LocBuilder &b, ValueRange at) -> Value {
        SmallVector<Value> from(at.take_front(batch));
        SmallVector<Value> place(at.take_front(lead));
        place.emplace_back();
        for (int64_t i = 0; i < depth; ++i) {
          place.back() = index(b, i);
          from.push_back(wrapIndex(
              b, toIndex(b, Emitter::at(b, indices, place)), counts[i]));
        }
        llvm::append_range(from, at.drop_front(lead));
        return Emitter::at(b, source, from);
      }));
}

/// The indices of one loop over all elements of a tensor of `sizes`.
static SmallVector<Value> unflatten(LocBuilder &b, Value flat,
                                    ArrayRef<Value> sizes) {
  SmallVector<Value> indices(sizes.size());
  for (size_t i = sizes.size(); i-- > 0;) {
    indices[i] = arith::RemUIOp::create(b, flat, sizes[i]);
    flat = arith::DivUIOp::create(b, flat, sizes[i]);
  }
  return indices;
}

/// `data` after a loop over the elements of `updates`, in order: `place` says
/// where each goes.
static LogicalResult scatter(
    Node &node, const Tensor &updates, StringRef reduction,
    llvm::function_ref<SmallVector<Value>(LocBuilder &, ValueRange)> place) {
  const Tensor &data = node.input(0);
  if (!llvm::is_contained({"none", "add", "mul", "max", "min"}, reduction))
    return node.error("attribute 'reduction' is " + quote(reduction) +
                      "; expected none, add, mul, max or min");
  if (updates.dataType != data.dataType)
    return node.error("updates of " + dataTypeName(updates.dataType) +
                      " into " + dataTypeName(data.dataType) +
                      "; expected the same");
  Emitter &emit = node.emit;
  LocBuilder &b = emit.b;
  Value into = emit.value(data), source = emit.value(updates);
  Value zero = index(b, 0), one = index(b, 1);
  SmallVector<Value> sizes = sizesOf(emit, updates.shape);
  Value count = emit.extent(product(updates.shape));
  bool noSign = isUnsigned(data.dataType);
  auto loop = scf::ForOp::create(
      b, zero, count, one, into,
      [&](OpBuilder &nested, Location loc, Value i, ValueRange carried) {
        LocBuilder inner(loc, nested);
        SmallVector<Value> from = unflatten(inner, i, sizes);
        SmallVector<Value> to = place(inner, from);
        Value update = Emitter::at(inner, source, from);
        if (reduction != "none") {
          Value old = Emitter::at(inner, carried[0], to);
          update = reduction == "add"   ? add(inner, old, update)
                   : reduction == "mul" ? mul(inner, old, update)
                   : reduction == "max" ? max(inner, old, update, noSign)
                                        : min(inner, old, update, noSign);
        }
        Value next = tensor::InsertOp::create(inner, update, carried[0], to);
        scf::YieldOp::create(inner, next);
      });
  return node.finish(emit.result(loop.getResult(0), data.shape, data.dataType));
}

LogicalResult importScatterElements(Node &node) {
  const Tensor &data = node.input(0), &where = node.input(1);
  std::string reduction = node.text("reduction", "none");
  int64_t axis = node.axis(node.integer("axis", 0), data.rank());
  if (node.failed() || failed(node.checkRank(1, data.rank())) ||
      (!data.shape[axis].isDynamic() &&
       failed(checkIndices(node, 1, data.shape[axis].count,
                           "dimension " + Twine(axis)))))
    return failure();
  if (node.input(2).shape != where.shape)
    return node.error("updates of shape " + str(node.input(2).shape) +
                      " at indices of shape " + str(where.shape) +
                      "; expected the same");
  for (int64_t i = 0; i < data.rank(); ++i)
    if (i != axis && !isWithin(where.shape[i], data.shape[i]))
      return node.error("indices of shape " + str(where.shape) + " into " +
                        str(data.shape) + "; expected at most its sizes");
  Value indices = node.emit.value(where);
  requireElements(node, data.shape[axis], where.shape);
  Value size = node.emit.extent(data.shape[axis]);
  return scatter(
      node, node.input(2), reduction, [&](LocBuilder &b, ValueRange at) {
        SmallVector<Value> to(at);
        to[axis] = wrapIndex(b, toIndex(b, Emitter::at(b, indices, at)), size);
        return to;
      });
}

LogicalResult importScatterND(Node &node) {
  const Tensor &data = node.input(0), &where = node.input(1);
  const Tensor &updates = node.input(2);
  std::string reduction = node.text("reduction", "none");
  if (node.failed() || failed(node.checkInteger(1)))
    return failure();
  int64_t depth = where.rank() == 0 ? 0 : where.shape.back().count;
  int64_t lead = where.rank() - 1;
  Shape expected;
  if (where.rank() > 0 && depth <= data.rank()) {
    expected.append(where.shape.begin(), where.shape.end() - 1);
    expected.append(data.shape.begin() + depth, data.shape.end());
  }
  if (where.rank() == 0 || where.shape.back().isDynamic() ||
      depth > data.rank() || updates.shape != expected)
    return node.error("updates of shape " + str(updates.shape) +
                      " at indices of shape " + str(where.shape) + " into " +
                      str(data.shape) + "; expected updates of shape " +
                      str(expected));
  Value indices = node.emit.value(where);
  for (Dim size : ArrayRef(data.shape).take_front(depth))
    requireElements(node, size, ArrayRef(where.shape).drop_back());
  SmallVector<Value> sizes = sizesOf(node.emit, data.shape);
  return scatter(node, updates, reduction, [&](LocBuilder &b, ValueRange at) {
    SmallVector<Value> to, place(at.take_front(lead));
    place.emplace_back();
    for (int64_t i = 0; i < depth; ++i) {
      place.back() = index(b, i);
      to.push_back(
          wrapIndex(b, toIndex(b, Emitter::at(b, indices, place)), sizes[i]));
    }
    llvm::append_range(to, at.drop_front(lead));
    return to;
  });
}

/// Writes a few entries of a cache, from a place of each batch on.
LogicalResult importTensorScatter(Node &node) {
  const Tensor &cache = node.input(0), &updates = node.input(1);
  std::string mode = node.text("mode", "linear");
  int64_t axis = node.axis(node.integer("axis", -2), cache.rank());
  if (node.failed() || failed(node.checkRank(1, cache.rank())))
    return failure();
  if (mode != "linear" && mode != "circular")
    return node.error("attribute 'mode' is " + quote(mode) +
                      "; expected linear or circular");
  Value starts = node.has(2) ? node.emit.value(node.input(2)) : Value();
  return scatter(node, updates, "none", [&](LocBuilder &b, ValueRange at) {
    SmallVector<Value> to(at);
    Value size = index(b, cache.shape[axis].count);
    if (starts)
      to[axis] = add(b, at[axis], toIndex(b, Emitter::at(b, starts, at[0])));
    to[axis] = mode == "circular" ? rem(b, to[axis], size)
                                  : clampIndex(b, to[axis], size);
    return to;
  });
}

} // namespace numera::importer
