// SPDX-License-Identifier: MIT
//
// Compiled with -O3 -march=native: what a C++ programmer gets. Its bf16 is not
// IEEE's where the machine converts with vcvtneps2bf16, which flushes
// subnormals.

#include "Native.h"

#include <cstdio>
#include <cstdlib>

namespace {

enum class Op { Add, Mul, Div };

template <typename T, Op op>
void loop(const void *__restrict x, const void *__restrict y,
          void *__restrict z, size_t count) {
  const T *a = static_cast<const T *>(x), *b = static_cast<const T *>(y);
  T *c = static_cast<T *>(z);
  for (size_t i = 0; i < count; ++i)
    if constexpr (op == Op::Add)
      c[i] = a[i] + b[i];
    else if constexpr (op == Op::Mul)
      c[i] = a[i] * b[i];
    else
      c[i] = a[i] / b[i];
}

template <typename T>
numera::bench::NativeLoop choose(const std::string &operation) {
  if (operation == "add")
    return loop<T, Op::Add>;
  if (operation == "mul")
    return loop<T, Op::Mul>;
  if (operation == "div")
    return loop<T, Op::Div>;
  return nullptr;
}

} // namespace

numera::bench::NativeLoop
numera::bench::nativeLoop(const std::string &type,
                          const std::string &operation) {
  NativeLoop found = type == "bf16"  ? choose<__bf16>(operation)
                     : type == "f16" ? choose<_Float16>(operation)
                                     : nullptr;
  if (found)
    return found;
  std::fprintf(stderr, "numera-bench: no native loop '%s' in '%s'\n",
               operation.c_str(), type.c_str());
  std::exit(1);
}
