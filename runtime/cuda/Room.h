// SPDX-License-Identifier: MIT
//
// Lists that grow, without a C++ library.

#ifndef NUMERA_RUNTIME_CUDA_ROOM_H
#define NUMERA_RUNTIME_CUDA_ROOM_H

#include <cstddef>
#include <cstdlib>

namespace numera::cuda {

/// Makes room for one more behind the `used` elements of a list, which is
/// malloc's and has `room` for so many in all: `first` at first, then twice as
/// many. False where there is no memory for it; the list is as before.
template <typename T>
bool makeRoom(T *&list, size_t used, size_t &room, size_t first) {
  if (used < room)
    return true;
  size_t more = room ? 2 * room : first;
  void *grown = std::realloc(list, more * sizeof(T));
  if (!grown)
    return false;
  list = static_cast<T *>(grown);
  room = more;
  return true;
}

} // namespace numera::cuda

#endif // NUMERA_RUNTIME_CUDA_ROOM_H
