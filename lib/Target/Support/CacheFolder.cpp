// SPDX-License-Identifier: MIT

#include "CacheFolder.h"
#include "Fingerprint.h"
#include "Process.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace numera;

std::string CacheFolder::pathOf(StringRef about) const {
  SmallString<128> path(folder);
  sys::path::append(path, prefix + about + suffix);
  return path.str().str();
}

static std::string lastLine(StringRef content, StringRef about) {
  return "sum " + Fingerprint().add(content).add(about).digits() + "\n";
}

Expected<std::unique_ptr<MemoryBuffer>>
CacheFolder::find(StringRef about) const {
  if (folder.empty())
    return nullptr;
  std::string path = pathOf(about);
  ErrorOr<std::unique_ptr<MemoryBuffer>> file = MemoryBuffer::getFile(path);
  if (!file)
    return nullptr;
  StringRef text = (*file)->getBuffer();
  size_t length = lastLine("", about).size();
  StringRef content = text.drop_back(std::min(text.size(), length));
  if (text.drop_front(content.size()) != lastLine(content, about))
    return createStringError(path + " is corrupt and ignored");
  return MemoryBuffer::getMemBufferCopy(content, path);
}

Error CacheFolder::keep(StringRef about, StringRef content) const {
  if (folder.empty())
    return createStringError("neither XDG_CACHE_HOME nor HOME names a folder");
  if (std::error_code code = sys::fs::create_directories(
          folder, /*IgnoreExisting=*/true, sys::fs::owner_all))
    return createStringError(folder + ": " + code.message());
  return writeFile(pathOf(about), [&](raw_pwrite_stream &file) {
    file << content << lastLine(content, about);
    return Error::success();
  });
}
