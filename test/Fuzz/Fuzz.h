// SPDX-License-Identifier: MIT
//
// What the fuzzers share: promises that any input must keep.

#ifndef NUMERA_TEST_FUZZ_FUZZ_H
#define NUMERA_TEST_FUZZ_FUZZ_H

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>

namespace numera::fuzz {

/// Ends the process, with a line, where a promise does not hold.
inline void promise(bool holds, const llvm::Twine &what) {
  if (holds)
    return;
  llvm::errs() << "broken promise: " << what << '\n';
  std::abort();
}

/// The bytes of an input as text.
inline llvm::StringRef textOf(const uint8_t *data, size_t size) {
  return {reinterpret_cast<const char *>(data), size};
}

/// One line of error, `place:line:column: error: …`.
inline void promiseOneLine(llvm::StringRef errors, llvm::StringRef place) {
  promise(errors.consume_front(place) && errors.consume_front(":") &&
              llvm::isDigit(errors.empty() ? 'x' : errors.front()) &&
              errors.contains(": error: "),
          "an error has a place: " + errors);
  promise(errors.count('\n') == 1 && errors.ends_with("\n"),
          "an error is one line: " + errors);
}

} // namespace numera::fuzz

#endif // NUMERA_TEST_FUZZ_FUZZ_H
