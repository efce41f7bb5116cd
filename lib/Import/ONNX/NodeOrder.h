//===- NodeOrder.h - Nodes behind those that they read ----------*- C++ -*-===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
#ifndef NUMERA_LIB_IMPORT_ONNX_NODEORDER_H
#define NUMERA_LIB_IMPORT_ONNX_NODEORDER_H

#include <onnx/onnx_pb.h>
#include <vector>

namespace numera::importer {

using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

/// The nodes, each behind those that it reads. The standard asks for such an
/// order, and not every tool keeps it; nodes that do stay where they are. In a
/// circle a node comes first that reads what is not there yet.
std::vector<const onnx::NodeProto *> inOrder(const Nodes &nodes);

} // namespace numera::importer

#endif // NUMERA_LIB_IMPORT_ONNX_NODEORDER_H
