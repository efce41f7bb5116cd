// SPDX-License-Identifier: MIT
//
// A panel for the matrix instructions of a warpgroup (Warpgroup.h), which read
// it themselves. PTX ISA, "Asynchronous warpgroup-level matrix shared memory
// layout", K-major with 64-byte swizzling: eight lanes of 64 bytes are an atom
// of 512, which begins at a multiple of 512. The four 16 bytes of a lane
// exchange places, so that those of lanes below each other lie in different
// banks: bits 5..4 of an address are those of the step, exclusive or bits 8..7,
// which are bits 2..1 of the lane.

#ifndef NUMERA_KERNELS_DEVICE_SWIZZLEDPANEL_H
#define NUMERA_KERNELS_DEVICE_SWIZZLEDPANEL_H

#include "MatrixPanel.h"

namespace numera::kernel {

template <int width> struct Panel {
  static constexpr int atomLanes = 8, atomBytes = atomLanes * slabBytes;
  static_assert(slabBytes == 64 && width % atomLanes == 0);
  alignas(atomBytes) uint32_t words[width][slabWords];
  static constexpr bool turnsBytes = true;

  static NUMERA_SHARED uint32_t *at(NUMERA_SHARED Panel &panel, int lane,
                                    int word) {
    return &panel.words[lane][word ^ lane / 2 % 4 * 4];
  }

  /// What an instruction of a warpgroup is told of the lanes from `lane` on, a
  /// multiple of `atomLanes`: in 16 bytes, the address in bits 13..0 and the
  /// distance of atoms in 45..32; the swizzling in 63..62. Bits 29..16, the
  /// distance along the steps, count nothing where there is swizzling, and are
  /// 1.
  static uint64_t describe(const NUMERA_SHARED Panel &panel, int lane) {
    constexpr uint64_t swizzling64 = 2;
    auto address = uint32_t(uint64_t(&panel.words[lane]));
    return ((address & 0x3ffff) / 16 | 1 << 16) |
           (uint64_t(atomBytes / 16) | swizzling64 << 30) << 32;
  }
  /// What lies 32 bytes of factors behind. The pattern, and so the base offset,
  /// stays.
  static uint64_t behind(uint64_t description) { return description + 32 / 16; }

  /// What a thread wrote is there for the proxy by which matrix instructions
  /// read, once the barrier has let all threads pass.
  static void publish() {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
};

} // namespace numera::kernel

#endif // NUMERA_KERNELS_DEVICE_SWIZZLEDPANEL_H
