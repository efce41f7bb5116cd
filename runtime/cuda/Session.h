// SPDX-License-Identifier: MIT
//
// A running call, and the state that all calls share.

#ifndef NUMERA_RUNTIME_CUDA_SESSION_H
#define NUMERA_RUNTIME_CUDA_SESSION_H

#include "Device.h"
#include "Driver.h"
#include "Loaded.h"
#include "Profile.h"
#include "Replay.h"
#include "Room.h"

#include <csetjmp>
#include <cstdlib>

namespace numera::cuda {

/// The buffers that a call has allocated and not freed yet.
class Buffers {
public:
  bool add(Address buffer) {
    if (!makeRoom(list, used, room, 64))
      return false;
    list[used++] = buffer;
    return true;
  }
  /// False if it is none of these. The last ones are freed first.
  bool remove(Address buffer) {
    for (size_t i = used; i-- > 0;)
      if (list[i] == buffer) {
        list[i] = list[--used];
        return true;
      }
    return false;
  }
  Address takeLast() { return used ? list[--used] : 0; }
  void dispose() { std::free(list); }

private:
  Address *list = nullptr;
  size_t used = 0, room = 0;
};

/// A copy that waits for the device in memory of the host.
struct Pending {
  void *to;
  const char *from;
  size_t bytes;
};

/// A call that is running. Where it fails, close() takes back what it has.
struct Session {
  DeviceProgram *program = nullptr;
  Loaded *loaded = nullptr; ///< its context is the thread's
  Lane *lane = nullptr;
  Stream stream = nullptr; ///< the caller's, else the lane's
  bool isCallersStream = false;
  /// The host's memory takes part, or something failed: the call does not
  /// return before the device has done everything that was asked of it.
  bool waits = true;
  size_t staged = 0;          ///< bytes of the lane's staging memory in use
  Pending *pending = nullptr; ///< as many as the function has outputs
  size_t pendingCount = 0;
  Buffers buffers;
  void *failure = nullptr; ///< one of them, where a kernel can fail
  /// Another call with the same sizes asks the device for the same.
  bool isRepeatable = true;
  bool isInvoking = false; ///< the function runs
  Replay *replay = nullptr;
  Graph graph = nullptr; ///< that is made for it
  Node node = nullptr;   ///< the last one
  /// What fails is the graph, and the call can be made without.
  bool canRetry = false;
  bool isIntact = false; ///< at its end: all is done that was asked for
  Profile profile;
  void **arguments = nullptr; ///< descriptors of the copies on the device
  void **results = nullptr;   ///< malloc's memory, until it is handed over
  jmp_buf escape;
};

/// What a thread keeps: the message has to outlive the call it ends.
struct Thread {
  Session *session;
  Loaded *loaded; ///< of the last call
  char message[512];
};

extern Driver driver;

/// What this thread keeps; made when it is first asked for.
Thread *thisThread();
inline Session &current() { return *thisThread()->session; }

/// What threads take turns in. An error there must not keep the lock:
/// checkUnlocked gives it back first.
void lockAll();
void unlockAll();

/// Ends the call unless `result` is success; `what` was asked of the driver.
void check(Result result, const char *what);
void checkUnlocked(Result result, const char *what);
[[noreturn]] void failUnlocked(const char *message);

/// The lane's staging memory, made when it is first asked for.
char *stagingOf(Lane &lane);
/// A part of it that is not used; null where they are too many.
char *stage(Session &session, size_t bytes);

/// Copies from the device to the host, which are there when finish returns:
/// that waits once for all of them, and for the rest of the call, unless it may
/// return before.
void download(void *to, const void *from, int64_t bytes);
void finish();

/// Waits until everything that the call asked for is done.
void synchronize();
/// Gives back what the call has of the device and of the host.
void close(Session &session);

} // namespace numera::cuda

#endif // NUMERA_RUNTIME_CUDA_SESSION_H
