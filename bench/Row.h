// SPDX-License-Identifier: MIT
//
// The rows to measure come from a file that run.py writes, one a line: a name
// and `key=value`, separated by tabs. Nothing here knows formats or bars.

#ifndef NUMERA_BENCH_ROW_H
#define NUMERA_BENCH_ROW_H

#include <benchmark/benchmark.h>
#include <map>
#include <string>
#include <vector>

namespace numera::bench {

class Row {
public:
  static std::vector<Row> read(const std::string &path);

  const std::string &name() const { return title; }
  bool has(const std::string &key) const { return values.count(key) != 0; }
  /// The value of a key; ends the program with a line if there is none.
  const std::string &text(const std::string &key) const;
  int64_t number(const std::string &key) const;
  int64_t number(const std::string &key, int64_t otherwise) const;
  /// Numbers separated by commas.
  std::vector<int64_t> numbers(const std::string &key) const;
  /// How long to measure.
  double seconds() const;

private:
  std::string title;
  std::map<std::string, std::string> values;
};

using Kernel = void(benchmark::State &, const Row &);
Kernel conv, elementwise, matmul, model, quantize, quire, scaled, threads;

} // namespace numera::bench

#endif // NUMERA_BENCH_ROW_H
