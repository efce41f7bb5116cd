// SPDX-License-Identifier: MIT

#include "numera/Registry/Formats/Words.h"
#include <algorithm>

using namespace numera;

const Word *numera::findWord(llvm::ArrayRef<Word> words, llvm::StringRef text) {
  for (const Word &word : words)
    if (word.text == text)
      return &word;
  return nullptr;
}

llvm::StringRef numera::wordFor(llvm::ArrayRef<Word> words, int32_t value) {
  for (const Word &word : words)
    if (word.value == value)
      return word.text;
  return {};
}

llvm::SmallVector<llvm::StringRef>
numera::supported(llvm::ArrayRef<Word> words) {
  llvm::SmallVector<llvm::StringRef> texts;
  for (const Word &word : words)
    texts.push_back(word.text);
  return texts;
}

std::string numera::listed(llvm::ArrayRef<llvm::StringRef> words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i != 0)
      text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

llvm::StringRef numera::nearest(llvm::StringRef word,
                                llvm::ArrayRef<llvm::StringRef> candidates) {
  // A third of the letters may be wrong; case is no mistake of its own.
  auto size = static_cast<unsigned>(word.size());
  unsigned bound = size < 2 ? 1 : (size + 2) / 3 + 1;
  llvm::StringRef found;
  for (llvm::StringRef candidate : candidates) {
    unsigned distance =
        word.equals_insensitive(candidate)
            ? 0
            : word.edit_distance(candidate, /*AllowReplacements=*/true, bound);
    if (distance < bound) {
      bound = distance;
      found = candidate;
    }
  }
  return found;
}

std::string numera::expectation(llvm::StringRef word,
                                llvm::ArrayRef<llvm::StringRef> candidates) {
  llvm::StringRef near = nearest(word, candidates);
  if (near.empty())
    return ", expected " + listed(candidates);
  return ", did you mean '" + near.str() + "'?";
}
