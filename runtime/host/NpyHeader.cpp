// SPDX-License-Identifier: MIT
//
// A recursive-descent parser over a bounded view. Every step either consumes
// bytes or fails with the offset it stands at, so it ends on any input.

#include "NpyHeader.h"

#include <algorithm>
#include <array>
#include <utility>

using namespace numera::host;

namespace {

struct DTypeInfo {
  std::string_view spelling;
  size_t bytes;
};

/// In the order of DType. One byte has no endianness: NumPy writes '|'.
constexpr std::array<DTypeInfo, 15> dtypes = {{{"<f2", 2},
                                               {"<f4", 4},
                                               {"<f8", 8},
                                               {"|i1", 1},
                                               {"<i2", 2},
                                               {"<i4", 4},
                                               {"<i8", 8},
                                               {"|u1", 1},
                                               {"<u2", 2},
                                               {"<u4", 4},
                                               {"<u8", 8},
                                               {"|b1", 1},
                                               {"<V2", 2},
                                               {"|V16", 16},
                                               {"|V32", 32}}};
static_assert(dtypes.size() == size_t(DType::v32) + 1);

/// `text` from a file, fit to stand in a one-line message.
std::string quoted(std::string_view text) {
  constexpr size_t longest = 40;
  std::string result = "'";
  for (char c : text.substr(0, longest))
    result += c >= ' ' && c <= '~' ? c : '?';
  return result + (text.size() > longest ? "…'" : "'");
}

class Parser {
public:
  Parser(std::string_view text, std::string &error)
      : text(text), error(error) {}

  std::optional<NpyHeader> parse() {
    if (!parseDictionary() || !checkComplete())
      return std::nullopt;
    return std::move(header);
  }

private:
  static constexpr int end = -1;

  bool parseDictionary() {
    if (!expect('{'))
      return false;
    while (!accept('}')) {
      if (!parseEntry())
        return false;
      if (!accept(',') && peek() != '}')
        return fail("expected ',' or '}'");
    }
    return peek() == end || fail("expected nothing after '}'");
  }

  bool parseEntry() {
    std::string_view key;
    if (!parseString("a key", key) || !expect(':'))
      return false;
    if (key == "descr")
      return once(hasDType, key) && parseDType();
    if (key == "fortran_order")
      return once(hasOrder, key) && parseOrder();
    if (key == "shape")
      return once(hasShape, key) && parseShape();
    return raise("header has the unknown key " + quoted(key));
  }

  bool once(bool &seen, std::string_view key) {
    if (seen)
      return raise("header has the key " + quoted(key) + " twice");
    return seen = true;
  }

  bool parseDType() {
    if (peek() == '[')
      return raise("structured dtypes are not supported; save each field as an "
                   "array of its own");
    std::string_view name;
    if (!parseString("a dtype", name))
      return false;
    std::string known(name);
    if (name == "|V2") // written for arrays of plain bytes
      known = "<V2";
    header.isBigEndian = name.starts_with('>') && !name.starts_with(">V");
    if (header.isBigEndian)
      known.front() = '<';
    const auto *found = std::ranges::find(dtypes, known, &DTypeInfo::spelling);
    if (found == dtypes.end())
      return raiseDType(name);
    header.dtype = DType(found - dtypes.begin());
    return true;
  }

  bool raiseDType(std::string_view name) {
    error = "dtype " + quoted(name) + " is not supported; expected one of";
    for (const DTypeInfo &dtype : dtypes)
      (error += ' ') += dtype.spelling;
    return false;
  }

  bool parseOrder() {
    if (acceptWord("False"))
      return true;
    header.isFortranOrder = acceptWord("True");
    return header.isFortranOrder || fail("expected True or False");
  }

  bool parseShape() {
    if (!expect('('))
      return false;
    bool comma = true;
    while (!accept(')')) {
      if (!comma)
        return fail("expected ',' or ')'");
      if (!parseDimension())
        return false;
      comma = accept(',');
    }
    // Python's (3) is a number, not a tuple.
    if (header.shape.size() == 1 && !comma)
      return fail("expected a tuple, which (n) without a comma is not");
    return true;
  }

