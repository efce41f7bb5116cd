// SPDX-License-Identifier: MIT
//
// Lane operations as instructions of AVX-512, and look-ups as those of AVX2,
// against the scalar code, on every class of operands. Skipped on a machine
// without.

#include "Peephole/LaneInstructions.h"
#include "Codegen/Machines.h"
#include "Lanes.h"
#include "Link/LinkRuntime.h"
#include "Peephole/Optimize.h"
#include "Vectorize/Widen.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/SourceMgr.h"
#include "gtest/gtest.h"

#include <fstream>

using namespace llvm;
using namespace numera;
using namespace numera::test;

namespace {

class LaneInstructions : public testing::Test {
protected:
  void SetUp() override { use("native", "+avx512dq,+avx512vl"); }

  /// Compiles for that CPU, if this one has the features.
  void use(StringRef cpu, StringRef features) {
    auto machineOf = [](StringRef name) {
      CPUOptions options;
      options.cpu = name.str();
      return std::move(
          cantFail(createMachines(options)).versions.front().machine);
    };
    machine = machineOf("native");
    if (!machine->getTargetTriple().isX86() ||
        !machine->getMCSubtargetInfo()->checkFeatures(features.str()))
      GTEST_SKIP() << "not " << features.str();
    machine = machineOf(cpu);
  }

  /// Widens @f of `text`, selects `count` calls of `instruction`, and compares
  /// with @f.
  void expectSame(StringRef text, unsigned lanes, StringRef instruction,
                  unsigned count) {
    auto context = std::make_unique<LLVMContext>();
    SMDiagnostic error;
    auto parsed = parseAssemblyString(text, error, *context);
    ASSERT_TRUE(parsed) << error.getMessage().str();
    Lanes program(std::move(context), std::move(parsed));
    Module &module = program.getModule();
    stripTarget(module);
    setTarget(module, *machine);
    Function *scalar = module.getFunction("f");
    Function *form = widen(*scalar, lanes, {true});
    ASSERT_TRUE(form);
    selectLaneInstructions(module, *machine);
    unsigned found = 0;
    for (Instruction &each : instructions(*form))
      if (auto *call = dyn_cast<CallInst>(&each))
        found += call->getCalledFunction()->getName().contains(instruction);
    ASSERT_EQ(found, count);
    unsigned bytes = scalar->getReturnType()->getScalarSizeInBits() / 8;
    program.addCaller("scalar", scalar);
    program.addCaller("vector", form);
    ASSERT_TRUE(program.compile());
    program.expectSame("scalar", "vector", lanes, {{8 * bytes}}, bytes, 2000);
    // Every exponent, with either sign and a few fractions: among them zeros,
    // subnormals, infinities and NaN of both kinds.
    unsigned fraction = bytes == 4 ? 23 : 52;
    std::vector<uint8_t> arguments(lanes * bytes), results(lanes * bytes);
    for (uint64_t top = 0; top < uint64_t{1} << (8 * bytes - fraction); ++top)
      for (uint64_t rest : {0, 1, 2, 3}) {
        uint64_t low = (rest & 1) | (rest >> 1 << (fraction - 1));
        uint64_t bits = top << fraction | low, one = 0;
        for (unsigned lane = 0; lane < lanes; ++lane)
          memcpy(&arguments[lane * bytes], &bits, bytes);
        program.call("vector", {arguments.data()}, results.data());
        program.call("scalar", {&bits}, &one);
        for (unsigned lane = 0; lane < lanes; ++lane)
          ASSERT_EQ(memcmp(&one, &results[lane * bytes], bytes), 0)
              << utohexstr(bits);
      }
  }

  /// The clamp of x + x by a comparison, as LLVM leaves LaneOperations.h.
  static std::string clamp(StringRef type, StringRef suffix,
                           StringRef comparison, StringRef bound,
                           bool magnitudeFirst) {
    std::string choice = "select i1 %c, " + (type + " ").str();
    choice += magnitudeFirst ? ("%m, " + type + " " + bound).str()
                             : (bound + ", " + type + " %m").str();
    return ("define " + type + " @f(" + type + " %a) {\n  %x = fadd " + type +
            " %a, %a\n  %m = call " + type + " @llvm.fabs." + suffix + "(" +
            type + " %x)\n  %c = fcmp " + comparison + " " + type + " %m, " +
            bound + "\n  %s = " + choice + "\n  %r = call " + type +
            " @llvm.copysign." + suffix + "(" + type + " %s, " + type +
            " %x)\n  ret " + type + " %r\n}\n")
        .str();
  }

