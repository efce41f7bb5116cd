// SPDX-License-Identifier: MIT

#include "KernelProfile.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cstdlib>

using namespace llvm;
using namespace numera;

static constexpr const char *variable = "NUMERA_PROFILE";

KernelProfile::~KernelProfile() {
  if (!path.empty())
    sys::fs::remove(path);
}

Error KernelProfile::begin() {
  SmallString<64> name;
  if (std::error_code code =
          sys::fs::createTemporaryFile("numera-profile", "txt", name))
    return createStringError("cannot make a temporary file: " + code.message());
  path = name.str().str();
  setenv(variable, path.c_str(), /*replace=*/1);
  return Error::success();
}

Expected<std::vector<KernelTime>> KernelProfile::end() {
  unsetenv(variable);
  ErrorOr<std::unique_ptr<MemoryBuffer>> text = MemoryBuffer::getFile(path);
  if (!text)
    return createStringError("cannot read " + path + ": " +
                             text.getError().message());
  MapVector<StringRef, KernelTime> kernels;
  for (StringRef line : split((*text)->getBuffer(), '\n')) {
    auto [name, numbers] = line.split('\t');
    auto [milliseconds, count] = numbers.split('\t');
    double time;
    uint64_t bytes;
    if (milliseconds.getAsDouble(time) || count.getAsInteger(10, bytes))
      continue;
    KernelTime &kernel = kernels[name];
    kernel.name = name.str();
    ++kernel.launches;
    kernel.seconds += time / 1e3;
    kernel.bytes += bytes;
  }
  std::vector<KernelTime> found;
  for (auto &[name, kernel] : kernels)
    found.push_back(std::move(kernel));
  return found;
}

void numera::printKernels(const std::vector<KernelTime> &kernels,
                          raw_ostream &stream) {
  size_t width = 6;
  for (const KernelTime &kernel : kernels)
    width = std::max(width, kernel.name.size());
  stream << left_justify("kernel", width)
         << "  launches      seconds        bytes    GB/s\n";
  for (const KernelTime &kernel : kernels)
    stream << left_justify(kernel.name, width)
           << format("  %8llu  %11.6g  %11llu  %6.4g\n",
                     (unsigned long long)kernel.launches, kernel.seconds,
                     (unsigned long long)kernel.bytes,
                     kernel.seconds > 0
                         ? double(kernel.bytes) / kernel.seconds / 1e9
                         : 0.0);
}

void numera::printKernels(const std::vector<KernelTime> &kernels,
                          json::OStream &json) {
  json.attributeArray("kernels", [&] {
    for (const KernelTime &kernel : kernels)
      json.object([&] {
        json.attribute("name", json::fixUTF8(kernel.name));
        json.attribute("launches", kernel.launches);
        json.attribute("seconds", kernel.seconds);
        json.attribute("bytes", kernel.bytes);
      });
  });
}
