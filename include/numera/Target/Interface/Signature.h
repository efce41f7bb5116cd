// SPDX-License-Identifier: MIT
//
// What a compiled function looks like from outside: names, element types and
// shapes, collected from the module before it is lowered.

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

  /// The dimension of an input that a dynamic size of an output is.
  struct Source {
    int32_t input = -1, dimension = -1;
    bool operator==(const Source &) const = default;
  };
  /// An output whose memory is passed to the function, behind its other
  /// arguments, instead of returned.
  bool isDestination = false;
  std::vector<Source> sources = {}; ///< of a destination: one a dimension

  bool operator==(const TensorSignature &) const = default;
};

/// A public function.
struct FunctionSignature {
  std::string name; ///< of the function in the module
  std::vector<TensorSignature> inputs;
  std::vector<TensorSignature> outputs;
  /// Dynamic first dimensions of the inputs are one number, the batch.
  bool sharesBatch = true;
  /// The function takes three i64 behind its tensors: the options' seed, step
  /// and sample.
  bool takesSeed = false;

  bool operator==(const FunctionSignature &) const = default;
};

/// `f32`, `u8`, `bool`: names in metadata and messages.
llvm::StringRef nameOf(numera_dtype dtype);
std::optional<numera_dtype> dtypeFromName(llvm::StringRef name);

/// The C symbol of a function's entry: the name itself where it is a C
/// identifier that no C program has already (`main` becomes `main_`).
std::string entrySymbol(llvm::StringRef functionName);

} // namespace numera

#endif // NUMERA_TARGET_INTERFACE_SIGNATURE_H
