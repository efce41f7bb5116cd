// SPDX-License-Identifier: MIT
//
// How far a result is from a reference, and how often it is right.
//
// A row is the part of an array that belongs to one index of its first
// dimension; an array of rank 0 or 1 is one row. The argmax of a row is the
// index of its largest value, the first of equal ones; a NaN is never the
// largest, and a row of NaNs has no argmax and agrees with nothing.

#ifndef NUMERA_TOOLS_RUN_METRICS_H
#define NUMERA_TOOLS_RUN_METRICS_H

#include "numera/Runtime/Npy.h"
#include <optional>
#include <string>

namespace numera {

/// Where two arrays of one shape differ. The error figures are over the
/// elements that are finite in both and null where there are none, or where
/// they are infinite.
struct Comparison {
  std::optional<double> maxAbsError;
  /// Over the elements whose reference is not 0.
  std::optional<double> maxRelError;
  /// 10 log10 of the reference's power over the error's, in decibels.
  std::optional<double> sqnr;
  /// The share of rows with the same argmax; null where there are no rows.
  std::optional<double> top1Agreement;
  /// Elements left out: infinite or NaN in one array, and something else in
  /// the other.
  uint64_t nonFinite = 0;
};

/// Compares arrays of one shape; their dtypes may differ, f2 is not read.
Comparison compare(const host::Array &result, const host::Array &reference);

/// The number of NaNs; 0 for integers.
uint64_t countNaN(const host::Array &array);

/// The share of rows whose argmax is the label of that row. `labels` are
/// integers, one a row. On failure says in `error` what was found and what was
/// expected.
std::optional<double> top1(const host::Array &result, const host::Array &labels,
                           std::string &error);

} // namespace numera

#endif // NUMERA_TOOLS_RUN_METRICS_H
