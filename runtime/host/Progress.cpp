// SPDX-License-Identifier: MIT
//
// Each update is one write of one line: back to the first column, the text,
// and an escape that clears what an earlier, longer text left behind.

#include "numera/Runtime/Progress.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <sys/ioctl.h>
#include <unistd.h>

using namespace numera::host;

namespace {

constexpr uint64_t second = 1'000'000'000;
constexpr uint64_t interval = second / 20;

/// Nanoseconds on a clock that nobody sets back.
uint64_t now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return uint64_t(time.tv_sec) * second + uint64_t(time.tv_nsec);
}

/// One less than the terminal has: a full line would move the cursor on to the
/// next, and the carriage return would miss the line to overwrite.
unsigned columnsOfTerminal() {
  winsize size;
  bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  return known ? size.ws_col - 1U : 79;
}

/// `1:05` or `2:03:05`.
std::string printTime(double seconds) {
  constexpr double longest = 359999;
  auto whole = unsigned(std::clamp(seconds + 0.5, 0.0, longest));
  unsigned hours = whole / 3600;
  char text[32];
  if (hours)
    std::snprintf(text, sizeof text, "%u:%02u:%02u", hours, whole / 60 % 60,
                  whole % 60);
  else
    std::snprintf(text, sizeof text, "%u:%02u", whole / 60, whole % 60);
  return text;
}

} // namespace

std::string numera::host::printProgress(std::string_view label, uint64_t done,
                                        uint64_t total, double seconds,
                                        unsigned columns) {
  constexpr int width = 24;
  done = std::min(done, total);
  double share = total ? double(done) / double(total) : 1;
  auto filled = size_t(share * width);

  std::string numbers = std::to_string(total);
  std::string count = std::to_string(done);
  count.insert(0, numbers.size() - count.size(), ' ');
  std::string bar =
      " [" + std::string(filled, '#') + std::string(width - filled, '.') + "]";
  std::string rest = " " + count + "/" + numbers + " " +
                     std::to_string(unsigned(share * 100)) + " %";
  if (done)
    rest += ", " + printTime(seconds / share - seconds) + " left";

  std::string line(label);
  if (line.size() + bar.size() + rest.size() <= columns)
    line += bar;
  return (line + rest).substr(0, columns);
}

Progress::Progress(std::string_view label, uint64_t total)
    : label(label), total(total), shown(isatty(STDERR_FILENO)), begin(now()),
      next(begin + interval) {}

Progress::~Progress() {
  if (shown && next != begin + interval)
    std::fputs("\r\x1b[K", stderr);
}

void Progress::advance(uint64_t steps) {
  uint64_t stepsDone = done.fetch_add(steps, std::memory_order_relaxed) + steps;
  if (!shown)
    return;
  uint64_t time = now();
  uint64_t due = next.load(std::memory_order_relaxed);
  if (time >= due && next.compare_exchange_strong(due, time + interval))
    draw(time, stepsDone);
}

void Progress::draw(uint64_t now, uint64_t stepsDone) {
  double seconds = double(now - begin) / double(second);
  std::string line =
      printProgress(label, stepsDone, total, seconds, columnsOfTerminal());
  std::fprintf(stderr, "\r%s\x1b[K", line.c_str());
  std::fflush(stderr);
}
