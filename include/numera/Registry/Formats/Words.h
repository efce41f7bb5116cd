// SPDX-License-Identifier: MIT
//
// Words of files and spellings, their values, and the text of an error about an
// unknown word.

#ifndef NUMERA_REGISTRY_FORMATS_WORDS_H
#define NUMERA_REGISTRY_FORMATS_WORDS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <stdint.h>
#include <string>

namespace numera {

struct Word {
  llvm::StringLiteral text;
  int32_t value;
};

llvm::ArrayRef<Word> roundingWords();
llvm::ArrayRef<Word> overflowWords();

const Word *findWord(llvm::ArrayRef<Word> words, llvm::StringRef text);
/// The text for a value; empty if there is none.
llvm::StringRef wordFor(llvm::ArrayRef<Word> words, int32_t value);

/// The texts of the words that are supported.
llvm::SmallVector<llvm::StringRef> supported(llvm::ArrayRef<Word> words);

/// `a, b or c`.
std::string listed(llvm::ArrayRef<llvm::StringRef> words);

/// The candidate that `word` was probably meant to be; empty if none is near.
llvm::StringRef nearest(llvm::StringRef word,
                        llvm::ArrayRef<llvm::StringRef> candidates);

/// How an error about an unknown word ends: `, did you mean 'x'?` or
/// `, expected a, b or c`.
std::string expectation(llvm::StringRef word,
                        llvm::ArrayRef<llvm::StringRef> candidates);

} // namespace numera

#endif // NUMERA_REGISTRY_FORMATS_WORDS_H