  std::unique_ptr<TargetMachine> machine;
};

TEST_F(LaneInstructions, ClampMagnitudes) {
  for (unsigned lanes : {4u, 8u, 16u, 32u}) {
    unsigned count = lanes == 32 ? 2 : 1;
    expectSame(clamp("float", "f32", "ult", "0x3F58000000000000", false), lanes,
               "range.ps", count);
    expectSame(clamp("float", "f32", "oge", "0x3F58000000000000", true), lanes,
               "range.ps", count);
    expectSame(clamp("float", "f32", "ole", "1536.0", true), lanes, "range.ps",
               count);
  }
  expectSame(clamp("double", "f64", "ugt", "3.0", false), 8, "range.pd", 1);
  expectSame(clamp("double", "f64", "ult", "3.0", false), 2, "range.pd", 1);
}

TEST_F(LaneInstructions, ReplaceNaN) {
  auto fix = [](StringRef type, StringRef choice) {
    return ("define " + type + " @f(" + type + " %x) {\n  " + choice +
            "\n  ret " + type + " %r\n}\n")
        .str();
  };
  StringRef positive =
      "%c = fcmp uno float %x, 0.0\n"
      "  %r = select i1 %c, float 0x7FF8000000000000, float %x";
  for (unsigned lanes : {4u, 8u, 16u})
    expectSame(fix("float", positive), lanes, "fixupimm.ps", 1);
  expectSame(fix("float", positive), 64, "fixupimm.ps", 4);
  expectSame(fix("double", "%c = fcmp ord double %x, %x\n"
                           "  %r = select i1 %c, double %x, double 0.0"),
             8, "fixupimm.pd", 1);
  expectSame(fix("float", "%c = fcmp uno float %x, 0.0\n"
                          "  %r = select i1 %c, float %x, float 1.0"),
             16, "fixupimm.ps", 0);
}

TEST_F(LaneInstructions, ReplaceNaNOfBits) {
  expectSame("define i32 @f(float %x) {\n"
             "  %c = fcmp ord float %x, 0.0\n"
             "  %b = bitcast float %x to i32\n"
             "  %r = select i1 %c, i32 %b, i32 2143289344\n"
             "  ret i32 %r\n}\n",
             16, "fixupimm.ps", 1);
}

TEST_F(LaneInstructions, ReplaceNaNOnce) {
  // A product of what was replaced, which is replaced, or is not.
  auto product = [](StringRef last) {
    return ("define float @f(float %x) {\n"
            "  %c = fcmp uno float %x, 0.0\n"
            "  %y = select i1 %c, float 0x7FF8000000000000, float %x\n"
            "  %z = fmul float %y, -3.0\n" +
            last + "\n}\n")
        .str();
  };
  expectSame(product("  %d = fcmp ord float %z, 0.0\n"
                     "  %r = select i1 %d, float %z, float 0x7FF8000000000000\n"
                     "  ret float %r"),
             16, "fixupimm.ps", 1);
  expectSame(product("  ret float %z"), 16, "fixupimm.ps", 1);
  expectSame(product("  %d = fcmp ord float %z, 0.0\n"
                     "  %r = select i1 %d, float %z, float 1.0\n"
                     "  %s = fadd float %r, %z\n"
                     "  ret float %s"),
             16, "fixupimm.ps", 2);
  // Where NaN becomes a number, it has to.
  expectSame("define float @f(float %x) {\n"
             "  %c = fcmp uno float %x, 0.0\n"
             "  %y = select i1 %c, float 1.0, float %x\n"
             "  %z = fmul float %y, -3.0\n"
             "  %d = fcmp ord float %z, 0.0\n"
             "  %r = select i1 %d, float %z, float 0x7FF8000000000000\n"
             "  ret float %r\n}\n",
             16, "fixupimm.ps", 2);
}

TEST_F(LaneInstructions, LeaveWhatIsDefinedForNaN) {
  expectSame(clamp("float", "f32", "olt", "3.0", false), 16, "range.ps", 0);
  expectSame(clamp("float", "f32", "uge", "3.0", true), 16, "range.ps", 0);
}

/// The entry of a table of so many numbers that an argument's bits name.
static std::string lookup(unsigned entries, StringRef type) {
  std::string table;
  for (unsigned i = 0; i < entries; ++i)
    table += ((i ? ", " : "") + type + " ").str() + std::to_string(3 * i + 1) +
             (type == "float" ? ".0" : "");
  std::string array = "[" + std::to_string(entries) + " x " + type.str() + "]";
  std::string result = type == "float" ? "ret float %r"
                                       : "%f = bitcast i32 %r to float\n"
                                         "  ret float %f";
  return "@table = constant " + array + " [" + table +
         "]\n"
         "define float @f(float %x) {\n"
         "  %b = bitcast float %x to i32\n"
         "  %i = urem i32 %b, " +
         std::to_string(entries) +
         "\n"
         "  %w = zext i32 %i to i64\n"
         "  %p = getelementptr " +
         array +
         ", ptr @table, i64 0, i64 %w\n"
         "  %r = load " +
         type.str() + ", ptr %p\n  " + result + "\n}\n";
}

TEST_F(LaneInstructions, LookTablesUp) {
  for (unsigned entries : {7, 16, 20, 32}) {
    std::string text = lookup(entries, "float");
    StringRef name = entries <= 16 ? "permvar" : "vpermi2var";
    expectSame(text, 16, name, 1);
    expectSame(text, 32, name, 2);
    expectSame(text, 8, name, 0);
  }
}

class LaneInstructionsOfAVX2 : public LaneInstructions {
  void SetUp() override { use("x86-64-v3", "+avx2"); }
};

TEST_F(LaneInstructionsOfAVX2, LookTablesUp) {
  for (unsigned entries : {7, 16, 20, 32}) {
    unsigned parts = entries <= 8 ? 1 : entries <= 16 ? 2 : 4;
    expectSame(lookup(entries, "float"), 8, "avx2.permps", parts);
    expectSame(lookup(entries, "float"), 16, "blendv", 2 * (parts - 1));
    expectSame(lookup(entries, "i32"), 16, "avx2.permd", 2 * parts);
    expectSame(lookup(entries, "float"), 4, "avx2.permps", 0);
  }
}

/// As what steps of posits look up: a power of two by an exponent's bits.
TEST_F(LaneInstructions, LookWordsOfDoublesUp) {
  auto program = [](StringRef zero, unsigned shift, StringRef rest) {
    std::string table = ("double " + zero).str();
    for (unsigned i = 1; i < 32; ++i)
      table += ", double " + std::to_string(1 << i % 9) + "." + rest.str();
    return "@table = constant [32 x double] [" + table +
           "]\n"
           "define double @f(double %x) {\n"
           "  %b = bitcast double %x to i64\n"
           "  %s = lshr i64 %b, " +
           std::to_string(shift) +
           "\n"
           "  %i = and i64 %s, 31\n"
           "  %p = getelementptr [32 x double], ptr @table, i64 0, i64 %i\n"
           "  %r = load double, ptr %p\n"
           "  ret double %r\n"
           "}\n";
  };
  for (unsigned shift : {49, 54, 59}) {
    expectSame(program("0.0", shift, "0"), 8, "permvar.hi", 1);
    expectSame(program("0.0", shift, "0"), 16, "permvar.hi", 2);
  }
  // No index in a word, more bits, another entry where the words are zero.
  expectSame(program("0.0", 48, "0"), 8, "permvar.hi", 0);
  expectSame(program("0.0", 54, "001"), 8, "permvar.hi", 0);
  expectSame(program("1.0", 54, "0"), 8, "permvar.hi", 0);
}

/// What clang makes of LaneOperations.h is what is looked for.
TEST_F(LaneInstructions, AreFoundInWhatIsCompiled) {
  auto expectCompiled = [&](StringRef body, StringRef instruction) {
    SmallString<64> folder;
    ASSERT_FALSE(sys::fs::createUniqueDirectory("numera", folder));
    auto cleanup =
        llvm::scope_exit([&] { sys::fs::remove_directories(folder); });
    std::string source = (folder + "/f.cpp").str(), out = source + ".ll";
    std::ofstream(source)
        << "#include \"numera/Numerics/Carrier/LaneOperations.h\"\n"
           "extern \"C\" float f(float x) { x += x; return "
        << body.str() << "; }\n";
    std::string program = *sys::findProgramByName("clang++-22");
    ASSERT_EQ(sys::ExecuteAndWait(program, {program, "-std=c++20", "-O2", "-S",
                                            "-emit-llvm", "-fno-vectorize",
                                            "-ffp-contract=off",
                                            "-I" NUMERA_SOURCE_DIR "/include",
                                            source, "-o", out}),
              0);
    expectSame((*MemoryBuffer::getFile(out))->getBuffer(), 16, instruction, 1);
  };
  expectCompiled("numera::lane::atLeast(x, 0x1.8p-10f)", "range.ps");
  expectCompiled("numera::lane::atMost(x, 0x1.8p10f)", "range.ps");
  expectCompiled("numera::lane::lookup(__builtin_bit_cast(uint32_t, x) >> "
                 "23 & 31, [](int32_t i) { return 1.0f / (3 + i * i); })",
                 "vpermi2var.ps");
  expectCompiled("__builtin_bit_cast(float, numera::lane::lookup("
                 "__builtin_bit_cast(uint32_t, x) >> 25 & 31, "
                 "[](uint32_t i) { return i * i * 7; }) ^ "
                 "__builtin_bit_cast(uint32_t, x))",
                 "vpermi2var.d");
}

} // namespace
