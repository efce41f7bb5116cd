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

#include "Hooks.h"
#include "Machine.h"

namespace numera::kernel {

/// Steps that a panel has.
constexpr int slabSteps = 16;

template <int width> struct Panel {
  /// Rows apart enough that threads which write one below the other do not wait
  /// for each other, and at multiples of 16 bytes.
  static constexpr int pitch = width + 16 / int(sizeof(Carrier));
  alignas(16) Carrier values[slabSteps][pitch];
};

/// What differs between rows and columns.
struct RowSide {
  static Layout layout() { return Layout::of(numera_hook_row_layout()); }
  static Raw fetch(const void *base, int64_t index) {
    return numera_hook_fetch_row(base, index);
  }
  static Carrier decode(Raw raw) { return numera_hook_row(raw); }
};
struct ColumnSide {
  static Layout layout() { return Layout::of(numera_hook_column_layout()); }
  static Raw fetch(const void *base, int64_t index) {
    return numera_hook_fetch_column(base, index);
  }
  static Carrier decode(Raw raw) { return numera_hook_column(raw); }
};

/// A thread's elements of one slab, on their way into a panel.
template <typename Side, int width, bool isAsync> class Filling {
  using Target = NUMERA_SHARED Panel<width>;

public:
  /// Elements.
  static constexpr int count = width * slabSteps / blockThreads;

  /// Element (lane, step) lies `lanes[lane] + steps[step]` places behind
  /// `base`.
  void start(Target &panel, const char *base,
             const NUMERA_SHARED int64_t *lanes,
             const NUMERA_SHARED int64_t *steps) {
    if (isCopied())
      return startCopies(panel, base, lanes, steps);
    if (Side::layout().isContiguous)
      return fetchRun(base +
                      (lanes[lane(0)] + steps[step(0)]) * Side::layout().bytes);
#pragma unroll
    for (int i = 0; i < count; ++i)
      raw[i] = Side::fetch(base, lanes[lane(i)] + steps[step(i)]);
  }

  /// After this, and the barrier that follows, the panel can be read.
  void finish(Target &panel) const {
    if (isCopied())
      return waitForCopies();
#pragma unroll
    for (int i = 0; i < count; ++i)
      panel.values[step(i)][lane(i)] =
          Side::decode(Side::layout().isContiguous ? element(i) : raw[i]);
  }

private:
  /// Past the registers.
  static bool isCopied() {
    return isAsync && sizeof(Carrier) >= 4 && Side::layout().isValue;
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
    Layout layout = Side::layout();
    constexpr int size = sizeof(Carrier) == 8 ? 8 : 4, at16 = 16 / size;
    bool isWide = layout.isContiguous && !layout.runsAlongSteps;
    if (count % at16 == 0 && isWide) {
      const char *from = base + (lanes[lane(0)] + steps[step(0)]) * size;
#pragma unroll
      for (int i = 0; i < count; i += at16)
        startCopy<16>(&panel.values[step(i)][lane(i)], from + i * size);
      return;
    }
#pragma unroll
    for (int i = 0; i < count; ++i)
      startCopy<size>(&panel.values[step(i)][lane(i)],
                      base + (lanes[lane(i)] + steps[step(i)]) * size);
  }

  template <typename Word> void take(const char *from, int at) {
    Word word = *reinterpret_cast<const Word *>(from + at);
    __builtin_memcpy(words + at / 4, &word, sizeof word);
  }

  /// All elements in as few loads as there can be.
  void fetchRun(const char *from) {
    typedef uint32_t Words __attribute__((ext_vector_type(4)));
    switch (int total = count * Side::layout().bytes) {
    case 1:
      return take<uint8_t>(from, 0);
    case 2:
      return take<uint16_t>(from, 0);
    case 4:
      return take<uint32_t>(from, 0);
    case 8:
      return take<uint64_t>(from, 0);
    default:
#pragma unroll
      for (int at = 0; at < int(sizeof words); at += 16)
        if (at < total)
          take<Words>(from, at);
    }
  }

  /// The bits of element `i` of what fetchRun took.
  Raw element(int i) const {
    switch (Side::layout().bytes) {
    case 1:
      return words[i / 4] >> 8 * (i % 4) & 0xff;
    case 2:
      return words[i / 2] >> 16 * (i % 2) & 0xffff;
    case 4:
      return words[i];
    default:
      return words[2 * i] | Raw(words[2 * i + 1]) << 32;
    }
  }

  Raw raw[count]; ///< elements that were fetched one by one
  alignas(16) uint32_t words[count < 2 ? 4 : 2 * count]; ///< others
};

} // namespace numera::kernel

#endif // NUMERA_KERNELS_DEVICE_PANEL_H
