// SPDX-License-Identifier: MIT

#include "ConstantsObject.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/NativeFormatting.h"

using namespace llvm;
using namespace llvm::ELF;
using namespace numera;

/// Of 65,280 that have numbers in a symbol.
static constexpr size_t mostSections = 60000;

static bool isFar(const Triple &triple, ArrayRef<CodeConstant> constants) {
  return LargeConstants::areFar(constants) && triple.isX86();
}

static StringRef sectionPrefix(bool isFar) {
  return isFar ? ".lrodata." : ".rodata.";
}

namespace {
/// A stream that knows how far it is.
class Bytes {
public:
  explicit Bytes(raw_ostream &stream) : stream(stream) {}

  template <typename T> void write(ArrayRef<T> values) {
    stream.write(reinterpret_cast<const char *>(values.data()),
                 values.size() * sizeof(T));
    written += values.size() * sizeof(T);
  }
  void padTo(uint64_t place) {
    stream.write_zeros(unsigned(place - written));
    written = place;
  }
  void write(ArrayRef<CodeConstant> constants) {
    for (const CodeConstant &constant : constants) {
      padTo(alignTo(written, LargeConstants::alignment));
      write(constant.bytes);
    }
  }

private:
  raw_ostream &stream;
  uint64_t written = 0;
};

/// Sections of constants from a place of a file on, and where each constant is.
class Sections {
public:
  /// `first`: the number of the first section; there are as many others.
  /// Names are added to `names`.
  Sections(ArrayRef<CodeConstant> constants, bool isFar, uint64_t begin,
           size_t first, size_t others, std::string &names) {
    StringRef prefix = sectionPrefix(isFar);
    size_t each = divideCeil(std::max<size_t>(constants.size(), 1),
                             mostSections - others);
    end = begin;
    for (auto [i, constant] : enumerate(constants)) {
      end = alignTo(end, LargeConstants::alignment);
      auto name = uint32_t(names.size());
      names += (prefix + constant.symbol).str();
      names += '\0';
      if (i % each == 0) {
        Elf64_Shdr &section = headers.emplace_back();
        section.sh_name = name;
        section.sh_type = SHT_PROGBITS;
        section.sh_flags = SHF_ALLOC | (isFar ? SHF_X86_64_LARGE : 0);
        section.sh_offset = end;
        section.sh_addralign = LargeConstants::alignment;
      }
      Elf64_Shdr &section = headers.back();
      Elf64_Sym &symbol = symbols.emplace_back();
      symbol.st_name = name + uint32_t(prefix.size());
      symbol.setBindingAndType(STB_GLOBAL, STT_OBJECT);
      symbol.st_other = STV_HIDDEN;
      symbol.st_shndx = uint16_t(first + headers.size() - 1);
      symbol.st_value = end - section.sh_offset;
      symbol.st_size = constant.bytes.size();
      end += constant.bytes.size();
      section.sh_size = end - section.sh_offset;
    }
  }

  std::vector<Elf64_Shdr> headers;
  std::vector<Elf64_Sym> symbols; ///< as the constants
  uint64_t end;                   ///< behind the last byte
};

/// Places and names first, which headers need; then all bytes in their order.
class Writer {
public:
  Writer(raw_ostream &stream, const Triple &triple,
         ArrayRef<CodeConstant> constants)
      : stream(stream), triple(triple), constants(constants) {}

  void write() {
    addSections();
    writeHeader();
    stream.write(constants);
    stream.padTo(sections[symbolTable].sh_offset);
    stream.write(ArrayRef(symbols));
    stream.write(ArrayRef(names.data(), names.size()));
    stream.padTo(sectionTable());
    stream.write(ArrayRef(sections));
  }

private:
  enum : unsigned { stackNote = 1, symbolTable, nameTable, firstOfConstants };

  uint32_t add(const Twine &name) {
    auto place = uint32_t(names.size());
    names += name.str();
    names += '\0';
    return place;
  }

