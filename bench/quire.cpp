// SPDX-License-Identifier: MIT
//
// C = A · B in a posit's quire, against a call of the shared runtime a step:
// numera_posit_quire_mac. The peer computes a few rows, and its time is scaled.

#include "Comparison.h"
#include "Program.h"

using namespace numera::bench;

extern "C" {
void numera_posit_quire_clear_16(uint64_t *, int32_t bits, int32_t es);
void numera_posit_quire_mac_16(uint64_t *, uint16_t, uint16_t, int32_t bits,
                               int32_t es);
uint16_t numera_posit_quire_round_16(const uint64_t *, int32_t bits, int32_t es,
                                     int32_t rounding, uint32_t random);
}

void numera::bench::quire(benchmark::State &state, const Row &row) {
  Scalar scalar(row);
  int64_t m = row.number("m"), n = row.number("n"), k = row.number("k");
  int32_t bits = int32_t(row.number("bits")), es = int32_t(row.number("es"));
  Array a(NUMERA_U16, {m, k}), b(NUMERA_U16, {k, n}), c(NUMERA_U16, {m, n});
  fillNormal(a, scalar, 1);
  fillNormal(b, scalar, 2);

  constexpr size_t peerRows = 8;
  Array expected(NUMERA_U16, {peerRows, n});
  auto peer = [&] {
    for (size_t i = 0; i < peerRows; ++i)
      for (size_t j = 0; j < size_t(n); ++j) {
        uint64_t quire[16];
        numera_posit_quire_clear_16(quire, bits, es);
        for (size_t l = 0; l < size_t(k); ++l)
          numera_posit_quire_mac_16(quire, a.as<uint16_t>()[i * size_t(k) + l],
                                    b.as<uint16_t>()[l * size_t(n) + j], bits,
                                    es);
        expected.as<uint16_t>()[i * size_t(n) + j] =
            numera_posit_quire_round_16(quire, bits, es, 0, 0);
      }
  };
  peer();
  Program program(row.text("program"), {&a, &b}, c);
  program.run();
  for (size_t i = 0; i < expected.elements(); ++i)
    if (c.code(i) != expected.code(i)) {
      fail(state, row, i, c.code(i), expected.code(i));
      return;
    }
  contest(state, row, {[&] { program.run(); }},
          {peer, double(peerRows) / double(m)});
}