  bool parseDimension() {
    int64_t value = 0;
    if (!isDigit(peek()))
      return fail("expected a dimension");
    for (; isDigit(current()); ++at)
      if (__builtin_mul_overflow(value, 10, &value) ||
          __builtin_add_overflow(value, current() - '0', &value))
        return fail("dimension is over 9223372036854775807");
    // Python 2 wrote long integers as 3L.
    if (current() == 'L')
      ++at;
    header.shape.push_back(value);
    return true;
  }

  bool parseString(const char *what, std::string_view &out) {
    int quote = peek();
    if (quote != '\'' && quote != '"')
      return fail(std::string("expected ") + what + " in quotes");
    size_t begin = ++at;
    while (current() != end && current() != quote && current() != '\\')
      ++at;
    if (current() != quote)
      return fail("string has no closing quote or has an escape");
    out = text.substr(begin, at++ - begin);
    return true;
  }

  bool checkComplete() {
    const std::pair<bool, const char *> keys[] = {
        {hasDType, "descr"}, {hasOrder, "fortran_order"}, {hasShape, "shape"}};
    for (auto [seen, key] : keys)
      if (!seen)
        return raise("header has no key " + quoted(key));
    return true;
  }

  static bool isDigit(int c) { return c >= '0' && c <= '9'; }

  /// The byte here, or `end`. Bytes over 0x7F stay apart from `end`.
  int current() const {
    return at < text.size() ? static_cast<unsigned char>(text[at]) : end;
  }

  /// The next byte that is no white space.
  int peek() {
    while (current() == ' ' || (current() >= '\t' && current() <= '\r'))
      ++at;
    return current();
  }

  bool accept(char c) {
    if (peek() != c)
      return false;
    ++at;
    return true;
  }

  bool acceptWord(std::string_view word) {
    peek();
    if (!text.substr(at).starts_with(word))
      return false;
    at += word.size();
    return true;
  }

  bool expect(char c) {
    return accept(c) || fail(std::string("expected '") + c + "'");
  }

  bool fail(const std::string &what) {
    return raise("malformed header at byte " + std::to_string(at) + ": " +
                 what);
  }

  bool raise(std::string what) {
    error = std::move(what);
    return false;
  }

  std::string_view text;
  std::string &error;
  size_t at = 0;
  NpyHeader header;
  bool hasDType = false, hasOrder = false, hasShape = false;
};

} // namespace

size_t numera::host::sizeOf(DType dtype) { return dtypes[size_t(dtype)].bytes; }

std::string_view numera::host::spelling(DType dtype) {
  return dtypes[size_t(dtype)].spelling;
}

std::optional<NpyHeader> numera::host::parseNpyHeader(std::string_view text,
                                                      std::string &error) {
  return Parser(text, error).parse();
}

std::string numera::host::printNpyHeader(const NpyHeader &header) {
  return "{'descr': '" + std::string(spelling(header.dtype)) +
         "', 'fortran_order': False, 'shape': " + printShape(header.shape) +
         ", }";
}

std::string numera::host::printShape(const std::vector<int64_t> &shape) {
  std::string result = "(";
  for (size_t i = 0; i < shape.size(); ++i)
    result += (i ? ", " : "") + std::to_string(shape[i]);
  return result + (shape.size() == 1 ? ",)" : ")");
}

std::optional<size_t>
numera::host::byteSizeOf(const std::vector<int64_t> &shape, DType dtype,
                         std::string &error) {
  if (shape.size() > maxRank) {
    error = "array has " + std::to_string(shape.size()) +
            " dimensions; expected at most " + std::to_string(maxRank);
    return std::nullopt;
  }
  // A zero hides an overflow in the number of elements but not in the strides
  // that others compute from the shape, so it counts as one until the end.
  int64_t bytes = int64_t(sizeOf(dtype));
  bool empty = false;
  for (int64_t dimension : shape) {
    if (dimension < 0 || __builtin_mul_overflow(
                             bytes, std::max<int64_t>(dimension, 1), &bytes)) {
      error = "shape " + printShape(shape) +
              (dimension < 0 ? " has a negative dimension"
                             : " takes more bytes than 63 bits count");
      return std::nullopt;
    }
    empty |= dimension == 0;
  }
  return empty ? 0 : size_t(bytes);
}