  void addSections() {
    names += '\0';
    Sections added(constants, isFar(triple, constants), sizeof(Elf64_Ehdr),
                   firstOfConstants, firstOfConstants, names);
    symbols.emplace_back();
    append_range(symbols, added.symbols);
    sections.resize(firstOfConstants);
    append_range(sections, added.headers);
    // Without it, a linker makes the stack executable.
    sections[stackNote].sh_name = add(".note.GNU-stack");
    sections[stackNote].sh_type = SHT_PROGBITS;
    sections[stackNote].sh_addralign = 1;
    Elf64_Shdr &table = sections[symbolTable];
    table.sh_name = add(".symtab");
    table.sh_type = SHT_SYMTAB;
    table.sh_offset = alignTo(added.end, alignof(Elf64_Sym));
    table.sh_size = symbols.size() * sizeof(Elf64_Sym);
    table.sh_link = nameTable;
    table.sh_info = 1; // the first global symbol
    table.sh_addralign = alignof(Elf64_Sym);
    table.sh_entsize = sizeof(Elf64_Sym);
    Elf64_Shdr &strings = sections[nameTable];
    strings.sh_name = add(".strtab");
    strings.sh_type = SHT_STRTAB;
    strings.sh_offset = table.sh_offset + table.sh_size;
    strings.sh_size = names.size();
    strings.sh_addralign = 1;
  }

  uint64_t sectionTable() const {
    const Elf64_Shdr &last = sections[nameTable];
    return alignTo(last.sh_offset + last.sh_size, alignof(Elf64_Shdr));
  }

  void writeHeader() {
    Elf64_Ehdr header{};
    std::copy_n(ElfMagic, 4, header.e_ident);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = ET_REL;
    header.e_machine = triple.isX86() ? EM_X86_64 : EM_AARCH64;
    header.e_version = EV_CURRENT;
    header.e_shoff = sectionTable();
    header.e_ehsize = sizeof(Elf64_Ehdr);
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = uint16_t(sections.size());
    header.e_shstrndx = nameTable;
    stream.write(ArrayRef(header));
  }

  Bytes stream;
  const Triple &triple;
  ArrayRef<CodeConstant> constants;
  std::vector<Elf64_Shdr> sections;
  std::vector<Elf64_Sym> symbols;
  std::string names; ///< of sections, and of symbols, which are their ends
};
} // namespace

void numera::writeObject(raw_ostream &stream, const Triple &triple,
                         ArrayRef<CodeConstant> constants) {
  static_assert(sizeof(Elf64_Ehdr) == 64 && sizeof(Elf64_Shdr) == 64 &&
                sizeof(Elf64_Sym) == 24);
  Writer(stream, triple, constants).write();
}

Error numera::writeObject(raw_ostream &stream, const Triple &triple,
                          MemoryBufferRef code,
                          ArrayRef<CodeConstant> constants) {
  // Its bytes stay where they are; its table of sections and their names are
  // written again, with more of them, behind the constants.
  std::vector<char> bytes(code.getBufferStart(), code.getBufferEnd());
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.e_shnum == 0)
    return createStringError("the program has too many sections for an object");
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  std::memcpy(sections.data(), &bytes[header.e_shoff],
              sections.size() * sizeof(Elf64_Shdr));
  Elf64_Shdr &nameTable = sections[header.e_shstrndx];
  std::string names(&bytes[nameTable.sh_offset], nameTable.sh_size);
  auto isSymbolTable = [](const Elf64_Shdr &section) {
    return section.sh_type == SHT_SYMTAB;
  };
  const Elf64_Shdr &symbolTable = *find_if(sections, isSymbolTable);
  const char *symbolNames = &bytes[sections[symbolTable.sh_link].sh_offset];
  // The symbols that the code reads; other constants are left out.
  StringMap<uint64_t> places;
  for (uint64_t place = symbolTable.sh_offset,
                end = place + symbolTable.sh_size;
       place < end; place += sizeof(Elf64_Sym)) {
    Elf64_Sym symbol;
    std::memcpy(&symbol, &bytes[place], sizeof symbol);
    if (symbol.st_shndx == SHN_UNDEF)
      places[symbolNames + symbol.st_name] = place;
  }
  std::vector<CodeConstant> read;
  for (const CodeConstant &constant : constants)
    if (places.contains(constant.symbol))
      read.push_back(constant);
  Sections added(read, isFar(triple, constants), bytes.size(), sections.size(),
                 sections.size(), names);
  for (auto [constant, found] : zip_equal(read, added.symbols)) {
    uint64_t place = places.lookup(constant.symbol);
    Elf64_Sym symbol = found;
    std::memcpy(&symbol.st_name, &bytes[place], sizeof symbol.st_name);
    std::memcpy(&bytes[place], &symbol, sizeof symbol);
  }
  nameTable.sh_offset = added.end;
  nameTable.sh_size = names.size();
  header.e_shoff = alignTo(added.end + names.size(), alignof(Elf64_Shdr));
  append_range(sections, added.headers);
  header.e_shnum = uint16_t(sections.size());
  std::memcpy(bytes.data(), &header, sizeof header);
  Bytes out(stream);
  out.write(ArrayRef(bytes));
  out.write(read);
  out.write(ArrayRef(names.data(), names.size()));
  out.padTo(header.e_shoff);
  out.write(ArrayRef(sections));
  return Error::success();
}

