// SPDX-License-Identifier: MIT
//
// The vector forms of the runtime's entries, as programs get them: declared,
// linked, specialised and widened, against the same entries on scalars.

#include "Vectorize/VectorForms.h"
#include "Codegen/Machines.h"
#include "Lanes.h"
#include "Link/LinkRuntime.h"
#include "Peephole/Optimize.h"
#include "Vectorize/Specialize.h"
#include "numera/Registry/Registry.h"
#include "numera/Registry/Symbols/VectorForm.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/ADT/StringExtras.h"

#include "gtest/gtest.h"

using namespace llvm;
using namespace numera;
using namespace numera::test;

namespace {

TEST(VectorForm, NamesWhatItIs) {
  VectorForm form{"numera_posit_add_16", 16, {true, true, false}};
  EXPECT_EQ(form.symbol(), "_ZGV_LLVM_N16vvu_numera_posit_add_16");
  EXPECT_EQ(VectorForm::parse(form.symbol()), form);
  VectorForm own{"mine::_add", 4, {true}};
  EXPECT_EQ(VectorForm::parse(own.symbol()), own);
  for (StringRef other :
       {"numera_posit_add_16", "_ZGV_LLVM_N16vv", "_ZGV_LLVM_N0v_f",
        "_ZGV_LLVM_N4vx_f", "_ZGV_LLVM_Nvv_f", "_ZGVdN8v_f", ""})
    EXPECT_FALSE(VectorForm::parse(other)) << other.str();
}

class Forms : public testing::TestWithParam<const char *> {
protected:
  struct Entry {
    std::string operation;
    std::vector<Type *> operands;
    std::vector<unsigned> bits; ///< of each operand
    Type *result;
    std::vector<int32_t> trailing;
  };

  Forms() {
    std::string error;
    format = registry.lookupFormat(GetParam(), error);
    auto owned = std::make_unique<LLVMContext>();
    context = owned.get();
    auto module = std::make_unique<Module>("forms", *owned);
    program = std::make_unique<Lanes>(std::move(owned), std::move(module));
  }

  /// Every entry without memory.
  std::vector<Entry> entries() {
    Type *code = Type::getIntNTy(*context, format.storageBits());
    Type *i8 = Type::getInt8Ty(*context), *f32 = Type::getFloatTy(*context);
    Type *i64 = Type::getInt64Ty(*context);
    unsigned width = format.width();
    std::vector<Entry> list;
    // Elementary functions are long: those of two formats, and of all formats
    // what has a fast path of its own.
    bool isFull = is_contained({"bf16", "posit16"}, StringRef(GetParam()));
    auto add = [&](const char *name, unsigned count, bool rounds) {
      if (!isFull && rounds && count == 1 && StringRef(name) != "sqrt")
        return;
      Entry entry{name, {}, {}, code, {}};
      entry.operands.assign(count, code);
      entry.bits.assign(count, width);
      if (rounds)
        entry.trailing = {numera::RoundingMode(Rounding::NearestEven).pack(),
                          0};
      list.push_back(entry);
    };
#define NUMERA_UNARY(op) add(#op, 1, true);
#define NUMERA_BINARY(op) add(#op, 2, true);
#define NUMERA_TERNARY(op) add(#op, 3, true);
#define NUMERA_UNARY_EXACT(op) add(#op, 1, false);
#define NUMERA_BINARY_EXACT(op) add(#op, 2, false);
#include "numera/Runtime/ABI.def"
    list.push_back({"cmp", {code, code}, {width, width}, i8, {2}});
    list.push_back({"isnan", {code}, {width}, i8, {}});
    list.push_back({"to_integer", {code}, {width}, i64, {32, 1}});
    list.push_back({"encode_f32", {f32}, {32}, code, {0, 0}});
    list.push_back({"from_i64", {i64}, {64}, code, {0, 0}});
    if (format.getFamily().embedsInF32(format))
      list.push_back({"decode_f32", {code}, {width}, f32, {}});
    return list;
  }

  SmallVector<int32_t> constants(const Entry &entry) {
    SmallVector<int32_t> all(format.getParameters());
    append_range(all, entry.trailing);
    return all;
  }
  std::string symbol(const Entry &entry) {
    return ("numera_" + format.getFamily().name() + "_" + entry.operation +
            "_" + Twine(format.storageBits()))
        .str();
  }
  /// The entry on scalars (0), or its vector form.
  FunctionCallee declare(const Entry &entry, unsigned lanes) {
    VectorForm form{symbol(entry), lanes, {}};
    auto typeOf = [&](Type *type) {
      return lanes == 0 ? type : FixedVectorType::get(type, lanes);
    };
    SmallVector<Type *> types = map_to_vector(entry.operands, typeOf);
    form.isVector.append(types.size(), true);
    for (unsigned i = 0; i < constants(entry).size(); ++i) {
      types.push_back(Type::getInt32Ty(*context));
      form.isVector.push_back(false);
    }
    auto *type = FunctionType::get(typeOf(entry.result), types, false);
    return program->getModule().getOrInsertFunction(
        lanes == 0 ? form.scalar : form.symbol(), type);
  }

  static std::string callerOf(const Entry &entry, unsigned lanes) {
    return entry.operation + "." + std::to_string(lanes);
  }
  void addCaller(const Entry &entry, unsigned lanes) {
    program->addCaller(callerOf(entry, lanes), declare(entry, lanes),
                       constants(entry));
  }

  Registry registry;
  Format format;
  LLVMContext *context;
  std::unique_ptr<Lanes> program;
};

std::vector<unsigned> lanesOf(const std::string &operation) {
  if (is_contained({"add", "mul", "fma", "decode_f32", "encode_f32"},
                   operation))
    return {4, 8, 16, 32};
  return {8};
}

TEST_P(Forms, HaveTheBitsOfTheScalars) {
  ASSERT_TRUE(format);
  std::vector<Entry> list = entries();
  for (const Entry &entry : list) {
    addCaller(entry, 0);
    for (unsigned lanes : lanesOf(entry.operation))
      addCaller(entry, lanes);
  }
  Module &module = program->getModule();
  std::unique_ptr<TargetMachine> machine = std::move(
      cantFail(createMachines(CPUOptions())).versions.front().machine);
  setTarget(module, *machine);
  cantFail(defineVectorForms(module));
  cantFail(linkRuntime(module));
  setTarget(module, *machine);
  specializeRuntimeCalls(module, *machine);
  cantFail(optimize(module, *machine, {.level = 1}));
  // Types do not outlive the compilation.
  std::vector<unsigned> resultBytes;
  for (const Entry &entry : list)
    resultBytes.push_back(entry.result->getPrimitiveSizeInBits() / 8);
  ASSERT_TRUE(program->compile());
  for (auto [entry, bytes] : zip_equal(list, resultBytes)) {
    SmallVector<Lanes::Operand> operands;
    for (unsigned bits : entry.bits)
      operands.push_back({bits});
    for (unsigned lanes : lanesOf(entry.operation))
      program->expectSame(callerOf(entry, 0), callerOf(entry, lanes), lanes,
                          operands, bytes, 200);
  }
}

INSTANTIATE_TEST_SUITE_P(Vector, Forms,
                         testing::Values("f16", "bf16", "f8E4M3FN",
                                         "float<5,7>", "posit16", "posit<12,1>",
                                         "posit<24,2>", "fixed<4,11>"),
                         [](const testing::TestParamInfo<const char *> &info) {
                           std::string name = info.param;
                           std::replace_if(
                               name.begin(), name.end(),
                               [](char c) { return !llvm::isAlnum(c); }, '_');
                           return name;
                         });

} // namespace
