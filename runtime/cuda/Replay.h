// SPDX-License-Identifier: MIT
//
// Calls that are repeated. What a call asks the device for follows from the
// sizes of its arguments, if nothing is read there. The second call with the
// same sizes notes it in a CUDA graph, and later ones launch the graph instead
// of each kernel.

#ifndef NUMERA_RUNTIME_CUDA_REPLAY_H
#define NUMERA_RUNTIME_CUDA_REPLAY_H

#include "Loaded.h"

namespace numera::cuda {

struct Session;

/// What a call is, but for the numbers in its arguments.
struct CallKey {
  const DeviceFunction *function;
  void *const *arguments; ///< descriptors, of which sizes and strides count
  uint64_t seed, step, sample;
};

/// Memory of the device that a graph has for itself. Its work is done in one
/// order: what is freed serves what is allocated later.
class GraphMemory {
public:
  /// Fails as calls do.
  Address allocate(size_t bytes, Session &session);
  /// A constant, which is none of this, stays.
  void free(Address address);
  void release(Stream stream);
  void dispose();

private:
  struct Block {
    Address address;
    size_t bytes;
    bool isUsed;
  };
  Block *blocks;
  size_t count, room;
};

/// A call that may be repeated, and its graph. That copies from and to its
/// lane's staging memory: one call at a time has it. Is made zero by calloc.
struct Replay {
  /// Of a program on a device, of those with a graph and of those without one.
  /// What was used longest ago makes room.
  static constexpr unsigned most = 8;

  const DeviceFunction *function;
  uint64_t seed, step, sample;
  int64_t *sizes;   ///< sizes and strides of all arguments
  int64_t *results; ///< the descriptors that the function returned
  GraphExec graph;  ///< null: not made yet
  Lane *lane;       ///< the graph's
  GraphMemory memory;
  bool isTaken;
  bool isRefused; ///< the driver could not make it
  Replay *next;   ///< the next older one
};

/// False with a driver that has no graphs, or where NUMERA_CUDA_GRAPHS is
/// `off`.
bool hasGraphs();

/// One for a call like that, for the session; null if there is none.
Replay *takeReplay(Loaded &loaded, const CallKey &key);
/// Adds a call that can be repeated.
void remember(Loaded &loaded, const CallKey &key);

/// From here on what the session asks for becomes its graph's.
void beginGraph(Session &session);
void addCopy(Session &session, CopySide to, CopySide from, int64_t bytes);
void addKernel(Session &session, const KernelNode &kernel);
/// Ends that, and launches the graph. `results` are `words` long.
void endGraph(Session &session, const int64_t *results, size_t words);
void launchGraph(Session &session);

/// Ends the session's use of its replay.
void giveBackReplay(Session &session);

/// Destroys the device's part of all, in a context that is there.
void releaseReplays(Loaded &loaded);
/// Frees the host's part of all.
void forgetReplays(Loaded &loaded);

} // namespace numera::cuda

#endif // NUMERA_RUNTIME_CUDA_REPLAY_H
