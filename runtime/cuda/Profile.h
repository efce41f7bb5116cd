// SPDX-License-Identifier: MIT
//
// The times of the kernels of a call. If the environment variable
// NUMERA_PROFILE names a file, a program for a GPU appends a line to it for
// every kernel and every copy on the device, when the call ends:
//
//   <kernel> <milliseconds> <bytes of the buffers that it was given>
//
// separated by tabs. Copies are called `copy`; their bytes are read and
// written.

#ifndef NUMERA_RUNTIME_CUDA_PROFILE_H
#define NUMERA_RUNTIME_CUDA_PROFILE_H

#include "Driver.h"

namespace numera::cuda {

/// What a call records; nothing unless it is begun.
class Profile {
public:
  /// Looks into the environment.
  void begin();
  bool isOn() const { return path; }
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
