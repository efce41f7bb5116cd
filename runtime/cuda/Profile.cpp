// SPDX-License-Identifier: MIT

#include "Profile.h"
#include "Session.h"

#include <cstdio>
#include <cstdlib>

using namespace numera::cuda;

void Profile::begin() {
  path = std::getenv("NUMERA_PROFILE");
  if (path && !*path)
    path = nullptr;
}

void Profile::start(const char *name, int64_t bytes, Stream stream) {
  if (!path)
    return;
  if (!makeRoom(entries, used, room, 64))
    numera_cuda_fail("out of memory");
  Entry entry = {name, bytes, nullptr, nullptr};
  check(driver.eventCreate(&entry.begin, 0), "cuEventCreate");
  if (Result result = driver.eventCreate(&entry.end, 0)) {
    driver.eventDestroy(entry.begin);
    check(result, "cuEventCreate");
  }
  entries[used++] = entry;
  isOpen = true;
  check(driver.eventRecord(entry.begin, stream), "cuEventRecord");
}

void Profile::stop(Stream stream) {
  if (!isOpen)
    return;
  isOpen = false;
  check(driver.eventRecord(entries[used - 1].end, stream), "cuEventRecord");
}

void Profile::end() {
  FILE *file = path ? std::fopen(path, "a") : nullptr;
  for (size_t i = 0; i < used; ++i) {
    const Entry &entry = entries[i];
    float milliseconds = 0;
    // Of a call that failed, what was not recorded has no time.
    if (file && driver.eventElapsed(&milliseconds, entry.begin, entry.end) == 0)
      std::fprintf(file, "%s\t%.6g\t%lld\n", entry.name, double(milliseconds),
                   (long long)entry.bytes);
    driver.eventDestroy(entry.begin);
    driver.eventDestroy(entry.end);
  }
  if (file)
    std::fclose(file);
  std::free(entries);
  *this = Profile();
}
