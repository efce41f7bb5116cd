// SPDX-License-Identifier: MIT

#include "numera/Target/Interface/Signature.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;
using namespace numera;

/// In the order of numera_dtype.
static constexpr StringLiteral names[] = {
    "f32", "f64", "i8",   "i16", "i32",  "i64",  "u8",  "u16",
    "u32", "u64", "bool", "f16", "bf16", "u128", "u256"};

StringRef numera::nameOf(numera_dtype dtype) {
  return names[unsigned(dtype) - unsigned(NUMERA_F32)];
}

std::optional<numera_dtype> numera::dtypeFromName(StringRef name) {
  const auto *found = find(names, name);
  if (found == std::end(names))
    return std::nullopt;
  return numera_dtype(unsigned(NUMERA_F32) + unsigned(found - names));
}

/// A name that a C program cannot define, or that its library has.
static bool isTaken(StringRef name) {
  static constexpr StringLiteral keywords[] = {
      "auto",     "break",    "case",     "char",   "const",   "continue",
      "default",  "do",       "double",   "else",   "enum",    "extern",
      "float",    "for",      "goto",     "if",     "inline",  "int",
      "long",     "register", "restrict", "return", "short",   "signed",
      "sizeof",   "static",   "struct",   "switch", "typedef", "union",
      "unsigned", "void",     "volatile", "while",  "main"};
  LibFunc libraryFunction;
  return is_contained(keywords, name) ||
         TargetLibraryInfoImpl(Triple(sys::getDefaultTargetTriple()))
             .getLibFunc(name, libraryFunction);
}

std::string numera::entrySymbol(StringRef functionName) {
  std::string symbol;
  for (char c : functionName)
    symbol += isAlnum(c) || c == '_' ? c : '_';
  if (symbol.empty() || isDigit(symbol[0]))
    symbol.insert(0, "_");
  if (isTaken(symbol) || StringRef(symbol).starts_with("numera_"))
    symbol += '_';
  return symbol;
}
