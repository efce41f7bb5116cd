// SPDX-License-Identifier: MIT
//
// Packing: a block of an operand is decoded once, into panels that the tile
// reads from front to back. A panel has `lanes` elements of the outer loops by
// `steps` of the reduction.

#ifndef NUMERA_KERNELS_PANELS_H
#define NUMERA_KERNELS_PANELS_H

#include "Hooks.h"
#include "Transpose.h"
#include "numera/Runtime/Contraction.h"

#include <utility>

namespace numera::kernel {

/// The iterations of a product of loops in row-major order, from any start.
class Walk {
public:
  Walk(const Loop *loops, int32_t count, int64_t start)
      : loops(loops), count(count) {
    for (int32_t i = count; i-- > 0;) {
      index[i] = start % loops[i].extent;
      start /= loops[i].extent;
      advance(loops[i], index[i]);
    }
  }

  int64_t rows = 0, columns = 0, sums = 0; ///< places in the operands

  void next() {
    for (int32_t i = count; i-- > 0;) {
      advance(loops[i], 1);
      if (++index[i] < loops[i].extent)
        return;
      advance(loops[i], -index[i]);
      index[i] = 0;
    }
  }

private:
  void advance(const Loop &loop, int64_t times) {
    rows += times * loop.rows;
    columns += times * loop.columns;
    sums += times * loop.sums;
  }

  const Loop *loops;
  int32_t count;
  int64_t index[maxLoops];
};

constexpr int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/// True if `places` are consecutive.
inline bool isContiguous(const int64_t *places, int64_t count) {
  for (int64_t i = 1; i < count; ++i)
    if (places[i] != places[0] + i)
      return false;
  return true;
}

/// Elements at equal distances.
struct Run {
  int64_t first; ///< lane
  int64_t length;
  int64_t place; ///< of its first lane
  int64_t stride;
};

/// Splits lanes into runs; returns how many.
inline int64_t findRuns(const int64_t *places, int64_t count, Run *runs) {
  int64_t found = 0;
  for (int64_t lane = 0; lane < count; ++lane) {
    Run *run = found > 0 ? runs + found - 1 : nullptr;
    int64_t distance = lane > 0 ? places[lane] - places[lane - 1] : 0;
    if (run && (run->length == 1 || run->stride == distance)) {
      run->stride = distance;
      ++run->length;
    } else {
      runs[found++] = {lane, 1, places[lane], 1};
    }
  }
  return found;
}

/// True if each run of several lanes has this stride.
inline bool haveStride(const Run *runs, int64_t count, int64_t stride) {
  for (int64_t i = 0; i < count; ++i)
    if (runs[i].length > 1 && runs[i].stride != stride)
      return false;
  return true;
}

/// out[i] = the value `first + i * stride` places behind `base`. A run of
/// unknown length is one masked vector or a few: scalar code for its rest would
/// take longer than all of them. Strides of convolutions are constants, for
/// which the loads are shuffles.
template <auto hook>
inline void decodeRun(Carrier *out, const void *base, int64_t first,
                      int64_t length, int64_t stride) {
  if (stride == 1) {
#pragma clang loop vectorize(assume_safety) vectorize_predicate(enable)
    for (int64_t i = 0; i < length; ++i)
      out[i] = hook(base, first + i);
  } else {
    for (int64_t i = 0; i < length; ++i)
      out[i] = hook(base, first + i * stride);
  }
}
template <auto hook, int64_t length, int64_t stride>
inline void decodeRun(Carrier *out, const void *base, int64_t first) {
#pragma clang loop vectorize(assume_safety) vectorize_width(lanes)             \
    unroll(disable)
  for (int64_t i = 0; i < length; ++i)
    out[i] = hook(base, first + i * stride);
}

/// The layout of a panel: the value of lane l in step k lies at
/// l * lanePitch + k * stepPitch. One of the two is 1.
template <int64_t panelLanes, int64_t lanePitch, int64_t stepPitch, auto hook>
struct Packing {
  /// Steps that are taken at a time, of all lanes: so that these come from
  /// memory together.
  static constexpr int64_t chunk =
      stepPitch == 1 ? 2 * numera::kernel::lanes : 64;

  /// `places` of the lanes, and what each step adds to all of them. Lanes from
  /// `count` on are 0 before and after. What lies between elements may be read,
  /// up to `last`, the place of the operand's last one; below 0, nothing is.
  static void pack(Carrier *panel, const void *base, const int64_t *places,
                   int64_t count, const int64_t *steps, int64_t stepCount,
                   bool stepsAreContiguous, int64_t last = -1) {
    if (stepCount == 0)
      return;
    Run runs[panelLanes];
    int64_t runCount = findRuns(places, count, runs);
    int64_t stride = runs[0].stride;
    bool isOneRun = runCount == 1 && (stride == 1 || stride == 2);
    if (stepsAreContiguous && (lanePitch != 1 || !isOneRun))
      packAlongSteps(panel, base, places, count, steps[0], stepCount);
    else if (lanePitch == 1 && isOneRun && count == panelLanes && stride == 1)
      packRun<1>(panel, base, places[0], steps, stepCount);
    else if (lanePitch == 1 && isOneRun && count == panelLanes)
      packRun<2>(panel, base, places[0], steps, stepCount);
    else if (lanePitch == 1 && last >= 0 && count == panelLanes &&
             haveStride(runs, runCount, 1))
      packRuns<1>(panel, base, runs, runCount, steps, stepCount, last);
    else if (lanePitch == 1 && last >= 0 && count == panelLanes &&
             haveStride(runs, runCount, 2))
      packRuns<2>(panel, base, runs, runCount, steps, stepCount, last);
    else
      packAlongLanes(panel, base, runs, runCount, steps, stepCount);
  }

private:
  template <int64_t stride>
  static void packRun(Carrier *panel, const void *base, int64_t place,
                      const int64_t *steps, int64_t stepCount) {
    for (int64_t k = 0; k < stepCount; ++k)
      decodeRun<hook, panelLanes, stride>(panel + k * stepPitch, base,
                                          place + steps[k]);
  }

