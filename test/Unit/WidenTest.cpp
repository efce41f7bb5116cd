// SPDX-License-Identifier: MIT
//
// Widened functions against the scalar ones, each compiled, on random bits.

#include "Vectorize/Widen.h"
#include "Lanes.h"
#include "Vectorize/VectorForms.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Support/SourceMgr.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace numera::test;

namespace {

class Widen : public testing::Test {
protected:
  void parse(StringRef text) {
    auto context = std::make_unique<LLVMContext>();
    SMDiagnostic error;
    auto module = parseAssemblyString(text, error, *context);
    ASSERT_TRUE(module) << error.getMessage().str();
    program = std::make_unique<Lanes>(std::move(context), std::move(module));
  }
  Function *widen(unsigned lanes, std::vector<bool> isVector) {
    SmallVector<bool> list(isVector.begin(), isVector.end());
    return numera::widen(*program->getModule().getFunction("f"), lanes, list);
  }
  /// Widens @f of `text` in its arguments, all vectors unless `isVector` says
  /// otherwise, and compares.
  void expectSame(StringRef text, std::vector<bool> isVector = {}) {
    for (unsigned lanes : {1u, 4u, 7u, 16u}) {
      parse(text);
      ASSERT_TRUE(program);
      Function *scalar = program->getModule().getFunction("f");
      std::vector<bool> wide(isVector);
      wide.resize(scalar->arg_size(), isVector.empty());
      SmallVector<Lanes::Operand> operands;
      for (auto [argument, isWide] : zip_equal(scalar->args(), wide))
        operands.push_back({argument.getType()->getScalarSizeInBits(), isWide});
      unsigned result = scalar->getReturnType()->getScalarSizeInBits() / 8;
      Function *form = widen(lanes, wide);
      ASSERT_TRUE(form) << "not widened";
      EXPECT_TRUE(form->hasFnAttribute(Attribute::AlwaysInline));
      program->addCaller("scalar", scalar);
      program->addCaller("vector", form);
      ASSERT_TRUE(program->compile());
      program->expectSame("scalar", "vector", lanes, operands, result, 200);
    }
  }
  /// True if the form calls @f for some lanes.
  static bool hasCall(const Function &form) {
    return any_of(instructions(form), [](const Instruction &instruction) {
      return isa<CallBase>(instruction) && !isa<IntrinsicInst>(instruction);
    });
  }

  std::unique_ptr<Lanes> program;
};

TEST_F(Widen, AppliesEachInstruction) {
  expectSame(R"(
define i16 @f(i16 %x, i16 %y) {
  %a = zext i16 %x to i32
  %b = sext i16 %y to i32
  %c = mul i32 %a, %b
  %d = call i32 @llvm.ctlz.i32(i32 %c, i1 false)
  %e = call i32 @llvm.fshl.i32(i32 %c, i32 %a, i32 %d)
  %f = call i32 @llvm.abs.i32(i32 %e, i1 false)
  %g = call i32 @llvm.umin.i32(i32 %f, i32 4000)
  %h = freeze i32 %g
  %less = icmp slt i32 %h, %a
  %i = select i1 %less, i32 %h, i32 7
  %j = trunc i32 %i to i16
  ret i16 %j
})");
  expectSame(R"(
define float @f(float %x, float %y) {
  %a = fadd float %x, %y
  %b = call float @llvm.fma.f32(float %a, float %x, float %y)
  %c = fneg float %b
  %d = call float @llvm.fabs.f32(float %c)
  %e = call float @llvm.sqrt.f32(float %d)
  %f = call float @llvm.copysign.f32(float %e, float %y)
  %g = call float @llvm.minnum.f32(float %f, float 2.0)
  %h = bitcast float %g to i32
  %nan = fcmp uno float %g, 0.0
  %i = select i1 %nan, i32 2143289344, i32 %h
  %j = bitcast i32 %i to float
  ret float %j
})");
}

TEST_F(Widen, KeepsWhatIsUniform) {
  constexpr StringLiteral text = R"(
define i32 @f(i32 %x, i32 %n) {
  %a = mul i32 %n, 3
  %low = icmp ult i32 %n, 2147483648
  br i1 %low, label %then, label %else
then:
  %b = add i32 %x, %a
  br label %end
else:
  %c = sub i32 %a, %n
  br label %end
end:
  %d = phi i32 [ %b, %then ], [ %c, %else ]
  ret i32 %d
})";
  expectSame(text, {true, false});
  expectSame(text, {false, true});
  parse(text);
  Function *form = widen(4, {true, false});
  unsigned products = 0;
  for (Instruction &instruction : instructions(form))
    if (instruction.getOpcode() == Instruction::Mul) {
      ++products;
      EXPECT_TRUE(instruction.getType()->isIntegerTy());
    }
  EXPECT_EQ(products, 1u);
}

