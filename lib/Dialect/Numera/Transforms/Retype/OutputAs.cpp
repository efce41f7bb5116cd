// SPDX-License-Identifier: MIT

#include "numera/Dialect/Numera/Transforms/Retype/OutputAs.h"

#include "llvm/ADT/StringSwitch.h"

namespace numera {

std::optional<llvm::SmallVector<OutputAs>> readOutputAs(llvm::StringRef list) {
  llvm::SmallVector<llvm::StringRef> words;
  list.split(words, ',');
  llvm::SmallVector<OutputAs> read;
  for (llvm::StringRef word : words) {
    auto known = llvm::StringSwitch<std::optional<OutputAs>>(word)
                     .Case("model", OutputAs::Model)
                     .Case("f32", OutputAs::F32)
                     .Case("f64", OutputAs::F64)
                     .Case("storage", OutputAs::Storage)
                     .Default(std::nullopt);
    if (!known)
      return std::nullopt;
    read.push_back(*known);
  }
  return read;
}

llvm::StringRef outputAsChoices() {
  return "f32, f64, storage or model, or one for each result, as in "
         "f32,storage";
}

} // namespace numera
