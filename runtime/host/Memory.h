// SPDX-License-Identifier: MIT
//
// The memory of tensors inside a program. Released blocks are kept for the next
// request of about that size, in this call or a later one. Memory from the
// system comes in cleared pages, with one fault each, and those of a whole
// model cost as much as its elementwise operations. Blocks come from malloc, so
// that a caller can be given one, and free it.

#ifndef NUMERA_RUNTIME_HOST_MEMORY_H
#define NUMERA_RUNTIME_HOST_MEMORY_H

#include <cstddef>
#include <cstdint>

namespace numera::host {

/// The blocks that what runs in a thread has taken and not released. They are
/// released for it if it ends with a message.
class OpenBlocks {
public:
  void add(void *block);
  /// False if it is not one of them.
  bool remove(void *block);
  void releaseAll();
  /// The blocks stay taken: results are their caller's.
  void forget();

private:
  void **blocks;
  size_t count, capacity;
};

/// True if a block that holds a result of so many bytes is not so much larger
/// that its caller would rather have another one.
bool mayBeGiven(void *memory, uint64_t bytes);

/// At the end of a call: blocks that the last calls had no use for go back to
/// the system.
void trimMemory();
/// All of it goes back.
void clearMemory();

} // namespace numera::host

#endif // NUMERA_RUNTIME_HOST_MEMORY_H
