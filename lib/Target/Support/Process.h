// SPDX-License-Identifier: MIT
//
// Tools of LLVM that run as processes of their own, and files that appear
// completely or not at all.

#ifndef NUMERA_LIB_TARGET_SUPPORT_PROCESS_H
#define NUMERA_LIB_TARGET_SUPPORT_PROCESS_H

#include "numera/Runtime/NewFile.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

namespace numera {

/// The clang of the LLVM that Numera was built with, else one on PATH.
llvm::Expected<std::string> findClang(bool cxx);

/// Runs clang (`clang++` if `cxx`). On failure the error is the first line of
/// its output that has the word error, else the first one. With `output`, what
/// it prints goes into that file.
llvm::Error runClang(bool cxx, llvm::ArrayRef<std::string> arguments,
                     llvm::StringRef output = "");

/// The same for a tool by its path.
llvm::Error runTool(const std::string &tool,
                    llvm::ArrayRef<std::string> arguments,
                    llvm::StringRef output = "");

/// True if LLVM's linker is there; the system's serves as well.
bool hasLLD();

/// A path for a temporary file that is removed at the end of the scope.
class TemporaryFile {
public:
  static llvm::Expected<TemporaryFile> create(llvm::StringRef suffix);
  /// One that only this process and those it starts can open, and that needs
  /// no suffix: where the system allows it, it has no name.
  static llvm::Expected<TemporaryFile> createPrivate();
  TemporaryFile(TemporaryFile &&other)
      : name(std::move(other.name)), file(std::move(other.file)) {
    other.name.clear();
  }
  TemporaryFile &operator=(TemporaryFile &&) = delete;
  ~TemporaryFile();
  const std::string &path() const { return name; }

private:
  explicit TemporaryFile(std::string name) : name(std::move(name)) {}
  std::string name;
  std::optional<host::NewFile> file;
};

/// `$XDG_CACHE_HOME/numera/NAME`, or `~/.cache/numera/NAME`, where what can be
/// made again is kept; empty where the environment names neither.
std::string cacheFolder(llvm::StringRef name);

/// Has `write` make a file that becomes `path`, or what that is a link to, if
/// that succeeds. Until then it has no name, or one beside it. `isExecutable`
/// gives it the permissions of a program.
llvm::Error
replaceFile(llvm::StringRef path, bool isExecutable,
            llvm::function_ref<llvm::Error(llvm::StringRef temporary)> write);

/// The same for what a stream can hold; `-` is standard output.
llvm::Error
writeFile(llvm::StringRef path,
          llvm::function_ref<llvm::Error(llvm::raw_pwrite_stream &)> write);

/// Why `path` cannot be `bytes` long, if that is for want of room; else empty.
/// For a tool that has failed: some crash where the disk is full.
std::string findNoRoom(llvm::StringRef path, uint64_t bytes);

} // namespace numera

#endif // NUMERA_LIB_TARGET_SUPPORT_PROCESS_H
