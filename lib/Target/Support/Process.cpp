// SPDX-License-Identifier: MIT

#include "Process.h"
#include "Interrupt.h"
#include "numera/Target/Support/TextFile.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Signals.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/resource.h>
#include <unistd.h>

using namespace llvm;
using namespace numera;

Expected<std::string> numera::findClang(bool cxx) {
  StringRef name = cxx ? "clang++" : "clang";
  if (ErrorOr<std::string> path =
          sys::findProgramByName(name, {NUMERA_LLVM_BINDIR}))
    return *path;
  std::string versioned = (name + "-" + Twine(LLVM_VERSION_MAJOR)).str();
  for (StringRef candidate : {StringRef(versioned), name})
    if (ErrorOr<std::string> path = sys::findProgramByName(candidate))
      return *path;
  return createStringError(
      "no " + name +
      " on PATH: it compiles libraries and links programs; "
      "install clang-" +
      Twine(LLVM_VERSION_MAJOR));
}

/// The line of a tool's output that says what is wrong.
static std::string summary(StringRef output) {
  SmallVector<StringRef> lines;
  output.split(lines, '\n', -1, /*KeepEmpty=*/false);
  // The driver's own word, that the linker failed, comes last and says nothing.
  for (StringRef line : lines)
    if (line.contains("error:") && !line.contains("linker command failed"))
      return line.trim().str();
  return lines.empty() ? "" : lines.front().trim().str();
}

bool numera::hasLLD() {
  return bool(sys::findProgramByName("ld.lld", {NUMERA_LLVM_BINDIR})) ||
         bool(sys::findProgramByName("ld.lld"));
}

Error numera::runClang(bool cxx, ArrayRef<std::string> arguments,
                       StringRef output) {
  Expected<std::string> clang = findClang(cxx);
  if (!clang)
    return clang.takeError();
  return runTool(*clang, arguments, output);
}

/// The exit status; an interrupt ends the tool first.
static int runToEnd(StringRef tool, ArrayRef<StringRef> command,
                    ArrayRef<std::optional<StringRef>> redirects,
                    std::string &message) {
  InterruptScope scope;
  bool failed = false;
  SmallVector<StringRef> variables;
  for (char **variable = environ; *variable; ++variable)
    variables.push_back(*variable);
  // One of LLVM's that crashes would leave files for its symbolizer.
  variables.push_back("LLVM_DISABLE_SYMBOLIZATION=1");
  sys::ProcessInfo process =
      sys::ExecuteNoWait(tool, command, ArrayRef<StringRef>(variables),
                         redirects, /*MemoryLimit=*/0, &message, &failed,
                         /*AffinityMask=*/nullptr, /*DetachProcess=*/true);
  if (failed)
    return -1;
  scope.watch(process.Pid);
  return sys::Wait(process, /*SecondsToWait=*/std::nullopt, &message)
      .ReturnCode;
}

