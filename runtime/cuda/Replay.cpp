// SPDX-License-Identifier: MIT

#include "Replay.h"
#include "Session.h"

#include <cstring>

using namespace numera;
using namespace numera::cuda;

bool numera::cuda::hasGraphs() {
  const char *choice = std::getenv("NUMERA_CUDA_GRAPHS");
  return driver.hasGraphs() && !(choice && std::strcmp(choice, "off") == 0);
}

// ---- keys

static size_t sizeWords(const DeviceFunction &function) {
  size_t words = 0;
  for (uint64_t i = 0; i < function.argumentCount; ++i)
    words += 2 * size_t(function.arguments[i].rank);
  return words;
}

/// The sizes and strides behind {allocated, aligned, offset}.
static const int64_t *sizesOf(const CallKey &key, uint64_t argument) {
  return static_cast<const int64_t *>(key.arguments[argument]) + 3;
}

static bool isFor(const Replay &replay, const CallKey &key) {
  if (replay.function != key.function || replay.seed != key.seed ||
      replay.step != key.step || replay.sample != key.sample)
    return false;
  const int64_t *sizes = replay.sizes;
  for (uint64_t i = 0; i < key.function->argumentCount; ++i) {
    size_t words = 2 * size_t(key.function->arguments[i].rank);
    if (std::memcmp(sizes, sizesOf(key, i), words * sizeof(int64_t)) != 0)
      return false;
    sizes += words;
  }
  return true;
}

// ---- the list, whose first is the last one used

static void releaseOnDevice(Replay &replay) {
  if (replay.graph)
    driver.graphDestroyExec(replay.graph);
  if (replay.lane) {
    replay.memory.release(replay.lane->stream);
    destroyLane(replay.lane);
  }
  replay.graph = nullptr;
  replay.lane = nullptr;
}

static void destroy(Replay *replay) {
  replay->memory.dispose();
  std::free(replay->sizes);
  std::free(replay->results);
  std::free(replay);
}

Replay *numera::cuda::takeReplay(Loaded &loaded, const CallKey &key) {
  lockAll();
  Replay *found = nullptr;
  for (Replay **link = &loaded.replays; *link; link = &(*link)->next) {
    Replay *replay = *link;
    if (replay->isTaken || replay->isRefused || !isFor(*replay, key))
      continue;
    *link = replay->next;
    replay->next = loaded.replays;
    loaded.replays = found = replay;
    replay->isTaken = true;
    break;
  }
  unlockAll();
  return found;
}

/// The lock is held. Takes those out that are too many and that nobody uses,
/// the oldest first.
static Replay *takeSurplus(Loaded &loaded) {
  Replay *surplus = nullptr;
  unsigned counts[2] = {}; // without a graph, and with one
  for (Replay **link = &loaded.replays; Replay *replay = *link;) {
    unsigned count = ++counts[replay->graph != nullptr];
    if (count > Replay::most && !replay->isTaken) {
      *link = replay->next;
      replay->next = surplus;
      surplus = replay;
    } else {
      link = &replay->next;
    }
  }
  return surplus;
}

static void destroyAll(Replay *list) {
  while (Replay *replay = list) {
    list = replay->next;
    releaseOnDevice(*replay);
    destroy(replay);
  }
}

void numera::cuda::remember(Loaded &loaded, const CallKey &key) {
  auto *replay = static_cast<Replay *>(std::calloc(1, sizeof(Replay)));
  size_t words = sizeWords(*key.function);
  auto *sizes = static_cast<int64_t *>(std::calloc(words + 1, sizeof(int64_t)));
  if (!replay || !sizes) { // the call has been made all the same
    std::free(replay);
    std::free(sizes);
    return;
  }
  replay->function = key.function;
  replay->seed = key.seed;
  replay->step = key.step;
  replay->sample = key.sample;
  replay->sizes = sizes;
  for (uint64_t i = 0; i < key.function->argumentCount; ++i) {
    size_t count = 2 * size_t(key.function->arguments[i].rank);
    std::memcpy(sizes, sizesOf(key, i), count * sizeof(int64_t));
    sizes += count;
  }
  lockAll();
  // One that was refused, or that another thread has added since.
  bool isKnown = false;
  for (Replay *other = loaded.replays; other; other = other->next)
    isKnown |= isFor(*other, key) && (other->isRefused || !other->graph);
  Replay *surplus = replay;
  if (!isKnown) {
    replay->next = loaded.replays;
    loaded.replays = replay;
    surplus = takeSurplus(loaded);
  }
  unlockAll();
  destroyAll(surplus);
}

