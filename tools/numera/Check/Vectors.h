// SPDX-License-Identifier: MIT
//
// Test vectors in the text form of Berkeley TestFloat: a line for each set of
// operands, with the operands, the result and the status flags in hexadecimal,
// `3C00 3C01 4000 01`. The flags are 1 inexact, 2 underflow, 4 overflow, 8
// division by zero, 16 invalid.

#ifndef NUMERA_TOOLS_CHECK_VECTORS_H
#define NUMERA_TOOLS_CHECK_VECTORS_H

#include "numera/Registry/Registry.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace numera {

/// An operation as it is named on the command line: one of the dialect, or
/// `mulAdd`, `eq`, `le`, `lt`, or a conversion, `to_f32`, `to_i32`.
struct VectorOperation {
  std::string name;
  OpKind operation{};
  Format operands{}, result{}; ///< the result of a comparison is 0 or 1
  int32_t relations = 0;
  CastType integer = {}; ///< the result of a cast to an integer; else 0 bits
  size_t count() const { return operandCount(operation); }
  bool isTruth() const { return operation == OpKind::Cmp; }
  bool isInteger() const { return integer.integer != 0; }
  unsigned resultWidth() const {
    return isTruth() ? 1 : isInteger() ? integer.integer : result.width();
  }
  /// `i32` for an integer; else the spelling of the format.
  std::string resultName() const;
};

/// Null operands and a line in `error` if there is no such operation.
VectorOperation vectorOperation(const Registry &registry, const Format &format,
                                llvm::StringRef name, std::string &error);

/// The operation that the name of a file says, `f16_add.txt`; empty: none.
llvm::StringRef operationOfFile(llvm::StringRef path);

/// The operation on the formats that define the codes of opaque ones; null
/// operands if nothing does.
VectorOperation withMeaning(const Registry &registry, VectorOperation asked);
/// The exact reference's result and flags, of formats with arithmetic.
std::pair<uint64_t, unsigned> referenceOf(const VectorOperation &asked,
                                          llvm::ArrayRef<uint64_t> codes);

/// An error if the operation may have several results.
llvm::Error checkRounding(const VectorOperation &asked);
/// An error if `rounding`, the name of a mode or nothing, is not that of a cast
/// to an integer.
llvm::Error checkTruncates(const VectorOperation &asked,
                           llvm::StringRef rounding);

/// Writes the exact reference's results for boundary and random operands. An
/// opaque format has that of its equivalent; an error without one.
llvm::Error writeVectors(const Registry &registry, const VectorOperation &asked,
                         uint64_t draws, uint64_t seed,
                         llvm::raw_ostream &stream);

/// A set of operands and its result.
struct TestVector {
  size_t line; ///< from 1
  llvm::SmallVector<uint64_t, 3> operands;
  uint64_t result;
  std::optional<unsigned> flags;
};

struct VectorReport {
  VectorOperation operation;
  std::string path;
  size_t lines = 0, mismatches = 0;
  /// Lines whose flags are not those of Semantics/StatusFlags.md, and the
  /// first.
  size_t otherFlags = 0;
  std::optional<TestVector> firstOther;
  unsigned firstOtherExpected = 0;
  /// The first mismatches, with what the format gave.
  std::vector<std::pair<TestVector, uint64_t>> examples;
};

/// Runs a compiled program on the operands of a file, and compares. Any NaN is
/// equal to any other. A file that cannot be read is an error with its line.
llvm::Expected<VectorReport> checkVectors(const Registry &registry,
                                          const VectorOperation &operation,
                                          llvm::StringRef path);

void printText(const VectorReport &report, llvm::raw_ostream &stream);
void printJSON(const VectorReport &report, llvm::json::OStream &json);

} // namespace numera

#endif // NUMERA_TOOLS_CHECK_VECTORS_H
