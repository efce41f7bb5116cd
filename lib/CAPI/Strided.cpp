// SPDX-License-Identifier: MIT

#include "Strided.h"

#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <pthread.h>
#include <sched.h>

using namespace llvm;
using namespace numera;

/// Elements of a strip: both of its buffers, of 8 bytes an element at most,
/// stay in a core's cache, and what a call costs is little beside them.
static constexpr int64_t stripElements = 4096;

/// What makes a thread worth its while.
static constexpr int64_t elementsPerThread = 1 << 17;

// ---- one element after the other -------------------------------------------

template <typename T>
static void copyElements(char *to, int64_t toStride, const char *from,
                         int64_t fromStride, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    T element; // addresses need no alignment
    std::memcpy(&element, from + i * fromStride, sizeof element);
    std::memcpy(to + i * toStride, &element, sizeof element);
  }
}

static void copyRun(char *to, int64_t toStride, const char *from,
                    int64_t fromStride, int64_t size, int64_t count) {
  if (toStride == size && fromStride == size) {
    std::memcpy(to, from, size_t(size * count));
    return;
  }
  switch (size) {
  case 1:
    return copyElements<uint8_t>(to, toStride, from, fromStride, count);
  case 2:
    return copyElements<uint16_t>(to, toStride, from, fromStride, count);
  case 4:
    return copyElements<uint32_t>(to, toStride, from, fromStride, count);
  case 16:
    return copyElements<std::array<uint64_t, 2>>(to, toStride, from, fromStride,
                                                 count);
  case 32:
    return copyElements<std::array<uint64_t, 4>>(to, toStride, from, fromStride,
                                                 count);
  default:
    return copyElements<uint64_t>(to, toStride, from, fromStride, count);
  }
}

/// `visit(offset, length, done)` for runs along the last dimension that make up
/// `count` elements from the `begin`th on: `offset` is that of the first in
/// bytes, and `done` elements came before it.
template <typename Visit>
void StridedLoop::forRuns(int64_t begin, int64_t count,
                          int64_t Dimension::*stride, Visit visit) const {
  SmallVector<int64_t, 8> place(dimensions.size());
  int64_t offset = 0, rest = begin;
  for (size_t d = dimensions.size(); d-- > 0; rest /= dimensions[d].size) {
    place[d] = rest % dimensions[d].size;
    offset += place[d] * (dimensions[d].*stride);
  }
  const Dimension &last = dimensions.back();
  for (int64_t done = 0; done < count;) {
    int64_t length = std::min(last.size - place.back(), count - done);
    visit(offset, length, done);
    done += length;
    place.back() += length;
    offset += length * (last.*stride);
    for (size_t d = dimensions.size() - 1;
         d > 0 && place[d] == dimensions[d].size; --d) {
      offset += dimensions[d - 1].*stride -
                dimensions[d].size * (dimensions[d].*stride);
      place[d] = 0;
      ++place[d - 1];
    }
  }
}

void StridedLoop::gather(int64_t begin, int64_t count, char *buffer) const {
  int64_t size = from.elementSize;
  forRuns(begin, count, &Dimension::from,
          [&](int64_t offset, int64_t length, int64_t done) {
            copyRun(buffer + done * size, size, from.data + offset,
                    dimensions.back().from, size, length);
          });
}

void StridedLoop::scatter(int64_t begin, int64_t count,
                          const char *buffer) const {
  int64_t size = to.elementSize;
  forRuns(begin, count, &Dimension::to,
          [&](int64_t offset, int64_t length, int64_t done) {
            copyRun(to.data + offset, dimensions.back().to,
                    buffer + done * size, size, size, length);
          });
}

// ---- which dimensions there are --------------------------------------------

