// SPDX-License-Identifier: MIT
//
// The parts of `numera check` by themselves: inputs, verdicts, laws' helpers
// and the sandbox. The whole is tested in test/Tools/check*.test.

#include "Inputs.h"
#include "Judge.h"
#include "Sandbox.h"
#include "Values.h"

#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"
#include <csignal>
#include <cstdlib>
#include <set>

using namespace numera;
using namespace numera::check;

namespace {

Registry registryOf(llvm::StringRef text) {
  Registry registry;
  EXPECT_TRUE(registry.loadText(text, "f.yaml", "", llvm::errs()));
  return registry;
}

Format named(const Registry &registry, llvm::StringRef name) {
  std::string error;
  Format format = registry.lookupFormat(name, error);
  EXPECT_TRUE(format) << error;
  return format;
}

Checked uniform(OpKind operation, const Format &format, size_t count) {
  Checked checked;
  checked.operation = operation;
  checked.result.format = format;
  checked.operands.assign(count, checked.result);
  return checked;
}

/// What judging `got` says: nothing, `other NaN`, or the name of the fault.
std::string verdict(const Registry &registry, const Checked &checked,
                    Operands operands, uint64_t got) {
  Fault fault{};
  uint64_t expected = 0;
  switch (Judge(registry, checked).judge(operands, got, fault, expected)) {
  case Judge::Verdict::Right:
    return "";
  case Judge::Verdict::OtherNaN:
    return "other NaN";
  case Judge::Verdict::Wrong:
    return nameOf(fault).str();
  }
  return "none";
}

TEST(Judge, NamesHowABfloat16SumIsWrong) {
  Registry registry;
  Checked add = uniform(OpKind::Add, named(registry, "bf16"), 2);
  const struct {
    uint64_t x, y, got;
    const char *fault;
  } sums[] = {
      {0x3f80, 0x3f80, 0x4000, ""},
      {0x3f80, 0x3f80, 0x4001, "rounding (1 ulp)"},
      {0x3f80, 0x3f80, 0x3fff, "rounding (1 ulp)"},
      {0x3f80, 0x3f80, 0x4002, "wrong by more than 1 ulp"},
      {0x3f80, 0x3f80, 0xc000, "wrong sign"},
      {0x3f80, 0x3f80, 0x14000, "bits above the width set"},
      {0x3f80, 0xbf80, 0x8000, "sign of zero"},
      {0x7f80, 0xff80, 0x7f80, "NaN expected"},
      {0x7f80, 0xff80, 0xffc1, "other NaN"},
      {0x3f80, 0x3f80, 0x7fc0, "NaN given"},
      {0x7f7f, 0x7f7f, 0x7f7f, "infinity or saturation"},
      {0x0001, 0x0001, 0x0000, "subnormal flushed"},
  };
  for (const auto &sum : sums)
    EXPECT_EQ(verdict(registry, add, {sum.x, sum.y}, sum.got), sum.fault);
}

TEST(Judge, KnowsSwappedOperandsAndTruth) {
  Registry registry;
  Format bf16 = named(registry, "bf16");
  Checked sub = uniform(OpKind::Sub, bf16, 2);
  EXPECT_EQ(verdict(registry, sub, {0x4000, 0x3f80}, 0xbf80),
            "operands swapped");
  Checked cmp = uniform(OpKind::Cmp, bf16, 2);
  cmp.result = *integerFromName("u8");
  for (auto [predicate, holds] : {std::pair("olt", 1),
                                  {"oge", 0},
                                  {"une", 1},
                                  {"uno", 0},
                                  {"ord", 1},
                                  {"ueq", 0}}) {
    cmp.predicate = predicate;
    EXPECT_EQ(verdict(registry, cmp, {0x3f80, 0x4000}, uint64_t(holds)), "")
        << predicate;
    EXPECT_EQ(verdict(registry, cmp, {0x3f80, 0x4000}, uint64_t(1 - holds)),
              "wrong truth value")
        << predicate;
  }
}

TEST(Judge, RoundsAsTheEquivalentFormatDoes) {
  Registry registry =
      registryOf("formats:\n  my: {family: opaque, bits: 13, equivalent: "
                 "'float<5,7,up>'}\n");
  Checked add = uniform(OpKind::Add, named(registry, "my"), 2);
  // 1 + 2^-14, the least subnormal's neighbourhood: up is the next code.
  EXPECT_EQ(verdict(registry, add, {0x780, 0x080}, 0x781), "");
  EXPECT_EQ(verdict(registry, add, {0x780, 0x080}, 0x780), "rounding (1 ulp)");
}

TEST(Judge, DrawsFromTheLastOperand) {
  Registry registry;
  Format format = named(registry, "float<8,7,stochastic,random-bits=8>");
  Checked add = uniform(OpKind::Add, format, 2);
  add.rounding = {Rounding::Stochastic, 8};
  add.operands.push_back(*integerFromName("u32"));
  // 1 + 2^-8 lies half way: up for draws below 128 of 256.
  EXPECT_EQ(verdict(registry, add, {0x3f80, 0x3b80, 127}, 0x3f81), "");
  EXPECT_EQ(verdict(registry, add, {0x3f80, 0x3b80, 128}, 0x3f80), "");
  EXPECT_EQ(verdict(registry, add, {0x3f80, 0x3b80, 128}, 0x3f81),
            "rounding (1 ulp)");
}

TEST(Judge, ReadsIntegersAsTheirTypeSays) {
  Registry registry;
  Format bf16 = named(registry, "bf16");
  Checked cast;
  cast.operation = OpKind::Cast;
  cast.operands = {*integerFromName("i8")};
  cast.result.format = bf16;
  EXPECT_EQ(verdict(registry, cast, {0xff}, 0xbf80), "");
  cast.operands = {*integerFromName("u8")};
  EXPECT_EQ(verdict(registry, cast, {0xff}, 0x437f), "");
  cast.operands.front() = {};
  cast.operands.front().format = bf16;
  cast.result = *integerFromName("i8");
  EXPECT_EQ(verdict(registry, cast, {0xbf80}, 0xff), "");
  EXPECT_EQ(verdict(registry, cast, {0xbf80}, 0xfe), "wrong integer");
}

TEST(Inputs, AreAllOfThemWhereThereAreFew) {
  Registry registry;
  Options options;
  Inputs inputs(registry, uniform(OpKind::Add, named(registry, "posit8"), 2),
                options);
  std::set<std::pair<uint64_t, uint64_t>> seen;
  for (uint64_t i = 0; i < inputs.size(); ++i)
    seen.insert({inputs.at(i)[0], inputs.at(i)[1]});
  EXPECT_EQ(inputs.size(), 65536u);
  EXPECT_EQ(seen.size(), 65536u);
  Inputs triples(registry, uniform(OpKind::Fma, named(registry, "f6E3M2FN"), 3),
                 options);
  EXPECT_EQ(triples.size(), 1u << 18);
}

TEST(Inputs, HaveEveryPairOfBoundariesAndAMillionDraws) {
  Registry registry;
  Format bf16 = named(registry, "bf16");
  Options options;
  Inputs inputs(registry, uniform(OpKind::Add, bf16, 2), options);
  size_t count = boundaryCodes(bf16, 16).size();
  EXPECT_EQ(inputs.size(), count * count + 1'000'000);
  // A function of the index and the seed.
  Options other;
  other.seed = 2;
  Inputs again(registry, uniform(OpKind::Add, bf16, 2), options),
      different(registry, uniform(OpKind::Add, bf16, 2), other);
  uint64_t last = inputs.size() - 1;
  EXPECT_EQ(inputs.at(last), again.at(last));
  EXPECT_NE(inputs.at(last), different.at(last));
}

TEST(Values, HoldWhereACastTurns) {
  Registry registry;
  std::vector<uint64_t> numbers =
      boundaryNumbers(formatF32(), named(registry, "bf16"));
  // 1, the middle between it and the next number, and their neighbours.
  for (uint32_t bits : {0x3f800000u, 0x3f7fffffu, 0x3f800001u, 0x3f807fffu,
                        0x3f808000u, 0x3f808001u, 0xbf808000u, 0x7f7f8000u})
    EXPECT_TRUE(llvm::is_contained(numbers, uint64_t{bits}))
        << std::hex << bits;
}

TEST(Sandbox, TellsHowCodeEnds) {
  Shared<Pulse> pulses(1);
  ASSERT_TRUE(pulses);
  auto run = [&](llvm::function_ref<void()> body) {
    int signal = 0;
    Outcome outcome = runSandboxed(body, pulses[0], 0.2, signal);
    return std::pair(outcome, signal);
  };
  EXPECT_EQ(run([] {}), std::pair(Outcome::Finished, 0));
  EXPECT_EQ(run([] { std::raise(SIGSEGV); }),
            std::pair(Outcome::Crashed, SIGSEGV));
  EXPECT_EQ(run([] { std::abort(); }), std::pair(Outcome::Crashed, SIGABRT));
  EXPECT_EQ(run([] { std::_Exit(0); }), std::pair(Outcome::Exited, 0));
  EXPECT_EQ(run([&] {
              pulses[0].isCalling = true;
              for (;;)
                ;
            }),
            std::pair(Outcome::TimedOut, 0));
}

} // namespace
