// SPDX-License-Identifier: MIT
//
// The user's libraries in a program: from source, bitcode and machine code, and
// every way in which they can be wrong.

#include "numera/Target/Libraries/Examine/Libraries.h"
#include "numera/Target/Program/Program.h"

#include "Lowered.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"
#include "gtest/gtest.h"

#include <fstream>

using namespace numera;
using namespace numera::test;

namespace {

/// A folder with libraries and a configuration that names them.
class Link : public testing::Test {
protected:
  Link() { llvm::sys::fs::createUniqueDirectory("numera", folder); }
  ~Link() override { llvm::sys::fs::remove_directories(folder); }

  std::string path(llvm::StringRef name) const {
    return (folder + "/" + name).str();
  }
  void write(llvm::StringRef name, llvm::StringRef text) {
    std::ofstream(path(name)) << text.str();
  }
  void clang(std::vector<std::string> arguments) {
    std::string program = *llvm::sys::findProgramByName("clang-22");
    std::vector<llvm::StringRef> command = {program};
    command.insert(command.end(), arguments.begin(), arguments.end());
    ASSERT_EQ(llvm::sys::ExecuteAndWait(program, command), 0);
  }

  /// Loads `libraries`, and lowerings that add `fmt` by `lowering`.
  void configure(llvm::StringRef libraries, llvm::StringRef lowering) {
    std::string errors;
    llvm::raw_string_ostream os(errors);
    std::string text = "formats:\n  fmt: {family: opaque, bits: 16}\n" +
                       libraries.str() +
                       "lowerings:\n  - {op: add, format: "
                       "fmt, target: cpu, " +
                       lowering.str() + "}\n";
    ASSERT_TRUE(registry.loadText(text, "f.yaml", folder, os)) << errors;
  }

  /// Adds 40000 and 30000 by `symbol`; the sum, or the error.
  std::string run(llvm::StringRef symbol = "add16",
                  llvm::StringRef attributes = "") {
    std::string callee = ("\"" + symbol + "\"").str();
    Lowered lowered(elementwise(
        "i16", "?", "func.call @" + callee + "(%a, %b) : (i16, i16) -> i16",
        "func.func private @" + callee +
            "(i16 {llvm.zeroext}, i16 {llvm.zeroext}) -> (i16 "
            "{llvm.zeroext}) " +
            attributes.str() + "\n"));
    FunctionSignature function{
        .name = "f",
        .inputs = {{"x", NUMERA_U16, {-1}}, {"y", NUMERA_U16, {-1}}},
        .outputs = {{"r", NUMERA_U16, {-1}}}};
    std::string inMemory =
        callOf(Program::compile(*lowered, {function}, registry, CPUOptions()));
    if (llvm::Error error = emitSharedObject(*lowered, {function}, registry,
                                             CPUOptions(), path("out.so"))) {
      std::string message = toString(std::move(error));
      EXPECT_EQ(message, inMemory);
      return message;
    }
    EXPECT_EQ(callOf(Program::open(path("out.so"))), inMemory);
    return inMemory;
  }

  static std::string callOf(llvm::Expected<std::unique_ptr<Program>> program) {
    if (!program)
      return toString(program.takeError());
    uint16_t x = 40000, y = 20000, sum = 0;
    numera_tensor inputs[2] = {{&x, 0, NUMERA_U16, 1, {1}},
                               {&y, 0, NUMERA_U16, 1, {1}}};
    numera_tensor output{&sum, 2, 0, 0, {}};
    char error[100];
    if ((*program)->entry("f")(inputs, 2, &output, 1, nullptr, error,
                               sizeof error) != 0)
      return error;
    return std::to_string(sum);
  }

