// SPDX-License-Identifier: MIT
//
// Modules: PTX translated to C (ptx2c.py), compiled and loaded.

#ifndef NUMERA_TEST_EMULATION_MODULES_H
#define NUMERA_TEST_EMULATION_MODULES_H

#include "Grid.h"

#include <cstdio>
#include <dlfcn.h>
#include <fstream>
#include <list>
#include <mutex>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace {

/// What a block has of static shared memory on any GPU, or a test gives it.
size_t mostShared() {
  const char *given = getenv("NUMERA_EMULATED_SHARED");
  return given ? strtoul(given, nullptr, 10) : 48 << 10;
}

/// The largest array of `.shared .align 16 .b8 name[bytes]`.
size_t sharedBytesOf(const char *ptx) {
  size_t most = 0;
  while ((ptx = strstr(ptx, ".shared .align"))) {
    ptx += strcspn(ptx, "[;");
    if (*ptx == '[')
      most = std::max(most, size_t(strtoul(ptx + 1, nullptr, 10)));
  }
  return most;
}

struct Module;
struct Loaded : Function {
  const Module *module;
  std::string name;
};
struct Module {
  void *handle;
  unsigned long long context; ///< its id
  std::string ptx;
  std::mutex lock;
  std::list<Loaded> functions; ///< those that were asked for
};
uint64_t hash(const char *text, uint64_t value = 1469598103934665603u) {
  for (; *text; ++text)
    value = (value ^ static_cast<unsigned char>(*text)) * 1099511628211u;
  return value;
}

/// Of the translator: what another one made of the same PTX is not wanted.
uint64_t hashOfTranslator() {
  uint64_t value = hash(CLANG);
  for (const char *name :
       {"ptx2c.py", "ptx_bits.py", "ptx_halves.py", "ptx_instructions.py",
        "ptx_matrix.py", "ptx_warpgroup.py"}) {
    std::ifstream file(std::string(PTX2C_FOLDER "/") + name);
    std::string text((std::istreambuf_iterator<char>(file)), {});
    value = hash(text.c_str(), value);
  }
  return value;
}

/// PTX compiled for this machine, kept for the next process that wants it.
void *compile(const char *ptx) {
  const char *temporary = getenv("TMPDIR");
  std::string folder = std::string(temporary ? temporary : "/tmp") +
                       "/numera-emulation-" + std::to_string(getuid());
  mkdir(folder.c_str(), 0700);
  char name[32];
  std::snprintf(name, sizeof name, "/%016lx", hash(ptx, hashOfTranslator()));
  std::string stem = folder + name,
              mine = stem + "." + std::to_string(getpid());
  if (access((stem + ".so").c_str(), R_OK) != 0) {
    std::ofstream(mine + ".ptx") << ptx;
    std::string command = "python3 -B " PTX2C_FOLDER "/ptx2c.py " + mine +
                          ".ptx " + mine +
                          ".c && " CLANG " -O1 -w -ffp-contract=off "
                          "-fno-strict-aliasing -fPIC -shared " +
                          mine + ".c -o " + mine + ".so -lm";
    if (std::system(command.c_str()) != 0)
      return nullptr;
    std::rename((mine + ".so").c_str(), (stem + ".so").c_str());
    unlink((mine + ".c").c_str());
    unlink((mine + ".ptx").c_str());
  }
  return dlopen((stem + ".so").c_str(), RTLD_NOW | RTLD_LOCAL);
}

} // namespace

#endif // NUMERA_TEST_EMULATION_MODULES_H
