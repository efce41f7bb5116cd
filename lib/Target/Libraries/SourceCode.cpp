// SPDX-License-Identifier: MIT
//
// The cache entry of a source is a file of lines, followed by bitcode:
//
//   numera bitcode 2
//   file DIGITS PATH          of the source and of each header that it includes
//   none PATH                 where a header was looked for and is not
//   code DIGITS               of the bitcode
//
// Its name is a hash of the command line. If one of the files has changed or is
// missing, or there is one where there was none, the source is compiled again.
// Headers whose names macros make are not looked for.

#include "SourceCode.h"
#include "Fingerprint.h"
#include "Support/Process.h"
#include "numera/Target/Interface/Metadata.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"

#include <atomic>
#include <cstring>
#include <set>
#include <thread>

using namespace llvm;
using namespace numera;

static constexpr StringLiteral cacheKeyHeader = "numera bitcode 2";

static bool isCxx(StringRef path) { return sys::path::extension(path) != ".c"; }

static std::vector<std::string> flagsOf(const Library &library,
                                        StringRef path) {
  bool cxx = isCxx(path);
  std::vector<std::string> arguments;
  for (StringRef flag : sourceFlags)
    arguments.push_back(flag.str());
  // A standard is one of C or one of C++, and there may be sources of both.
  bool isForCxx = StringRef(library.standard).contains("++");
  if (!library.standard.empty() && isForCxx == cxx)
    arguments.push_back("-std=" + library.standard);
  else
    arguments.push_back(cxx ? "-std=c++20" : "-std=gnu17");
  for (const std::string &folder : library.includes)
    arguments.push_back("-I" + folder);
  for (const std::string &define : library.defines)
    arguments.push_back("-D" + define);
  append_range(arguments, library.flags);
  arguments.insert(arguments.end(), {"-c", path.str()});
  return arguments;
}

/// The names in `#include "name"` and `__has_include(<name>)`.
static std::vector<StringRef> includedNames(StringRef text) {
  std::vector<StringRef> names;
  for (size_t at; (at = text.find("include")) != StringRef::npos;) {
    text = text.substr(at + strlen("include"));
    StringRef rest = text;
    rest.consume_front("_next");
    rest = rest.ltrim(" \t(");
    if (!rest.starts_with("<") && !rest.starts_with("\""))
      continue;
    char end = rest.front() == '<' ? '>' : '"';
    names.push_back(rest.drop_front().take_until(
        [&](char c) { return c == end || c == '\n'; }));
  }
  return names;
}

namespace {

/// One source: compiled, or as it was.
class Source {
public:
  Source(const Library &library, StringRef path)
      : path(path), arguments(flagsOf(library, path)),
        folders(library.includes) {
    for (StringRef flag : library.flags)
      if (flag.consume_front("-I"))
        folders.push_back(flag.str());
    std::string folder = cacheFolder("bitcode");
    if (folder.empty())
      return;
    SmallString<128> file(folder);
    sys::path::append(file, key());
    kept = file.str().str();
  }

  Expected<std::unique_ptr<MemoryBuffer>> bitcode() {
    if (std::unique_ptr<MemoryBuffer> found = find())
      return found;
    Expected<TemporaryFile> code = TemporaryFile::create("bc"),
                            rule = TemporaryFile::create("d");
    if (!code || !rule)
      return joinErrors(code.takeError(), rule.takeError());
    append_range(arguments, std::vector<std::string>{"-o", code->path(), "-MD",
                                                     "-MF", rule->path()});
    if (Error error = runClang(isCxx(path), arguments))
      return std::move(error);
    ErrorOr<std::unique_ptr<MemoryBuffer>> buffer =
        MemoryBuffer::getFile(code->path());
    if (!buffer)
      return createStringError("cannot read '" + code->path() +
                               "': " + buffer.getError().message());
    keep(rule->path(), (*buffer)->getBuffer());
    return std::move(*buffer);
  }

private:
  std::string key() const {
    Fingerprint all;
    all.add(cacheKeyHeader)
        .add(version())
        .add(LLVM_VERSION_STRING)
        .add(uint64_t(isCxx(path)));
    for (const std::string &argument : arguments)
      all.add(argument);
    // Paths in arguments may be relative ones.
    SmallString<128> current;
    sys::fs::current_path(current);
    all.add(current);
    // Where clang finds headers beside.
    for (StringRef name : {"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH"})
      all.add(sys::Process::GetEnv(name).value_or(""));
    return all.digits();
  }

