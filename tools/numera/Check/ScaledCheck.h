// SPDX-License-Identifier: MIT
//
// `numera check` of a scaled format: a program that quantizes and reads back,
// compiled as any other, against the clauses (docs/Semantics/Scaling.md), which
// are written down here once more, in f64; and the laws of such formats.

#ifndef NUMERA_TOOLS_CHECK_SCALEDCHECK_H
#define NUMERA_TOOLS_CHECK_SCALEDCHECK_H

#include "numera/Registry/Registry.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

namespace numera {

/// A law, and what was found of it.
struct ScaledLaw {
  std::string law;
  uint64_t tried = 0, mismatches = 0;
  std::string example = {}; ///< the first mismatch
};

struct ScaledReport {
  std::string name;
  ScaledFormat format;
  std::vector<ScaledLaw> laws;

  uint64_t tried() const;
  /// How many laws do not hold.
  uint64_t bad() const;
};

/// Checks a scaled format on about `draws` random numbers.
llvm::Expected<ScaledReport> checkScaled(const Registry &registry,
                                         const ScaledFormat &format,
                                         uint64_t draws, uint64_t seed);

void printText(const ScaledReport &report, llvm::raw_ostream &out);
void printJSON(const ScaledReport &report, llvm::json::OStream &json);

/// The values of numbers of a group that share a scale, by the clauses Z1 to
/// Z6, given the largest magnitude of the whole tensor.
std::vector<float> valuesByDefinition(const ScaledFormat &format,
                                      llvm::ArrayRef<float> group,
                                      float largestOfAll);
/// The same magnitude of numbers: NaN if one is.
float largestMagnitude(llvm::ArrayRef<float> numbers);

} // namespace numera

#endif // NUMERA_TOOLS_CHECK_SCALEDCHECK_H
