// SPDX-License-Identifier: MIT
//
// Launches written down, so that another interpreter can repeat them
// (second/replay.py): with NUMERA_EMULATED_RECORD, a file for each launch, with
// the kernel, what it was given, and all memory before and after.

#ifndef NUMERA_TEST_EMULATION_RECORD_H
#define NUMERA_TEST_EMULATION_RECORD_H

#include "Memory.h"

#include <cstdio>
#include <fstream>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

/// The bytes of each `.param .u64 name` of the entry.
inline std::vector<int> parameterSizes(const std::string &ptx,
                                       const std::string &kernel) {
  std::vector<int> sizes;
  size_t at = ptx.find(".entry " + kernel + "(");
  size_t end = ptx.find(')', at);
  while ((at = ptx.find(".param .", at)) < end) {
    at = ptx.find_first_of("0123456789", at);
    sizes.push_back(std::stoi(ptx.substr(at, 2)) / 8);
  }
  return sizes;
}

/// What a launch's file is written to; none if launches are not recorded.
class Record {
public:
  Record(const std::string &ptx, const std::string &kernel,
         const unsigned (&grid)[3], const unsigned (&block)[3],
         void **parameters) {
    const char *folder = getenv("NUMERA_EMULATED_RECORD");
    if (!folder)
      return;
    static int count = 0;
    char name[48];
    std::snprintf(name, sizeof name, "/%d-%05d", int(getpid()), count++);
    std::ofstream(folder + std::string(name) + ".ptx") << ptx;
    file.open(folder + std::string(name) + ".launch", std::ios::binary);
    file << kernel << '\n';
    for (const auto &sizes : {grid, block})
      file << sizes[0] << ' ' << sizes[1] << ' ' << sizes[2] << '\n';
    writeParameters(ptx, kernel, parameters);
    std::lock_guard guard(lock);
    file << memory.size() << '\n';
    for (const auto &[address, buffer] : memory)
      file << address << ' ' << buffer.size << '\n';
    writeMemory();
  }

  void after() {
    std::lock_guard guard(lock);
    if (file.is_open())
      writeMemory();
  }

private:
  std::ofstream file;

  /// The bits of each parameter, in hexadecimal.
  void writeParameters(const std::string &ptx, const std::string &kernel,
                       void **parameters) {
    for (int bytes : parameterSizes(ptx, kernel)) {
      auto *value = static_cast<const unsigned char *>(*parameters++);
      for (int b = 0; b < bytes; ++b) {
        char digits[3];
        std::snprintf(digits, sizeof digits, "%02x", value[b]);
        file << digits;
      }
      file << ' ';
    }
    file << '\n';
  }

  void writeMemory() {
    for (const auto &[address, buffer] : memory)
      file.write(reinterpret_cast<const char *>(address), buffer.size);
  }
};

} // namespace

#endif // NUMERA_TEST_EMULATION_RECORD_H
