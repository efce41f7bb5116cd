// SPDX-License-Identifier: MIT
//
// The safetensors format: a length in 8 bytes, a header in JSON that names
// tensors, and their elements, little-endian and in row-major order.
// (https://github.com/huggingface/safetensors, "Format".)

#ifndef NUMERA_LIB_IMPORT_WEIGHTS_SAFETENSORS_H
#define NUMERA_LIB_IMPORT_WEIGHTS_SAFETENSORS_H

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

namespace numera {

/// A tensor of a file; the bytes are the file's.
struct StoredTensor {
  std::string type; ///< as the file names it: `BF16`
  llvm::SmallVector<int64_t> shape;
  llvm::ArrayRef<char> bytes; ///< as many as type and shape say
};

/// A file that has been checked: all that it names lies in it.
class Safetensors {
public:
  /// The error has no path in it.
  static llvm::Expected<Safetensors> open(llvm::StringRef path);

  /// Null if there is none.
  const StoredTensor *find(llvm::StringRef name) const;
  llvm::SmallVector<llvm::StringRef> names() const;

private:
  llvm::Error read();

  std::unique_ptr<llvm::MemoryBuffer> buffer;
  llvm::StringMap<StoredTensor> tensors;
};

/// The type of MLIR that a file calls so; null for another word. Integers
/// without sign are signless, as those with one.
mlir::Type typeOfSafetensors(llvm::StringRef name, mlir::MLIRContext *context);

} // namespace numera

#endif // NUMERA_LIB_IMPORT_WEIGHTS_SAFETENSORS_H
