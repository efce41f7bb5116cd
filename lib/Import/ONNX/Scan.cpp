//===- Scan.cpp - Scan ----------------------------------------------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
//
// A loop over the parts of sequences, with states whose shapes do not change.
//
//===----------------------------------------------------------------------===//
#include "Graph.h"
#include "Loops.h"
#include "Operators.h"
#include "llvm/ADT/STLExtras.h"
#include <onnx/onnx_pb.h>

using namespace mlir;

namespace numera::importer {

/// The tensor with dimension `axis` first, or back there.
static Tensor moveToFront(Emitter &emit, const Tensor &x, int64_t axis) {
  SmallVector<int64_t> order = {axis};
  for (int64_t i = 0; i < x.rank(); ++i)
    if (i != axis)
      order.push_back(i);
  return axis == 0 ? x : emit.transpose(x, order);
}

static Tensor moveFromFront(Emitter &emit, const Tensor &x, int64_t axis) {
  SmallVector<int64_t> order;
  for (int64_t i = 1; i < x.rank(); ++i)
    order.push_back(i);
  order.insert(order.begin() + axis, 0);
  return axis == 0 ? x : emit.transpose(x, order);
}

static Tensor reversed(Emitter &emit, const Tensor &x) {
  SmallVector<int64_t> starts(x.rank(), 0), steps(x.rank(), 1);
  starts[0] = x.shape[0].count - 1;
  steps[0] = -1;
  return emit.slice(x, x.shape, starts, steps);
}

LogicalResult importScan(Node &node) {
  if (node.opset < 9)
    return node.error("Scan of opset 8 is not supported; expected 9 or newer");
  const onnx::GraphProto *body = node.body("body");
  size_t scans = size_t(node.integer("num_scan_inputs", 0));
  auto inputAxes = node.integers("scan_input_axes");
  auto inputDirections = node.integers("scan_input_directions");
  auto outputAxes = node.integers("scan_output_axes");
  auto outputDirections = node.integers("scan_output_directions");
  if (node.failed())
    return failure();
  if (!body || scans == 0 || scans > node.numInputs())
    return node.error("num_scan_inputs is " + Twine(scans) + " of " +
                      Twine(node.numInputs()) + " inputs");
  Emitter &emit = node.emit;
  size_t count = node.numInputs() - scans;
  auto entry = [](auto &list, size_t i) -> int64_t {
    return list && i < list->size() ? (*list)[i] : 0;
  };
  SmallVector<Tensor> states, sequences;
  for (size_t i = 0; i < count; ++i)
    states.push_back(node.input(i));
  for (size_t i = 0; i < scans; ++i) {
    const Tensor &x = node.input(count + i);
    int64_t axis = node.axis(entry(inputAxes, i), x.rank());
    if (node.failed())
      return failure();
    Tensor sequence = moveToFront(emit, x, axis);
    if (sequence.shape[0].isDynamic() ||
        (i > 0 && sequence.shape[0] != sequences[0].shape[0]))
      return node.error("sequences of " + str(x.shape) +
                        "; expected one fixed length");
    sequences.push_back(entry(inputDirections, i) ? reversed(emit, sequence)
                                                  : sequence);
  }
  auto results =
      loop(node, sequences[0].shape[0], states, sequences,
           [&](Value, ArrayRef<Tensor> carried, ArrayRef<Tensor> parts) {
             SmallVector<Tensor> inputs(carried);
             llvm::append_range(inputs, parts);
             auto after = node.graph.importBody(*body, inputs);
             if (!after)
               node.fail();
             return after;
           });
  if (!results)
    return failure();
  for (const Tensor &state : results->states)
    if (failed(node.finish(state)))
      return failure();
  for (auto [i, output] : llvm::enumerate(results->outputs)) {
    Tensor ordered =
        entry(outputDirections, i) ? reversed(emit, output) : output;
    int64_t axis = node.axis(entry(outputAxes, i), ordered.rank());
    if (node.failed() ||
        failed(node.finish(moveFromFront(emit, ordered, axis))))
      return failure();
  }
  return success();
}

} // namespace numera::importer