TEST_F(Widen, TurnsBranchesIntoSelects) {
  expectSame(R"(
define i32 @f(i32 %x, i32 %y) {
entry:
  %p = icmp slt i32 %x, %y
  br i1 %p, label %a, label %b
a:
  %xa = add i32 %x, 1
  %q = icmp slt i32 %xa, 100
  br i1 %q, label %c, label %d
b:
  %r = icmp eq i32 %y, 0
  br i1 %r, label %d, label %return
c:
  %xc = xor i32 %xa, %y
  br label %d
d:
  %z = phi i32 [ %xa, %a ], [ %xc, %c ], [ -1, %b ]
  %w = mul i32 %z, 5
  switch i32 %w, label %e [ i32 -5, label %end
                            i32 0, label %f
                            i32 5, label %f ]
e:
  br label %end
f:
  br label %end
end:
  %result = phi i32 [ %w, %d ], [ %z, %e ], [ 17, %f ]
  ret i32 %result
return:
  ret i32 %y
})");
}

TEST_F(Widen, DividesOnlyWhereTheScalarDoes) {
  for (StringRef operation : {"udiv", "sdiv", "urem", "srem"})
    expectSame(("define i32 @f(i32 %x, i32 %y) {\n"
                "  %zero = icmp eq i32 %y, 0\n"
                "  %small = icmp eq i32 %y, -1\n"
                "  %bad = or i1 %zero, %small\n"
                "  br i1 %bad, label %end, label %divide\n"
                "divide:\n"
                "  %q = " +
                operation +
                " i32 %x, %y\n"
                "  br label %end\n"
                "end:\n"
                "  %r = phi i32 [ %q, %divide ], [ %x, %0 ]\n"
                "  ret i32 %r\n"
                "}")
                   .str());
}

TEST_F(Widen, ReadsTables) {
  expectSame(R"(
@table = constant [4 x i16] [i16 5, i16 -7, i16 11, i16 -13]
define i16 @f(i16 %x) {
  %inside = icmp ult i16 %x, 4
  br i1 %inside, label %read, label %end
read:
  %i = zext i16 %x to i64
  %place = getelementptr [4 x i16], ptr @table, i64 0, i64 %i
  %value = load i16, ptr %place
  br label %end
end:
  %result = phi i16 [ %value, %read ], [ 0, %0 ]
  ret i16 %result
})");
}

TEST_F(Widen, ReturnsPairsOfIntrinsics) {
  expectSame(R"(
define i32 @f(i32 %x, i32 %y) {
  %pair = call { i32, i1 } @llvm.uadd.with.overflow.i32(i32 %x, i32 %y)
  %sum = extractvalue { i32, i1 } %pair, 0
  %carry = extractvalue { i32, i1 } %pair, 1
  %result = select i1 %carry, i32 -1, i32 %sum
  ret i32 %result
})");
}

constexpr StringLiteral withLoop = R"(
define i32 @f(i32 %x, i32 %y) {
entry:
  %n = and i32 %y, 7
  %few = icmp ult i32 %n, 5
  br i1 %few, label %quick, label %loop
loop:
  %i = phi i32 [ %n, %entry ], [ %less, %loop ]
  %p = phi i32 [ %x, %entry ], [ %q, %loop ]
  %q = mul i32 %p, %x
  %less = sub i32 %i, 1
  %more = icmp ne i32 %less, 0
  br i1 %more, label %loop, label %after
after:
  %back = add i32 %q, 1
  br label %end
quick:
  %d = sub i32 5, %n
  %quotient = udiv i32 %x, %d
  %big = icmp ugt i32 %quotient, 100
  br i1 %big, label %loop2, label %end
loop2:
  %j = phi i32 [ %n, %quick ], [ %down, %loop2 ]
  %down = add i32 %j, 1
  %on = icmp ult i32 %down, %x
  %enough = icmp ult i32 %down, 50
  %go = and i1 %on, %enough
  br i1 %go, label %loop2, label %end
end:
  %r = phi i32 [ %quotient, %quick ], [ %back, %after ], [ %down, %loop2 ]
  ret i32 %r
})";

TEST_F(Widen, CallsTheScalarWhereItLoops) {
  expectSame(withLoop);
  parse(withLoop);
  Function *form = widen(8, {true, true});
  EXPECT_TRUE(hasCall(*form));
  // Where all lanes are slow, this loop is not to become a vector of calls: it
  // would be a call of the form itself.
  EXPECT_TRUE(any_of(instructions(*form), [](const Instruction &instruction) {
    MDNode *loop = instruction.getMetadata(LLVMContext::MD_loop);
    return loop && findOptionMDForLoopID(loop, "llvm.loop.unroll.disable") &&
           findOptionMDForLoopID(loop, "llvm.loop.vectorize.enable");
  }));
}

