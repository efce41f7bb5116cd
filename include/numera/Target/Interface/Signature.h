// SPDX-License-Identifier: MIT
//
// The interface of a compiled function: names, element types and shapes,
// collected from the module before it is lowered.

#ifndef NUMERA_TARGET_INTERFACE_SIGNATURE_H
#define NUMERA_TARGET_INTERFACE_SIGNATURE_H

#include "numera/Runtime/numera.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <vector>

namespace numera {

/// A tensor at a function's boundary.
struct TensorSignature {
  std::string name; ///< for people and for file names; may be empty
  numera_dtype dtype = NUMERA_F32;
  std::vector<int64_t> shape; ///< -1: dynamic

  /// The dimension of an input that determines a dynamic size of an output.
  struct Source {
    int32_t input = -1, dimension = -1;
    bool operator==(const Source &) const = default;
  };
  /// True for an output whose memory is passed to the function, after its other
  /// arguments, and is not returned.
  bool isDestination = false;
  std::vector<Source> sources = {}; ///< of a destination: one a dimension

  bool operator==(const TensorSignature &) const = default;
};

/// A public function.
struct FunctionSignature {
  std::string name; ///< of the function in the module
  std::vector<TensorSignature> inputs;
  std::vector<TensorSignature> outputs;
  /// True if all dynamic first dimensions of the inputs have the same size, the
  /// batch.
  bool sharesBatch = true;
  /// True if rows of the results depend on the same rows of inputs alone, so
  /// that a part of the batch may be given at a time.
  bool hasIndependentRows = false;
  /// True if the function takes three i64 after its tensors: the options' seed,
  /// step and sample.
  bool takesSeed = false;

  bool operator==(const FunctionSignature &) const = default;
};

/// `f32`, `u8`, `bool`: names in metadata and messages.
llvm::StringRef nameOf(numera_dtype dtype);
std::optional<numera_dtype> dtypeFromName(llvm::StringRef name);

/// The C symbol of a function's entry: the name itself if it is a C identifier
/// that C does not use already (`main` becomes `main_`).
std::string entrySymbol(llvm::StringRef functionName);

} // namespace numera

#endif // NUMERA_TARGET_INTERFACE_SIGNATURE_H
