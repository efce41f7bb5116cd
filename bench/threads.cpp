// SPDX-License-Identifier: MIT
//
// What two threads gain over one, against what sgemm gains on the same cores.

#include "Comparison.h"
#include "Program.h"
#include "Sgemm.h"

using namespace numera::bench;

void numera::bench::threads(benchmark::State &state, const Row &row) {
  std::vector<Array> inputs;
  for (const char *key : {"input", "input2"})
    if (row.has(key))
      inputs.emplace_back(NUMERA_F32, row.numbers(key));
  std::vector<Array *> arguments;
  for (Array &input : inputs) {
    fillNormal(input, 1, 0.5f);
    arguments.push_back(&input);
  }
  Array one(NUMERA_F32, row.numbers("output")),
      two(NUMERA_F32, row.numbers("output"));
  Program alone(row.text("program"), arguments, one, 1);
  Program both(row.text("program"), arguments, two, 2);
  alone.run();
  both.run();
  for (size_t i = 0; i < one.elements(); ++i)
    if (one.code(i) != two.code(i)) {
      fail(state, row, i, two.code(i), one.code(i));
      return;
    }

  int64_t size = row.number("sgemm");
  Sgemm sgemm(size, size, size);
  auto withThreads = [&sgemm](int count) {
    return [&sgemm, count] {
      setSgemmThreads(count);
      sgemm.run();
    };
  };
  Contender contenders[] = {{[&] { both.run(); }},
                            {[&] { alone.run(); }},
                            {withThreads(2)},
                            {withThreads(1)}};
  contest(state, row, contenders, Clock::Wall, [](std::span<const double> t) {
    return (t[1] / t[0]) / (t[3] / t[2]);
  });
}
