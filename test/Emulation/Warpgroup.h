// SPDX-License-Identifier: MIT
//
// Matrix instructions of warpgroups (PTX ISA, "Asynchronous warpgroup-level
// matrix multiply-accumulate instructions"), and what they ask of shared
// memory. They read it by a proxy of its own, while the threads go on; what the
// machine would do wrong then is an error here. Formulas name what they come
// from there.
//
// Which registers may be touched when is seen in the PTX (ptx_warpgroup.py).

#ifndef NUMERA_TEST_EMULATION_WARPGROUP_H
#define NUMERA_TEST_EMULATION_WARPGROUP_H

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

namespace {

[[noreturn]] inline void refuse(const char *what) {
  std::fprintf(stderr, "emulated GPU: %s\n", what);
  std::abort();
}

/// What a block has written into shared memory, by 16 bytes.
///
/// "Async proxy": "Accessing the same memory location across multiple proxies
/// needs a cross-proxy fence. For the async proxy, fence.proxy.async should be
/// used". Stores and cp.async write by the generic proxy. So a thread that
/// wrote makes a fence, and a barrier follows, before any may read.
class SharedWrites {
public:
  using Chunks = std::vector<size_t>;

  void reset(const unsigned char *shared, size_t size) {
    begin = shared;
    chunks.assign((size + 15) / 16, {});
    interval = 1;
  }
  /// By a thread, of which `own` are the chunks without a fence.
  void write(Chunks &own, const void *at, size_t size) {
    size_t offset = size_t(static_cast<const unsigned char *>(at) - begin);
    for (size_t i = offset / 16; i <= (offset + size - 1) / 16; ++i) {
      Chunk &chunk = chunks.at(i);
      if (chunk.readIn == interval)
        refuse("shared memory is written that a matrix instruction may read");
      ++chunk.unfenced;
      own.push_back(i);
    }
  }
  void fence(Chunks &own) {
    for (size_t i : own) {
      --chunks[i].unfenced;
      chunks[i].fencedIn = interval;
    }
    own.clear();
  }
  void barrier() { ++interval; }
  /// 16 bytes by a matrix instruction.
  const unsigned char *read(size_t offset) {
    if (offset % 16 != 0 || offset / 16 >= chunks.size())
      refuse("a matrix lies outside of shared memory");
    Chunk &chunk = chunks[offset / 16];
    if (chunk.fencedIn == 0 || chunk.unfenced != 0)
      refuse("a matrix was written without fence.proxy.async");
    if (chunk.fencedIn == interval)
      refuse("a matrix was written without a barrier since");
    chunk.readIn = interval;
    return begin + offset;
  }
  /// Of the address of a descriptor, which has its lowest 18 bits.
  size_t offsetOf(uint64_t address) const {
    return (address - reinterpret_cast<uintptr_t>(begin)) & 0x3ffff;
  }

private:
  /// Intervals between barriers are counted from 1.
  struct Chunk {
    uint32_t unfenced = 0, fencedIn = 0, readIn = 0;
  };
  const unsigned char *begin = nullptr;
  std::vector<Chunk> chunks;
  uint32_t interval = 1;
};

/// "Matrix Descriptor Format", of a matrix whose steps are consecutive
/// (K-major: imm-trans is 0, or there is none).
class MatrixDescriptor {
public:
  explicit MatrixDescriptor(uint64_t bits)
      : start(decoded(bits)), leading(decoded(bits >> 16)),
        stride(decoded(bits >> 32)) {
    // "63-62: 0: No swizzle, 1: 128-Byte, 2: 64-Byte, 3: 32-Byte swizzle".
    static constexpr unsigned widths[] = {16, 128, 64, 32};
    width = widths[bits >> 62];
    if (bits & ~0xc00e3fff3fff3fff)
      refuse("a matrix descriptor has bits that mean nothing");
    // "The value of base offset is 0 when the repeating pattern of the
    // specified swizzling mode starts as per the below table: 128-Byte swizzle:
    // 1024-Byte boundary, 64-Byte: 512, 32-Byte: 256." So eight rows begin
    // there, and the matrix within the first of them.
    if ((bits >> 49 & 7) != 0)
      refuse("a matrix descriptor has a base offset");
    if (width > 16 && (start % (8 * width) >= width || stride % (8 * width)))
      refuse("a swizzled matrix does not begin where its pattern does");
  }

  /// The address of 16 bytes of a row. "Canonical Layouts", K-major, in units
  /// of elements of which T are 16 bytes:
  ///
  ///   no swizzling  Swizzle<0,4,3> o ((8,m),(T,2k)):((1T,SBO),(1,LBO))
  ///   32 bytes      Swizzle<1,4,3> o ((8,m),(T,2k)):((2T,SBO),(1,T))
  ///   64 bytes      Swizzle<2,4,3> o ((8,m),(T,2k)):((4T,SBO),(1,T))
  ///   128 bytes     Swizzle<3,4,3> o ((8,m),(T,2k)):((8T,SBO),(1,T))
  ///
  /// Swizzle<B,4,3> takes B bits of an address from bit 7 on, and changes those
  /// from bit 4 on where they are set.
  uint64_t chunk(unsigned row, unsigned index) const {
    uint64_t place = start + row % 8 * uint64_t(width) + row / 8 * stride +
                     index * (width == 16 ? leading : 16);
    return place ^ (place >> 3 & (width - 16));
  }

private:
  /// "matrix-descriptor-encode(x) = (x & 0x3FFFF) >> 4".
  static uint64_t decoded(uint64_t field) { return (field & 0x3fff) << 4; }

