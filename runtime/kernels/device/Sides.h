// SPDX-License-Identifier: MIT
//
// Reading an operand of a contraction: what differs between rows and columns,
// and elements that lie in a row.

#ifndef NUMERA_KERNELS_DEVICE_SIDES_H
#define NUMERA_KERNELS_DEVICE_SIDES_H

#include "Hooks.h"

namespace numera::kernel {

struct RowSide {
  static Layout layout() { return Layout::of(numera_hook_row_layout()); }
  static Raw fetch(const void *base, int64_t index) {
    return numera_hook_fetch_row(base, index);
  }
  static Factor decode(Raw raw) { return numera_hook_row(raw); }
};
struct ColumnSide {
  static Layout layout() { return Layout::of(numera_hook_column_layout()); }
  static Raw fetch(const void *base, int64_t index) {
    return numera_hook_fetch_column(base, index);
  }
  static Factor decode(Raw raw) { return numera_hook_column(raw); }
};

/// `count` elements that lie in a row, on their way.
template <int count> class Run {
public:
  /// All of them, of `bytes` each, in as few loads as there can be.
  void fetch(const char *from, int bytes) {
    typedef uint32_t Words __attribute__((ext_vector_type(4)));
    switch (int total = count * bytes) {
    case 1:
      return take<uint8_t>(from, 0);
    case 2:
      return take<uint16_t>(from, 0);
    case 4:
      return take<uint32_t>(from, 0);
    case 8:
      return take<uint64_t>(from, 0);
    default:
#pragma unroll
      for (int at = 0; at < int(sizeof words); at += 16)
        if (at < total)
          take<Words>(from, at);
    }
  }

  /// Four bytes of what was fetched.
  uint32_t word(int i) const { return words[i]; }

  /// The bits of element `i` of what was fetched.
  Raw element(int i, int bytes) const {
    switch (bytes) {
    case 1:
      return words[i / 4] >> 8 * (i % 4) & 0xff;
    case 2:
      return words[i / 2] >> 16 * (i % 2) & 0xffff;
    case 4:
      return words[i];
    default:
      return words[2 * i] | Raw(words[2 * i + 1]) << 32;
    }
  }

private:
  template <typename Word> void take(const char *from, int at) {
    Word word = *reinterpret_cast<const Word *>(from + at);
    __builtin_memcpy(words + at / 4, &word, sizeof word);
  }

  alignas(16) uint32_t words[count < 2 ? 4 : 2 * count];
};

} // namespace numera::kernel

#endif // NUMERA_KERNELS_DEVICE_SIDES_H
