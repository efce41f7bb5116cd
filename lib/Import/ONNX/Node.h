//===- Node.h - One operator while it is imported --------------*- C++ -*-===//
// SPDX-License-Identifier: MIT
//===---------------------------------------------------------------------===//
//
// The node of an operator, for its importer: attributes, inputs, results, and
// error reporting. Only the first error is reported, so an importer may read
// several attributes and then check once for errors. An attribute that the
// importer does not read is an error, because it may change the meaning of the
// operator.
//
//===----------------------------------------------------------------------===//
#ifndef NUMERA_LIB_IMPORT_ONNX_NODE_H
#define NUMERA_LIB_IMPORT_ONNX_NODE_H

#include "Emitter.h"
#include "Tensor.h"
#include "mlir/Support/LogicalResult.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/Twine.h"

namespace onnx {
class AttributeProto;
class GraphProto;
class NodeProto;
class TensorProto;
} // namespace onnx

namespace numera::importer {

/// Reports an error and returns failure.
using Report = llvm::function_ref<llvm::LogicalResult(const llvm::Twine &)>;

/// Text in single quotes with control characters escaped: names come from the
/// file, and an error is one line.
std::string quote(llvm::StringRef text);

/// Reads a stored tensor's elements, from a file in `folder` where the tensor
/// says so. Errors describe the tensor without naming it.
llvm::FailureOr<Tensor> readTensor(const onnx::TensorProto &proto,
                                   llvm::StringRef folder, Report report);

class Graph;

class Node {
public:
  Node(const onnx::NodeProto &proto, int64_t opset, Emitter &emitter,
       Graph &graph, mlir::Location file)
      : emit(emitter), graph(graph), opset(opset), proto(proto), file(file) {}

  Emitter &emit;
  /// What the node is in, for operators that are made of others.
  Graph &graph;
  /// The version of the operator set that the model imports.
  const int64_t opset;

  llvm::StringRef op() const;
  /// Empty for ONNX's own operators.
  llvm::StringRef domain() const;
  /// The node's name, else its first output's.
  std::string name() const;

  llvm::LogicalResult error(const llvm::Twine &message);
  bool failed() const { return reported; }

  // Attributes, with the operator's default.
  bool hasAttribute(llvm::StringRef name) const;
  int64_t integer(llvm::StringRef name, int64_t byDefault);
  float real(llvm::StringRef name, float byDefault);
  std::string text(llvm::StringRef name, llvm::StringRef byDefault);
  std::optional<llvm::SmallVector<int64_t>> integers(llvm::StringRef name);
  std::optional<llvm::SmallVector<float>> reals(llvm::StringRef name);
  std::optional<Tensor> tensor(llvm::StringRef name);
  const onnx::GraphProto *body(llvm::StringRef name);
  llvm::SmallVector<std::string> texts(llvm::StringRef name);
  /// Accepts an attribute that does not matter for inference.
  void ignore(llvm::StringRef name) { asked.insert(name); }
  /// Fails when an attribute was never asked for.
  llvm::LogicalResult checkAttributes();

  // Inputs. An optional input that is left out has an empty name.
  llvm::SmallVector<const Tensor *, 4> inputs;
  unsigned numInputs() const { return inputs.size(); }
  bool has(unsigned i) const { return i < inputs.size() && inputs[i]; }
  const Tensor &input(unsigned i) const { return *inputs[i]; }
  /// How errors name an input: `input 1 'weights'`.
  std::string inputName(unsigned i) const;
  /// The elements of a compile-time integer tensor of rank 0 or 1.
  std::optional<llvm::SmallVector<Dim>> dims(unsigned i);
  /// The same, where the batch size has no place.
  std::optional<llvm::SmallVector<int64_t>> constants(unsigned i);
  /// The shape that input i lists: its elements where they are known, else what
  /// the model declares for the output.
  std::optional<Shape> shapeFrom(unsigned i);
  /// Fails when input i is not of floats.
  llvm::LogicalResult checkFloat(unsigned i);
  /// Fails when input i is not of integers.
  llvm::LogicalResult checkInteger(unsigned i);
  llvm::LogicalResult checkRank(unsigned i, int64_t rank);
  /// Fails when a size of input i behind the first, the batch's, is 0 or not
  /// known.
  llvm::LogicalResult checkImageSizes(unsigned i);

  /// An axis counted from the front; reports one that is out of range.
  int64_t axis(int64_t axis, int64_t rank);
  /// Marks axes in a mask of size rank; reports a repeated one.
  llvm::SmallVector<bool> axes(llvm::ArrayRef<int64_t> list, int64_t rank);

  unsigned numOutputs() const;
  bool hasOutput(unsigned i) const;
  /// The shape that the model declares for output i, where it is complete.
  std::optional<Shape> declared(unsigned i) const;
  llvm::LogicalResult checkSize(llvm::ArrayRef<Dim> shape);
  /// Also fails when a compile-time tensor of this shape would fill memory.
  llvm::LogicalResult checkFoldable(llvm::ArrayRef<Dim> shape);
  llvm::SmallVector<Tensor, 1> results;
  llvm::LogicalResult finish(Tensor tensor);
  /// Finishes with what operators of ONNX make of the inputs; see Text.h.
  llvm::LogicalResult
  expand(llvm::StringRef text,
         llvm::ArrayRef<std::pair<llvm::StringRef, const Tensor *>> inputs,
         llvm::ArrayRef<llvm::StringRef> outputs);
  /// The same for a part of the node: its results.
  std::optional<llvm::SmallVector<Tensor>>
  compute(llvm::StringRef text,
          llvm::ArrayRef<std::pair<llvm::StringRef, const Tensor *>> inputs,
          llvm::ArrayRef<llvm::StringRef> outputs);
  /// The node's error was reported by another one inside it.
  void fail() { reported = true; }

private:
  const onnx::AttributeProto *find(llvm::StringRef name, int type,
                                   llvm::StringRef typeName);

  const onnx::NodeProto &proto;
  mlir::Location file;
  llvm::StringSet<> asked;
  bool reported = false;
};

} // namespace numera::importer

#endif // NUMERA_LIB_IMPORT_ONNX_NODE_H
