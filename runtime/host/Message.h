// SPDX-License-Identifier: MIT
//
// The message of an entry to its caller: one line.

#ifndef NUMERA_RUNTIME_HOST_MESSAGE_H
#define NUMERA_RUNTIME_HOST_MESSAGE_H

#include "CallContext.h"
#include "numera/Runtime/numera.h"

#include <cstdarg>
#include <cstdio>

namespace numera::host {

/// A line in the caller's buffer, cut off where the buffer ends.
class Message {
public:
  Message(char *text, size_t size) : text(text), size(text ? size : 0) {}

  /// Appends. Always false, so that a check can end in `return fault().add(…)`.
  __attribute__((format(printf, 2, 3))) bool add(const char *format, ...) {
    Roomy<va_list> arguments;
    va_start(arguments.value, format);
    if (used < size) {
      int length =
          std::vsnprintf(text + used, size - used, format, arguments.value);
      used += length > 0 ? size_t(length) : 0;
    }
    va_end(arguments.value);
    return false;
  }

  /// `(2, 3)`; a dynamic dimension of a type is `?`, a negative one of a tensor
  /// a number.
  bool addShape(const int64_t *shape, int32_t rank, bool isOfType = true) {
    add("(");
    for (int32_t i = 0; i < rank; ++i)
      if (shape[i] < 0 && isOfType)
        add(i ? ", ?" : "?");
      else
        add("%s%lld", i ? ", " : "", static_cast<long long>(shape[i]));
    return add(")");
  }

private:
  char *text;
  size_t size;
  size_t used = 0;
};

inline const char *nameOfDType(int32_t dtype) {
  static const char *const names[] = {"f32",  "f64", "i8",   "i16",  "i32",
                                      "i64",  "u8",  "u16",  "u32",  "u64",
                                      "bool", "f16", "bf16", "u128", "u256"};
  return dtype >= 1 && dtype <= NUMERA_U256 ? names[dtype - 1] : "unknown";
}

/// The first of some features.
inline const char *nameOfFeature(uint64_t features) {
  static const char *const names[] = {
#define NUMERA_X86_FEATURE(name, leaf, subleaf, reg, bit, state) name,
#include "numera/Runtime/X86Features.def"
  };
  constexpr int count = int(sizeof names / sizeof names[0]);
  int first = __builtin_ctzll(features);
  return first < count ? names[first] : "such feature";
}

} // namespace numera::host

#endif // NUMERA_RUNTIME_HOST_MESSAGE_H
