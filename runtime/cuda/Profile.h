// SPDX-License-Identifier: MIT
//
// How long the kernels of a call took. Where the environment has
// NUMERA_PROFILE, the name of a file, a program for a GPU adds a line to it for
// every kernel and every copy on the device, when the call ends:
//
//   <kernel> <milliseconds> <bytes of the buffers that it was given>
//
// with tabs in between. The copies are called `copy`; they read and write.

#ifndef NUMERA_RUNTIME_CUDA_PROFILE_H
#define NUMERA_RUNTIME_CUDA_PROFILE_H

#include "Driver.h"

namespace numera::cuda {

/// What a call records; nothing unless it is begun.
class Profile {
public:
  /// Looks into the environment.
  void begin();
  /// Around what `stream` is asked to do.
  void start(const char *name, int64_t bytes, Stream stream);
  void stop(Stream stream);
  /// Writes the file. The stream is done.
  void end();

private:
  struct Entry {
    const char *name; ///< a constant of the program
    int64_t bytes;
    Event begin, end;
  };

  const char *path = nullptr;
  Entry *entries = nullptr;
  size_t used = 0, room = 0;
  bool isOpen = false; ///< the last entry is not stopped yet
};

} // namespace numera::cuda

#endif // NUMERA_RUNTIME_CUDA_PROFILE_H
