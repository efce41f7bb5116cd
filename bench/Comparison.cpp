// SPDX-License-Identifier: MIT

#include "Comparison.h"
#include "Trace.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <vector>

using namespace numera::bench;

namespace {

double now(Clock clock) {
  timespec time;
  clock_gettime(clock == Clock::Thread ? CLOCK_THREAD_CPUTIME_ID
                                       : CLOCK_MONOTONIC,
                &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

/// Seconds for the whole work of the row.
double measure(const Contender &contender, Clock clock) {
  double start = now(clock);
  for (unsigned i = 0; i < contender.batch; ++i)
    contender.run();
  return (now(clock) - start) / contender.batch / contender.share;
}

/// Cycles a nanosecond: multiplications that wait for each other take three
/// each. With vectors beside them, which keep the clock where it was for those
/// before; of zeros, since products of what ours left could be subnormal, and
/// slow. The fastest of five readings of some 8 us each: a machine that does
/// something else meanwhile counts that as ours.
double clockRate() {
  constexpr int64_t iterations = 2'000;
  bool hasVectors = __builtin_cpu_supports("avx512f");
  int64_t product = 1;
  double fastest = 0;
  for (int reading = 0; reading < 5; ++reading) {
    double start = now(Clock::Thread);
    for (int64_t k = 0; k < iterations; ++k) {
      asm volatile("imul $3, %0, %0\n imul $3, %0, %0\n"
                   "imul $3, %0, %0\n imul $3, %0, %0"
                   : "+r"(product));
      if (hasVectors)
        asm volatile("vpxor %%xmm0, %%xmm0, %%xmm0\n"
                     ".rept 10\n vmulps %%zmm0, %%zmm0, %%zmm1\n .endr" ::
                         : "xmm0", "xmm1");
    }
    fastest = std::max(fastest, 12e-9 * double(iterations) /
                                    (now(Clock::Thread) - start));
  }
  return fastest;
}

/// Longer than what reading the clock and a cold cache cost.
constexpr double shortestBatch = 1e-3;

/// Runs once to fill the caches, and chooses the batch. The seconds that a
/// batch takes.
double prepare(Contender &contender, Clock clock) {
  double once = measure(contender, clock) * contender.share;
  if (once < 1)
    once = measure(contender, clock) * contender.share;
  contender.batch = unsigned(std::ceil(shortestBatch / std::max(once, 1e-7)));
  return once * contender.batch;
}

double quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  double place = q * double(values.size() - 1);
  size_t below = size_t(place);
  size_t above = std::min(below + 1, values.size() - 1);
  double part = place - double(below);
  return values[below] * (1 - part) + values[above] * part;
}

} // namespace

void numera::bench::contest(
    benchmark::State &state, const Row &row, std::span<Contender> contenders,
    Clock clock,
    const std::function<double(std::span<const double>)> &ratioOf) {
  double round = 0;
  for (Contender &contender : contenders)
    round += prepare(contender, clock);
  double fewest = round < 20 ? 3 : 1;
  unsigned rounds = unsigned(std::clamp(row.seconds() / round, fewest, 1001.0));

  std::vector<std::vector<double>> times(contenders.size());
  std::vector<double> ratios, clocks, cycles, current(contenders.size());
  for (auto _ : state) {
    for (unsigned i = 0; i < rounds; ++i) {
      // Each goes first as often as the others.
      for (size_t k = 0; k < contenders.size(); ++k) {
        size_t turn = (i + k) % contenders.size();
        Contender &contender = contenders[turn];
        // After the other's turn, caches are to be filled, threads to wake.
        if (contender.batch > 1 || clock == Clock::Wall)
          contender.run();
        current[turn] = measure(contender, clock);
        times[turn].push_back(current[turn]);
        if (turn == 0 && clock == Clock::Thread) {
          clocks.push_back(clockRate());
          cycles.push_back(current[0] * clocks.back());
        }
      }
      ratios.push_back(ratioOf(current));
    }
    state.SetIterationTime(quantile(times[0], 0.5));
  }
  state.counters["ours"] = quantile(times[0], 0.5);
  double ghz = clocks.empty() ? 0 : quantile(clocks, 0.5);
  state.counters["least"] =
      clocks.empty() ? quantile(times[0], 0) : quantile(cycles, 0.25) / ghz;
  state.counters["ghz"] = ghz;
  state.counters["peer"] = quantile(times[1], 0.5);
  state.counters["ratio"] = quantile(ratios, 0.5);
  state.counters["low"] = quantile(ratios, 0.25);
  state.counters["high"] = quantile(ratios, 0.75);
  state.counters["rounds"] = rounds;
}

void numera::bench::contest(benchmark::State &state, const Row &row,
                            Contender ours, Contender peer) {
  if (row.has("trace")) {
    bool isDone = trace(ours.run, row.text("program"), row.text("trace"));
    for (auto _ : state)
      state.SetIterationTime(isDone);
    return;
  }
  Contender contenders[] = {std::move(ours), std::move(peer)};
  contest(state, row, contenders, Clock::Thread,
          [](std::span<const double> times) { return times[1] / times[0]; });
}
