// SPDX-License-Identifier: MIT
//
// A slab of one operand in a block's shared memory, for matrix instructions:
// of `width` rows (or columns) 64 bytes each, the factors of 32 or 64 steps one
// behind the other. Factors are bits, and those behind the last step are zeros.
// Where a word of them lies is what PaddedPanel.h or SwizzledPanel.h says,
// whichever is included.
//
// A thread fills words (16 bytes each, where steps lie in a row in memory), and
// fetches what belongs there first, as in Panel.h.

#ifndef NUMERA_KERNELS_DEVICE_MATRIXPANEL_H
#define NUMERA_KERNELS_DEVICE_MATRIXPANEL_H

#include "Machine.h"
#include "Sides.h"

namespace numera::kernel {

constexpr int slabBytes = 64;
/// Steps that a panel has, and a word.
constexpr int slabSteps = slabBytes / int(sizeof(Factor));
constexpr int wordSteps = 4 / int(sizeof(Factor));
constexpr int slabWords = slabBytes / 4;

/// `at(panel, lane, word)` is the word's place. The four that begin at a
/// multiple of four lie in a row, at a multiple of 16 bytes.
template <int width> struct Panel;

/// A thread's elements of one slab, on their way into a panel.
template <typename Side, int width, bool isAsync> class Filling {
  using Target = NUMERA_SHARED Panel<width>;
  typedef uint32_t Words __attribute__((ext_vector_type(4)));

  /// Words of a thread; runs of 16 bytes of factors.
  static constexpr int count = width * slabWords / blockThreads;
  static constexpr int runs = count / 4, runSteps = 4 * wordSteps;
  /// Elements that lie singly are fetched before they are written only if there
  /// are registers for them.
  static constexpr bool isEarly = count * wordSteps <= 8;

public:
  /// Element (lane, step) lies `lanes[lane] + steps[step]` places behind
  /// `base`. The first `there` steps are there.
  void start(Target &panel, const char *base,
             const NUMERA_SHARED int64_t *lanes,
             const NUMERA_SHARED int64_t *steps, int there) {
    Layout layout = Side::layout();
    if (isAlongSteps()) {
#pragma unroll
      for (int i = 0; i < runs; ++i) {
        int lane = runLane(i), step = runWord(i) * wordSteps;
        const char *from = base + (lanes[lane] + steps[step]) * layout.bytes;
        if (!isCopied())
          stepRuns[i].fetch(from, layout.bytes);
        else if (step < there)
          startCopy<16>(at(panel, lane, runWord(i)), from);
        else
          *(NUMERA_SHARED Words *)at(panel, lane, runWord(i)) = 0;
      }
    } else if (layout.isContiguous) {
#pragma unroll
      for (int j = 0; j < wordSteps; ++j)
        laneRuns[j].fetch(
            base + (lanes[lane(0)] + steps[word(0) * wordSteps + j]) *
                       layout.bytes,
            layout.bytes);
    } else {
      singles = {base, lanes, steps};
      if (isEarly)
#pragma unroll
        for (int i = 0; i < count; ++i)
          fetchSingles(i, raw[i]);
    }
  }

  /// After this, and the barrier that follows, the panel can be read.
  void finish(Target &panel, int there) const {
    if (isCopied())
      return waitForCopies();
    if (there == slabSteps)
      write(panel, [](uint32_t word, int) { return word; });
    else
      write(panel, [there](uint32_t word, int step) {
        int bytes = (there - step) * int(sizeof(Factor));
        uint32_t mask = bytes <= 0   ? 0
                        : bytes >= 4 ? ~0u
                                     : (1u << 8 * bytes) - 1;
        return word & mask;
      });
  }

private:
  static NUMERA_SHARED uint32_t *at(Target &panel, int lane, int word) {
    return Panel<width>::at(panel, lane, word);
  }
  static bool isAlongSteps() {
    return Side::layout().isContiguous && Side::layout().runsAlongSteps;
  }
  /// Past the registers. As many steps as a run has divide the steps that there
  /// are.
  static bool isCopied() {
    return isAsync && Side::layout().isValue && isAlongSteps();
  }

  /// The places of a thread's runs along the steps: neighbouring threads have
  /// neighbouring runs of a lane.
  static int runLane(int i) {
    return (threadNumber() + i * blockThreads) / (slabWords / 4);
  }
  static int runWord(int) { return threadNumber() % (slabWords / 4) * 4; }

  /// The places of its words else. Of elements that are fetched at once along
  /// lanes, a thread has one word of some lanes, and neighbouring threads
  /// write neighbouring words.
  static int lane(int i) {
    if (Side::layout().isContiguous)
      return threadNumber() / slabWords * count + i;
    int index = threadNumber() + i * blockThreads;
    return Side::layout().runsAlongSteps ? index / slabWords : index % width;
  }
  static int word(int i) {
    if (Side::layout().isContiguous)
      return threadNumber() % slabWords;
    int index = threadNumber() + i * blockThreads;
    return Side::layout().runsAlongSteps ? index % slabWords : index / width;
  }

  /// The elements of word `i`.
  void fetchSingles(int i, Raw (&elements)[wordSteps]) const {
#pragma unroll
    for (int j = 0; j < wordSteps; ++j)
      elements[j] =
          Side::fetch(singles.base, singles.lanes[lane(i)] +
                                        singles.steps[word(i) * wordSteps + j]);
  }

  /// `wordSteps` factors.
  template <typename Element> static uint32_t pack(const Element &element) {
    uint32_t word = 0;
#pragma unroll
    for (int j = 0; j < wordSteps; ++j)
      word |= uint32_t(Side::decode(element(j))) << 8 * sizeof(Factor) * j;
    return word;
  }

  /// Runs along lanes, of a step each, to words along steps, of a lane each.
  /// `pick` has a byte of the result in 4 bits, those of `b` behind `a`'s.
  void turn(uint32_t (&turned)[count]) const {
    auto pick = [](uint32_t a, uint32_t b, uint32_t which) {
      return uint32_t(__nvvm_prmt(int(a), int(b), int(which)));
    };
    if constexpr (sizeof(Factor) == 2) {
#pragma unroll
      for (int i = 0; i < count; i += 2) {
        uint32_t a = laneRuns[0].word(i / 2), b = laneRuns[1].word(i / 2);
        turned[i] = pick(a, b, 0x5410);
        turned[i + 1] = pick(a, b, 0x7632);
      }
    } else {
#pragma unroll
      for (int i = 0; i < count; i += 4) {
        uint32_t a = laneRuns[0].word(i / 4), b = laneRuns[1].word(i / 4),
                 c = laneRuns[2].word(i / 4), d = laneRuns[3].word(i / 4);
        uint32_t low = pick(a, b, 0x5140), lowBehind = pick(c, d, 0x5140),
                 high = pick(a, b, 0x7362), highBehind = pick(c, d, 0x7362);
        turned[i] = pick(low, lowBehind, 0x5410);
        turned[i + 1] = pick(low, lowBehind, 0x7632);
        turned[i + 2] = pick(high, highBehind, 0x5410);
        turned[i + 3] = pick(high, highBehind, 0x7632);
      }
    }
  }

  /// `cut(word, step)` is what is written of a word that begins at `step`.
  template <typename Cut> void write(Target &panel, const Cut &cut) const {
    int bytes = Side::layout().bytes;
    if (isAlongSteps()) {
#pragma unroll
      for (int i = 0; i < runs; ++i) {
        Words four;
#pragma unroll
        for (int w = 0; w < 4; ++w)
          four[w] = cut(pack([&](int j) {
                          return stepRuns[i].element(w * wordSteps + j, bytes);
                        }),
                        (runWord(i) + w) * wordSteps);
        *(NUMERA_SHARED Words *)at(panel, runLane(i), runWord(i)) = four;
      }
      return;
    }
    if (!isEarly && !Side::layout().isContiguous) {
#pragma unroll 1
      for (int i = 0; i < count; ++i) {
        Raw elements[wordSteps];
        fetchSingles(i, elements);
        *at(panel, lane(i), word(i)) =
            cut(pack([&](int j) { return elements[j]; }), word(i) * wordSteps);
      }
      return;
    }
    if (Side::layout().isContiguous && Side::layout().isValue &&
        (sizeof(Factor) == 2 || Panel<width>::turnsBytes)) {
      uint32_t turned[count];
      turn(turned);
#pragma unroll
      for (int i = 0; i < count; ++i)
        *at(panel, lane(i), word(i)) = cut(turned[i], word(i) * wordSteps);
      return;
    }
#pragma unroll
    for (int i = 0; i < count; ++i)
      *at(panel, lane(i), word(i)) =
          cut(pack([&](int j) {
                return Side::layout().isContiguous
                           ? laneRuns[j].element(i, bytes)
                           : raw[i][j];
              }),
              word(i) * wordSteps);
  }

  // One of these, as the layout says.
  Run<runSteps> stepRuns[runs];
  Run<count> laneRuns[wordSteps];
  Raw raw[isEarly ? count : 1][wordSteps];
  /// Where singles lie.
  struct {
    const char *base;
    const NUMERA_SHARED int64_t *lanes, *steps;
  } singles;
};

} // namespace numera::kernel

#endif // NUMERA_KERNELS_DEVICE_MATRIXPANEL_H
