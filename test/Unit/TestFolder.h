// SPDX-License-Identifier: MIT
//
// A folder of a test's own with the libraries that configurations name.

#ifndef NUMERA_TEST_UNIT_TESTFOLDER_H
#define NUMERA_TEST_UNIT_TESTFOLDER_H

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

namespace numera::test {

/// A folder with a file `lib.c` and a file `lib.so`.
class Folder {
public:
  Folder() {
    EXPECT_FALSE(llvm::sys::fs::createUniqueDirectory("numera", path));
    for (const char *name : {"lib.c", "lib.so"}) {
      std::error_code error;
      llvm::raw_fd_ostream file((path + "/" + name).str(), error);
      EXPECT_FALSE(error);
    }
  }
  ~Folder() { llvm::sys::fs::remove_directories(path); }

  std::string write(llvm::StringRef name, llvm::StringRef text) const {
    std::string full = (path + "/" + name).str();
    std::error_code error;
    llvm::raw_fd_ostream(full, error) << text;
    return full;
  }

  llvm::SmallString<128> path;
};

} // namespace numera::test

#endif // NUMERA_TEST_UNIT_TESTFOLDER_H
