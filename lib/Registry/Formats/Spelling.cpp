// SPDX-License-Identifier: MIT
//
// The grammar of spellings, the same for every family:
//
//   spelling  = family "<" ["\"" name "\"" ","] parameter {"," parameter} ">"
//   parameter = value | word | key "=" value
//
// Values without a key come first and belong to the family's positional keys,
// in order. Spaces may stand between all parts. The quoted name is an opaque
// format's.

#include "numera/Registry/Formats/FormatFamily.h"
#include "numera/Registry/Formats/Words.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

using namespace numera;

namespace {

class SpellingParser {
public:
  SpellingParser(llvm::StringRef text, SpellingError &error)
      : text(text), error(error) {}

  Format parse();

private:
  /// Where a parameter's key (or the whole of a bare one) and its value begin.
  struct Place {
    size_t key, value;
  };

  bool parseFamily();
  bool parseName();
  bool parseParameter();
  std::string wordsInsteadOf(llvm::StringRef word) const;
  bool parseEnd();

  void skipSpaces() {
    position += text.substr(position).take_while(llvm::isSpace).size();
  }
  /// The next character; '\0' at the end.
  char peek() {
    skipSpaces();
    return position < text.size() ? text[position] : '\0';
  }
  bool consume(char c) {
    if (peek() != c)
      return false;
    ++position;
    return true;
  }
  /// Letters, digits, '_', '-' and '.'; empty if there are none.
  llvm::StringRef takeWord() {
    skipSpaces();
    llvm::StringRef word = text.substr(position).take_while([](char c) {
      return llvm::isAlnum(c) || c == '_' || c == '-' || c == '.';
    });
    position += word.size();
    return word;
  }

  bool fail(size_t column, const llvm::Twine &message) {
    error = {std::min(column, text.size()), message.str()};
    return false;
  }
  bool unexpected(llvm::StringRef expected) {
    char found = peek();
    if (found == '\0')
      return fail(position, "the spelling ends, expected " + expected);
    return fail(position,
                "found '" + llvm::Twine(found) + "', expected " + expected);
  }

  llvm::StringRef text;
  SpellingError &error;
  size_t position = 0;
  const FormatFamily *family = nullptr;
  llvm::StringRef name;
  llvm::SmallVector<Parameter> parameters;
  llvm::SmallVector<Place> places;
};

} // namespace

bool SpellingParser::parseFamily() {
  skipSpaces();
  size_t begin = position;
  llvm::StringRef word = takeWord();
  if (word.empty())
    return unexpected("a family");
  family = findFamily(word);
  if (!family) {
    llvm::SmallVector<llvm::StringRef> names;
    for (const FormatFamily *known : allFamilies())
      names.push_back(known->name());
    return fail(begin,
                "unknown family '" + word + "'" + expectation(word, names));
  }
  return consume('<') || unexpected("'<'");
}

bool SpellingParser::parseName() {
  if (!consume('"'))
    return unexpected("a name in double quotes");
  size_t begin = position, end = text.find('"', position);
  if (end == llvm::StringRef::npos)
    return fail(text.size(), "the spelling ends, expected '\"'");
  name = text.slice(begin, end);
  position = end + 1;
  if (!isFormatName(name))
    return fail(begin, "'" + name +
                           "' is not a name, expected letters, digits "
                           "and '_', a letter or '_' first");
  return consume(',') || unexpected("',' and the number of bits");
}

/// What might stand in the place of a word that the family does not know.
std::string SpellingParser::wordsInsteadOf(llvm::StringRef word) const {
  llvm::SmallVector<llvm::StringRef> words = family->words();
  if (words.empty())
    return ", expected '>'";
  words.push_back("key=value");
  return expectation(word, words);
}

bool SpellingParser::parseParameter() {
  skipSpaces();
  size_t begin = position;
  llvm::StringRef word = takeWord();
  if (word.empty())
    return unexpected("a parameter");
  if (consume('=')) {
    skipSpaces();
    size_t value = position;
    llvm::StringRef text = takeWord();
    if (text.empty())
      return unexpected("a value");
    parameters.push_back({word.str(), text.str()});
    places.push_back({begin, value});
    return true;
  }
  llvm::StringRef key = family->keyOfWord(word);
  llvm::ArrayRef<llvm::StringLiteral> positional = family->positionalKeys();
  size_t index = parameters.size();
  if (key.empty() && index < positional.size())
    key = positional[index];
  if (key.empty())
    return fail(begin, "unknown word '" + word + "' of family '" +
                           family->name() + "'" + wordsInsteadOf(word));
  parameters.push_back({key.str(), word.str()});
  places.push_back({begin, begin});
  return true;
}

bool SpellingParser::parseEnd() {
  if (!consume('>'))
    return unexpected("',' or '>'");
  return peek() == '\0' || unexpected("nothing behind '>'");
}

Format SpellingParser::parse() {
  if (!parseFamily() || (!family->hasArithmetic() && !parseName()))
    return {};
  do {
    if (!parseParameter())
      return {};
  } while (consume(','));
  size_t end = position;
  if (!parseEnd())
    return {};
  ParameterError fault;
  Format format = family->create(parameters, name, fault);
  if (!format) {
    size_t column = end;
    if (fault.index >= 0)
      column =
          fault.atKey ? places[fault.index].key : places[fault.index].value;
    fail(column, fault.message);
  }
  return format;
}

bool numera::isFormatName(llvm::StringRef text) {
  return !text.empty() && !llvm::isDigit(text.front()) &&
         llvm::all_of(text,
                      [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

Format numera::parseFormatSpelling(llvm::StringRef text, SpellingError &error) {
  return SpellingParser(text, error).parse();
}
