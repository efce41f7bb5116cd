// SPDX-License-Identifier: MIT
//
// Bufferization of operations that read tensors.

#ifndef NUMERA_DIALECT_NUMERA_TRANSFORMS_READBUFFERS_H
#define NUMERA_DIALECT_NUMERA_TRANSFORMS_READBUFFERS_H

#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"

namespace numera {

/// The model of an operation that reads its tensors, writes none, and has no
/// result in their memory. `Model` adds how it is bufferized.
template <typename Model, typename Op>
struct ReadsBuffers
    : mlir::bufferization::BufferizableOpInterface::ExternalModel<Model, Op> {
  bool
  bufferizesToMemoryRead(mlir::Operation *, mlir::OpOperand &,
                         const mlir::bufferization::AnalysisState &) const {
    return true;
  }
  bool
  bufferizesToMemoryWrite(mlir::Operation *, mlir::OpOperand &,
                          const mlir::bufferization::AnalysisState &) const {
    return false;
  }
  mlir::bufferization::AliasingValueList
  getAliasingValues(mlir::Operation *, mlir::OpOperand &,
                    const mlir::bufferization::AnalysisState &) const {
    return {};
  }
};

} // namespace numera

#endif // NUMERA_DIALECT_NUMERA_TRANSFORMS_READBUFFERS_H