  uint64_t start, leading, stride;
  unsigned width;
};

/// As ptx_warpgroup.py declares it: an instruction of one thread.
struct MatrixInstruction {
  uint32_t **sums; ///< registers
  uint64_t rows, columns;
  int columnCount, size, rowKind, columnKind;
  int isAdded; ///< else sums begin at zero
  float (*factor)(uint32_t code, int kind);
};

/// Those of a thread that nobody has waited for.
class MatrixWork {
public:
  void start(SharedWrites &shared, unsigned thread,
             const MatrixInstruction &instruction) {
    Started started = {
        instruction,
        {instruction.sums, instruction.sums + instruction.columnCount / 2},
        {}};
    started.bytes = gather(shared, thread, instruction);
    work.push_back(std::move(started));
  }
  /// They read as late as can be, and what was there at first.
  void finish(SharedWrites &shared, unsigned thread) {
    for (Started &started : work) {
      started.instruction.sums = started.sums.data();
      if (gather(shared, thread, started.instruction) != started.bytes)
        refuse("a matrix was changed while it was multiplied");
      multiply(started);
    }
    work.clear();
  }

private:
  using Bytes = std::vector<std::array<unsigned char, 32>>;
  struct Started {
    MatrixInstruction instruction;
    std::vector<uint32_t *> sums;
    Bytes bytes; ///< two rows, then the columns
  };

  /// "Matrix Fragments for wgmma.mma_async.m64nNk16" (and k32), accumulator D:
  /// warp w of the four has rows 16 w to 16 w + 15; a thread's d0 and d1 lie in
  /// its row and column, d2 and d3 eight rows below, d4 and on eight columns
  /// further.
  static unsigned rowOf(unsigned thread, unsigned i) {
    return thread / 32 % 4 * 16 + thread % 32 / 4 + i / 2 % 2 * 8;
  }
  static unsigned columnOf(unsigned thread, unsigned i) {
    return i / 4 * 8 + thread % 4 * 2 + i % 2;
  }

  /// 32 bytes of each row and column of a thread's sums: "m64nNk16" of two
  /// bytes, "m64nNk32" of one. A is row-major, B column-major.
  static Bytes gather(SharedWrites &shared, unsigned thread,
                      const MatrixInstruction &instruction) {
    MatrixDescriptor rows(instruction.rows), columns(instruction.columns);
    Bytes bytes;
    auto add = [&](const MatrixDescriptor &matrix, unsigned row) {
      bytes.emplace_back();
      for (unsigned i = 0; i < 2; ++i)
        std::memcpy(bytes.back().data() + 16 * i,
                    shared.read(shared.offsetOf(matrix.chunk(row, i))), 16);
    };
    add(rows, rowOf(thread, 0));
    add(rows, rowOf(thread, 2));
    for (unsigned i = 0; i < unsigned(instruction.columnCount) / 2; ++i)
      if (i % 4 < 2)
        add(columns, columnOf(thread, i));
    return bytes;
  }

  static std::vector<float> decode(const MatrixInstruction &instruction,
                                   const std::array<unsigned char, 32> &bytes,
                                   int kind) {
    std::vector<float> values;
    for (size_t i = 0; i < bytes.size(); i += size_t(instruction.size))
      values.push_back(instruction.factor(instruction.size == 1
                                              ? bytes[i]
                                              : unsigned(bytes[i]) |
                                                    unsigned(bytes[i + 1]) << 8,
                                          kind));
    return values;
  }

  /// Products are exact and are added in f32, one by one.
  static void multiply(const Started &started) {
    const MatrixInstruction &of = started.instruction;
    std::vector<std::vector<float>> values;
    for (const auto &bytes : started.bytes)
      values.push_back(
          decode(of, bytes, values.size() < 2 ? of.rowKind : of.columnKind));
    for (size_t i = 0; i < started.sums.size(); ++i) {
      float sum = 0;
      if (of.isAdded)
        std::memcpy(&sum, started.sums[i], 4);
      const auto &row = values[i / 2 % 2],
                 &column = values[2 + i / 4 * 2 + i % 2];
      for (size_t k = 0; k < row.size(); ++k)
        sum = std::fmaf(row[k], column[k], sum);
      uint32_t bits = 0x7fffffff; // a NaN
      if (sum == sum)
        std::memcpy(&bits, &sum, 4);
      *started.sums[i] = bits;
    }
  }

  std::vector<Started> work;
};

/// "The contents of a matrix descriptor must be same across all the warps in
/// the warpgroup": what a warpgroup's first thread asked for, the others do.
class WarpgroupAgreement {
public:
  void check(size_t number, const MatrixInstruction &instruction) {
    std::array<uint64_t, 3> said = {instruction.rows, instruction.columns,
                                    uint64_t(instruction.columnCount)};
    if (number == all.size())
      all.push_back(said);
    else if (number > all.size() || all[number] != said)
      refuse("threads of a warpgroup differ in a matrix instruction");
  }

private:
  std::vector<std::array<uint64_t, 3>> all;
};

} // namespace

#endif // NUMERA_TEST_EMULATION_WARPGROUP_H
