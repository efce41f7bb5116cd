// SPDX-License-Identifier: MIT
//
// A file without a name gets one by linkat, which replaces nothing. Where there
// is a file already, the new one is named beside it, and renamed at once; no
// signal but SIGKILL comes between.

#include "numera/Runtime/NewFile.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace numera::host;

namespace {

/// Names beside `path` that nobody else has, until one does what is asked.
template <typename Try> bool nameBeside(const std::string &path, Try tryName) {
  std::string stem = path + ".tmp" + std::to_string(getpid()) + ".";
  for (unsigned i = 0;; ++i) {
    if (tryName(stem + std::to_string(i)))
      return true;
    if (errno != EEXIST)
      return false;
  }
}

/// No signal is delivered to this thread while one lives.
class WithoutSignals {
public:
  WithoutSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
  }
  WithoutSignals(const WithoutSignals &) = delete;
  ~WithoutSignals() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }

private:
  sigset_t before;
};

bool link(const std::string &from, const std::string &to) {
  return linkat(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(),
                AT_SYMLINK_FOLLOW) == 0;
}

/// Removes the name, and leaves the reason of what went wrong before.
void removeName(const std::string &name) {
  int reason = errno;
  unlink(name.c_str());
  errno = reason;
}

bool replace(const std::string &from, const std::string &to) {
  if (rename(from.c_str(), to.c_str()) == 0)
    return true;
  removeName(from);
  return false;
}

bool copyBytes(int from, int to) {
  char bytes[1 << 14];
  off_t at = 0;
  while (ssize_t size = pread(from, bytes, sizeof bytes, at)) {
    for (ssize_t done = 0, count; done < size; done += count)
      if ((count = write(to, bytes + done, size_t(size - done))) < 0)
        return false;
    if (size < 0)
      return false;
    at += size;
  }
  return true;
}

} // namespace

bool NewFile::createNamed(unsigned mode) {
  named = true;
  return nameBeside(target, [&](const std::string &name) {
    file =
        open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode_t(mode));
    place = name;
    return file >= 0;
  });
}

bool NewFile::createNameless(unsigned mode) {
#ifdef O_TMPFILE
  size_t slash = target.rfind('/');
  std::string folder =
      slash == std::string::npos ? "." : target.substr(0, slash + 1);
  file = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, mode_t(mode));
  if (file < 0)
    return false;
  place = "/proc/self/fd/" + std::to_string(file);
  if (access(place.c_str(), F_OK) == 0)
    return true;
  close(file);
  file = -1;
#endif
  return false;
}

std::optional<NewFile> NewFile::create(const char *path, unsigned mode) {
  NewFile made;
  made.target = path;
  if (made.createNameless(mode) || made.createNamed(mode))
    return made;
  return std::nullopt;
}

/// For a file without a name.
bool NewFile::name() {
  WithoutSignals scope;
  if (link(place, target))
    return true;
  if (errno != EEXIST)
    return false;
  std::string beside;
  return nameBeside(target,
                    [&](const std::string &name) {
                      beside = name;
                      return link(place, name);
                    }) &&
         replace(beside, target);
}

/// For a file without a name in a system that gives it none, though it can make
/// it.
bool NewFile::copy() {
  struct stat status;
  if (fstat(file, &status) != 0)
    return false;
  NewFile other;
  other.target = target;
  return other.createNamed(status.st_mode & 07777) &&
         copyBytes(file, other.file) && other.keep();
}

bool NewFile::keep() {
  if (!named)
    return name() || (errno != EISDIR && copy());
  if (!replace(place, target))
    return false;
  place.clear();
  return true;
}

NewFile::~NewFile() {
  if (file < 0)
    return;
  int reason = errno;
  if (named && !place.empty())
    unlink(place.c_str());
  close(file);
  errno = reason;
}
