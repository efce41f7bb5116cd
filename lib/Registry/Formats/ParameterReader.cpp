// SPDX-License-Identifier: MIT

#include "numera/Registry/Formats/ParameterReader.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

using namespace numera;

int ParameterReader::indexOf(llvm::StringRef key) const {
  for (size_t i = 0; i < parameters.size(); ++i)
    if (parameters[i].key == key)
      return static_cast<int>(i);
  return -1;
}

bool ParameterReader::fail(llvm::StringRef key, const llvm::Twine &message) {
  error = {.index = indexOf(key), .atKey = false, .message = message.str()};
  return false;
}

bool ParameterReader::checkKeys(llvm::ArrayRef<llvm::StringRef> known,
                                llvm::ArrayRef<llvm::StringRef> later) {
  for (size_t i = 0; i < parameters.size(); ++i) {
    llvm::StringRef key = parameters[i].key;
    std::string message;
    if (llvm::is_contained(later, key))
      message = ("'" + key + "' is not supported yet, leave it out").str();
    else if (!llvm::is_contained(known, key))
      message = ("unknown key '" + key + "' of family '" + family.name() + "'" +
                 expectation(key, known))
                    .str();
    else if (indexOf(key) != static_cast<int>(i))
      message = ("'" + key + "' is given twice, give it once").str();
    else
      continue;
    error = {.index = static_cast<int>(i), .atKey = true, .message = message};
    return false;
  }
  return true;
}

bool ParameterReader::require(llvm::StringRef key) {
  if (asked) {
    asked->required.push_back(key.str());
    return true;
  }
  return has(key) || fail(key, "'" + key + "' is missing, family '" +
                                   family.name() + "' needs it");
}

bool ParameterReader::readInteger(llvm::StringRef key, int32_t least,
                                  int32_t most, int32_t &value) {
  if (asked)
    asked->integers.push_back({key.str(), least, most});
  int index = indexOf(key);
  if (index < 0)
    return true;
  llvm::StringRef text = parameters[index].value;
  if (!text.getAsInteger(10, value) && value >= least && value <= most)
    return true;
  return fail(key, key + " is '" + text + "', expected an integer from " +
                       llvm::Twine(least) + " to " + llvm::Twine(most));
}

bool ParameterReader::readWordAsNumber(llvm::StringRef key,
                                       llvm::ArrayRef<Word> words,
                                       int32_t &value) {
  int index = indexOf(key);
  if (index < 0)
    return true;
  llvm::StringRef text = parameters[index].value;
  const Word *word = findWord(words, text);
  if (!word)
    return fail(key, key + " is '" + text + "'" +
                         llvm::Twine(expectation(text, supported(words))));
  value = word->value;
  return true;
}
