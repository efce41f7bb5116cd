//===- External.h - Elements in another file -------------------*- C++ -*-===//
// SPDX-License-Identifier: MIT
//===---------------------------------------------------------------------===//
#ifndef NUMERA_LIB_IMPORT_ONNX_EXTERNAL_H
#define NUMERA_LIB_IMPORT_ONNX_EXTERNAL_H

#include "Node.h"
#include "llvm/Support/MemoryBuffer.h"

namespace numera::importer {

/// The bytes of a tensor that the model keeps in another file, or null after an
/// error. The file is in the model's folder or below it: a model does not read
/// what else there is.
std::unique_ptr<llvm::MemoryBuffer> readExternal(const onnx::TensorProto &proto,
                                                 llvm::StringRef folder,
                                                 Report report);

} // namespace numera::importer

#endif // NUMERA_LIB_IMPORT_ONNX_EXTERNAL_H
