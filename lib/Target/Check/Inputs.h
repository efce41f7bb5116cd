// SPDX-License-Identifier: MIT
//
// The inputs of an operation: all of them if they are few enough, else every
// combination of boundary values, then random operands. Operands are a function
// of their index, so that any part of the run can be repeated.

#ifndef NUMERA_LIB_TARGET_CHECK_INPUTS_H
#define NUMERA_LIB_TARGET_CHECK_INPUTS_H

#include "Cases.h"

namespace numera::check {

class Inputs {
public:
  Inputs(const Registry &registry, const Checked &checked,
         const Options &options);

  uint64_t size() const { return boundaries + draws; }
  /// The operands of input `index`.
  Operands at(uint64_t index) const;

private:
  uint64_t draw(uint64_t random, uint64_t other, size_t operand) const;

  bool isExhaustive = false;
  std::vector<unsigned> widths;
  std::vector<std::vector<uint64_t>> lists;    ///< boundary values, by operand
  std::vector<std::vector<uint64_t>> combined; ///< those tried in combination
  uint64_t combinations = 0;                   ///< of boundary values
  uint64_t boundaries = 0;                     ///< as many of them as are tried
  uint64_t draws = 0, seed;
};

} // namespace numera::check

#endif // NUMERA_LIB_TARGET_CHECK_INPUTS_H
