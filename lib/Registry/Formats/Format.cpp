// SPDX-License-Identifier: MIT

#include "numera/Registry/Formats/Format.h"
#include "numera/Registry/Formats/FormatFamily.h"
#include "numera/Registry/Formats/Words.h"
#include <algorithm>
#include <bit>

using namespace numera;

std::string Format::spelling() const { return family->spelling(*this); }

const OperationChange *Format::changeOf(OpKind operation) const {
  for (const OperationChange &change : changes)
    if (change.operation == operation)
      return &change;
  return nullptr;
}

Format Format::withRounding(Rounding rounding, int32_t randomBits) const {
  Format format = *this;
  format.rounding = rounding;
  format.randomBits = rounding == Rounding::Stochastic ? randomBits : 0;
  return format;
}

Format Format::withChanges(llvm::ArrayRef<OperationChange> changes) const {
  Format format = *this;
  format.changes.assign(changes.begin(), changes.end());
  return format;
}

unsigned Format::width() const { return family->width(*this); }

unsigned Format::storageBits() const {
  return std::max(8u, std::bit_ceil(width()));
}

llvm::ArrayRef<Word> numera::roundingWords() {
  static constexpr Word words[] = {
      {"nearest-even", int32_t(Rounding::NearestEven)},
      {"nearest-away", int32_t(Rounding::NearestAway)},
      {"nearest-zero", int32_t(Rounding::NearestZero)},
      {"toward-zero", int32_t(Rounding::TowardZero)},
      {"up", int32_t(Rounding::Up)},
      {"down", int32_t(Rounding::Down)},
      {"to-odd", int32_t(Rounding::ToOdd)},
      {"stochastic", int32_t(Rounding::Stochastic)},
  };
  return words;
}

llvm::ArrayRef<Word> numera::overflowWords() {
  static constexpr Word words[] = {
      {"infinity", int32_t(Overflow::Infinity)},
      {"saturate", int32_t(Overflow::Saturate)},
      {"propagate", int32_t(Overflow::Propagate)},
      {"wrap", int32_t(Overflow::Wrap)},
  };
  return words;
}

llvm::StringRef numera::nameOf(Rounding rounding) {
  return wordFor(roundingWords(), static_cast<int32_t>(rounding));
}
llvm::StringRef numera::nameOf(Overflow overflow) {
  return wordFor(overflowWords(), static_cast<int32_t>(overflow));
}

std::optional<Rounding> numera::roundingFromName(llvm::StringRef name) {
  const Word *word = findWord(roundingWords(), name);
  if (!word)
    return std::nullopt;
  return static_cast<Rounding>(word->value);
}
std::optional<Overflow> numera::overflowFromName(llvm::StringRef name) {
  const Word *word = findWord(overflowWords(), name);
  if (!word)
    return std::nullopt;
  return static_cast<Overflow>(word->value);
}
