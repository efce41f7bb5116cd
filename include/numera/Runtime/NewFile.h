// SPDX-License-Identifier: MIT
//
// Files that appear at their path when they are whole. Until then a file has no
// name where the system can make such a file (Linux's O_TMPFILE): a process
// that is killed leaves nothing. Elsewhere it has a name beside its path.

#ifndef NUMERA_RUNTIME_NEWFILE_H
#define NUMERA_RUNTIME_NEWFILE_H

#include <optional>
#include <string>
#include <utility>

namespace numera::host {

/// A file that is removed at the end of its scope unless it is kept.
class NewFile {
public:
  /// `mode` loses what the umask takes. On failure errno says why.
  static std::optional<NewFile> create(const char *path, unsigned mode);
  NewFile(NewFile &&other) { swap(other); }
  NewFile &operator=(NewFile &&other) {
    swap(other);
    return *this;
  }
  ~NewFile();

  /// Open for reading and writing; a process that is started does not have it.
  int descriptor() const { return file; }

  /// Where it can be opened: by anybody if it has a name, else by this process
  /// and by those that have its descriptor.
  const std::string &path() const { return place; }

  /// True if `path` is a name in a folder.
  bool isNamed() const { return named; }

  /// Gives it the path it was made for, instead of a file that is there. On
  /// failure errno says why.
  bool keep();

private:
  NewFile() = default;
  bool createNamed(unsigned mode);
  bool createNameless(unsigned mode);
  bool name();
  bool copy();
  void swap(NewFile &other) {
    std::swap(file, other.file);
    std::swap(named, other.named);
    std::swap(target, other.target);
    std::swap(place, other.place);
  }

  int file = -1;
  bool named = false;
  std::string target, place;
};

} // namespace numera::host

#endif // NUMERA_RUNTIME_NEWFILE_H