StridedLoop::StridedLoop(ArrayRef<int64_t> shape, StridedArray from,
                         StridedArray to, bool isOrdered)
    : from(from), to(to) {
  for (auto [d, size] : enumerate(shape)) {
    total *= size;
    if (size != 1)
      dimensions.push_back({size, from.strides[d], to.strides[d]});
  }
  if (dimensions.empty())
    dimensions.push_back({1, from.elementSize, to.elementSize});
  if (total == 0)
    return;
  if (!isOrdered)
    order();
  merge();
}

/// Goes through the output's memory from its lowest address on.
void StridedLoop::order() {
  for (Dimension &dimension : dimensions) {
    if (dimension.to >= 0)
      continue;
    from.data += dimension.from * (dimension.size - 1);
    to.data += dimension.to * (dimension.size - 1);
    dimension.from = -dimension.from;
    dimension.to = -dimension.to;
  }
  llvm::sort(dimensions, [](const Dimension &a, const Dimension &b) {
    return a.to > b.to;
  });
}

/// Makes one dimension of two that both arrays go through as if they were one.
void StridedLoop::merge() {
  size_t kept = 0;
  for (size_t d = 1; d < dimensions.size(); ++d) {
    Dimension &outer = dimensions[kept], inner = dimensions[d];
    if (outer.from == inner.from * inner.size &&
        outer.to == inner.to * inner.size)
      outer = {outer.size * inner.size, inner.from, inner.to};
    else
      dimensions[++kept] = inner;
  }
  dimensions.resize(kept + 1);
}

StridedLoop::Extent StridedLoop::extent(const StridedArray &array,
                                        int64_t Dimension::*stride) const {
  const char *begin = array.data, *end = array.data + array.elementSize;
  for (const Dimension &dimension : dimensions) {
    int64_t reach = (dimension.*stride) * (dimension.size - 1);
    (reach < 0 ? begin : end) += reach;
  }
  return {begin, end};
}

bool StridedLoop::hasDenseRows(const StridedArray &array,
                               int64_t Dimension::*stride) const {
  auto isAligned = [&](int64_t address) {
    return address % array.elementSize == 0;
  };
  return dimensions.back().*stride == array.elementSize &&
         isAligned(reinterpret_cast<intptr_t>(array.data)) &&
         all_of(dimensions,
                [&](const Dimension &d) { return isAligned(d.*stride); });
}
bool StridedLoop::isDense(const StridedArray &array,
                          int64_t Dimension::*stride) const {
  return dimensions.size() == 1 && hasDenseRows(array, stride);
}

bool StridedLoop::overlaps() const {
  Extent input = extent(from, &Dimension::from);
  Extent output = extent(to, &Dimension::to);
  return input.begin < output.end && output.begin < input.end;
}

/// Every element of the output lies where that of the input does.
bool StridedLoop::isInPlace() const {
  return from.data == to.data && from.elementSize == to.elementSize &&
         all_of(dimensions, [](const Dimension &d) { return d.from == d.to; });
}

bool StridedLoop::copyInput(std::string &error) {
  char *copy = new (std::nothrow) char[size_t(total * from.elementSize)];
  if (!copy) {
    error = "out of memory";
    return false;
  }
  gather(0, total, copy);
  ownedInput.reset(copy);
  from.data = copy;
  int64_t stride = from.elementSize;
  for (Dimension &dimension : reverse(dimensions)) {
    dimension.from = stride;
    stride *= dimension.size;
  }
  merge();
  return true;
}

// ---- the loop --------------------------------------------------------------

/// Threads that take strips, each the next one, until there are none.
struct StridedLoop::Strips {
  Strips(const StridedLoop &loop, ConvertRun convert, int64_t size,
         int64_t rowLength, bool readsRows, bool writesRows)
      : loop(loop), convert(convert), size(size), rowLength(rowLength),
        readsRows(readsRows), writesRows(writesRows) {}

  const StridedLoop &loop;
  ConvertRun convert;
  const int64_t size;      ///< of a strip; the last one of a row may be shorter
  const int64_t rowLength; ///< strips do not go beyond it
  const bool readsRows, writesRows;
  std::atomic<int64_t> next = 0;
  std::atomic<bool> hasFailed = false;
  std::mutex mutex;
  std::string error; ///< of the first that failed

