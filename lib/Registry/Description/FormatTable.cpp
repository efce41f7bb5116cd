// SPDX-License-Identifier: MIT

#include "numera/Registry/Description/Decimal.h"
#include "numera/Registry/Description/FormatFacts.h"
#include "numera/Registry/Description/FormatPages.h"
#include "numera/Registry/Description/HexFloat.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace numera;

/// One array, one code on a line: a table is for diff and grep as well.
static void printAsJSON(const Format &format, raw_ostream &stream) {
  StringRef separator = "[";
  for (uint64_t code = 0; code >> format.width() == 0; ++code) {
    Unpacked value = format.getFamily().decode(format, code);
    stream << separator << "{\"code\": \"" << printCode(format, code)
           << "\", \"value\": \"" << printNearestHexFloat(value)
           << "\", \"bits\": \"" << printFields(format, code)
           << "\", \"decimal\": \"" << printDecimal(value) << "\"}";
    separator = ",\n";
  }
  stream << "]\n";
}

/// How wide it is on a terminal: `…` is one character of three bytes.
static size_t columnsOf(StringRef text) {
  return text.size() - (text.ends_with("…") ? 2 : 0);
}

/// Columns as wide as their widest entry; the decimal, which may have thousands
/// of digits, comes last.
static void printAsText(const Format &format, raw_ostream &stream) {
  const FormatFamily &family = format.getFamily();
  size_t bitsWidth = 0, hexWidth = 0;
  for (uint64_t code = 0; code >> format.width() == 0; ++code) {
    bitsWidth = std::max(bitsWidth, printFields(format, code).size());
    std::string hex = printHexFloat(family.decode(format, code));
    hexWidth = std::max(hexWidth, columnsOf(hex));
  }
  for (uint64_t code = 0; code >> format.width() == 0; ++code) {
    Unpacked value = family.decode(format, code);
    std::string hex = printHexFloat(value);
    stream << printCode(format, code) << "  "
           << left_justify(printFields(format, code), unsigned(bitsWidth))
           << "  " << hex;
    stream.indent(unsigned(hexWidth - columnsOf(hex)))
        << "  " << printDecimal(value) << '\n';
  }
}

std::string numera::checkFormatTable(const Format &format, StringRef name) {
  if (!format.getFamily().hasArithmetic())
    return ("format '" + name +
            "' is opaque: only its library defines the values of its codes")
        .str();
  if (format.width() > widestTable)
    return ("format '" + name + "' has " + Twine(format.width()) +
            " bits, a table is printed for at most " + Twine(widestTable))
        .str();
  return "";
}

void numera::printFormatTable(const Format &format, bool asJSON,
                              raw_ostream &stream) {
  if (asJSON)
    printAsJSON(format, stream);
  else
    printAsText(format, stream);
}
