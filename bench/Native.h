// SPDX-License-Identifier: MIT

#ifndef NUMERA_BENCH_NATIVE_H
#define NUMERA_BENCH_NATIVE_H

#include <cstddef>
#include <string>

namespace numera::bench {

using NativeLoop = void (*)(const void *x, const void *y, void *z,
                            size_t count);

/// The loop z = x op y in a type that clang has: `bf16`, `f16`. Ends the
/// program with a line if there is none.
NativeLoop nativeLoop(const std::string &type, const std::string &operation);

} // namespace numera::bench

#endif // NUMERA_BENCH_NATIVE_H
