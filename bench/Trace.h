// SPDX-License-Identifier: MIT
//
// What a run issues: the instructions of one call, counted one at a time by the
// processor's trap flag, for machines that do not let their counters be read.

#ifndef NUMERA_BENCH_TRACE_H
#define NUMERA_BENCH_TRACE_H

#include <functional>
#include <string>

namespace numera::bench {

/// Calls `run`, and writes a line `address count` for each instruction of the
/// shared object at `library` that was executed, by address in the file; in
/// front of them `0 count`, those elsewhere. False where there is no trap flag
/// that a program can set. A step takes a few microseconds.
bool trace(const std::function<void()> &run, const std::string &library,
           const std::string &path);

} // namespace numera::bench

#endif // NUMERA_BENCH_TRACE_H
