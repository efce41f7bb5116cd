// SPDX-License-Identifier: MIT
//
// Files that can be made again, each under the fingerprint of all that it
// follows from. Processes may share a folder: a file appears whole, and the
// last line of it, `sum DIGITS`, tells where it has changed since.

#ifndef NUMERA_LIB_TARGET_SUPPORT_CACHEFOLDER_H
#define NUMERA_LIB_TARGET_SUPPORT_CACHEFOLDER_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>

namespace numera {

class CacheFolder {
public:
  /// A file's name is `prefix`, the digits of its fingerprint, which `about` is
  /// below, and `suffix`. An empty path is no folder: nothing is found, and
  /// keeping fails.
  CacheFolder(std::string path, std::string prefix, std::string suffix)
      : folder(std::move(path)), prefix(std::move(prefix)),
        suffix(std::move(suffix)) {}

  const std::string &path() const { return folder; }
  std::string pathOf(llvm::StringRef about) const;

  /// What was kept; null where there is nothing. An error says that the file is
  /// corrupt.
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
  find(llvm::StringRef about) const;

  /// Makes the folder, too, for its user alone.
  llvm::Error keep(llvm::StringRef about, llvm::StringRef content) const;

private:
  std::string folder, prefix, suffix;
};

} // namespace numera

#endif // NUMERA_LIB_TARGET_SUPPORT_CACHEFOLDER_H
