// SPDX-License-Identifier: MIT
//
// What stands between a caller and a function: arguments are checked, results
// change hands, the floating-point environment is made the default one.

#include "Programs.h"

#include <xmmintrin.h>

using namespace numera;
using namespace numera::test;

namespace {

TEST(Call, SaysWhatIsWrongWithAnArgument) {
  auto program = compile(floatAdd("4"), signature(NUMERA_F32, 4));
  ASSERT_TRUE(program);
  host::Array good = arrayOf<float>(host::DType::f4, {1, 2, 3, 4});
  host::Array small = arrayOf<float>(host::DType::f4, {1, 2, 3});
  host::Array wide = arrayOf<double>(host::DType::f8, {1, 2, 3, 4});
  host::Array half = arrayOf<uint16_t>(host::DType::f2, {1, 2, 3, 4});
  host::Array square = arrayOf<float>(host::DType::f4, {1, 2, 3, 4});
  square.shape = {2, 2};
  std::vector<host::Array> outputs;
  numera_options run = NUMERA_OPTIONS;
  auto message = [&](llvm::ArrayRef<const host::Array *> inputs) {
    return messageOf(program->call("f", inputs, outputs, run));
  };
  EXPECT_EQ(message({&good, &good}), "");
  EXPECT_EQ(message({&good}), "f: takes 2 inputs and 1 outputs; got 1 and 1");
  EXPECT_EQ(message({&good, &small}),
            "f: input 1 'y': shape (3); expected (4)");
  host::Array negative = arrayOf<float>(host::DType::f4, {1, 2, 3, 4});
  negative.shape = {-4};
  EXPECT_EQ(message({&good, &negative}),
            "f: input 1 'y': shape (-4); expected (4)");
  EXPECT_EQ(message({&square, &good}),
            "f: input 0 'x': rank 2; expected 1, shape (4)");
  EXPECT_EQ(message({&wide, &good}),
            "f: input 0 'x': dtype f64 (2); expected f32");
  EXPECT_EQ(message({&half, &good}),
            "f: input 0 'x': dtype f16 (12); expected f32");
  EXPECT_EQ(messageOf(program->call("g", {}, outputs, run)),
            "the program has no function 'g'");
  run.size = 4;
  EXPECT_EQ(message({&good, &good}),
            "f: options.size is 4; expected sizeof(numera_options), " +
                std::to_string(sizeof(numera_options)));
}

TEST(Call, HoldsInputsToOneBatch) {
  FunctionSignature function = signature(NUMERA_F32, -1);
  auto program = compile(floatAdd("?"), function);
  ASSERT_TRUE(program);
  host::Array three = arrayOf<float>(host::DType::f4, {1, 2, 3});
  host::Array two = arrayOf<float>(host::DType::f4, {1, 2});
  std::vector<host::Array> outputs;
  numera_options run = NUMERA_OPTIONS;
  EXPECT_EQ(messageOf(program->call("f", {&three, &two}, outputs, run)),
            "f: input 1 'y': batch of 2; input 0 has 3");
}

TEST(Call, WritesToTheCallersBuffer) {
  auto program = compile(floatAdd("?"), signature(NUMERA_F32, -1));
  ASSERT_TRUE(program);
  numera_entry *entry = program->entry("f");
  float x[3] = {1, 2, 3}, sum[3] = {};
  numera_tensor input{x, 0, NUMERA_F32, 1, {3}};
  numera_tensor inputs[2] = {input, input};
  numera_tensor output{sum, sizeof sum, 0, 0, {}};
  char error[100];
  ASSERT_EQ(entry(inputs, 2, &output, 1, nullptr, error, sizeof error), 0);
  EXPECT_EQ(output.data, sum);
  EXPECT_EQ(sum[2], 6.0f);
  EXPECT_EQ(output.rank, 1);
  EXPECT_EQ(output.shape[0], 3);
  output.capacity = 8;
  EXPECT_EQ(entry(inputs, 2, &output, 1, nullptr, error, sizeof error), 1);
  EXPECT_STREQ(error, "f: output 0 'sum': capacity of 8 bytes; shape (3) of "
                      "f32 takes 12");
  inputs[1].data = nullptr;
  EXPECT_EQ(entry(inputs, 2, &output, 1, nullptr, error, sizeof error), 1);
  EXPECT_STREQ(error, "f: input 1 'y': data is NULL");
  // A message that does not fit is cut off; none at all is wanted here.
  char cut[5];
  EXPECT_EQ(entry(inputs, 2, &output, 1, nullptr, cut, sizeof cut), 1);
  EXPECT_STREQ(cut, "f: i");
  EXPECT_EQ(entry(inputs, 2, &output, 1, nullptr, nullptr, 0), 1);
}

TEST(Call, PassesDestinations) {
  // What there is at the entry of the function: x in its destination is x + 1.
  Lowered lowered(
      "func.func @f(%x: memref<?xf32>, %sum: memref<?xf32>) attributes "
      "{llvm.emit_c_interface} {\n"
      "  %zero = arith.constant 0 : index\n"
      "  %one = arith.constant 1.0 : f32\n"
      "  memref.store %one, %sum[%zero] : memref<?xf32>\n"
      "  %a = memref.load %x[%zero] : memref<?xf32>\n"
      "  %b = arith.addf %a, %one : f32\n"
      "  memref.store %b, %sum[%zero] : memref<?xf32>\n"
      "  return\n}\n");
  FunctionSignature function{
      .name = "f",
      .inputs = {{"x", NUMERA_F32, {-1}}},
      .outputs = {{.name = "sum",
                   .dtype = NUMERA_F32,
                   .shape = {-1},
                   .isDestination = true,
                   .sources = {{.input = 0, .dimension = 0}}}}};
  auto program = Program::compile(*lowered, {function}, Registry(), options());
  ASSERT_TRUE(bool(program)) << toString(program.takeError());
  numera_entry *entry = (*program)->entry("f");
  float x[1] = {41}, sum[1] = {};
  numera_tensor input{x, 0, NUMERA_F32, 1, {1}};
  auto result = [&](void *data, uint64_t capacity) {
    numera_tensor output{data, capacity, 0, 0, {}};
    char error[100] = "";
    if (entry(&input, 1, &output, 1, nullptr, error, sizeof error))
      return std::string(error);
    EXPECT_TRUE(!data || output.data == data);
    EXPECT_EQ(output.shape[0], 1);
    EXPECT_EQ(output.capacity, data ? capacity : 4);
    std::string text = std::to_string(int(*static_cast<float *>(output.data)));
    if (!data)
      free(output.data);
    return text;
  };
  EXPECT_EQ(result(sum, sizeof sum), "42");
  EXPECT_EQ(result(nullptr, 0), "42");
  EXPECT_EQ(result(sum, 3), "f: output 0 'sum': capacity of 3 bytes; shape (1) "
                            "of f32 takes 4");
  EXPECT_EQ(result(x, sizeof x), "42"); // not 2: x is not overwritten early
  int64_t huge = int64_t{1} << 62;
  input.shape[0] = huge;
  EXPECT_EQ(result(nullptr, 0), "f: out of memory");
}

TEST(Call, GivesAwayWhatIsItsOwnOnly) {
  Lowered lowered("func.func @f(%x: memref<4xf32>) -> (memref<4xf32>, "
                  "memref<4xf32>) attributes {llvm.emit_c_interface} {\n"
                  "  return %x, %x : memref<4xf32>, memref<4xf32>\n}\n");
  FunctionSignature function{
      .name = "f",
      .inputs = {{"x", NUMERA_F32, {4}}},
      .outputs = {{"a", NUMERA_F32, {4}}, {"b", NUMERA_F32, {4}}}};
  auto program = Program::compile(*lowered, {function}, Registry(), options());
  ASSERT_TRUE(bool(program)) << toString(program.takeError());
  host::Array x = arrayOf<float>(host::DType::f4, {1, 2, 3, 4});
  std::vector<host::Array> outputs;
  numera_options run = NUMERA_OPTIONS;
  ASSERT_EQ(messageOf((*program)->call("f", {&x}, outputs, run)), "");
  EXPECT_NE(outputs[0].bytes.get(), x.bytes.get());
  EXPECT_NE(outputs[0].bytes.get(), outputs[1].bytes.get());
  EXPECT_EQ(outputs[1].data<float>()[3], 4.0f);
}

TEST(Call, DoesNotCareForTheCallersFloatingPointMode) {
  auto program = compile(floatAdd("?"), signature(NUMERA_F32, -1));
  ASSERT_TRUE(program);
  // Subnormals, and a sum that rounds: 1 + 2^-24 + a little.
  host::Array x = arrayOf<float>(host::DType::f4, {0x1p-149f, 1.0f});
  host::Array y = arrayOf<float>(host::DType::f4, {0x1p-149f, 0x1.8p-24f});
  std::vector<host::Array> outputs;
  numera_options run = NUMERA_OPTIONS;
  unsigned saved = _mm_getcsr();
  unsigned strange = 0x1F80 | 0x8000 | 0x0040 | 0x6000; // FTZ, DAZ, truncate
  _mm_setcsr(strange);
  llvm::Error error = program->call("f", {&x, &y}, outputs, run);
  unsigned after = _mm_getcsr();
  _mm_setcsr(saved);
  ASSERT_EQ(messageOf(std::move(error)), "");
  EXPECT_EQ(after, strange);
  EXPECT_EQ(outputs[0].data<float>()[0], 0x1p-148f);
  EXPECT_EQ(outputs[0].data<float>()[1], 1.0f + 0x1p-23f);
}

TEST(Call, RejectsWhatNoCallerCouldPass) {
  Lowered lowered("func.func @f(%x: f32) -> f32 attributes "
                  "{llvm.emit_c_interface} {\n  return %x : f32\n}\n");
  auto program =
      Program::compile(*lowered, {{.name = "f", .inputs = {}, .outputs = {}}},
                       Registry(), options());
  EXPECT_EQ(messageOf(program.takeError()),
            "function 'f' cannot be called from outside: its inputs and "
            "outputs have to be ranked tensors or memrefs");
}

} // namespace