/// %d is 0 in the lanes that left for the loop, and poison in those that would
/// not have come to the branch.
TEST_F(Widen, GuardsWhatFollowsAnExit) {
  expectSame(R"(
define i32 @f(i32 %x, i32 %y) {
entry:
  %n = and i32 %y, 3
  %zero = icmp eq i32 %n, 0
  br i1 %zero, label %loop, label %divide
loop:
  %i = phi i32 [ 5, %entry ], [ %down, %loop ]
  %down = sub i32 %i, 1
  %more = icmp ne i32 %down, 0
  br i1 %more, label %loop, label %end
divide:
  %q = udiv exact i32 0, %n
  %s = sub nuw i32 %n, 1
  %odd = icmp eq i32 %s, 1
  br i1 %odd, label %loop2, label %end
loop2:
  %j = phi i32 [ 3, %divide ], [ %down2, %loop2 ]
  %down2 = sub i32 %j, 1
  %more2 = icmp ne i32 %down2, 0
  br i1 %more2, label %loop2, label %end
end:
  %r = phi i32 [ %x, %loop ], [ %s, %divide ], [ %y, %loop2 ]
  ret i32 %r
})");
}

/// Memory in the entry is that of the loop alone.
TEST_F(Widen, LeavesMemoryToSlowBlocks) {
  constexpr StringLiteral text = R"(
declare void @llvm.lifetime.start.p0(ptr)
define i32 @f(i32 %x, i32 %y) {
entry:
  %slot = alloca i128, align 16
  call void @llvm.lifetime.start.p0(ptr %slot)
  %wide = icmp ult i32 %x, 2147483648
  br i1 %wide, label %slow, label %end
slow:
  %a = zext i32 %x to i128
  %b = mul i128 %a, 1234567890123456789012345
  store i128 %b, ptr %slot
  %high = getelementptr i8, ptr %slot, i64 9
  %c = load i32, ptr %high
  br label %end
end:
  %r = phi i32 [ %y, %entry ], [ %c, %slow ]
  ret i32 %r
})";
  expectSame(text);
  parse(text);
  Function *form = widen(8, {true, true});
  EXPECT_FALSE(any_of(instructions(*form), [](const Instruction &instruction) {
    return isa<AllocaInst>(instruction);
  }));
}

TEST_F(Widen, RefusesWhatEveryLaneWouldLeave) {
  parse("define i32 @f(i32 %x) {\n"
        "  %slot = alloca i32\n"
        "  store i32 %x, ptr %slot\n"
        "  %y = load i32, ptr %slot\n"
        "  ret i32 %y\n"
        "}");
  EXPECT_FALSE(widen(4, {true}));
  parse("declare i32 @g(i32)\n"
        "define i32 @f(i32 %x) {\n"
        "  %y = call i32 @g(i32 %x)\n"
        "  ret i32 %y\n"
        "}");
  EXPECT_FALSE(widen(4, {true}));
  parse("define i32 @f(i32 %x) {\n"
        "  %y = zext i32 %x to i128\n"
        "  %z = udiv i128 1234567890123456789012345, %y\n"
        "  %t = trunc i128 %z to i32\n"
        "  ret i32 %t\n"
        "}");
  EXPECT_FALSE(widen(4, {true}));
}

TEST_F(Widen, CallsEachLaneInOrder) {
  parse("@sum = internal global i32 0\n"
        "define i32 @f(i32 %x, i32 %n) {\n"
        "  %old = load i32, ptr @sum\n"
        "  %more = add i32 %old, %n\n"
        "  %new = mul i32 %more, %x\n"
        "  store i32 %new, ptr @sum\n"
        "  ret i32 %new\n"
        "}\n"
        "declare <4 x i32> @v(<4 x i32>, i32)\n");
  Module &module = program->getModule();
  numera::callEachLane(*module.getFunction("v"), *module.getFunction("f"));
  program->addCaller("vector", module.getFunction("v"));
  ASSERT_TRUE(program->compile());
  int32_t x[] = {2, 3, 5, 7}, n = 1, result[4];
  program->call("vector", {x, &n}, result);
  EXPECT_EQ(result[0], 2);
  EXPECT_EQ(result[1], 9);
  EXPECT_EQ(result[2], 50);
  EXPECT_EQ(result[3], 357);
}

} // namespace
