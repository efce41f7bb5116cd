// SPDX-License-Identifier: MIT
//
// A slab of one operand in a block's shared memory: the values of `width` rows
// (or columns) in `slabSteps` steps. All threads fill it together. They fetch
// elements first, and put them there later: in between the elements travel, and
// the threads compute with the panel before.
//
// A thread has width * slabSteps / blockThreads elements. Where the compiler
// knows that they lie in a row, it fetches them at once.

#ifndef NUMERA_KERNELS_DEVICE_PANEL_H
#define NUMERA_KERNELS_DEVICE_PANEL_H

#include "Machine.h"
#include "Sides.h"

namespace numera::kernel {

/// Steps that a panel has.
constexpr int slabSteps = 16;

template <int width> struct Panel {
  /// Rows apart enough that threads which write one below the other do not wait
  /// for each other, and at multiples of 16 bytes.
  static constexpr int pitch = width + 16 / int(sizeof(Carrier));
  alignas(16) Carrier values[slabSteps][pitch];

  /// Nothing: the barrier is enough.
  static void publish() {}
};

/// A thread's elements of one slab, on their way into a panel.
template <typename Side, int width, bool isAsync> class Filling {
  using Target = NUMERA_SHARED Panel<width>;

public:
  /// Elements.
  static constexpr int count = width * slabSteps / blockThreads;

  /// Element (lane, step) lies `lanes[lane] + steps[step]` places behind
  /// `base`. How many steps there are does not matter: no more are computed.
  void start(Target &panel, const char *base,
             const NUMERA_SHARED int64_t *lanes,
             const NUMERA_SHARED int64_t *steps, int) {
    if (isCopied())
      return startCopies(panel, base, lanes, steps);
    if (Side::layout().isContiguous)
      return run.fetch(base + (lanes[lane(0)] + steps[step(0)]) *
                                  Side::layout().bytes,
                       Side::layout().bytes);
#pragma unroll
    for (int i = 0; i < count; ++i)
      raw[i] = Side::fetch(base, lanes[lane(i)] + steps[step(i)]);
  }

  /// After this, and the barrier that follows, the panel can be read.
  void finish(Target &panel, int) const {
    if (isCopied())
      return waitForCopies();
#pragma unroll
    for (int i = 0; i < count; ++i)
      panel.values[step(i)][lane(i)] = Side::decode(
          Side::layout().isContiguous ? run.element(i, Side::layout().bytes)
                                      : raw[i]);
  }

private:
  /// Elements in a row along lanes, of which a copy has 16 bytes or fewer.
  static constexpr int size = sizeof(Carrier);
  static constexpr int copied = count * size % 16 == 0 ? 16 : count * size;
  static bool isWide() {
    return Side::layout().isContiguous && !Side::layout().runsAlongSteps;
  }
  /// Past the registers. The least that a copy has is 4 bytes.
  static bool isCopied() {
    return isAsync && Side::layout().isValue &&
           (size >= 4 || (copied >= 4 && isWide()));
  }

  /// The places of a thread's elements. Neighbouring threads have neighbouring
  /// elements; but of elements that are fetched at once along the steps, each
  /// has some of another row, and writes them below each other.
  static int lane(int i) {
    Layout layout = Side::layout();
    if (layout.isContiguous && !layout.runsAlongSteps)
      return threadNumber() % (width / count) * count + i;
    if (layout.isContiguous || !layout.runsAlongSteps)
      return threadNumber() % width;
    return threadNumber() / slabSteps + i * (blockThreads / slabSteps);
  }
  static int step(int i) {
    Layout layout = Side::layout();
    if (layout.isContiguous && !layout.runsAlongSteps)
      return threadNumber() / (width / count);
    if (layout.isContiguous)
      return threadNumber() / width * count + i;
    if (layout.runsAlongSteps)
      return threadNumber() % slabSteps;
    return threadNumber() / width + i * (blockThreads / width);
  }

  static void startCopies(Target &panel, const char *base,
                          const NUMERA_SHARED int64_t *lanes,
                          const NUMERA_SHARED int64_t *steps) {
    if constexpr (copied % 4 == 0 && copied <= 16)
      if (isWide()) {
        const char *from = base + (lanes[lane(0)] + steps[step(0)]) * size;
#pragma unroll
        for (int i = 0; i < count * size; i += copied)
          startCopy<copied>(&panel.values[step(0)][lane(i / size)], from + i);
        return;
      }
    if constexpr (size >= 4)
#pragma unroll
      for (int i = 0; i < count; ++i)
        startCopy<size>(&panel.values[step(i)][lane(i)],
                        base + (lanes[lane(i)] + steps[step(i)]) * size);
  }

  Raw raw[count]; ///< elements that were fetched one by one
  Run<count> run; ///< others
};

} // namespace numera::kernel

#endif // NUMERA_KERNELS_DEVICE_PANEL_H
