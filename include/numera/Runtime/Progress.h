// SPDX-License-Identifier: MIT
//
// A progress bar of one line on a terminal. In a pipe or a log there is none.

#ifndef NUMERA_RUNTIME_PROGRESS_H
#define NUMERA_RUNTIME_PROGRESS_H

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace numera::host {

/// A progress bar on stderr for as long as the object lives, if stderr is a
/// terminal. A job that ends within a twentieth of a second shows nothing.
class Progress {
public:
  /// `total` is the number of steps; `label` stands before the bar.
  Progress(std::string_view label, uint64_t total);
  /// Clears the line, so that the results begin where the bar stood.
  ~Progress();
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

  /// Reports `steps` more as done. Any thread may call it, at any rate: it
  /// draws at most 20 times a second, and never waits for another thread.
  void advance(uint64_t steps = 1);

private:
  void draw(uint64_t now, uint64_t stepsDone);

  const std::string label;
  const uint64_t total;
  const bool shown;
  const uint64_t begin;
  std::atomic<uint64_t> done = 0;
  /// When to draw again. The thread that moves it forward is the one to draw.
  std::atomic<uint64_t> next;
};

/// The text of the bar, at most `columns` characters wide: label, bar, done and
/// total, percent, and the time left, estimated from `seconds` so far.
std::string printProgress(std::string_view label, uint64_t done, uint64_t total,
                          double seconds, unsigned columns);

} // namespace numera::host

#endif // NUMERA_RUNTIME_PROGRESS_H
