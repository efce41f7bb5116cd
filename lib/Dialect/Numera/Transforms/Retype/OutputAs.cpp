// SPDX-License-Identifier: MIT

#include "numera/Dialect/Numera/Transforms/Retype/OutputAs.h"

#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using namespace numera;

std::optional<SmallVector<OutputAs>> numera::readOutputAs(StringRef list) {
  SmallVector<StringRef> words;
  list.split(words, ',');
  SmallVector<OutputAs> read;
  for (StringRef word : words) {
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

StringRef numera::outputAsChoices() {
  return "f32, f64, storage or model, or one for each result, as in "
         "f32,storage";
}