  std::unique_ptr<MemoryBuffer> find() const {
    if (kept.empty())
      return nullptr;
    ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFile(kept);
    if (!buffer)
      return nullptr;
    auto [first, rest] = (*buffer)->getBuffer().split('\n');
    if (first != cacheKeyHeader)
      return nullptr;
    for (;;) {
      auto [line, after] = rest.split('\n');
      auto [kind, value] = line.split(' ');
      if (kind == "code") {
        if (Fingerprint().add(after).digits() != value)
          return nullptr;
        return MemoryBuffer::getMemBufferCopy(after, path);
      }
      auto [digits, file] = value.split(' ');
      bool isSame = kind == "none"
                        ? !sys::fs::exists(value)
                        : kind == "file" && isUnchanged(file, digits);
      if (!isSame)
        return nullptr;
      rest = after;
    }
  }

  static bool isUnchanged(StringRef file, StringRef digits) {
    Expected<std::string> now = fingerprintOfFile(file);
    if (now)
      return *now == digits;
    consumeError(now.takeError());
    return false;
  }

  /// Where nothing can be kept, the next run compiles again.
  void keep(StringRef rule, StringRef code) const {
    ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFile(rule);
    if (kept.empty() || !buffer ||
        sys::fs::create_directories(sys::path::parent_path(kept)))
      return;
    std::string lines = (cacheKeyHeader + "\n").str();
    std::set<std::string> missing;
    for (const std::string &file : filesOf((*buffer)->getBuffer())) {
      Expected<std::string> digits = fingerprintOfFile(file);
      if (!digits)
        return consumeError(digits.takeError());
      lines += "file " + *digits + " " + file + "\n";
      addMissing(file, missing);
    }
    for (const std::string &file : missing)
      lines += "none " + file + "\n";
    lines += "code " + Fingerprint().add(code).digits() + "\n";
    consumeError(writeFile(kept, [&](raw_pwrite_stream &stream) {
      stream << lines << code;
      return Error::success();
    }));
  }

  /// Where a file's headers are not: beside it, and in the library's folders.
  /// Those of the system have none of their own.
  void addMissing(StringRef file, std::set<std::string> &missing) const {
    auto buffer = MemoryBuffer::getFile(file);
    if (!buffer || file.starts_with("/usr/"))
      return;
    auto add = [&](StringRef folder, StringRef name) {
      SmallString<128> header(folder);
      sys::path::append(header, name);
      if (!sys::fs::exists(header))
        missing.insert(header.str().str());
    };
    for (StringRef name : includedNames((*buffer)->getBuffer())) {
      add(sys::path::parent_path(file), name);
      for (const std::string &folder : folders)
        add(folder, name);
    }
  }

  /// The files of a rule of make, `x.o: a.c my\ header.h \`.
  static std::vector<std::string> filesOf(StringRef rule) {
    std::vector<std::string> files;
    std::string file;
    auto finish = [&] {
      if (!file.empty())
        files.push_back(std::exchange(file, ""));
    };
    rule = rule.substr(rule.find(": ") + 1);
    for (size_t i = 0; i < rule.size(); ++i) {
      char c = rule[i], next = i + 1 < rule.size() ? rule[i + 1] : '\n';
      if ((c == '\\' && (next == ' ' || next == '#' || next == '\\')) ||
          (c == '$' && next == '$'))
        file += rule[++i];
      else if (c == ' ' || c == '\n')
        finish();
      else if (c != '\\')
        file += c;
    }
    finish();
    return files;
  }

  std::string path;
  std::vector<std::string> arguments;
  std::vector<std::string> folders; ///< of headers
  std::string kept;                 ///< empty: there is no place
};

} // namespace

Expected<std::vector<std::unique_ptr<MemoryBuffer>>>
numera::compileSources(const Library &library, ArrayRef<std::string> paths) {
  std::vector<std::unique_ptr<MemoryBuffer>> code(paths.size());
  std::vector<std::string> errors(paths.size());
  std::atomic<size_t> next = 0;
  std::atomic<bool> isFailed = false;
  auto work = [&] {
    for (size_t i; !isFailed && (i = next++) < paths.size();) {
      auto found = Source(library, paths[i]).bitcode();
      if (found) {
        code[i] = std::move(*found);
        continue;
      }
      errors[i] = toString(found.takeError());
      isFailed = true;
    }
  };
  std::vector<std::thread> helpers;
  size_t processors = std::max(1u, std::thread::hardware_concurrency());
  for (size_t i = 1; i < std::min(processors, paths.size()); ++i)
    helpers.emplace_back(work);
  work();
  for (std::thread &helper : helpers)
    helper.join();
  for (const std::string &error : errors)
    if (!error.empty())
      return createStringError(Twine(error));
  return code;
}
