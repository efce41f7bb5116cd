// SPDX-License-Identifier: MIT
//
// NumPy's .npy files, versions 1.0 to 3.0: one array. Files are untrusted:
// reading any file returns an array or a one-line error, and never allocates
// more than the file holds; twice as much for an array in Fortran order.

#ifndef NUMERA_RUNTIME_NPY_H
#define NUMERA_RUNTIME_NPY_H

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace numera::host {

/// Element types under NumPy's names: kind, then bytes. The values are no ABI.
/// NumPy has no bfloat16; that of the package ml_dtypes is saved as two bytes
/// without a meaning, V2. Codes of more than 64 bits are such bytes, too.
enum class DType : uint8_t {
  f2,
  f4,
  f8,
  i1,
  i2,
  i4,
  i8,
  u1,
  u2,
  u4,
  u8,
  b1,
  bf2,
  v16,
  v32
};

/// The number of bytes of one element.
size_t sizeOf(DType dtype);

/// The spelling in a header, for instance `<f4` or `|u1`.
std::string_view spelling(DType dtype);

/// The most dimensions an array may have, as in NumPy.
inline constexpr size_t maxRank = 64;

struct FreeBytes {
  void operator()(std::byte *bytes) const { std::free(bytes); }
};

/// A dense array in row-major order. A scalar has the empty shape.
struct Array {
  /// What `bytes` is aligned to: a cache line, and the widest vector.
  static constexpr size_t alignment = 64;

  std::vector<int64_t> shape;
  DType dtype = DType::f4;
  size_t byteSize = 0;
  std::unique_ptr<std::byte[], FreeBytes> bytes;

  size_t size() const { return byteSize / sizeOf(dtype); }

  /// The elements, where `T` is the C++ type of `dtype`.
  template <typename T> T *data() { return reinterpret_cast<T *>(bytes.get()); }
  template <typename T> const T *data() const {
    return reinterpret_cast<const T *>(bytes.get());
  }
};

/// Allocates an array whose elements are not initialised. On failure (a
/// negative or an overflowing shape, no memory) says why in `error`.
std::optional<Array> makeArray(std::vector<int64_t> shape, DType dtype,
                               std::string &error);

/// Reads `path` into `out`, which is in C order and little endian, whatever the
/// file is. On failure leaves `out` unchanged, sets `error` to a line that
/// begins with `path`, and returns false.
bool readNpy(const char *path, Array &out, std::string &error);

/// Writes `array` to `path`, in C order and little endian. The file appears
/// complete or not at all: the bytes go to a temporary file beside it, which is
/// then renamed; a device or a pipe is written in place. Errors are those of
/// `readNpy`.
bool writeNpy(const char *path, const Array &array, std::string &error);

} // namespace numera::host

#endif // NUMERA_RUNTIME_NPY_H
