// SPDX-License-Identifier: MIT
//
// Programs: in memory, as shared objects, and as executables.

#include "Programs.h"

#include "numera/Numerics/Operations/Operations.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"
#include "gtest/gtest.h"

#include <cmath>
#include <fstream>
#include <sstream>

using namespace numera;
using namespace numera::test;

namespace {

constexpr PositFormat posit16{{16}, 2};

std::string positAdd(llvm::StringRef dim) {
  return elementwise(
      "i16", dim,
      "func.call @numera_posit_add_16(%a, %b, %bits, %es, %mode, %random) "
      ": (i16, i16, i32, i32, i32, i32) -> i16",
      "func.func private @numera_posit_add_16(i16 {llvm.zeroext}, "
      "i16 {llvm.zeroext}, i32, i32, i32, i32) -> (i16 {llvm.zeroext})\n");
}

/// posit16's parameters and the rounding mode, as constants of `f`.
std::string withPositConstants(std::string text) {
  text.insert(text.find("  %zero"), "  %bits = arith.constant 16 : i32\n"
                                    "  %es = arith.constant 2 : i32\n"
                                    "  %mode = arith.constant 0 : i32\n"
                                    "  %random = arith.constant 0 : i32\n");
  return text;
}

/// A path in a fresh folder, which is removed at the end.
class Folder {
public:
  Folder() { llvm::sys::fs::createUniqueDirectory("numera", path); }
  ~Folder() { llvm::sys::fs::remove_directories(path); }
  std::string operator/(const char *name) const {
    return (path + "/" + name).str();
  }
  size_t files() const {
    std::error_code code;
    size_t count = 0;
    for (llvm::sys::fs::directory_iterator it(path, code), end; it != end;
         it.increment(code))
      ++count;
    return count;
  }

private:
  llvm::SmallString<64> path;
};

std::string positProgram(llvm::StringRef dim) {
  return withPositConstants(positAdd(dim));
}

void expectPositSums(const Program &program) {
  std::vector<uint16_t> x, y;
  for (uint32_t i = 0; i < 70000; ++i) {
    x.push_back(uint16_t(i * 40503));
    y.push_back(uint16_t(i * 30011 + 7));
  }
  host::Array a = arrayOf(host::DType::u2, x), b = arrayOf(host::DType::u2, y);
  std::vector<host::Array> outputs;
  numera_options run = NUMERA_OPTIONS;
  ASSERT_EQ(messageOf(program.call("f", {&a, &b}, outputs, run)), "");
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_EQ(outputs[0].shape, std::vector<int64_t>{70000});
  EXPECT_EQ(outputs[0].dtype, host::DType::u2);
  for (size_t i = 0; i < x.size(); ++i)
    ASSERT_EQ(outputs[0].data<uint16_t>()[i],
              add(posit16, x[i], y[i], Rounding::NearestEven))
        << i;
}

TEST(Program, AddsInMemory) {
  auto program = compile(positProgram("?"), signature(NUMERA_U16, -1));
  ASSERT_TRUE(program);
  expectPositSums(*program);
}

TEST(Program, AddsFromASharedObject) {
  Folder folder;
  std::string path = folder / "add.so";
  Lowered lowered(positProgram("?"));
  ASSERT_EQ(messageOf(emitSharedObject(*lowered, {signature(NUMERA_U16, -1)},
                                       Registry(), options(), path)),
            "");
  EXPECT_EQ(folder.files(), 1u);
  auto program = Program::open(path);
  ASSERT_TRUE(bool(program)) << toString(program.takeError());
  expectPositSums(**program);
  EXPECT_EQ((*program)->metadata().format, "posit16");
  EXPECT_EQ((*program)->metadata().rounding, "nearest-even");
  EXPECT_EQ((*program)->metadata().seed, 18446744073709551615u);
  ASSERT_EQ((*program)->functions().size(), 1u);
  EXPECT_EQ((*program)->functions()[0], signature(NUMERA_U16, -1));
}

TEST(Program, RunsForEveryCPU) {
  for (const char *cpu : {"x86-64-v2", "x86-64-v3", "native"}) {
    Lowered lowered(positProgram("?"));
    CPUOptions target = options();
    target.cpu = cpu;
    auto program = Program::compile(*lowered, {signature(NUMERA_U16, -1)},
                                    Registry(), target);
    ASSERT_TRUE(bool(program)) << toString(program.takeError());
    expectPositSums(**program);
  }
}

TEST(Program, RunsWithoutOptimisation) {
  Lowered lowered(positProgram("?"));
  CPUOptions target = options();
  target.optimization = 0;
  auto program = Program::compile(*lowered, {signature(NUMERA_U16, -1)},
                                  Registry(), target);
  ASSERT_TRUE(bool(program)) << toString(program.takeError());
  expectPositSums(**program);
}

TEST(Program, RejectsAnUnknownCPU) {
  Lowered lowered(positProgram("?"));
  CPUOptions target = options();
  target.cpu = "z80";
  auto program = Program::compile(*lowered, {signature(NUMERA_U16, -1)},
                                  Registry(), target);
  EXPECT_EQ(messageOf(program.takeError()),
            "unknown cpu 'z80'; expected native, x86-64-v2, x86-64-v3, "
            "x86-64-v4, aarch64 or a name that `llc -mcpu=help` lists");
}

TEST(Program, ChoosesTheVersionForTheCPU) {
  Folder folder;
  CPUOptions target = options();
  target.cpu = "x86-64-v4,x86-64-v2,x86-64-v3";
  Lowered lowered(positProgram("?"));
  auto program = Program::compile(*lowered, {signature(NUMERA_U16, -1)},
                                  Registry(), target);
  ASSERT_TRUE(bool(program)) << toString(program.takeError());
  expectPositSums(**program);
  Lowered again(positProgram("?"));
  std::string path = folder / "add.so";
  ASSERT_EQ(messageOf(emitSharedObject(*again, {signature(NUMERA_U16, -1)},
                                       Registry(), target, path)),
            "");
  auto opened = Program::open(path);
  ASSERT_TRUE(bool(opened)) << toString(opened.takeError());
  expectPositSums(**opened);
  EXPECT_EQ((*opened)->metadata().target, "cpu x86-64-v2,x86-64-v3,x86-64-v4");
}

TEST(Program, IsForOneArchitecture) {
  auto messageFor = [](const char *cpu) {
    Lowered lowered(positProgram("?"));
    CPUOptions target = options();
    target.cpu = cpu;
    return messageOf(Program::compile(*lowered, {signature(NUMERA_U16, -1)},
                                      Registry(), target)
                         .takeError());
  };
  EXPECT_EQ(messageFor("x86-64-v3,cortex-a76"),
            "cpu 'x86-64-v3' is of x86_64, 'cortex-a76' of aarch64; a program "
            "is for one of them");
  EXPECT_EQ(messageFor("cortex-a76"),
            "code for the CPU 'cortex-a76' does not run on this machine; write "
            "it with --emit obj, asm or llvm");
}

TEST(Program, RejectsAFileThatIsNoProgram) {
  EXPECT_EQ(messageOf(Program::open("libm.so.6/none").takeError()),
            "libm.so.6/none: not a shared object: No such file or directory");
}

TEST(Program, RunsAsAnExecutable) {
  Folder folder;
  std::string path = folder / "add";
  Lowered lowered(floatAdd("4"));
  ASSERT_EQ(messageOf(emitExecutable(*lowered, {signature(NUMERA_F32, 4)},
                                     Registry(), options(), path)),
            "");
  // Six rows through a batch of four.
  host::Array x = arrayOf<float>(host::DType::f4, {1, 2, 3, 4, 5, 6});
  std::string error;
  ASSERT_TRUE(host::writeNpy((folder / "x.npy").c_str(), x, error)) << error;
  std::string dir = folder / "";
  std::string file = folder / "x.npy", named = "x=" + file;
  EXPECT_EQ(llvm::sys::ExecuteAndWait(path, {path, "--output-dir", dir, file,
                                             "--input", named, file}),
            0);
  host::Array sum;
  ASSERT_TRUE(host::readNpy((folder / "sum.npy").c_str(), sum, error)) << error;
  EXPECT_EQ(sum.shape, std::vector<int64_t>{6});
  EXPECT_EQ(sum.data<float>()[5], 12.0f);
  std::string log = folder / "log";
  EXPECT_EQ(llvm::sys::ExecuteAndWait(path, {path, file}, std::nullopt,
                                      {"", "", llvm::StringRef(log)}),
            1);
  std::string line;
  std::getline(std::ifstream(log), line);
  EXPECT_EQ(line, path + ": error: input 1 'y' is missing: give 2 .npy files");
}

TEST(Program, IsCalledFromC) {
  Folder folder;
  Lowered lowered(positProgram("?"));
  std::vector<FunctionSignature> functions = {signature(NUMERA_U16, -1)};
  std::string object = folder / "posit_add.so", caller = folder / "call";
  ASSERT_EQ(messageOf(emitSharedObject(*lowered, functions, Registry(),
                                       options(), object)),
            "");
  std::ofstream(folder / "posit_add.h") << renderHeader(functions, "posit_add");
  std::string clang = *llvm::sys::findProgramByName("clang-22");
  std::string source = NUMERA_SOURCE_DIR "/test/Target/call.c";
  ASSERT_EQ(llvm::sys::ExecuteAndWait(
                clang, {clang, "-std=c99", "-Wall", "-Wextra", "-pedantic",
                        "-Werror", "-I", folder / "", source, object,
                        "-Wl,-rpath," + folder / "", "-o", caller}),
            0);
  // 1 + 1 = 2, and NaR is what posits have for an error.
  std::string log = folder / "log";
  EXPECT_EQ(llvm::sys::ExecuteAndWait(caller, {caller, "4000", "4000"},
                                      std::nullopt, {"", log, ""}),
            0);
  std::string line;
  std::getline(std::ifstream(log), line);
  EXPECT_EQ(line, "4800");
}

/// Every elementary function once: what the linker has to find is there.
TEST(Program, KnowsEveryFunction) {
  struct Function {
    llvm::StringRef name, form;
    unsigned operands;
  };
  static constexpr Function functions[] = {
#define NUMERA_OPERATION(enumerator, name, operands, form, ...)                \
  {#name, #form, operands},
#include "numera/Numerics/Core/Operations.def"
  };
  for (auto [function, form, operands] : functions) {
    bool isRounded = form == "Direct" || form == "Ziv" || form == "Exact";
    if (!isRounded || operands != 1)
      continue;
    std::string name = function.str();
    std::string symbol = std::string("@numera_posit_") + name + "_16";
    std::string text = elementwise("i16", "?",
                                   "func.call " + symbol +
                                       "(%a, %bits, %es, %mode, %random) : "
                                       "(i16, i32, i32, i32, i32) -> i16",
                                   "func.func private " + symbol +
                                       "(i16 {llvm.zeroext}, i32, i32, i32, "
                                       "i32) -> (i16 {llvm.zeroext})\n");
    auto program = compile(withPositConstants(text), signature(NUMERA_U16, -1));
    ASSERT_TRUE(program) << name;
    host::Array x = arrayOf<uint16_t>(host::DType::u2, {0x8000, 0x4000});
    std::vector<host::Array> outputs;
    numera_options run = NUMERA_OPTIONS;
    ASSERT_EQ(messageOf(program->call("f", {&x, &x}, outputs, run)), "");
    EXPECT_EQ(outputs[0].data<uint16_t>()[0], 0x8000) << name; // NaR stays
  }
}

/// An operation with a fast path leaves vectors and no call in the loop.
TEST(Program, VectorisesLoops) {
  Folder folder;
  std::vector<FunctionSignature> functions = {signature(NUMERA_U16, -1)};
  for (const char *cpu : {"x86-64-v3", "x86-64-v4", "native"}) {
    Lowered lowered(positProgram("?"));
    CPUOptions target = options();
    target.cpu = cpu;
    std::string path = folder / "add.ll";
    ASSERT_EQ(
        messageOf(emitLLVM(*lowered, functions, Registry(), target, path)), "");
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    EXPECT_NE(text.str().find("sitofp <"), std::string::npos) << cpu;
    EXPECT_EQ(text.str().find("@numera_posit"), std::string::npos) << cpu;
  }
}

TEST(Program, WritesText) {
  Folder folder;
  Lowered lowered(positProgram("?"));
  std::string llvm = folder / "add.ll", assembly = folder / "add.s",
              object = folder / "add.o";
  std::vector<FunctionSignature> functions = {signature(NUMERA_U16, -1)};

  ASSERT_EQ(
      messageOf(emitLLVM(*lowered, functions, Registry(), options(), llvm)),
      "");
  ASSERT_EQ(messageOf(emitAssembly(*lowered, functions, Registry(), options(),
                                   assembly)),
            "");
  ASSERT_EQ(
      messageOf(emitObject(*lowered, functions, Registry(), options(), object)),
      "");
  EXPECT_EQ(folder.files(), 3u);
  EXPECT_NE(messageOf(emitLLVM(*lowered, functions, Registry(), options(),
                               folder / "none/add.ll")),
            "");
}

TEST(Program, DeclaresItsEntries) {
  std::string text = renderHeader({signature(NUMERA_U16, -1)}, "my-model");
  EXPECT_NE(text.find("#ifndef NUMERA_PROGRAM_MY_MODEL"), std::string::npos);
  EXPECT_NE(text.find("\n * input 1: u16 [?] y\n"), std::string::npos);
  EXPECT_NE(text.find("\nnumera_entry f;\n"), std::string::npos);
  EXPECT_NE(text.find("typedef struct numera_tensor"), std::string::npos);
}

TEST(Program, NamesEntriesAsCAllows) {
  EXPECT_EQ(entrySymbol("forward"), "forward");
  EXPECT_EQ(entrySymbol("main"), "main_");
  EXPECT_EQ(entrySymbol("torch-jit.export"), "torch_jit_export");
  EXPECT_EQ(entrySymbol("2layers"), "_2layers");
  EXPECT_EQ(entrySymbol("exp"), "exp_");
  EXPECT_EQ(entrySymbol("double"), "double_");
  for (const char *name :
       {"class", "delete", "new", "NULL", "size_t", "int32_t", "co_await",
        "int_fast8_t", "max_align_t", "INT32_MAX", "SIZE_MAX", "UINT8_C",
        "NUMERA_F32", "linux", "_Bool", "std"})
    EXPECT_EQ(entrySymbol(name), std::string(name) + "_");
  for (const char *name : {"stdin", "isnan", "errno", "environ", "NAN",
                           "pthread_create", "__libc_start_main", "_Exit"})
    EXPECT_EQ(entrySymbol(name), std::string(name) + "_");
  for (const char *name : {"layer_0_t", "F", "POOL_MAX", "_2", "_f"})
    EXPECT_EQ(entrySymbol(name), name);
}

} // namespace
