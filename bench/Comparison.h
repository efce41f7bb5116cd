// SPDX-License-Identifier: MIT
//
// How two programs are compared: on the same data, in one process, in turn,
// many times. The figure of a row is the median of the ratios of neighbouring
// measurements, so that a machine that is slower for a while is slower for
// both.

#ifndef NUMERA_BENCH_COMPARISON_H
#define NUMERA_BENCH_COMPARISON_H

#include "Row.h"

#include <functional>
#include <span>

namespace numera::bench {

struct Contender {
  std::function<void()> run;
  /// The share of the row's work that a run does: one that is slow does less,
  /// and its time is scaled.
  double share = 1;
  /// Runs that are timed together.
  unsigned batch = 1;
};

/// What the clock counts. The time of the thread leaves out other processes.
enum class Clock { Thread, Wall };

/// Runs the contenders in turn for as long as the row says, at least three
/// times each unless that takes minutes, and hands each round's times, in
/// seconds for the whole work, to `ratioOf`. Leaves in the state's counters the
/// median time of the first two in seconds (`ours`, `peer`), the median of the
/// ratios (`ratio`) and its quartiles (`low`, `high`), the median clock after
/// runs of the first (`ghz`; 0 for Wall), what the first takes at that clock in
/// the quarter of its runs with the fewest cycles (`least`; for Wall, the least
/// time), and the number of rounds.
void contest(benchmark::State &state, const Row &row,
             std::span<Contender> contenders, Clock clock,
             const std::function<double(std::span<const double>)> &ratioOf);

/// Ours against one peer: how many times faster ours is. A row with `trace`
/// steps through ours instead, and writes a file of that name.
void contest(benchmark::State &state, const Row &row, Contender ours,
             Contender peer);

} // namespace numera::bench

#endif // NUMERA_BENCH_COMPARISON_H
