// SPDX-License-Identifier: MIT
//
// Elements of one array to those of another, both with strides of their own,
// by a function that knows arrays without gaps alone. Where both arrays have
// none it is called once, on all of it, which costs nothing. Otherwise strips
// of elements go through two small buffers that stay in the core's cache.

#ifndef NUMERA_LIB_CAPI_STRIDED_H
#define NUMERA_LIB_CAPI_STRIDED_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <memory>
#include <string>

namespace numera {

/// An array's elements, a whole number of bytes each. Strides are in bytes and
/// may be zero or negative; addresses need no alignment.
struct StridedArray {
  char *data;
  llvm::ArrayRef<int64_t> strides;
  int64_t elementSize; ///< 1, 2, 4 or 8
};

/// Converts `count` elements without gaps, the first of which is the `index`th
/// of the loop; on at most `threads` threads, 0 meaning all. False with a line
/// of text on failure. Called from several threads at a time.
using ConvertRun = llvm::function_ref<bool(
    const char *from, char *to, int64_t count, int64_t index, uint32_t threads,
    std::string &error)>;

class StridedLoop {
public:
  /// `isOrdered`: elements have to be counted in row-major order. Else they are
  /// taken in whatever order is fast, and in that one they are counted.
  StridedLoop(llvm::ArrayRef<int64_t> shape, StridedArray from, StridedArray to,
              bool isOrdered);

  /// False, with a line of text, if `convert` failed or memory ran out. Arrays
  /// may overlap: results are those of arrays that do not.
  bool run(ConvertRun convert, uint32_t threads, std::string &error);

private:
  struct Dimension {
    int64_t size, from, to;
  };
  /// What lies between an array's lowest byte and the one behind its last.
  struct Extent {
    const char *begin, *end;
  };

  void order();
  void merge();
  Extent extent(const StridedArray &array, int64_t Dimension::*stride) const;
  bool isDense(const StridedArray &array, int64_t Dimension::*stride) const;
  bool hasDenseRows(const StridedArray &array,
                    int64_t Dimension::*stride) const;
  bool isInPlace() const;
  bool overlaps() const;
  bool copyInput(std::string &error);
  bool runStrips(ConvertRun convert, uint32_t threads, std::string &error);

  template <typename Visit>
  void forRuns(int64_t begin, int64_t count, int64_t Dimension::*stride,
               Visit visit) const;
  void gather(int64_t begin, int64_t count, char *buffer) const;
  void scatter(int64_t begin, int64_t count, const char *buffer) const;

  struct Strips;

  llvm::SmallVector<Dimension, 4> dimensions; ///< at least one
  StridedArray from, to;
  int64_t total = 1;
  /// The input, where the output would overwrite it.
  std::unique_ptr<char[]> ownedInput;
};

} // namespace numera

#endif // NUMERA_LIB_CAPI_STRIDED_H
