// SPDX-License-Identifier: MIT
//
// Narrow stores in PTX. LLVM stores the low bits of a register without a
// truncation before,
//
//   add.rn.f64     %rd4, %rd3, 0d4338000000000000;
//   st.global.b16  [%rd2], %rd4;
//
// as the PTX ISA allows for registers of bits. NVIDIA's assembler takes the
// type of a register from the instruction that wrote it: after one on floats it
// stores the number, converted to an integer of 16 bits (ptxas 13.0: F2I.U16),
// and so does the driver. A move of bits has no such type, and takes no
// instruction.

#include "Device.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

/// The bits of a register of LLVM's; 0: of a name that it does not use.
static unsigned widthOf(StringRef reg) {
  return StringSwitch<unsigned>(reg.take_until(isDigit))
      .Case("%rd", 64)
      .Case("%r", 32)
      .Case("%rs", 16)
      .Default(0);
}

/// The bits of an element that the instruction stores, `st.global.v2.b16`; 0:
/// it is none.
static unsigned storedWidth(StringRef opcode) {
  unsigned width = 0;
  if (!opcode.consume_front("st.") ||
      opcode.rsplit('.').second.drop_front().getAsInteger(10, width))
    return 0;
  return width;
}

std::string numera::moveBeforeNarrowStores(StringRef ptx) {
  std::string out;
  raw_string_ostream stream(out);
  while (!ptx.empty()) {
    auto [line, rest] = ptx.split('\n');
    bool isEnded = line.size() < ptx.size();
    ptx = rest;
    StringRef text = line.ltrim();
    StringRef guard;
    if (text.starts_with("@"))
      std::tie(guard, text) = text.split(' ');
    StringRef opcode = text.take_until(isSpace);
    auto [place, stored] = text.rsplit("], ");
    unsigned width = storedWidth(opcode);
    SmallVector<StringRef> sources;
    stored.rtrim("; \t").trim("{}").split(sources, ',');
    bool isNarrow = width && any_of(sources, [&](StringRef source) {
                      return widthOf(source.trim()) > width;
                    });
    if (!isNarrow) {
      stream << line << (isEnded ? "\n" : "");
      continue;
    }
    stream << "\t{\n";
    ListSeparator between;
    std::string moved;
    raw_string_ostream list(moved);
    for (auto [i, source] : enumerate(sources)) {
      unsigned bits = widthOf(source = source.trim());
      list << between;
      if (bits <= width) {
        list << source;
        continue;
      }
      stream << formatv("\t.reg .b{0} %bits{0}_{1};\n", bits, i)
             << formatv("\tmov.b{0} \t%bits{0}_{1}, {2};\n", bits, i, source);
      list << formatv("%bits{0}_{1}", bits, i);
    }
    bool isVector = stored.starts_with("{");
    stream << '\t' << guard << (guard.empty() ? "" : " ") << place << "], "
           << (isVector ? "{" : "") << moved << (isVector ? "}" : "")
           << ";\n\t}\n";
  }
  return out;
}
