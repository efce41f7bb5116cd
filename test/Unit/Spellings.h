// SPDX-License-Identifier: MIT
//
// Formats of tests by their spelling, and what is said about wrong ones.

#ifndef NUMERA_TEST_UNIT_SPELLINGS_H
#define NUMERA_TEST_UNIT_SPELLINGS_H

#include "numera/Registry/Formats/FormatFamily.h"

#include <gtest/gtest.h>

namespace numera::test {

inline Format parse(llvm::StringRef text) {
  SpellingError error;
  Format format = parseFormatSpelling(text, error);
  EXPECT_TRUE(format) << text.str() << ": " << error.message;
  return format;
}

/// `column: message`.
inline std::string fault(llvm::StringRef text) {
  SpellingError error;
  EXPECT_FALSE(parseFormatSpelling(text, error)) << text.str();
  return std::to_string(error.column) + ": " + error.message;
}

} // namespace numera::test

#endif // NUMERA_TEST_UNIT_SPELLINGS_H
