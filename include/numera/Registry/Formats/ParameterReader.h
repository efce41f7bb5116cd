// SPDX-License-Identifier: MIT
//
// A family reads its parameters by key; ranges and words are checked. Each
// function returns false on the first error and sets the ParameterError.

#ifndef NUMERA_REGISTRY_FORMATS_PARAMETERREADER_H
#define NUMERA_REGISTRY_FORMATS_PARAMETERREADER_H

#include "numera/Registry/Formats/FormatFamily.h"
#include "numera/Registry/Formats/Words.h"
#include <string>
#include <vector>

namespace numera {

class ParameterReader {
public:
  /// What a family asks a reader for; the schema of configurations says it.
  struct Asked {
    struct Integer {
      std::string key;
      int32_t least, most;
    };
    std::vector<Integer> integers;
    std::vector<std::string> required;
  };

  /// Of no parameters: notes what is asked for, and lets everything be.
  ParameterReader(const FormatFamily &family, Asked &asked)
      : family(family), error(ignored), asked(&asked) {}

  ParameterReader(const FormatFamily &family,
                  llvm::ArrayRef<Parameter> parameters, ParameterError &error)
      : family(family), parameters(parameters), error(error) {}

  /// Checks that no key is given twice, and that all are `known`. Keys in
  /// `later` are reserved for a later version.
  bool checkKeys(llvm::ArrayRef<llvm::StringRef> known,
                 llvm::ArrayRef<llvm::StringRef> later = {});

  bool has(llvm::StringRef key) const { return indexOf(key) >= 0; }
  /// The key must be given.
  bool require(llvm::StringRef key);

  /// Reads the integer at `key`; `value` keeps its default if the key is
  /// absent.
  bool readInteger(llvm::StringRef key, int32_t least, int32_t most,
                   int32_t &value);
  /// Reads one of `words`.
  template <typename T>
  bool readWord(llvm::StringRef key, llvm::ArrayRef<Word> words, T &value) {
    auto number = static_cast<int32_t>(value);
    if (!readWordAsNumber(key, words, number))
      return false;
    value = static_cast<T>(number);
    return true;
  }

  /// Reports an error at the value of `key`, or at the whole if the key is
  /// absent. Returns false.
  bool fail(llvm::StringRef key, const llvm::Twine &message);

private:
  int indexOf(llvm::StringRef key) const;
  bool readWordAsNumber(llvm::StringRef key, llvm::ArrayRef<Word> words,
                        int32_t &value);

  const FormatFamily &family;
  llvm::ArrayRef<Parameter> parameters;
  ParameterError ignored = {};
  ParameterError &error;
  Asked *asked = nullptr;
};

} // namespace numera

#endif // NUMERA_REGISTRY_FORMATS_PARAMETERREADER_H
