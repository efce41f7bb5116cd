// SPDX-License-Identifier: MIT

#include "P3109.h"
#include "llvm/ADT/StringExtras.h"

using namespace numera;

static constexpr llvm::StringLiteral prefix = "p3109_";

bool numera::isP3109Name(llvm::StringRef name) {
  return name.starts_with(prefix);
}

/// Digits without a leading zero, behind `letter`.
static bool takeNumber(llvm::StringRef &text, llvm::StringRef letter,
                       int32_t &number) {
  if (!text.consume_front(letter) || text.starts_with("0"))
    return false;
  llvm::StringRef digits = text.take_while(llvm::isDigit);
  text = text.drop_front(digits.size());
  // What no int32_t holds is out of range as well.
  number = 0;
  return !digits.empty() &&
         (!digits.getAsInteger(10, number) || (number = INT32_MAX) != 0);
}

static FloatFormat formatOf(int32_t bits, int32_t precision, bool isSigned,
                            bool isExtended) {
  int32_t exponentBits = bits - precision + (isSigned ? 0 : 1);
  return {.exponentBits = exponentBits,
          .mantissaBits = precision - 1,
          .bias = 1 << (exponentBits - 1),
          .specials = isExtended ? Specials::P3109 : Specials::P3109Finite,
          .isSigned = isSigned};
}

bool numera::parseP3109Name(llvm::StringRef name, FloatFormat &f,
                            std::string &error) {
  llvm::StringRef rest = name.drop_front(prefix.size());
  int32_t bits = 0, precision = 0;
  bool isName = takeNumber(rest, "k", bits) &&
                takeNumber(rest, "p", precision) &&
                (rest == "se" || rest == "sf" || rest == "ue" || rest == "uf");
  if (!isName) {
    error = "unknown format '" + name.str() +
            "', expected p3109_k<bits>p<precision> and se, sf, ue or uf, as in "
            "p3109_k8p3se";
    return false;
  }
  bool isSigned = rest.front() == 's';
  if (bits < 3 || bits > 16) {
    error = "format '" + name.str() + "' has k = " +
            name.drop_front(prefix.size() + 1).take_while(llvm::isDigit).str() +
            ", expected 3 to 16 bits";
    return false;
  }
  int32_t most = isSigned ? bits - 1 : bits;
  if (precision > most) {
    llvm::StringRef digits = name.substr(name.rfind('p') + 1);
    error = "format '" + name.str() +
            "' has p = " + digits.take_while(llvm::isDigit).str() +
            ", expected a precision from 1 to " + llvm::itostr(most);
    return false;
  }
  f = formatOf(bits, precision, isSigned, rest.back() == 'e');
  return true;
}

std::string numera::p3109NameOf(const FloatFormat &f) {
  int32_t bits = f.width(), precision = f.mantissaBits + 1;
  bool isExtended = f.specials == Specials::P3109;
  if (!f.isP3109() || bits < 3 || bits > 16 || f.exponentBits < 1 ||
      f != formatOf(bits, precision, f.isSigned, isExtended))
    return {};
  return prefix.str() + "k" + llvm::itostr(bits) + "p" +
         llvm::itostr(precision) + (f.isSigned ? "s" : "u") +
         (isExtended ? "e" : "f");
}
