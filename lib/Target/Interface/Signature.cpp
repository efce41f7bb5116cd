// SPDX-License-Identifier: MIT

#include "numera/Target/Interface/Signature.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
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

/// A name of a function or variable of C's library, as POSIX and glibc have it:
/// who links a program with the header of one must not find the other.
static bool isInLibrary(StringRef name) {
  static const StringSet<> names = [] {
    static constexpr StringLiteral text =
#include "LibraryNames.inc"
        ;
    StringSet<> found;
    for (StringRef each : split(text.rtrim(), ' '))
      found.insert(each);
    return found;
  }();
  // Those of f32 to f128, such as `sinf64x`.
  StringRef base = name;
  base.consume_back("_r");
  base.consume_back("x");
  bool hasType = base.consume_back("f32") || base.consume_back("f64") ||
                 base.consume_back("f128");
  LibFunc known;
  return names.contains(name) || (hasType && names.contains(base)) ||
         TargetLibraryInfoImpl(Triple(sys::getDefaultTargetTriple()))
             .getLibFunc(name, known);
}

/// A name that a program in C or C++ cannot define, or that its library has.
static bool isTaken(StringRef name) {
  static constexpr StringLiteral keywords[] = {
      "auto",     "break",    "case",     "char",   "const",   "continue",
      "default",  "do",       "double",   "else",   "enum",    "extern",
      "float",    "for",      "goto",     "if",     "inline",  "int",
      "long",     "register", "restrict", "return", "short",   "signed",
      "sizeof",   "static",   "struct",   "switch", "typedef", "union",
      "unsigned", "void",     "volatile", "while",  "main"};
  // Of C++, of C since 2023, and what the header includes.
  static constexpr StringLiteral later =
      "alignas alignof and and_eq asm bitand bitor bool catch char8_t "
      "char16_t char32_t class co_await co_return co_yield compl concept "
      "const_cast consteval constexpr constinit decltype delete "
      "dynamic_cast explicit export false friend mutable namespace new "
      "noexcept not not_eq nullptr operator or or_eq private protected "
      "public reinterpret_cast requires static_assert static_cast template "
      "this thread_local throw true try typeid typename typeof "
      "typeof_unqual using virtual wchar_t xor xor_eq NULL offsetof "
      "_Bool linux std unix";
  // Macros, variables and types of C's library, which are no functions.
  static constexpr StringLiteral ofLibrary =
      "EOF FILE HUGE_VAL HUGE_VALF HUGE_VALL INFINITY NAN assert environ errno "
      "fpclassify isfinite isgreater isgreaterequal isinf isless islessequal "
      "islessgreater isnan isnormal isunordered jmp_buf longjmp setjmp signbit "
      "stderr stdin stdout tm va_arg va_copy va_end va_list va_start";
  // Those of the language's implementation, and of POSIX threads.
  bool isReserved = name.starts_with("__") || name.starts_with("pthread_") ||
                    (name.size() > 1 && name[0] == '_' && isUpper(name[1]));
  // size_t, int_fast32_t, INT32_MAX, UINT64_C and what the header has.
  bool isType = name.ends_with("_t") &&
                (!name.drop_back(2).contains('_') || name.starts_with("int_") ||
                 name.starts_with("uint_") || name == "max_align_t");
  auto begins = [&](StringRef kind) { return name.starts_with(kind); };
  auto ends = [&](StringRef limit) { return name.ends_with(limit); };
  bool isLimit =
      any_of(ArrayRef<StringRef>{"INT", "UINT", "SIZE_", "PTRDIFF_",
                                 "SIG_ATOMIC_", "WCHAR_", "WINT_"},
             begins) &&
      any_of(ArrayRef<StringRef>{"_MAX", "_MIN", "_C", "_WIDTH"}, ends);
  return is_contained(keywords, name) ||
         is_contained(split(later, ' '), name) ||
         is_contained(split(ofLibrary, ' '), name) || isReserved || isType ||
         isLimit || name.starts_with("NUMERA_") || isInLibrary(name);
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
