// SPDX-License-Identifier: MIT
//
// Scaled tensors on the host: constants of a program, and the reports of the
// tools. The steps are those that programs run (ScaleSteps.h).

#ifndef NUMERA_REGISTRY_SCALING_QUANTIZE_H
#define NUMERA_REGISTRY_SCALING_QUANTIZE_H

#include "numera/Registry/Scaling/Scaling.h"
#include "llvm/ADT/ArrayRef.h"
#include <memory>
#include <vector>

namespace numera {

/// Which elements of a row-major tensor share a scale.
class ScaleGrid {
public:
  /// With blocks, the neighbours along `axis`; the last block may have fewer
  /// elements. Without blocks, each index of `axis` has a scale, or the whole
  /// tensor has one if `axis` is negative.
  ScaleGrid(const Scaling &scaling, llvm::ArrayRef<int64_t> shape,
            int64_t axis);

  int64_t elements() const { return outer * length * inner; }
  int64_t groups() const { return isShared ? blocks : outer * blocks * inner; }
  /// The scale of element `index`.
  int64_t groupOf(int64_t index) const {
    int64_t along = index / inner % length / block;
    return isShared ? along
                    : (index / (inner * length) * blocks + along) * inner +
                          index % inner;
  }
  /// The shape of the tensor of scales.
  llvm::ArrayRef<int64_t> shape() const { return scaleShape; }

private:
  int64_t outer = 1, length = 1, inner = 1; ///< before, along, after the axis
  int64_t block = 1, blocks = 1;
  bool isShared = false; ///< all along the other axes share one
  std::vector<int64_t> scaleShape;
};

/// A tensor in a scaled format: codes, row-major.
struct ScaledTensor {
  std::vector<uint64_t> data;
  std::vector<uint64_t> scales;
  /// With Scaling::hasTensorScale.
  std::optional<float> tensorScale;
  /// For each scale, elements; with rule `min-max`.
  std::vector<uint64_t> zeros;
};

/// The scales of a tensor, and what comes with them: a tensor without elements.
/// `scales` are given scales as f32; without them, the scales follow from the
/// values. They are not allowed with a tensor scale. With zero points, `zeros`
/// has one for each scale, as numbers.
ScaledTensor scalesFor(const ScaledFormat &format, const ScaleGrid &grid,
                       llvm::ArrayRef<float> values,
                       llvm::ArrayRef<float> scales = {},
                       llvm::ArrayRef<float> zeros = {});

/// Elements of a tensor whose scales are known.
class ScaledElements {
public:
  ScaledElements(const ScaledFormat &format, const ScaleGrid &grid,
                 const ScaledTensor &scales);
  ~ScaledElements();

  /// The code of element `index`, and the value of a code there.
  uint64_t quantize(int64_t index, float value);
  float dequantize(int64_t index, uint64_t code);

private:
  struct State;
  std::unique_ptr<State> state;
};

/// The scales of `scalesFor`, and the elements.
ScaledTensor quantize(const ScaledFormat &format, const ScaleGrid &grid,
                      llvm::ArrayRef<float> values,
                      llvm::ArrayRef<float> scales = {},
                      llvm::ArrayRef<float> zeros = {});

/// The scale, as a number, for elements whose largest magnitude is `amax`. Not
/// with a tensor scale.
float scaleOf(const ScaledFormat &format, float amax);
/// Rule `min-max`: the scale and the zero point, a number, of values from
/// `least` to `most`, with 0 among them.
struct ScaleAndZero {
  float scale, zero;
};
ScaleAndZero scaleOfRange(const ScaledFormat &format, float least, float most);

/// The values of a scaled tensor.
std::vector<float> dequantize(const ScaledFormat &format, const ScaleGrid &grid,
                              const ScaledTensor &tensor);

} // namespace numera

#endif // NUMERA_REGISTRY_SCALING_QUANTIZE_H
