// SPDX-License-Identifier: MIT
//
// Small programs, and what calls of them need.

#ifndef NUMERA_TEST_UNIT_PROGRAMS_H
#define NUMERA_TEST_UNIT_PROGRAMS_H

#include "numera/Target/Program/Program.h"

#include "Lowered.h"

#include "gtest/gtest.h"

namespace numera::test {

inline std::string floatAdd(llvm::StringRef dim) {
  return elementwise("f32", dim, "arith.addf %a, %b : f32", "");
}

inline FunctionSignature signature(numera_dtype dtype, int64_t dimension) {
  return {.name = "f",
          .inputs = {{"x", dtype, {dimension}}, {"y", dtype, {dimension}}},
          .outputs = {{"sum", dtype, {dimension}}}};
}

template <typename T>
host::Array arrayOf(host::DType dtype, const std::vector<T> &values) {
  std::string error;
  host::Array array =
      std::move(*host::makeArray({int64_t(values.size())}, dtype, error));
  std::copy(values.begin(), values.end(), array.data<T>());
  return array;
}

inline std::string messageOf(llvm::Error error) {
  return toString(std::move(error));
}

inline CPUOptions options() {
  CPUOptions options;
  options.metadata.format = "posit16";
  options.metadata.rounding = "nearest-even";
  options.metadata.seed = 18446744073709551615u;
  return options;
}

inline std::unique_ptr<Program> compile(const std::string &text,
                                        const FunctionSignature &function) {
  Lowered lowered(text);
  EXPECT_TRUE(lowered);
  auto program = Program::compile(*lowered, {function}, Registry(), options());
  if (program)
    return std::move(*program);
  ADD_FAILURE() << toString(program.takeError());
  return nullptr;
}

} // namespace numera::test

#endif // NUMERA_TEST_UNIT_PROGRAMS_H
