// SPDX-License-Identifier: MIT
//
// In place of libFuzzer: gives each file, and each file of each folder, to the
// function once. Options of libFuzzer are passed over.

#include "Fuzz.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include <vector>

using namespace llvm;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void replay(StringRef path) {
  auto buffer = MemoryBuffer::getFile(path, /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false);
  numera::fuzz::promise(bool(buffer), "there is a file " + path);
  StringRef text = (*buffer)->getBuffer();
  // A copy without a byte behind it, as libFuzzer has it.
  std::vector<uint8_t> bytes(text.begin(), text.end());
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

int main(int argc, char **argv) {
  size_t count = 0;
  for (StringRef path : ArrayRef<char *>(argv, argc).drop_front()) {
    if (path.starts_with("-"))
      continue;
    if (!sys::fs::is_directory(path)) {
      replay(path);
      ++count;
      continue;
    }
    std::error_code error;
    for (sys::fs::directory_iterator it(path, error), end; it != end && !error;
         it.increment(error), ++count)
      replay(it->path());
  }
  outs() << count << " inputs\n";
  return count == 0;
}