  llvm::SmallString<64> folder;
  Registry registry;
};

constexpr llvm::StringLiteral add16 =
    "#include <stdint.h>\n"
    "static uint16_t helper(uint16_t a, uint16_t b) { return a + b; }\n"
    "uint16_t add16(uint16_t a, uint16_t b) { return helper(a, b); }\n";

TEST_F(Link, CompilesC) {
  write("a.c", add16);
  configure("libraries:\n  a: {path: a.c}\n", "call: add16");
  EXPECT_EQ(run(), "60000");
}

TEST_F(Link, CompilesCXX) {
  write("a.cpp", "extern \"C\" unsigned short add16(unsigned short a, unsigned "
                 "short b) { return a + b; }\n");
  configure("libraries:\n  a: {path: a.cpp}\n", "call: add16");
  EXPECT_EQ(run(), "60000");
}

TEST_F(Link, TakesBitcode) {
  write("a.c", add16);
  clang({"-O0", "-emit-llvm", "-c", path("a.c"), "-o", path("a.bc")});
  configure("libraries:\n  a: {path: a.bc}\n", "call: add16");
  EXPECT_EQ(run(), "60000");
}

TEST_F(Link, TakesMachineCode) {
  write("a.c", add16);
  clang({"-O2", "-fPIC", "-c", path("a.c"), "-o", path("a.o")});
  configure("libraries:\n  a: {path: a.o}\n", "call: add16");
  EXPECT_EQ(run(), "60000");
}

TEST_F(Link, TakesASharedLibrary) {
  write("a.c", add16);
  clang({"-O2", "-fPIC", "-shared", path("a.c"), "-o", path("a.so")});
  configure("libraries:\n  a: {path: a.so}\n", "call: add16");
  EXPECT_EQ(run(), "60000");
}

TEST_F(Link, CompilesSeveralFilesAsTheirLibrarySays) {
  llvm::sys::fs::create_directory(path("headers"));
  write("headers/sum.h",
        "#pragma once\n"
        "unsigned short sum(unsigned short, unsigned short);\n");
  write("a.c", "#include \"sum.h\"\nTYPE add16(TYPE a, TYPE b) { return "
               "sum(a, b) + BIAS; }\n");
  write("b.cpp", "extern \"C\" {\n#include \"sum.h\"\n}\n"
                 "static_assert(__cplusplus < 202002L);\n"
                 "auto sum(unsigned short a, unsigned short b)"
                 " -> unsigned short { return a + b; }\n");
  configure("libraries:\n  a: {path: [a.c, b.cpp], include: headers, standard: "
            "c++17, defines: {BIAS: 5, TYPE: unsigned short}}\n",
            "call: add16");
  EXPECT_EQ(run(), "60005");
}

TEST_F(Link, SourcesCallMachineCodeOfTheirLibrary) {
  write("b.c", add16);
  clang({"-O2", "-fPIC", "-c", path("b.c"), "-o", path("b.o"),
         "-Dadd16=their_add"});
  write("a.c", "unsigned short their_add(unsigned short, unsigned short);\n"
               "double cbrt(double);\n"
               "unsigned short add16(unsigned short a, unsigned short b) { "
               "return their_add(a, b) + (int)cbrt(27); }\n");
  configure("libraries:\n  a: {path: [a.c, b.o], link: m, flags: "
            "[-fno-builtin]}\n",
            "call: add16");
  EXPECT_EQ(run(), "60003");
}

/// A struct of one integer travels as the integer, and what is above its bits
/// is anybody's: here what the sum carries.
TEST_F(Link, TakesStructsOfOneInteger) {
  write("a.c", "#include <stdint.h>\n"
               "typedef struct { uint16_t v; } number;\n"
               "number add16(number a, number b) {\n"
               "  uint32_t wide = (uint32_t)a.v * 70000 + b.v;\n"
               "  number r = {wide}; return r; }\n");
  clang({"-O2", "-fPIC", "-c", path("a.c"), "-o", path("a.o")});
  const char *product = "59936"; // (40000 * 70000 + 20000) mod 2^16
  configure("libraries:\n  a: {path: a.c}\n", "call: add16");
  EXPECT_EQ(run(), product);
  registry = Registry();
  configure("libraries:\n  a: {path: a.o}\n", "call: add16");
  EXPECT_EQ(run(), product);
}

TEST_F(Link, InitializesWhatASourceHas) {
  write("a.cpp", "#include <vector>\n"
                 "static std::vector<unsigned short> table(65536, 7);\n"
                 "extern \"C\" unsigned short add16(unsigned short a, unsigned "
                 "short b) { return table[a] + b; }\n");
  configure("libraries:\n  a: {path: a.cpp}\n", "call: add16");
  EXPECT_EQ(run(), "20007");
}

TEST_F(Link, ChoosesTheOnlyLibraryThatHasTheSymbol) {
  write("a.c", "int helper(int a) { return a; }\n");
  write("b.c", add16);
  configure("libraries:\n  a: {path: a.c}\n  b: {path: b.c}\n", "call: add16");
  EXPECT_EQ(run(), "60000");
}

TEST_F(Link, TellsTwoLibrariesOfOneNameApart) {
  write("a.c", "unsigned short add16(unsigned short a, unsigned short b) { "
               "return a - b; }\n");
  write("b.c", add16);
  configure("libraries:\n  a: {path: a.c}\n  b: {path: b.c}\n", "call: add16");
  EXPECT_EQ(run(), "f.yaml:7:5: 'add16' is defined by libraries 'a' and 'b'; "
                   "add `library:` to the lowering");
  EXPECT_EQ(run("a::add16"), "20000");
  EXPECT_EQ(run("b::add16"), "60000");
  EXPECT_EQ(run("add16", "attributes {numera.library = \"a\"}"), "20000");
}

TEST_F(Link, ExtendsNarrowArgumentsAsTheLibraryDoes) {
  // A signed short arrives sign-extended, and -25536 / 2 is 52768 modulo 2^16.
  write("a.c", "short add16(short a, short b) { return a / 2; }\n");
  clang({"-O2", "-fPIC", "-emit-llvm", "-c", path("a.c"), "-o", path("a.bc")});
  configure("libraries:\n  a: {path: a.bc}\n", "call: add16");
  EXPECT_EQ(run(), "52768");
}

TEST_F(Link, NamesAMissingSymbol) {
  write("a.c", "int other(int a) { return a; }\n");
  configure("libraries:\n  a: {path: a.c}\n", "call: add16, library: a");
  EXPECT_EQ(run(), "f.yaml:6:5: library 'a' (" + path("a.c") +
                       ") does not define 'add16', expected 'uint16_t "
                       "add16(uint16_t, uint16_t)'");
}

TEST_F(Link, SaysWhatAMissingSymbolMayHaveBeen) {
  write("a.cpp", "unsigned short add16(unsigned short a, unsigned short b) { "
                 "return a + b; }\n");
  configure("libraries:\n  a: {path: a.cpp}\n", "call: add16");
  std::string missing = "f.yaml:6:5: library 'a' (" + path("a.cpp") +
                        ") does not define 'add16', expected 'uint16_t "
                        "add16(uint16_t, uint16_t)'; ";
  EXPECT_EQ(run(), missing + "it has 'add16(unsigned short, unsigned short)' "
                             "of C++, declare that extern \"C\"");
  write("a.cpp",
        "extern \"C\" unsigned short add_16(unsigned short a, unsigned "
        "short b) { return a + b; }\n");
  EXPECT_EQ(run(), missing + "did you mean 'add_16'?");
}

TEST_F(Link, OpensLibrariesBeforeThereIsAProgram) {
  write("a.c", add16);
  configure("libraries:\n  a: {path: a.c}\n", "call: add16");
  std::string errors;
  llvm::raw_string_ostream os(errors);
  EXPECT_TRUE(openLibraries(registry, os)) << errors;
  write("a.c", "what is compiled is kept");
  EXPECT_EQ(run(), "60000");

  registry = Registry();
  write("a.c", "float add16(void *a) { return 0; }\n");
  configure("libraries:\n  a: {path: a.c}\n", "call: add16");
  EXPECT_FALSE(openLibraries(registry, os));
  EXPECT_EQ(errors, "f.yaml:6:5: error: library 'a' (" + path("a.c") +
                        ") defines 'float add16(void *)', expected 'uint16_t "
                        "add16(uint16_t, uint16_t)'\n");
}

TEST_F(Link, NamesASymbolThatNobodyDefines) {
  configure("", "call: add16");
  EXPECT_EQ(run(), "f.yaml:4:5: no library defines 'add16', expected 'uint16_t "
                   "add16(uint16_t, uint16_t)'; no library is registered");
}

TEST_F(Link, ReportsTheCompilersFirstError) {
  write("a.c", "unsigned short add16(unsigned short a) { return b; }\n");
  configure("libraries:\n  a: {path: a.c}\n", "call: add16");
  EXPECT_EQ(run(), "f.yaml:4:3: library 'a': " + path("a.c") +
                       ":1:49: error: use of undeclared identifier 'b'");
}

TEST_F(Link, RejectsAnotherSignature) {
  write("a.c", "int add16(int a, int b) { return a + b; }\n");
  configure("libraries:\n  a: {path: a.c}\n", "call: add16");
  EXPECT_EQ(run(), "f.yaml:6:5: library 'a' (" + path("a.c") +
                       ") defines 'uint32_t add16(uint32_t, uint32_t)', "
                       "expected 'uint16_t add16(uint16_t, uint16_t)'");
}

TEST_F(Link, RejectsBrokenBitcode) {
  write("a.bc", "BC");
  configure("libraries:\n  a: {path: a.bc}\n", "call: add16");
  EXPECT_NE(run().find("f.yaml:4:3: library 'a': "), std::string::npos);
}

} // namespace