  void fail(std::string message) {
    std::lock_guard<std::mutex> lock(mutex);
    if (!hasFailed.exchange(true))
      error = std::move(message);
  }

  void work() {
    auto bufferOf = [&](bool isNeeded, int64_t elementSize) {
      return std::unique_ptr<char[]>(
          isNeeded ? new (std::nothrow) char[size_t(size * elementSize)]
                   : nullptr);
    };
    auto input = bufferOf(!readsRows, loop.from.elementSize);
    auto output = bufferOf(!writesRows, loop.to.elementSize);
    if ((!input && !readsRows) || (!output && !writesRows))
      return fail("out of memory");
    int64_t stripsOfRow = (rowLength + size - 1) / size;
    while (!hasFailed) {
      int64_t strip = next++, start = strip % stripsOfRow * size;
      int64_t begin = strip / stripsOfRow * rowLength + start;
      if (begin >= loop.total)
        return;
      convertStrip(begin, std::min(size, rowLength - start), input.get(),
                   output.get());
    }
  }

  void convertStrip(int64_t begin, int64_t count, char *input, char *output) {
    const char *source = input;
    char *target = output;
    if (readsRows)
      source = loop.from.data + offsetOf(begin, &Dimension::from);
    else
      loop.gather(begin, count, input);
    if (writesRows)
      target = loop.to.data + offsetOf(begin, &Dimension::to);
    std::string message;
    if (!convert(source, target, count, begin, /*threads=*/1, message))
      return fail(std::move(message));
    if (!writesRows)
      loop.scatter(begin, count, output);
  }

  int64_t offsetOf(int64_t element, int64_t Dimension::*stride) const {
    int64_t first = 0;
    loop.forRuns(element, 1, stride,
                 [&](int64_t offset, int64_t, int64_t) { first = offset; });
    return first;
  }

  static void *main(void *strips) {
    static_cast<Strips *>(strips)->work();
    return nullptr;
  }
};

/// How many processors the caller may run on.
static uint32_t processorCount() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? uint32_t(CPU_COUNT(&set))
                                                     : 1;
}

bool StridedLoop::runStrips(ConvertRun convert, uint32_t threads,
                            std::string &error) {
  // Strips that are parts of long rows without gaps need not be copied.
  int64_t row = dimensions.back().size;
  bool takesRows = row >= stripElements / 4;
  bool inPlace = overlaps();
  Strips strips(*this, convert,
                takesRows ? std::min(row, stripElements) : stripElements,
                takesRows ? row : total,
                takesRows && hasDenseRows(from, &Dimension::from),
                takesRows && !inPlace && hasDenseRows(to, &Dimension::to));
  if (threads == 0)
    threads = processorCount();
  int64_t worth = std::max<int64_t>(total / elementsPerThread, 1);
  SmallVector<pthread_t, 16> helpers;
  for (int64_t i = std::min<int64_t>(threads, worth); i-- > 1;) {
    pthread_t helper;
    // Without it, the others do its part.
    if (pthread_create(&helper, nullptr, Strips::main, &strips) != 0)
      break;
    helpers.push_back(helper);
  }
  strips.work();
  for (pthread_t helper : helpers)
    pthread_join(helper, nullptr);
  error = std::move(strips.error);
  return !strips.hasFailed;
}

bool StridedLoop::run(ConvertRun convert, uint32_t threads,
                      std::string &error) {
  if (total == 0)
    return true;
  bool overlap = overlaps();
  if (overlap && !isInPlace()) {
    if (!copyInput(error))
      return false;
    overlap = false;
  }
  if (!overlap && isDense(from, &Dimension::from) &&
      isDense(to, &Dimension::to))
    return convert(from.data, to.data, total, 0, threads, error);
  return runStrips(convert, threads, error);
}