void numera::cuda::releaseReplays(Loaded &loaded) {
  for (Replay *replay = loaded.replays; replay; replay = replay->next)
    releaseOnDevice(*replay);
}

void numera::cuda::forgetReplays(Loaded &loaded) {
  while (Replay *replay = loaded.replays) {
    loaded.replays = replay->next;
    std::free(replay->lane);
    destroy(replay);
  }
}

// ---- memory

Address GraphMemory::allocate(size_t bytes, Session &session) {
  for (size_t i = 0; i < count; ++i)
    if (!blocks[i].isUsed && blocks[i].bytes >= bytes &&
        blocks[i].bytes / 2 <= bytes) {
      blocks[i].isUsed = true;
      return blocks[i].address;
    }
  if (!makeRoom(blocks, count, room, 16))
    numera_cuda_fail("out of memory");
  Address address = 0;
  check(driver.allocate(&address, bytes, session.loaded->pool, session.stream),
        "cuMemAllocFromPoolAsync");
  blocks[count++] = {address, bytes, true};
  return address;
}

void GraphMemory::free(Address address) {
  for (size_t i = 0; i < count; ++i)
    if (blocks[i].address == address)
      blocks[i].isUsed = false;
}

void GraphMemory::release(Stream stream) {
  while (count > 0)
    driver.release(blocks[--count].address, stream);
}

void GraphMemory::dispose() {
  std::free(blocks);
  blocks = nullptr;
  count = room = 0;
}

// ---- graphs

void numera::cuda::beginGraph(Session &session) {
  session.canRetry = true;
  check(driver.graphCreate(&session.graph, 0), "cuGraphCreate");
}

// Each node comes after the one before.

void numera::cuda::addCopy(Session &session, CopySide to, CopySide from,
                           int64_t bytes) {
  CopyNode copy = {from, to, size_t(bytes)};
  copy.from.pitch = copy.to.pitch = size_t(bytes);
  Node node = nullptr;
  check(driver.graphAddCopy(&node, session.graph, &session.node,
                            session.node ? 1 : 0, &copy,
                            session.loaded->context),
        "cuGraphAddMemcpyNode");
  session.node = node;
}

void numera::cuda::addKernel(Session &session, const KernelNode &kernel) {
  Node node = nullptr;
  check(driver.graphAddKernel(&node, session.graph, &session.node,
                              session.node ? 1 : 0, &kernel),
        "cuGraphAddKernelNode");
  session.node = node;
}

void numera::cuda::endGraph(Session &session, const int64_t *results,
                            size_t words) {
  Replay &replay = *session.replay;
  replay.results =
      static_cast<int64_t *>(std::calloc(words + 1, sizeof(int64_t)));
  if (!replay.results)
    numera_cuda_fail("out of memory");
  std::memcpy(replay.results, results, words * sizeof(int64_t));
  GraphExec made = nullptr;
  check(driver.graphInstantiate(&made, session.graph, 0), "cuGraphInstantiate");
  lockAll();
  replay.graph = made;
  replay.lane = session.lane;
  unlockAll();
  launchGraph(session);
}

void numera::cuda::launchGraph(Session &session) {
  session.canRetry = true;
  check(driver.graphLaunch(session.replay->graph, session.stream),
        "cuGraphLaunch");
  session.canRetry = false;
}

void numera::cuda::giveBackReplay(Session &session) {
  Replay &replay = *session.replay;
  lockAll();
  replay.isRefused = session.canRetry || !replay.graph || !session.isIntact;
  if (replay.isRefused)
    releaseOnDevice(replay);
  replay.isTaken = false;
  Replay *surplus = takeSurplus(*session.loaded);
  unlockAll();
  destroyAll(surplus);
}