void numera::writeAssembly(raw_ostream &stream, const Triple &triple,
                           ArrayRef<CodeConstant> constants) {
  constexpr size_t wordsOfLine = 4;
  bool areFar = isFar(triple, constants);
  for (const CodeConstant &constant : constants) {
    StringRef name = constant.symbol; // of letters that assemblers take
    stream << "\t.section\t" << sectionPrefix(areFar) << name
           << (areFar ? ",\"al\"" : ",\"a\"") << ",@progbits\n"
           << "\t.p2align\t" << Log2_64(LargeConstants::alignment)
           << "\n\t.hidden\t" << name << "\n\t.globl\t" << name << "\n\t.type\t"
           << name << ",@object\n\t.size\t" << name << ", "
           << constant.bytes.size() << '\n'
           << name << ":\n";
    ArrayRef<char> bytes = constant.bytes;
    for (size_t word = 0; bytes.size() >= sizeof(uint64_t); ++word) {
      uint64_t value;
      std::memcpy(&value, bytes.data(), sizeof value);
      bytes = bytes.drop_front(sizeof value);
      bool isLast =
          word % wordsOfLine == wordsOfLine - 1 || bytes.size() < sizeof value;
      stream << (word % wordsOfLine == 0 ? "\t.quad\t" : ",");
      write_hex(stream, value, HexPrintStyle::PrefixLower);
      if (isLast)
        stream << '\n';
    }
    for (char byte : bytes)
      stream << "\t.byte\t" << unsigned(uint8_t(byte)) << '\n';
  }
}

/// Between quotation marks: a backslash and two digits for each byte.
static void writeQuoted(raw_ostream &stream, ArrayRef<char> bytes) {
  constexpr size_t most = 4096;
  std::string text;
  for (; !bytes.empty(); bytes = bytes.drop_front(text.size() / 3)) {
    text.clear();
    for (char byte : bytes.take_front(most))
      text += {'\\', hexdigit(uint8_t(byte) >> 4), hexdigit(byte & 15)};
    stream << text;
  }
}

void numera::writeLLVM(raw_ostream &stream, const Module &module,
                       ArrayRef<CodeConstant> constants) {
  StringMap<ArrayRef<char>> bytes;
  for (const CodeConstant &constant : constants)
    bytes[constant.symbol] = constant.bytes;
  std::string text;
  raw_string_ostream(text) << module;
  StringRef rest = text;
  // Each is declared in a line of its own, in this order.
  for (const GlobalVariable &global : module.globals()) {
    auto found = bytes.find(global.getName());
    if (found == bytes.end())
      continue;
    std::string start = "\n";
    raw_string_ostream out(start);
    global.printAsOperand(out, /*PrintType=*/false);
    out << " = ";
    size_t place = rest.find(start);
    assert(place != StringRef::npos && "a module's text has its globals");
    stream << rest.take_front(place) << start
           << (global.hasHiddenVisibility() ? "hidden " : "") << "constant ["
           << found->second.size() << " x i8] c\"";
    writeQuoted(stream, found->second);
    stream << "\", align " << LargeConstants::alignment;
    rest = rest.drop_front(rest.find('\n', place + 1));
  }
  stream << rest;
}
