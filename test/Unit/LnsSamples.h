// SPDX-License-Identifier: MIT
//
// The logarithmic formats of tests, and their oracles.

#ifndef NUMERA_TEST_UNIT_LNSSAMPLES_H
#define NUMERA_TEST_UNIT_LNSSAMPLES_H

#include "LnsOracle.h"
#include "numera/Numerics/Formats/Lns.h"

namespace numera::test {

inline constexpr LnsFormat eightBits[] = {
    {1, 5}, {3, 3}, {6, 0}, {2, 4}, {4, 2}};
inline constexpr LnsFormat tinyLns[] = {{1, 0}, {1, 1}, {2, 2}, {1, 3}};
inline constexpr LnsFormat sixteenBits[] = {
    {5, 9}, {3, 11}, {1, 13}, {8, 6}, {11, 3}};
inline constexpr LnsFormat wide[] = {
    {8, 23}, {5, 26}, {11, 51}, {1, 61}, {8, 40}};

inline LnsOracle oracleOf(const LnsFormat &f) {
  return {f.integer, f.fraction, f.width() <= 16};
}

} // namespace numera::test

#endif // NUMERA_TEST_UNIT_LNSSAMPLES_H
