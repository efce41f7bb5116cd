//===- Text.h - Operators written in operators of ONNX ---------*- C++ -*-===//
// SPDX-License-Identifier: MIT
//===---------------------------------------------------------------------===//
#ifndef NUMERA_LIB_IMPORT_ONNX_TEXT_H
#define NUMERA_LIB_IMPORT_ONNX_TEXT_H

#include "llvm/ADT/StringRef.h"
#include <onnx/onnx_pb.h>
#include <vector>

namespace numera::importer {

/// Nodes from lines of the form
///
///     mean, _ = Operator<axis = -1, mode = "linear">(x, 0.5, [1, -1], -)
///
/// An input is a name, a number or a list of numbers, which becomes a Constant
/// of f32 or i64, or `-` for one that is left out. Numbers with a point are
/// f32. Lists in attributes have one kind. The text is the importer's own: it
/// is well formed.
std::vector<onnx::NodeProto> parseNodes(llvm::StringRef text);

} // namespace numera::importer

#endif // NUMERA_LIB_IMPORT_ONNX_TEXT_H