  /// A part of a run, no longer than a vector.
  struct Piece {
    int64_t lane, length, place;
  };

  /// Runs of one stride as whole vectors: what one has behind its run, the next
  /// one of the step or the next step overwrites.
  template <int64_t stride>
  static void packRuns(Carrier *panel, const void *base, const Run *runs,
                       int64_t runCount, const int64_t *steps,
                       int64_t stepCount, int64_t last) {
    Piece pieces[panelLanes];
    int64_t count = 0, reach = 0;
    for (int64_t i = 0; i < runCount; ++i)
      for (int64_t lane = 0; lane < runs[i].length; lane += lanes) {
        int64_t place = runs[i].place + lane * stride;
        pieces[count++] = {runs[i].first + lane,
                           least(lanes, runs[i].length - lane), place};
        reach = place + (lanes - 1) * stride > reach
                    ? place + (lanes - 1) * stride
                    : reach;
      }
    auto packStep = [&](int64_t k, auto copies) {
      Carrier *out = panel + k * stepPitch;
#pragma unroll
      for (int i = 0; i < copies; ++i)
        decodeRun<hook, lanes, stride>(out + pieces[i].lane, base,
                                       pieces[i].place + steps[k]);
    };
    for (int64_t k = 0; k < stepCount; ++k)
      if (k + 1 == stepCount || reach + steps[k] > last)
        for (int64_t i = 0; i < count; ++i)
          decodeRun<hook>(panel + pieces[i].lane + k * stepPitch, base,
                          pieces[i].place + steps[k], pieces[i].length, stride);
      else if (count == 2)
        packStep(k, std::integral_constant<int, 2>());
      else
        for (int64_t i = 0; i < count; ++i)
          decodeRun<hook, lanes, stride>(panel + pieces[i].lane + k * stepPitch,
                                         base, pieces[i].place + steps[k]);
  }

  static void packAlongSteps(Carrier *panel, const void *base,
                             const int64_t *places, int64_t count,
                             int64_t first, int64_t stepCount) {
    if constexpr (stepPitch == 1) {
      int64_t whole = stepCount - stepCount % chunk;
      for (int64_t k = 0; k < whole; k += chunk)
        for (int64_t lane = 0; lane < count; ++lane)
          decodeRun<hook, chunk, 1>(panel + lane * lanePitch + k, base,
                                    places[lane] + first + k);
      for (int64_t lane = 0; lane < count && whole < stepCount; ++lane)
        decodeRun<hook>(panel + lane * lanePitch + whole, base,
                        places[lane] + first + whole, stepCount - whole, 1);
    } else {
      alignas(64) Carrier values[panelLanes][chunk];
      int64_t filled = (count + lanes - 1) / lanes * lanes;
      for (int64_t lane = count; lane < filled; ++lane)
        for (int64_t i = 0; i < chunk; ++i)
          values[lane][i] = 0;
      for (int64_t k = 0; k < stepCount; k += chunk) {
        int64_t length = stepCount - k < chunk ? stepCount - k : chunk;
        for (int64_t lane = 0; lane < count; ++lane)
          if (length == chunk)
            decodeRun<hook, chunk, 1>(values[lane], base,
                                      places[lane] + first + k);
          else
            decodeRun<hook>(values[lane], base, places[lane] + first + k,
                            length, 1);
        for (int64_t lane = 0; lane < filled; lane += lanes)
          for (int64_t i = 0; i < length; i += lanes)
            packSquare(panel + lane + (k + i) * stepPitch, values[lane] + i,
                       length - i);
      }
    }
  }

  /// As many lanes by as many steps, or by those that are left.
  [[gnu::noinline]] static void
  packSquare(Carrier *panel, const Carrier *values, int64_t stepCount) {
    Vector vectors[lanes];
#pragma unroll
    for (int lane = 0; lane < lanes; ++lane)
      vectors[lane] = *reinterpret_cast<const Vector *>(values + lane * chunk);
    transpose(vectors);
#pragma unroll
    for (int step = 0; step < lanes; ++step)
      if (step < stepCount)
        *reinterpret_cast<Vector *>(panel + step * stepPitch) = vectors[step];
  }

  static void packAlongLanes(Carrier *panel, const void *base, const Run *runs,
                             int64_t runCount, const int64_t *steps,
                             int64_t stepCount) {
    for (int64_t k = 0; k < stepCount; ++k)
      for (int64_t i = 0; i < runCount; ++i) {
        const Run &run = runs[i];
        if constexpr (lanePitch == 1) {
          decodeRun<hook>(panel + run.first + k * stepPitch, base,
                          run.place + steps[k], run.length, run.stride);
        } else {
          Carrier values[panelLanes];
          decodeRun<hook>(values, base, run.place + steps[k], run.length,
                          run.stride);
          for (int64_t lane = 0; lane < run.length; ++lane)
            panel[(run.first + lane) * lanePitch + k] = values[lane];
        }
      }
  }
};

} // namespace numera::kernel

#endif // NUMERA_KERNELS_PANELS_H