/// What a tool says that has run out of memory tells nobody why.
static std::string memoryHint() {
  rlimit limit{};
  if (getrlimit(RLIMIT_DATA, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return "";
  return " (memory is limited to " + std::to_string(limit.rlim_cur >> 20) +
         " MiB)";
}

Error numera::runTool(const std::string &tool, ArrayRef<std::string> arguments,
                      StringRef output) {
  Expected<TemporaryFile> log = TemporaryFile::createPrivate();
  if (!log)
    return log.takeError();
  SmallVector<StringRef> command = {tool};
  append_range(command, arguments);
  std::string message;
  StringRef errors = log->path();
  std::optional<StringRef> redirects[] = {
      StringRef(""), output.empty() ? errors : output, errors};
  if (runToEnd(tool, command, redirects, message) == 0)
    return Error::success();
  if (ErrorOr<std::unique_ptr<MemoryBuffer>> said =
          MemoryBuffer::getFile(log->path()))
    if (std::string line = summary((*said)->getBuffer()); !line.empty())
      return createStringError(line + memoryHint());
  // Where its files have no room, what it says has none either.
  if (std::string full = findNoRoom(log->path(), 1 << 20); !full.empty())
    return createStringError("cannot write a temporary file: " + full);
  return createStringError(tool + " failed" +
                           (message.empty() ? "" : ": " + message) +
                           memoryHint());
}

Expected<TemporaryFile> TemporaryFile::create(StringRef suffix) {
  SmallString<128> path;
  if (std::error_code code =
          sys::fs::createTemporaryFile("numera", suffix, path))
    return createStringError("cannot create a temporary file: " +
                             code.message());
  sys::RemoveFileOnSignal(path);
  return TemporaryFile(path.str().str());
}

/// Processes that are started have its descriptor; a signal that ends this one
/// removes its name, if it has one.
static std::optional<host::NewFile> createInherited(StringRef path,
                                                    unsigned mode) {
  std::optional<host::NewFile> file =
      host::NewFile::create(path.str().c_str(), mode);
  if (!file)
    return std::nullopt;
  fcntl(file->descriptor(), F_SETFD, 0);
  if (file->isNamed())
    sys::RemoveFileOnSignal(file->path());
  return file;
}

Expected<TemporaryFile> TemporaryFile::createPrivate() {
  SmallString<128> path;
  sys::path::system_temp_directory(/*ErasedOnReboot=*/true, path);
  sys::path::append(path, "numera");
  std::optional<host::NewFile> file = createInherited(path, 0600);
  if (!file)
    return createStringError(
        "cannot create a temporary file: " +
        std::error_code(errno, std::generic_category()).message());
  TemporaryFile temporary(file->path());
  temporary.file = std::move(file);
  return temporary;
}

TemporaryFile::~TemporaryFile() {
  if (name.empty())
    return;
  if (file) {
    file.reset();
    sys::DontRemoveFileOnSignal(name);
    return;
  }
  sys::fs::remove(name);
  sys::DontRemoveFileOnSignal(name);
}

std::string numera::cacheFolder(StringRef name) {
  SmallString<128> folder;
  std::optional<std::string> cache = sys::Process::GetEnv("XDG_CACHE_HOME");
  std::optional<std::string> home = sys::Process::GetEnv("HOME");
  // By its rules, a path that is not absolute is to be ignored.
  if (cache && sys::path::is_absolute(*cache))
    folder = *cache;
  else if (home && sys::path::is_absolute(*home))
    sys::path::append(folder, *home, ".cache");
  else
    return "";
  sys::path::append(folder, "numera", name);
  return folder.str().str();
}

/// True for devices, and for what a process has open.
static bool isOpenFile(StringRef absolute) {
  return absolute.starts_with("/dev/") ||
         (absolute.starts_with("/proc/") && absolute.contains("/fd/"));
}

/// A device or a pipe is no file to be replaced: the bytes go into it.
static Error writeThrough(StringRef path,
                          function_ref<Error(StringRef)> write) {
  if (sys::fs::is_directory(path))
    return createStringError("cannot write " + path + ": is a folder");
  Expected<TemporaryFile> temporary = TemporaryFile::createPrivate();
  if (!temporary)
    return temporary.takeError();
  if (Error error = write(temporary->path()))
    return error;
  ErrorOr<std::unique_ptr<MemoryBuffer>> bytes =
      MemoryBuffer::getFile(temporary->path());
  std::error_code code = bytes.getError();
  raw_fd_ostream stream(path, code, sys::fs::CD_OpenExisting, sys::fs::FA_Write,
                        sys::fs::OF_Append);
  if (code)
    return createStringError("cannot write " + path + ": " + code.message());
  stream << (*bytes)->getBuffer();
  stream.close();
  code = stream.error();
  stream.clear_error();
  if (code)
    return createStringError("cannot write " + path + ": " + code.message());
  return Error::success();
}

/// The file that a link names in the end, or what is no link as it is. Where it
/// is what a process has open, such as /dev/stdout, the way ends before: bytes
/// go into it.
static std::string fileOf(StringRef path) {
  constexpr int mostLinks = 40;
  SmallString<128> file(path);
  for (int i = 0; i < mostLinks; ++i) {
    SmallString<128> absolute(file);
    sys::fs::make_absolute(absolute);
    if (isOpenFile(absolute))
      return absolute.str().str();
    char text[PATH_MAX];
    ssize_t length = readlink(file.c_str(), text, sizeof text);
    if (length < 0)
      break;
    StringRef next(text, size_t(length));
    if (sys::path::is_absolute(next)) {
      file = next;
    } else {
      sys::path::remove_filename(file);
      sys::path::append(file, next);
    }
  }
  return file.str().str();
}

Error numera::replaceFile(StringRef path, bool isExecutable,
                          function_ref<Error(StringRef)> write) {
  std::string target = fileOf(path);
  if (isOpenFile(target) ||
      (sys::fs::exists(target) && !sys::fs::is_regular_file(target)))
    return writeThrough(path, write);
  unsigned mode = sys::fs::all_read | sys::fs::all_write;
  if (isExecutable)
    mode |= sys::fs::all_exe;
  auto cannotWrite = [&] {
    std::error_code code(errno, std::generic_category());
    return createStringError("cannot write " + path + ": " + code.message());
  };
  std::optional<host::NewFile> file = createInherited(target, mode);
  if (!file)
    return cannotWrite();
  std::string temporary = file->path();
  Error error = write(temporary);
  if (!error && !file->keep())
    error = cannotWrite();
  file.reset();
  sys::DontRemoveFileOnSignal(temporary);
  return error;
}

std::string numera::findNoRoom(StringRef path, uint64_t bytes) {
  int file = open(path.str().c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0)
    return "";
  int code = posix_fallocate(file, 0, off_t(bytes));
  close(file);
  return code == ENOSPC || code == EFBIG || code == EDQUOT
             ? std::error_code(code, std::generic_category()).message()
             : "";
}

Error numera::writeFile(StringRef path,
                        function_ref<Error(raw_pwrite_stream &)> write) {
  if (path == "-") {
    SmallString<0> text;
    raw_svector_ostream stream(text);
    Error error = write(stream);
    outs() << text;
    return error;
  }
  return replaceFile(path, /*isExecutable=*/false, [&](StringRef temporary) {
    std::error_code code;
    raw_fd_ostream stream(temporary, code);
    if (code)
      return createStringError("cannot write " + path + ": " + code.message());
    Error error = write(stream);
    stream.close();
    if (!error && stream.has_error())
      error = createStringError("cannot write " + path + ": " +
                                stream.error().message());
    stream.clear_error();
    return error;
  });
}

Error numera::writeTextFile(StringRef path, StringRef text) {
  return writeFile(path, [&](raw_pwrite_stream &stream) {
    stream << text;
    return Error::success();
  });
}
