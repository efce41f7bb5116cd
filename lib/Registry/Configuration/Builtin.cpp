// SPDX-License-Identifier: MIT
//
// The YAML files of Builtin/, which the build has turned into string literals.

#include "Builtin.h"

using namespace numera;

llvm::ArrayRef<BuiltinFile> numera::builtinFiles() {
  static constexpr BuiltinFile files[] = {
#include "BuiltinFiles.inc"
  };
  return files;
}
