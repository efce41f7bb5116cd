// SPDX-License-Identifier: MIT
//
// What a program that shows its layers (CompileOptions::showLayers) says of
// them (docs/Semantics/LayerErrors.md).

#ifndef NUMERA_TARGET_DRIVER_LAYERERRORS_H
#define NUMERA_TARGET_DRIVER_LAYERERRORS_H

#include "numera/Dialect/Numera/Transforms/Statistics/LayerRows.h"
#include "numera/Registry/Registry.h"
#include "numera/Runtime/numera.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/ThreadPool.h"
#include <optional>
#include <vector>

namespace numera {

/// How far numbers are from those of the reference (E2).
struct NumberErrors {
  double signal = 0, noise = 0;     ///< sums of squares
  double largest = 0;               ///< absolute
  double largestUlps = 0, ulps = 0; ///< the largest, and the sum
  uint64_t compared = 0;            ///< both finite
  uint64_t inUlps = 0;              ///< of them where the reference is not 0

  /// In dB; none where nothing was compared or all is zero, else infinite
  /// without an error.
  std::optional<double> sqnr() const;
  void operator+=(const NumberErrors &other);
};

/// What a layer's tensor was like in all calls.
struct LayerErrors {
  uint64_t count = 0; ///< elements
  NumberErrors all;   ///< of the value
  NumberErrors own;   ///< of what the layer makes of the reference's inputs
  /// Elements by what became of the reference's number (E4).
  uint64_t overflow = 0, saturated = 0, underflow = 0, zeros = 0, nan = 0;
  uint64_t finite = 0; ///< of the reference
  double largest = 0;  ///< magnitude of the reference
  /// Numbers of the reference by exponent, from `firstExponent` on.
  static constexpr int firstExponent = -1074;
  std::vector<uint64_t> exponents;
  /// A bit for each number that occurred, by its first bits as an f32; of
  /// formats of 16 bits at most.
  std::vector<uint32_t> used;

  /// All but exponents and marks.
  void operator+=(const LayerErrors &other);
  /// Exponents and marks.
  void addPlaces(const LayerErrors &other);
};

/// A format's limits as the comparisons of an f32 with them.
struct FloatLimits {
  float largest = 0, lowest = 0; ///< rounded towards 0
  /// The same numbers; NaN if f32 does not have them.
  float heldLargest = 0, heldLowest = 0;
  float nearEnd = 0;     ///< no magnitude up to it is beyond either
  float leastNormal = 0; ///< rounded up
};

/// What the errors of a format are measured with.
class LayerScale {
public:
  explicit LayerScale(const Format &format);

  bool isKnown() const { return known; }
  /// Some elements of one tensor, f32 or f64; `value` and `own` are of one
  /// type. Exponents and marks are added to those of `found`; the rest is
  /// returned.
  LayerErrors measure(const numera_tensor &value, const numera_tensor &own,
                      const numera_tensor &reference, size_t first,
                      size_t count, LayerErrors &found) const;
  /// For exponents and marks.
  void makeRoom(LayerErrors &found) const;
  /// Z13 for the largest number; none for a layer of zeros.
  std::optional<double> wastedBits(double largest) const;
  std::optional<uint64_t> codes() const;
  int leastExponent = 0, greatestExponent = 0;

private:
  struct Sums;
  void makeFloatTables();
  template <typename V, typename R>
  LayerErrors measureSome(const V *value, const V *own, const R *reference,
                          size_t count, LayerErrors &found) const;
  template <typename V, typename R>
  void addBlock(const V *value, const V *own, const R *reference, size_t count,
                Sums &sums, LayerErrors &found) const;
  bool addPlainBlock(const float *value, const float *own,
                     const float *reference, size_t count, Sums &sums,
                     LayerErrors &found) const;

  bool known = false; ///< false for opaque formats
  bool isEvenlySpaced = false;
  double largest = 0, lowest = 0, leastNormal = 0;
  std::vector<double> perUlp;      ///< 1 / ulp, by the exponent
  std::vector<double> perUlpOfF32; ///< by the exponent's field; of zeros 0
  FloatLimits limits;
  uint64_t codeCount = 0; ///< of a format of 16 bits at most, else 0
  unsigned spareBits = 0; ///< of an f32, that are zero in all numbers
};

/// Adds up what is found in several calls.
class LayerCollector {
public:
  /// With so many threads; 0: as many as there are processors.
  LayerCollector(llvm::ArrayRef<LayerRow> rows, const Registry &registry,
                 unsigned threads);

  /// What one call makes of one row, as LayerRow::Result says.
  void add(size_t row, llvm::ArrayRef<numera_tensor> tensors);
  /// The results of one call that belong to the rows.
  void add(llvm::ArrayRef<numera_tensor> results);
  /// Has a call hand over its rows.
  void collectFrom(numera_options &options);
  /// The key `layers`.
  void print(llvm::json::OStream &json) const;

  llvm::ArrayRef<LayerRow> getRows() const { return rows; }
  const LayerErrors &operator[](size_t row) const { return sums[row]; }
  /// The least of those of the layers that it reads; none without such.
  std::optional<double> sqnrOfInputs(size_t row) const;

private:
  void print(size_t row, llvm::json::OStream &json) const;

  llvm::DefaultThreadPool threads;
  llvm::ArrayRef<LayerRow> rows;
  /// By the formats' names: most rows have the same one.
  llvm::StringMap<LayerScale> known;
  std::vector<const LayerScale *> scales;
  std::vector<LayerErrors> sums;
};

} // namespace numera

#endif // NUMERA_TARGET_DRIVER_LAYERERRORS_H
