// SPDX-License-Identifier: MIT
//
// How a family reads its parameters: by key, with ranges and words checked.
// Each function returns false after the first fault and leaves the message in
// the ParameterError.

#ifndef NUMERA_REGISTRY_FORMATS_PARAMETERREADER_H
#define NUMERA_REGISTRY_FORMATS_PARAMETERREADER_H

#include "numera/Registry/Formats/FormatFamily.h"
#include "numera/Registry/Formats/Words.h"

namespace numera {

class ParameterReader {
public:
  ParameterReader(const FormatFamily &family,
                  llvm::ArrayRef<Parameter> parameters, ParameterError &error)
      : family(family), parameters(parameters), error(error) {}

  /// No key twice, and none but `known`; those in `later` are for a version to
  /// come.
  bool checkKeys(llvm::ArrayRef<llvm::StringRef> known,
                 llvm::ArrayRef<llvm::StringRef> later = {});

  bool has(llvm::StringRef key) const { return indexOf(key) >= 0; }
  /// The key must be given.
  bool require(llvm::StringRef key);

  /// The integer at `key`; `value` keeps its default where the key is absent.
  bool readInteger(llvm::StringRef key, int32_t least, int32_t most,
                   int32_t &value);
  /// The same for one of `words`.
  template <typename T>
  bool readWord(llvm::StringRef key, llvm::ArrayRef<Word> words, T &value) {
    auto number = static_cast<int32_t>(value);
    if (!readWordAsNumber(key, words, number))
      return false;
    value = static_cast<T>(number);
    return true;
  }

  /// Reports a fault at the value of `key`, or at the whole where the key is
  /// absent. Returns false.
  bool fail(llvm::StringRef key, const llvm::Twine &message);

private:
  int indexOf(llvm::StringRef key) const;
  bool readWordAsNumber(llvm::StringRef key, llvm::ArrayRef<Word> words,
                        int32_t &value);

  const FormatFamily &family;
  llvm::ArrayRef<Parameter> parameters;
  ParameterError &error;
};

} // namespace numera

#endif // NUMERA_REGISTRY_FORMATS_PARAMETERREADER_H
