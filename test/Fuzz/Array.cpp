// SPDX-License-Identifier: MIT
//
// Any file is an .npy file with an array no larger than it, or one line of
// error. An array that is written is read again as it was.

#include "Fuzz.h"
#include "numera/Runtime/Npy.h"

#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

using namespace numera;
using fuzz::promise;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const int file = memfd_create("array", 0);
  static const std::string path = "/proc/self/fd/" + std::to_string(file);
  static const std::string other =
      std::string(P_tmpdir) + "/fuzz-array-" + std::to_string(getpid());
  promise(ftruncate(file, 0) == 0 &&
              pwrite(file, data, size, 0) == ssize_t(size),
          "there is a file");
  host::Array array, again;
  std::string error;
  if (!host::readNpy(path.c_str(), array, error)) {
    promise(llvm::StringRef(error).starts_with(path + ": ") &&
                !llvm::StringRef(error).contains('\n'),
            "an error is one line: " + error);
    return 0;
  }
  promise(array.byteSize <= size, "an array is in its file");
  promise(array.shape.size() <= host::maxRank, "a rank is not above the most");
  size_t count = 1;
  for (int64_t extent : array.shape) {
    promise(extent >= 0, "no size is negative");
    count *= size_t(extent);
  }
  promise(count * host::sizeOf(array.dtype) == array.byteSize,
          "a shape is that of the elements");
  promise(host::writeNpy(other.c_str(), array, error),
          "it is written: " + error);
  promise(host::readNpy(other.c_str(), again, error), "it is read: " + error);
  unlink(other.c_str());
  promise(again.shape == array.shape && again.dtype == array.dtype &&
              again.byteSize == array.byteSize &&
              (array.byteSize == 0 ||
               std::memcmp(again.bytes.get(), array.bytes.get(),
                           array.byteSize) == 0),
          "it is the same");
  return 0;
}
