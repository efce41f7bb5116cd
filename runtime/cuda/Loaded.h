// SPDX-License-Identifier: MIT
//
// What a program has on devices: a context of the driver each, with the
// program's module, constants, memory and streams there.

#ifndef NUMERA_RUNTIME_CUDA_LOADED_H
#define NUMERA_RUNTIME_CUDA_LOADED_H

#include "Device.h"
#include "Driver.h"

namespace numera::cuda {

/// Values by the addresses of slots, which are different in every context:
/// kernels, and constants on the device.
class SlotTable {
public:
  /// 0 if there is none.
  uint64_t find(const uint64_t *slot) const;
  /// False where there is no memory for it.
  bool insert(const uint64_t *slot, uint64_t value);
  template <typename Visit> void forEach(Visit visit) const {
    for (size_t i = 0; i < room; ++i)
      if (entries[i].slot)
        visit(entries[i].value);
  }
  void dispose();

private:
  struct Entry {
    const uint64_t *slot;
    uint64_t value;
  };
  static void put(Entry *entries, size_t room, Entry entry);

  Entry *entries;
  size_t used, room; ///< a power of two, never full
};

/// A stream, and memory of the host that the device copies to and from without
/// the driver's help. A call has one to itself, and leaves it to a later one.
struct Lane {
  static constexpr size_t stagingBytes = size_t(1) << 20;

  Stream stream;
  char *staging; ///< null until something small is copied
  Lane *next;
};

struct Replay;

/// Is made zero by calloc.
struct Loaded {
  Context context;
  unsigned long long id; ///< of the context: another one after a reset
  DeviceNumber device;
  bool isRetained; ///< the primary context, alive as long as the program
  Pool pool;
  Module module;
  SlotTable kernels, constants;
  Lane *idle;
  Replay *replays; ///< Replay.h
  Loaded *next;
};

/// Makes the context of a call this thread's, and returns what the program has
/// there. Everything in it is ready when another thread sees it.
Loaded *openContext(DeviceProgram &program);

/// The kernel of that name, and the constant's copy.
Function kernelOf(DeviceProgram &program, Loaded &loaded, const uint64_t *slot,
                  const char *name, int32_t sharedBytes);
Address constantOf(Loaded &loaded, const uint64_t *slot, const void *data,
                   int64_t bytes, Stream stream);

Lane *takeLane(Loaded &loaded);
/// `isIntact`: what was asked of its stream is done.
void giveBack(Loaded &loaded, Lane *lane, bool isIntact);
void destroyLane(Lane *lane);

} // namespace numera::cuda

#endif // NUMERA_RUNTIME_CUDA_LOADED_H
