// SPDX-License-Identifier: MIT
//
// A panel for the matrix instructions of a warp (Matrix.h), whose factors go by
// its threads' registers.

#ifndef NUMERA_KERNELS_DEVICE_PADDEDPANEL_H
#define NUMERA_KERNELS_DEVICE_PADDEDPANEL_H

#include "MatrixPanel.h"

namespace numera::kernel {

template <int width> struct Panel {
  /// Lanes 20 words apart: the 16 bytes of any eight below each other that
  /// loadMatrices reads lie in different banks.
  static constexpr int pitch = slabWords + 4;
  alignas(16) uint32_t words[width][pitch];

  static NUMERA_SHARED uint32_t *at(NUMERA_SHARED Panel &panel, int lane,
                                    int word) {
    return &panel.words[lane][word];
  }
  /// Some machines turn bytes into halves, and have no registers to spare.
  static constexpr bool turnsBytes = false;
  /// Nothing: the barrier is enough.
  static void publish() {}
};

} // namespace numera::kernel

#endif // NUMERA_KERNELS_DEVICE_PADDEDPANEL_H
