// SPDX-License-Identifier: MIT

#include "Nesting.h"
#include <algorithm>

using namespace llvm;

/// Where the string that begins at `at` ends, or its line.
static size_t skipString(StringRef text, size_t at) {
  for (++at; at < text.size() && text[at] != '"' && text[at] != '\n'; ++at)
    at += text[at] == '\\';
  return at;
}

size_t numera::findTooDeep(StringRef text) {
  unsigned depth = 0;
  unsigned signs = 0; // of one expression, as of affine maps
  for (size_t i = 0; i < text.size(); ++i) {
    char next = i + 1 < text.size() ? text[i + 1] : '\0';
    switch (text[i]) {
    case '"':
      i = skipString(text, i);
      continue;
    case '/':
      if (next == '/')
        i = text.find('\n', i);
      if (i == StringRef::npos)
        return i;
      continue;
    case '(':
      ++depth;
      break;
    case ')':
      depth -= depth > 0;
      continue;
    case '[':
    case '{':
      signs = 0;
      ++depth;
      break;
    case ']':
    case '}':
      signs = 0;
      depth -= depth > 0;
      continue;
    case '<':
      signs = 0;
      depth += next != '=';
      break;
    case '>': // but of -> and >=
      signs = 0;
      depth -= depth > 0 && next != '=' && !text.take_front(i).ends_with("-");
      continue;
    case '+':
    case '-':
      ++signs;
      break;
    case ',':
    case ':':
    case '=':
      signs = 0;
      continue;
    default:
      continue;
    }
    if (std::max(depth, signs) > deepestNesting)
      return i;
  }
  return StringRef::npos;
}
