// SPDX-License-Identifier: MIT

#include "numera/Target/Driver/Tools.h"

#include "Codegen/CodeCache.h"
#include "NVPTX/Device.h"
#include "Support/Process.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;
using namespace numera;

Expected<std::string> numera::clangPath() { return findClang(/*cxx=*/false); }

/// Gives clang a source and a place for its output.
static Error tryClang(bool cxx, StringRef source,
                      std::vector<std::string> arguments) {
  Expected<TemporaryFile> text = TemporaryFile::create(cxx ? "cpp" : "c");
  if (!text)
    return text.takeError();
  Expected<TemporaryFile> out = TemporaryFile::create("o");
  if (!out)
    return out.takeError();
  Error written = writeFile(text->path(), [&](raw_pwrite_stream &stream) {
    stream << source;
    return Error::success();
  });
  if (written)
    return written;
  arguments.insert(arguments.end(), {text->path(), "-o", out->path()});
  return runClang(cxx, arguments);
}

Error numera::tryCompiler(bool cxx) {
  return tryClang(cxx,
                  cxx ? "#include <cmath>\n"
                        "extern \"C\" double f(double x) "
                        "{ return std::fabs(x); }\n"
                      : "#include <stdint.h>\n#include <math.h>\n"
                        "uint16_t f(uint16_t x) "
                        "{ return (uint16_t)fabs((double)x); }\n",
                  {"-O2", "-c", "-emit-llvm"});
}

Error numera::tryLinker() {
  std::vector<std::string> arguments = {"-shared", "-fPIC"};
  if (hasLLD())
    arguments.push_back("-fuse-ld=lld");
  return tryClang(/*cxx=*/false, "int f(void) { return 1; }\n", arguments);
}

Expected<std::string> numera::cudaToolPath(StringRef name) {
  return findTool(name, GPUOptions());
}

std::string numera::codeCacheFolder() { return CodeCache::placeOf(""); }

std::string numera::proofFolder() { return cacheFolder("proofs"); }

Error numera::tryFolder(StringRef folder) {
  // Each on its own: one that is made may lie in one that is not.
  if (std::error_code code = sys::fs::create_directories(
          folder, /*IgnoreExisting=*/true, sys::fs::owner_all))
    return createStringError(folder + ": " + code.message());
  Expected<sys::fs::TempFile> file =
      sys::fs::TempFile::create(folder + "/doctor%%%%%%");
  if (!file) {
    std::error_code code(errno, std::generic_category());
    consumeError(file.takeError());
    return createStringError(folder + ": " + code.message());
  }
  return file->discard();
}

Error numera::tryTemporaryFile() {
  return TemporaryFile::create("doctor").takeError();
}
