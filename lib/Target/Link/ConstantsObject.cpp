// SPDX-License-Identifier: MIT

#include "ConstantsObject.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace llvm::ELF;
using namespace numera;

namespace {
/// Places and names first, which headers need; then all bytes in their order.
class Writer {
public:
  Writer(raw_ostream &stream, const Triple &triple,
         ArrayRef<LargeConstants::Constant> constants)
      : stream(stream), triple(triple), constants(constants) {}

  void write() {
    addSections();
    writeHeader();
    for (const LargeConstants::Constant &constant : constants) {
      padTo(alignTo(written, LargeConstants::alignment));
      write(constant.bytes);
    }
    padTo(sections[symbolTable].sh_offset);
    write(ArrayRef(symbols));
    write(ArrayRef(names.data(), names.size()));
    padTo(sectionTable());
    write(ArrayRef(sections));
  }

private:
  /// Of 65,280 that have numbers in a symbol.
  static constexpr size_t mostSections = 60000;
  enum : unsigned { stackNote = 1, symbolTable, nameTable, firstOfConstants };

  uint32_t add(const Twine &name) {
    auto place = uint32_t(names.size());
    names += name.str();
    names += '\0';
    return place;
  }

  void addSections() {
    names += '\0';
    symbols.emplace_back();
    sections.resize(firstOfConstants);
    bool isFar = LargeConstants::areFar(constants) && triple.isX86();
    std::string prefix = isFar ? ".lrodata." : ".rodata.";
    uint64_t place = sizeof(Elf64_Ehdr);
    size_t each =
        divideCeil(std::max<size_t>(constants.size(), 1), mostSections);
    for (auto [i, constant] : enumerate(constants)) {
      place = alignTo(place, LargeConstants::alignment);
      uint32_t name = add(prefix + constant.symbol);
      if (i % each == 0) {
        Elf64_Shdr &section = sections.emplace_back();
        section.sh_name = name;
        section.sh_type = SHT_PROGBITS;
        section.sh_flags = SHF_ALLOC | (isFar ? SHF_X86_64_LARGE : 0);
        section.sh_offset = place;
        section.sh_addralign = LargeConstants::alignment;
      }
      Elf64_Shdr &section = sections.back();
      Elf64_Sym &symbol = symbols.emplace_back();
      symbol.st_name = name + uint32_t(prefix.size());
      symbol.setBindingAndType(STB_GLOBAL, STT_OBJECT);
      symbol.st_other = STV_HIDDEN;
      symbol.st_shndx = uint16_t(sections.size() - 1);
      symbol.st_value = place - section.sh_offset;
      symbol.st_size = constant.bytes.size();
      place += constant.bytes.size();
      section.sh_size = place - section.sh_offset;
    }
    // Without it, a linker makes the stack executable.
    sections[stackNote].sh_name = add(".note.GNU-stack");
    sections[stackNote].sh_type = SHT_PROGBITS;
    sections[stackNote].sh_addralign = 1;
    Elf64_Shdr &table = sections[symbolTable];
    table.sh_name = add(".symtab");
    table.sh_type = SHT_SYMTAB;
    table.sh_offset = alignTo(place, alignof(Elf64_Sym));
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
    write(ArrayRef(header));
  }

  template <typename T> void write(ArrayRef<T> values) {
    stream.write(reinterpret_cast<const char *>(values.data()),
                 values.size() * sizeof(T));
    written += values.size() * sizeof(T);
  }
  void padTo(uint64_t place) {
    stream.write_zeros(unsigned(place - written));
    written = place;
  }

  raw_ostream &stream;
  const Triple &triple;
  ArrayRef<LargeConstants::Constant> constants;
  uint64_t written = 0;
  std::vector<Elf64_Shdr> sections;
  std::vector<Elf64_Sym> symbols;
  std::string names; ///< of sections, and of symbols, which are their ends
};
} // namespace

void numera::writeObject(raw_ostream &stream, const Triple &triple,
                         ArrayRef<LargeConstants::Constant> constants) {
  static_assert(sizeof(Elf64_Ehdr) == 64 && sizeof(Elf64_Shdr) == 64 &&
                sizeof(Elf64_Sym) == 24);
  Writer(stream, triple, constants).write();
}
