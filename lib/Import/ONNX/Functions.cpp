//===- Functions.cpp - Operators that are made of others ------------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
//
// A function of the model, the text of an operator and the body of a loop or a
// branch are imported in place, each with names of its own.
//
//===----------------------------------------------------------------------===//
#include "Graph.h"
#include "NewFields.h"
#include "NodeOrder.h"
#include "Operators.h"
#include "Text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include <onnx/onnx_pb.h>

using namespace mlir;

namespace numera::importer {

/// Functions that call themselves would never end.
constexpr unsigned kMaxDepth = 64;

/// Makes a scope the current one for as long as this lives.
class Graph::Enter {
public:
  Enter(Graph &graph, Scope &inner) : graph(graph), outer(graph.scope) {
    graph.scope = &inner;
    ++graph.depth;
  }
  ~Enter() {
    graph.scope = outer;
    --graph.depth;
  }

private:
  Graph &graph;
  Scope *outer;
};

std::optional<SmallVector<Tensor>>
Graph::expand(Node &caller, StringRef text,
              ArrayRef<std::pair<StringRef, const Tensor *>> inputs,
              ArrayRef<StringRef> outputs) {
  // Of the newest operator set that changed one of them.
  constexpr int64_t textOpset = 23;
  Scope inner{.opset = textOpset, .isText = true};
  for (auto [name, tensor] : inputs)
    if (tensor)
      inner.tensors[name] = *tensor;
  // Numbers in the text are f32, beside f64 the same in f64.
  bool isDouble = llvm::any_of(inputs, [](auto &input) {
    return input.second && input.second->dataType == type::Double;
  });
  Enter entered(*this, inner);
  for (onnx::NodeProto &node : parseNodes(text)) {
    node.set_name(caller.name());
    if (failed(importNode(node)))
      return std::nullopt;
    if (isDouble && node.op_type() == "Constant" &&
        node.attribute(0).name() == "value_float") {
      Tensor &number = inner.tensors[node.output(0)];
      number = convertTo(caller.emit, number, type::Double);
    }
  }
  SmallVector<Tensor> results;
  for (StringRef name : outputs) {
    const Tensor *found = find(name.str());
    if (!found) {
      (void)caller.error("its own " + quote(name) + " is not defined");
      return std::nullopt;
    }
    results.push_back(*found);
    results.back().name.clear();
  }
  return results;
}

std::optional<SmallVector<Tensor>>
Graph::importBody(const onnx::GraphProto &body, ArrayRef<Tensor> inputs) {
  if (depth == kMaxDepth) {
    (void)error("graph " + quote(body.name()) + " is nested too deeply");
    return std::nullopt;
  }
  if (size_t(body.input_size()) != inputs.size()) {
    (void)error("graph " + quote(body.name()) + " has " +
                Twine(body.input_size()) + " inputs; expected " +
                Twine(inputs.size()));
    return std::nullopt;
  }
  Scope inner{.parent = scope, .opset = scope->opset};
  Enter entered(*this, inner);
  readShapes(body);
  if (failed(checkInitializers(body)))
    return std::nullopt;
  for (const onnx::TensorProto &initializer : body.initializer())
    if (failed(readInitializer(initializer)))
      return std::nullopt;
  for (auto [info, tensor] : llvm::zip_equal(body.input(), inputs))
    if (failed(define(info.name(), tensor)))
      return std::nullopt;
  Location outside = builder.getLoc();
  if (failed(importNodes(body)))
    return std::nullopt;
  builder.setLoc(outside);
  SmallVector<Tensor> results;
  for (const onnx::ValueInfoProto &info : body.output()) {
    const Tensor *found = find(info.name());
    if (!found) {
      (void)error("output " + quote(info.name()) + " of graph " +
                  quote(body.name()) + " is not defined by any node");
      return std::nullopt;
    }
    results.push_back(*found);
  }
  return results;
}

/// The call with the defaults of attributes that it leaves out.
static onnx::NodeProto withDefaults(const onnx::NodeProto &call,
                                    const onnx::FunctionProto &function) {
  onnx::NodeProto complete = call;
  for (const onnx::AttributeProto &byDefault : defaultsOf(function))
    if (llvm::none_of(call.attribute(), [&](const auto &given) {
          return given.name() == byDefault.name();
        }))
      *complete.add_attribute() = byDefault;
  return complete;
}

/// Replaces references to the function's attributes by those of the call, or by
/// nothing, in bodies too.
static void bindAttributes(onnx::NodeProto &node, const onnx::NodeProto &call) {
  for (int i = node.attribute_size(); i-- > 0;) {
    onnx::AttributeProto &attribute = *node.mutable_attribute(i);
    if (attribute.has_g())
      for (onnx::NodeProto &inner : *attribute.mutable_g()->mutable_node())
        bindAttributes(inner, call);
    if (attribute.ref_attr_name().empty())
      continue;
    auto given = llvm::find_if(call.attribute(), [&](const auto &candidate) {
      return candidate.name() == attribute.ref_attr_name();
    });
    if (given == call.attribute().end()) {
      node.mutable_attribute()->DeleteSubrange(i, 1);
      continue;
    }
    std::string name = attribute.name();
    attribute = *given;
    attribute.set_name(name);
  }
}

LogicalResult Graph::importFunction(Node &node,
                                    const onnx::FunctionProto &function,
                                    const onnx::NodeProto &call) {
  if (depth == kMaxDepth)
    return node.error("functions are nested too deeply");
  if (call.input_size() > function.input_size() ||
      call.output_size() > function.output_size())
    return node.error(
        Twine(call.input_size()) + " inputs and " + Twine(call.output_size()) +
        " outputs; the function has " + Twine(function.input_size()) + " and " +
        Twine(function.output_size()));
  Scope inner{.opset = scope->opset};
  for (const auto &import : function.opset_import())
    if (import.domain().empty() || import.domain() == "ai.onnx")
      inner.opset = import.version();
  for (auto [name, tensor] : llvm::zip(function.input(), node.inputs))
    if (tensor)
      inner.tensors[name] = *tensor;
  // One that the call leaves out is left out of the nodes too.
  std::vector<std::string> absent;
  for (int i = 0; i < function.input_size(); ++i)
    if (i >= int(node.inputs.size()) || !node.inputs[i])
      absent.push_back(function.input(i));
  Enter entered(*this, inner);
  onnx::NodeProto complete = withDefaults(call, function);
  for (const onnx::NodeProto *original : inOrder(function.node())) {
    onnx::NodeProto copy = *original;
    bindAttributes(copy, complete);
    for (std::string &name : *copy.mutable_input())
      if (llvm::is_contained(absent, name))
        name.clear();
    if (failed(importNode(copy)))
      return failure();
  }
  for (const std::string &name : function.output()) {
    const Tensor *found = find(name);
    if (!found)
      return error("output " + quote(name) + " of function " +
                   quote(function.name()) + " is not defined by any node");
    if (failed(node.finish(*found)))
      return failure();
  }
  return success();
}

} // namespace numera::importer
