// SPDX-License-Identifier: MIT
//
// Names nest as well: after `#a1 = [#a0]` an `#a1` is as deep as what it stands
// for. MLIR wants a definition before its uses, except for locations of
// operations, so one reading of the text finds how deep each name is.

#include "Nesting.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include <algorithm>

using namespace llvm;
using namespace numera;

static bool isInName(char c) {
  return isAlnum(c) || StringRef("_$.-").contains(c);
}

/// Where the string that begins at `at` ends, or its line.
static size_t skipString(StringRef text, size_t at) {
  for (++at; at < text.size() && text[at] != '"' && text[at] != '\n'; ++at)
    at += text[at] == '\\';
  return at;
}

/// Where there is neither space nor a comment, from `at` on.
static size_t skipSpace(StringRef text, size_t at) {
  while (at < text.size()) {
    if (text.substr(at).starts_with("//"))
      at = std::min(text.find('\n', at), text.size());
    else if (isSpace(text[at]))
      ++at;
    else
      break;
  }
  return at;
}

namespace {

/// How deep brackets and names nest where a text is read.
class Depths {
public:
  void open() { note(++depth); }
  void close() { depth -= depth > 0; }
  bool isTooDeep() const { return deepest > deepestNesting; }

  /// Of a name: what follows is what it stands for.
  void define(StringRef name) {
    finish();
    defined = name;
    base = depth;
  }
  void use(StringRef name) {
    auto known = names.find(name);
    // A function returns what a name stands for without a bracket around it.
    if (known != names.end())
      note(std::max(depth, base + 1) + known->second);
  }
  /// A line begins with the word of an operation, perhaps.
  void beginOperation() {
    if (depth == base)
      finish();
  }

private:
  void note(unsigned found) {
    deepest = std::max(deepest, found);
    own = std::max(own, found - std::min(found, base));
  }
  void finish() {
    if (!defined.empty())
      names[defined] = own;
    defined = {};
    base = own = 0;
  }

  unsigned depth = 0, deepest = 0;
  StringRef defined;          ///< the name that is being defined, or none
  unsigned base = 0, own = 0; ///< depth around the definition, and in it
  StringMap<unsigned> names;
};

} // namespace

/// True where what stands before `end` goes on in the next line.
static bool goesOn(StringRef text, size_t end) {
  StringRef before = text.take_front(end).rtrim();
  return before.empty() || StringRef("=:,-").contains(before.back()) ||
         before.ends_with("->");
}

/// Reads the name that begins at `at`, with what says that it is defined.
static size_t readName(StringRef text, size_t at, Depths &depths) {
  size_t end = at + 1;
  while (end < text.size() && isInName(text[end]))
    ++end;
  bool isResult = at > 0 && isInName(text[at - 1]); // %0#1
  if (end == at + 1 || isResult)
    return end;
  StringRef name = text.slice(at, end);
  size_t next = skipSpace(text, end);
  StringRef rest = text.substr(next);
  if (!rest.starts_with("=") || rest.starts_with("==")) {
    depths.use(name);
    return end;
  }
  depths.define(name);
  return next + 1;
}

std::optional<TooDeep> numera::findTooDeep(StringRef text) {
  Depths depths;
  unsigned signs = 0; // of one expression, as of affine maps
  size_t read = 0;    // where what is no space or comment ends
  for (size_t i = skipSpace(text, 0); i < text.size(); i = skipSpace(text, i)) {
    char c = text[i], next = i + 1 < text.size() ? text[i + 1] : '\0';
    bool isFirst = text.slice(read, i).contains('\n');
    if (isFirst && (isAlpha(c) || c == '"' || c == '%') && !goesOn(text, read))
      depths.beginOperation();
    size_t begin = i++;
    switch (c) {
    case '"':
      i = skipString(text, begin) + 1;
      break;
    case '#':
    case '!':
      i = readName(text, begin, depths);
      break;
    case '(':
      depths.open();
      break;
    case ')':
      depths.close();
      break;
    case '[':
    case '{':
      signs = 0;
      depths.open();
      break;
    case ']':
    case '}':
      signs = 0;
      depths.close();
      break;
    case '<':
      signs = 0;
      if (next != '=')
        depths.open();
      break;
    case '>': // but of -> and >=
      signs = 0;
      if (next != '=' && !text.take_front(begin).ends_with("-"))
        depths.close();
      break;
    case '+':
    case '-':
      ++signs;
      break;
    case ',':
    case ':':
    case '=':
      signs = 0;
      break;
    default:
      while (i < text.size() && isInName(text[i]) && text[i] != '-')
        ++i;
    }
    read = i;
    if (signs > deepestNesting)
      return TooDeep{begin, {}};
    if (depths.isTooDeep())
      return TooDeep{begin,
                     c == '#' || c == '!' ? text.slice(begin, i) : StringRef()};
  }
  return std::nullopt;
}
