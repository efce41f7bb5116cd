//===- NodeOrder.cpp - Nodes behind those that they read ------------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
#include "NodeOrder.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using llvm::SmallVector;
using llvm::StringRef;

namespace numera::importer {

/// Calls `read` with the names that a node reads, also in its bodies, but for
/// those that a body defines itself.
static void forEachRead(const onnx::NodeProto &node,
                        llvm::function_ref<void(StringRef)> read) {
  for (const std::string &name : node.input())
    read(name);
  for (const onnx::AttributeProto &attribute : node.attribute()) {
    if (!attribute.has_g())
      continue;
    const onnx::GraphProto &body = attribute.g();
    llvm::StringSet<> own;
    for (const onnx::ValueInfoProto &input : body.input())
      own.insert(input.name());
    for (const onnx::TensorProto &constant : body.initializer())
      own.insert(constant.name());
    for (const onnx::NodeProto &inner : body.node())
      for (const std::string &output : inner.output())
        own.insert(output);
    auto readOutside = [&](StringRef name) {
      if (!own.contains(name))
        read(name);
    };
    for (const onnx::NodeProto &inner : body.node())
      forEachRead(inner, readOutside);
    for (const onnx::ValueInfoProto &output : body.output())
      readOutside(output.name());
  }
}

std::vector<const onnx::NodeProto *> inOrder(const Nodes &nodes) {
  enum State : uint8_t { New, Open, Done };
  llvm::StringMap<int> definers;
  for (int i = 0; i < nodes.size(); ++i)
    for (const std::string &name : nodes[i].output())
      definers.try_emplace(name, i);
  std::vector<State> states(size_t(nodes.size()), New);
  std::vector<const onnx::NodeProto *> order;
  SmallVector<int> work;
  for (int first = 0; first < nodes.size(); ++first) {
    work.push_back(first);
    while (!work.empty()) {
      int i = work.back();
      State &state = states[size_t(i)];
      if (state != New) {
        work.pop_back();
        if (state == Open)
          order.push_back(&nodes[i]);
        state = Done;
        continue;
      }
      state = Open;
      forEachRead(nodes[i], [&](StringRef name) {
        auto found = definers.find(name);
        if (!name.empty() && found != definers.end() &&
            states[size_t(found->second)] == New)
          work.push_back(found->second);
      });
    }
  }
  return order;
}

} // namespace numera::importer
