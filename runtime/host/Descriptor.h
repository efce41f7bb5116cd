// SPDX-License-Identifier: MIT
//
// How MLIR passes a tensor's memory: {allocated, aligned, offset, sizes…,
// strides…}.

#ifndef NUMERA_RUNTIME_HOST_DESCRIPTOR_H
#define NUMERA_RUNTIME_HOST_DESCRIPTOR_H

#include "numera/Runtime/numera.h"

#include <cstddef>
#include <cstdint>

namespace numera::host {

/// A memref descriptor, where it lies.
class Descriptor {
public:
  Descriptor(void *words, int32_t rank)
      : words(static_cast<int64_t *>(words)), rank(rank) {}
  static size_t wordsFor(int32_t rank) { return 3 + 2 * size_t(rank); }

  void set(const numera_tensor &tensor) {
    words[0] = words[1] = reinterpret_cast<int64_t>(tensor.data);
    words[2] = 0;
    int64_t stride = 1;
    for (int32_t i = rank; i-- > 0;) {
      words[3 + i] = tensor.shape[i];
      words[3 + rank + i] = stride;
      // Of an empty tensor no stride is ever used.
      stride = int64_t(uint64_t(stride) * uint64_t(tensor.shape[i]));
    }
  }
  void *allocated() const { return reinterpret_cast<void *>(words[0]); }
  char *data(uint64_t elementSize) const {
    return reinterpret_cast<char *>(words[1]) + words[2] * int64_t(elementSize);
  }
  const int64_t *shape() const { return words + 3; }

private:
  int64_t *words;
  int32_t rank;
};

} // namespace numera::host

#endif // NUMERA_RUNTIME_HOST_DESCRIPTOR_H
