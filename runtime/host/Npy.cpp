// SPDX-License-Identifier: MIT
//
// A .npy file is: the magic "\x93NUMPY"; the version, two bytes; the length of
// the header, little endian, in two bytes (version 1) or four (2 and 3); the
// header, a dictionary padded with blanks; the elements.

#include "numera/Runtime/Npy.h"

#include "NpyHeader.h"
#include "numera/Runtime/NewFile.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

using namespace numera::host;

// Elements go between file and memory as they are.
static_assert(std::endian::native == std::endian::little);

namespace {

constexpr std::string_view magic("\x93NUMPY", 6);

/// NumPy's own headers stay below 10,000 bytes.
constexpr size_t maxHeader = 65535;

struct CloseFile {
  void operator()(std::FILE *file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

std::string systemError(const char *what) {
  return std::string(what) + ": " + std::strerror(errno);
}

/// Reads exactly `size` bytes. Otherwise `error` is `tooShort`, or what the
/// system says.
bool readBytes(std::FILE *file, void *to, size_t size, const char *tooShort,
               std::string &error) {
  if (size == 0 || std::fread(to, 1, size, file) == size)
    return true;
  error = std::ferror(file) ? systemError("cannot read") : tooShort;
  return false;
}

std::optional<NpyHeader> readHeader(std::FILE *file, std::string &error) {
  constexpr const char *tooShort = "file ends inside its header";
  unsigned char start[8];
  if (!readBytes(file, start, sizeof start, "file is too short for a .npy file",
                 error))
    return std::nullopt;
  if (std::memcmp(start, magic.data(), magic.size()) != 0) {
    error = "not a .npy file: it does not begin with \\x93NUMPY";
    return std::nullopt;
  }
  unsigned major = start[6], minor = start[7];
  if (major < 1 || major > 3 || minor != 0) {
    error = ".npy version " + std::to_string(major) + "." +
            std::to_string(minor) +
            " is not supported; expected 1.0, 2.0 or 3.0";
    return std::nullopt;
  }
  unsigned char field[4] = {};
  if (!readBytes(file, field, major == 1 ? 2 : 4, tooShort, error))
    return std::nullopt;
  size_t length = field[0] | size_t(field[1]) << 8 | size_t(field[2]) << 16 |
                  size_t(field[3]) << 24;
  if (length > maxHeader) {
    error = "header of " + std::to_string(length) +
            " bytes; expected at most " + std::to_string(maxHeader);
    return std::nullopt;
  }
  std::string text(length, ' ');
  if (!readBytes(file, text.data(), length, tooShort, error))
    return std::nullopt;
  return parseNpyHeader(text, error);
}

/// A regular file knows its size, so a header that promises more than there is
/// fails before anything is allocated for it. A pipe fails while it is read.
bool checkFileSize(std::FILE *file, const NpyHeader &header, size_t needed,
                   std::string &error) {
  struct stat status;
  if (fstat(fileno(file), &status) != 0 || !S_ISREG(status.st_mode))
    return true;
  size_t present = size_t(status.st_size) - size_t(ftello(file));
  if (present == needed)
    return true;
  error = "shape " + printShape(header.shape) + " of '" +
          std::string(spelling(header.dtype)) + "' takes " +
          std::to_string(needed) + " bytes; the file holds " +
          std::to_string(present);
  return false;
}

void swapBytes(Array &array) {
  size_t size = sizeOf(array.dtype);
  for (size_t at = 0; at != array.byteSize; at += size)
    std::reverse(&array.bytes[at], &array.bytes[at + size]);
}

/// The same elements in C order.
std::optional<Array> fromFortranOrder(const Array &array, std::string &error) {
  std::optional<Array> result = makeArray(array.shape, array.dtype, error);
  if (!result)
    return std::nullopt;
  size_t size = sizeOf(array.dtype), rank = array.shape.size();
  std::vector<size_t> strides(rank, size), index(rank, 0);
  for (size_t i = 1; i < rank; ++i)
    strides[i] = strides[i - 1] * size_t(array.shape[i - 1]);
  size_t from = 0;
  for (size_t to = 0; to != array.byteSize; to += size) {
    std::memcpy(&result->bytes[to], &array.bytes[from], size);
    for (size_t i = rank; i-- != 0;) {
      from += strides[i];
      if (++index[i] != size_t(array.shape[i]))
        break;
      from -= strides[i] * index[i];
      index[i] = 0;
    }
  }
  return result;
}

std::optional<Array> readArray(const char *path, std::string &error) {
  File file(std::fopen(path, "rb"));
  if (!file) {
    error = systemError("cannot open");
    return std::nullopt;
  }
  std::optional<NpyHeader> header = readHeader(file.get(), error);
  if (!header)
    return std::nullopt;
  std::optional<size_t> needed =
      byteSizeOf(header->shape, header->dtype, error);
  if (!needed || !checkFileSize(file.get(), *header, *needed, error))
    return std::nullopt;
  std::optional<Array> array = makeArray(header->shape, header->dtype, error);
  if (!array || !readBytes(file.get(), array->bytes.get(), array->byteSize,
                           "file ends inside its data", error))
    return std::nullopt;
  if (header->isBigEndian)
    swapBytes(*array);
  return header->isFortranOrder ? fromFortranOrder(*array, error)
                                : std::move(array);
}

/// The header with its prefix, padded so that the elements begin at a multiple
/// of 64 bytes, as NumPy does for readers that map the file. Version 1.0: 64
/// dimensions of 19 digits are far below what its length field holds.
std::string startOfFile(const Array &array) {
  std::string text = printNpyHeader({array.shape, array.dtype});
  constexpr size_t prefix = magic.size() + 4, alignment = 64;
  size_t total =
      (prefix + text.size() + 1 + alignment - 1) / alignment * alignment;
  text.resize(total - prefix - 1, ' ');
  text += '\n';
  std::string start(magic);
  start += {'\1', '\0', char(text.size() & 0xFF), char(text.size() >> 8)};
  return start + text;
}

/// Writes everything to `descriptor` and closes it, whatever happens: a full
/// disk may only be noticed when the file is closed.
bool writeAndClose(int descriptor, const Array &array) {
  std::FILE *file = fdopen(descriptor, "wb");
  if (!file) {
    close(descriptor);
    return false;
  }
  std::string start = startOfFile(array);
  bool written =
      std::fwrite(start.data(), 1, start.size(), file) == start.size() &&
      (array.byteSize == 0 || std::fwrite(array.bytes.get(), 1, array.byteSize,
                                          file) == array.byteSize);
  int reason = errno;
  bool closed = std::fclose(file) == 0;
  if (!written)
    errno = reason;
  return written && closed;
}

/// Sets errno on failure and leaves no file behind. The result has the
/// permissions that the umask gives.
bool replaceFile(const char *path, const Array &array) {
  std::optional<NewFile> file = NewFile::create(path, 0666);
  if (!file)
    return false;
  int descriptor = fcntl(file->descriptor(), F_DUPFD_CLOEXEC, 0);
  return descriptor >= 0 && writeAndClose(descriptor, array) && file->keep();
}

bool writeInPlace(const char *path, const Array &array) {
  int descriptor = open(path, O_WRONLY | O_CLOEXEC);
  return descriptor >= 0 && writeAndClose(descriptor, array);
}

bool failWith(const char *path, std::string &error) {
  error = std::string(path) + ": " + error;
  return false;
}

} // namespace

std::optional<Array> numera::host::makeArray(std::vector<int64_t> shape,
                                             DType dtype, std::string &error) {
  std::optional<size_t> bytes = byteSizeOf(shape, dtype, error);
  if (!bytes)
    return std::nullopt;
  // aligned_alloc wants a multiple of the alignment, and one that is not zero
  // keeps `bytes` from being null. 63 bits of size leave room to round up.
  constexpr size_t unit = Array::alignment;
  auto *memory = static_cast<std::byte *>(
      std::aligned_alloc(unit, (*bytes / unit + 1) * unit));
  if (!memory) {
    error = "cannot allocate " + std::to_string(*bytes) + " bytes";
    return std::nullopt;
  }
  Array array;
  array.shape = std::move(shape);
  array.dtype = dtype;
  array.byteSize = *bytes;
  array.bytes.reset(memory);
  return array;
}

bool numera::host::readNpy(const char *path, Array &out, std::string &error) {
  std::optional<Array> array = readArray(path, error);
  if (!array)
    return failWith(path, error);
  out = std::move(*array);
  return true;
}

bool numera::host::writeNpy(const char *path, const Array &array,
                            std::string &error) {
  std::optional<size_t> bytes = byteSizeOf(array.shape, array.dtype, error);
  if (!bytes)
    return failWith(path, error);
  if (*bytes != array.byteSize) {
    error = "shape " + printShape(array.shape) + " of '" +
            std::string(spelling(array.dtype)) + "' takes " +
            std::to_string(*bytes) + " bytes; the array holds " +
            std::to_string(array.byteSize);
    return failWith(path, error);
  }
  struct stat status;
  bool special = stat(path, &status) == 0 && !S_ISREG(status.st_mode);
  if (special ? writeInPlace(path, array) : replaceFile(path, array))
    return true;
  error = systemError("cannot write");
  return failWith(path, error);
}
