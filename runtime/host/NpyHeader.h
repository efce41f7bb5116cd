// SPDX-License-Identifier: MIT
//
// The text inside a .npy header: a Python dictionary literal with the three
// keys 'descr', 'fortran_order' and 'shape', for instance
//
//   {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }

#ifndef NUMERA_RUNTIME_HOST_NPYHEADER_H
#define NUMERA_RUNTIME_HOST_NPYHEADER_H

#include "numera/Runtime/Npy.h"

namespace numera::host {

struct NpyHeader {
  std::vector<int64_t> shape;
  DType dtype = DType::f4;
  /// The first index runs fastest.
  bool isFortranOrder = false;
  /// Elements have their most significant byte first.
  bool isBigEndian = false;
};

/// Parses `text`, which may hold any bytes. Accepts what NumPy writes, in any
/// order of keys and with either kind of quote, and rejects everything else
/// with a line in `error`.
std::optional<NpyHeader> parseNpyHeader(std::string_view text,
                                        std::string &error);

/// The dictionary as NumPy writes it, without padding or newline, of an array
/// in C order, little endian.
std::string printNpyHeader(const NpyHeader &header);

/// `shape` as Python spells a tuple: `()`, `(3,)`, `(3, 4)`.
std::string printShape(const std::vector<int64_t> &shape);

/// The bytes that `shape` elements take. None, with a line in `error`, for a
/// negative dimension, too many dimensions, or more bytes than an int64_t
/// counts.
std::optional<size_t> byteSizeOf(const std::vector<int64_t> &shape, DType dtype,
                                 std::string &error);

} // namespace numera::host

#endif // NUMERA_RUNTIME_HOST_NPYHEADER_H
