// SPDX-License-Identifier: MIT
//
// What configuration files that are wrong are told.

#ifndef NUMERA_TEST_UNIT_CONFIGURATIONERRORS_H
#define NUMERA_TEST_UNIT_CONFIGURATIONERRORS_H

#include "numera/Registry/Registry.h"
#include <gtest/gtest.h>

namespace numera::test {

/// What reading `text` prints, as a file `f.yaml` of the working directory.
inline std::string errorOf(llvm::StringRef text) {
  Registry registry;
  size_t before = registry.formats().size();
  std::string errors;
  llvm::raw_string_ostream stream(errors);
  EXPECT_FALSE(registry.loadText(text, "f.yaml", "", stream));
  EXPECT_EQ(registry.formats().size(), before) << "half a file was kept";
  return errors;
}

/// An entry of `formats`, which begins at line 2, column 3.
inline std::string errorOfFormat(llvm::StringRef entry) {
  return errorOf("formats:\n  " + entry.str() + "\n");
}

/// An entry of `lowerings`, in a file with an opaque format `my`; the mapping
/// begins at line 4, column 5.
inline std::string errorOfLowering(llvm::StringRef entry) {
  return errorOf(
      "formats:\n  my: {family: opaque, bits: 16}\nlowerings:\n  - " +
      entry.str() + "\n");
}

} // namespace numera::test

#endif // NUMERA_TEST_UNIT_CONFIGURATIONERRORS_H
