//===- Branches.cpp - If --------------------------------------------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
//
// A branch whose condition is known when the model is imported is imported as
// its nodes. The others are those of scf.
//
//===----------------------------------------------------------------------===//
#include "Graph.h"
#include "Operators.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/STLExtras.h"
#include <onnx/onnx_pb.h>

using namespace mlir;

namespace numera::importer {

LogicalResult importIf(Node &node) {
  const onnx::GraphProto *yes = node.body("then_branch");
  const onnx::GraphProto *no = node.body("else_branch");
  const Tensor &condition = node.input(0);
  if (node.failed())
    return failure();
  if (!yes || !no)
    return node.error("a branch is missing");
  if (elementCount(condition.shape) != 1)
    return node.error("the condition has shape " + str(condition.shape));
  auto finishAll = [&](ArrayRef<Tensor> tensors) -> LogicalResult {
    for (const Tensor &tensor : tensors)
      if (failed(node.finish(tensor)))
        return failure();
    return success();
  };
  if (condition.host && !condition.isDynamic()) {
    auto results =
        node.graph.importBody(condition.host->ints[0].count ? *yes : *no, {});
    if (!results)
      return node.fail(), failure();
    return finishAll(*results);
  }
  Emitter &emit = node.emit;
  LocBuilder &b = emit.b;
  Value flag = Emitter::at(b, emit.value(emit.reshape(condition, {})), {});
  // The types of the results are known when the branches are there.
  auto draft = scf::IfOp::create(b, TypeRange(), flag, /*withElseRegion=*/true);
  SmallVector<SmallVector<Tensor>> results;
  for (auto [region, body] :
       {std::pair(&draft.getThenRegion(), yes), {&draft.getElseRegion(), no}}) {
    OpBuilder::InsertionGuard guard(b);
    Block *block = &region->front();
    if (!block->empty())
      block->getTerminator()->erase();
    b.setInsertionPointToEnd(block);
    auto imported = node.graph.importBody(*body, {});
    if (!imported)
      return node.fail(), failure();
    SmallVector<Value> values;
    for (const Tensor &tensor : *imported)
      values.push_back(emit.value(tensor));
    b.setInsertionPointToEnd(block);
    scf::YieldOp::create(b, values);
    results.push_back(*imported);
  }
  if (results[0].size() != results[1].size())
    return node.error("the branches have " + Twine(results[0].size()) +
                      " and " + Twine(results[1].size()) + " outputs");
  SmallVector<Type> types;
  for (auto [x, y] : llvm::zip_equal(results[0], results[1])) {
    if (x.shape != y.shape || x.dataType != y.dataType)
      return node.error("the branches give " + str(x.shape) + " and " +
                        str(y.shape) + "; expected the same");
    types.push_back(emit.type(x.shape, x.dataType));
  }
  auto branch = scf::IfOp::create(b, types, flag, /*withElseRegion=*/false);
  branch.getThenRegion().takeBody(draft.getThenRegion());
  branch.getElseRegion().takeBody(draft.getElseRegion());
  draft.erase();
  SmallVector<Tensor> chosen;
  for (auto [i, x] : llvm::enumerate(results[0]))
    chosen.push_back(emit.result(branch.getResult(i), x.shape, x.dataType));
  return finishAll(chosen);
}

} // namespace numera::importer
