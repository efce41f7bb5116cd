//===- Contraction.cpp - Gemm and MatMul ----------------------------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
#include "Operators.h"
#include "Scalar.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace numera::importer {

/// tensor * factor, in an operation of its own, unless the factor is 1.
static Tensor scaled(Node &node, const Tensor &tensor, float factor) {
  if (factor == 1.0f)
    return tensor;
  return node.emit.map(
      {&tensor}, tensor.shape, [&](LocBuilder &b, ValueRange args) -> Value {
        return mul(b, args[0], constant(b, args[0].getType(), factor));
      });
}

/// linalg.matmul or linalg.batch_matmul from +0.0.
template <typename Op>
static Tensor namedMatmul(Emitter &emit, const Tensor &lhs, const Tensor &rhs,
                          const Shape &shape) {
  Value left = emit.value(lhs), right = emit.value(rhs);
  Value init = emit.filled(shape, emit.number(0, lhs.dataType));
  auto op = Op::create(emit.b, TypeRange(init.getType()),
                       ValueRange{left, right}, ValueRange(init));
  return emit.result(op->getResult(0), shape, lhs.dataType);
}

static LogicalResult mismatch(Node &node, const Tensor &lhs,
                              const Tensor &rhs) {
  return node.error("shapes " + str(lhs.shape) + " and " + str(rhs.shape) +
                    " do not multiply; expected as many columns on the left "
                    "as rows on the right");
}

LogicalResult importGemm(Node &node) {
  float alpha = node.real("alpha", 1.0f), beta = node.real("beta", 1.0f);
  bool transA = node.integer("transA", 0), transB = node.integer("transB", 0);
  if (node.failed() || failed(node.checkRank(0, 2)) ||
      failed(node.checkRank(1, 2)))
    return failure();
  Tensor a = node.input(0), b = node.input(1);
  if (transA)
    a = node.emit.transpose(a, {1, 0});
  if (transB)
    b = node.emit.transpose(b, {1, 0});
  if (a.shape[1] != b.shape[0])
    return mismatch(node, a, b);

  Shape shape = {a.shape[0], b.shape[1]};
  if (failed(node.checkSize(shape)))
    return failure();
  if (node.has(2) && broadcast(shape, node.input(2).shape) != shape)
    return node.error(
        node.inputName(2) + " has shape " + str(node.input(2).shape) +
        ", which does not broadcast to the product's " + str(shape));
  Tensor product = scaled(
      node, namedMatmul<linalg::MatmulOp>(node.emit, a, b, shape), alpha);
  if (!node.has(2) || beta == 0.0f)
    return node.finish(product);
  Tensor bias = scaled(node, node.input(2), beta);
  return node.finish(
      node.emit.map({&product, &bias}, shape,
                    [](LocBuilder &builder, ValueRange args) -> Value {
                      return add(builder, args[0], args[1]);
                    }));
}

/// The map by which an operand of a broadcast product is read: its batch
/// dimensions are aligned with the result's, `inner` are its last ones.
static AffineMap operandMap(LocBuilder &b, ArrayRef<Dim> batch,
                            ArrayRef<Dim> resultBatch, unsigned loops,
                            ArrayRef<unsigned> inner) {
  SmallVector<AffineExpr> exprs;
  unsigned first = resultBatch.size() - batch.size();
  for (auto [i, dim] : llvm::enumerate(batch))
    exprs.push_back(dim.is(1) && !resultBatch[first + i].is(1)
                        ? b.getAffineConstantExpr(0)
                        : b.getAffineDimExpr(first + i));
  for (unsigned loop : inner)
    exprs.push_back(b.getAffineDimExpr(loop));
  return AffineMap::get(loops, 0, exprs, b.getContext());
}

/// A product of stacks of matrices, both of rank 2 or more.
static LogicalResult multiply(Node &node, const Tensor &lhs, const Tensor &rhs,
                              Tensor &product) {
  if (lhs.dataType != rhs.dataType)
    return node.error("multiplies " + dataTypeName(lhs.dataType) + " and " +
                      dataTypeName(rhs.dataType) + "; expected one type");
  auto left = ArrayRef(lhs.shape).drop_back(2);
  auto right = ArrayRef(rhs.shape).drop_back(2);
  std::optional<Shape> batch = broadcast(node, left, right);
  if (!batch || !requireSame(node, lhs.shape.back(), rhs.shape[rhs.rank() - 2]))
    return mismatch(node, lhs, rhs);
  Shape shape = *batch;
  shape.push_back(lhs.shape[lhs.rank() - 2]);
  shape.push_back(rhs.shape.back());
  if (failed(node.checkSize(shape)))
    return failure();

  if (lhs.rank() == 2 && rhs.rank() == 2) {
    product = namedMatmul<linalg::MatmulOp>(node.emit, lhs, rhs, shape);
    return success();
  }
  if (lhs.rank() == 3 && rhs.rank() == 3 && left == right) {
    product = namedMatmul<linalg::BatchMatmulOp>(node.emit, lhs, rhs, shape);
    return success();
  }
  unsigned m = batch->size(), n = m + 1, k = m + 2, loops = m + 3;
  LocBuilder &b = node.emit.b;
  product = node.emit.contract(
      {node.emit.value(lhs), operandMap(b, left, *batch, loops, {m, k})},
      {node.emit.value(rhs), operandMap(b, right, *batch, loops, {k, n})},
      shape, /*reductions=*/1, lhs.dataType);
  return success();
}

std::optional<Tensor> matmul(Node &node, Tensor lhs, Tensor rhs) {
  if (lhs.rank() == 0 || rhs.rank() == 0) {
    (void)node.error("shapes " + str(lhs.shape) + " and " + str(rhs.shape) +
                     "; expected at least one dimension");
    return std::nullopt;
  }
  // numpy: a vector on the left is a row, on the right a column, and its
  // dimension of size 1 is dropped from the result.
  bool row = lhs.rank() == 1, column = rhs.rank() == 1;
  if (row)
    lhs = node.emit.reshape(lhs, {Dim::fixed(1), lhs.shape[0]});
  if (column)
    rhs = node.emit.reshape(rhs, {rhs.shape[0], Dim::fixed(1)});
  Tensor product;
  if (failed(multiply(node, lhs, rhs, product)))
    return std::nullopt;
  Shape shape = product.shape;
  if (column)
    shape.pop_back();
  if (row)
    shape.erase(shape.end() - (column ? 1 : 2));
  return node.emit.reshape(product, shape);
}

LogicalResult importMatMul(Node &node) {
  auto product = matmul(node, node.input(0), node.input(1));
  return product ? node.finish(*product) : failure();
}

} // namespace numera::importer
