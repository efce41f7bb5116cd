// SPDX-License-Identifier: MIT

#include "Loaded.h"
#include "Session.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace numera;
using namespace numera::cuda;

// ---- tables

void SlotTable::put(Entry *entries, size_t room, Entry entry) {
  size_t at = (reinterpret_cast<uintptr_t>(entry.slot) >> 3) * 0x9e3779b9u;
  while (entries[at & (room - 1)].slot)
    ++at;
  entries[at & (room - 1)] = entry;
}

uint64_t SlotTable::find(const uint64_t *slot) const {
  if (!room)
    return 0;
  size_t at = (reinterpret_cast<uintptr_t>(slot) >> 3) * 0x9e3779b9u;
  for (; entries[at & (room - 1)].slot; ++at)
    if (entries[at & (room - 1)].slot == slot)
      return entries[at & (room - 1)].value;
  return 0;
}

bool SlotTable::insert(const uint64_t *slot, uint64_t value) {
  if (2 * (used + 1) > room) {
    size_t more = room ? 2 * room : 32;
    auto *grown = static_cast<Entry *>(std::calloc(more, sizeof(Entry)));
    if (!grown)
      return false;
    for (size_t i = 0; i < room; ++i)
      if (entries[i].slot)
        put(grown, more, entries[i]);
    std::free(entries);
    entries = grown;
    room = more;
  }
  put(entries, room, {slot, value});
  ++used;
  return true;
}

void SlotTable::dispose() {
  std::free(entries);
  entries = nullptr;
  used = room = 0;
}

// ---- contexts

static bool isDriverReady = false;
/// This copy of the launcher serves one program.
static DeviceProgram *opened = nullptr;

/// Frees the host's part of it; what lay in the context is gone or freed.
static void forget(Loaded *loaded) {
  while (Lane *lane = loaded->idle) {
    loaded->idle = lane->next;
    std::free(lane);
  }
  forgetReplays(*loaded);
  loaded->kernels.dispose();
  loaded->constants.dispose();
  std::free(loaded);
}

/// Of the context's device, a pool that keeps what is freed: the default one is
/// the process's own to tune.
static Result makePool(Loaded &loaded) {
  PoolProperties properties = {.device = loaded.device};
  if (Result result = driver.poolCreate(&loaded.pool, &properties))
    return result;
  uint64_t all = UINT64_MAX;
  return driver.poolSet(loaded.pool, poolReleaseThreshold, &all);
}

static void openDriver() {
  if (isDriverReady)
    return;
  if (const char *problem = driver.load())
    failUnlocked(problem);
  checkUnlocked(driver.init(0), "cuInit");
  isDriverReady = true;
}

/// The caller's context, or that of the first device. A primary context that
/// was reset is made again by being retained.
static Loaded findContext() {
  Loaded found = {};
  checkUnlocked(driver.contextCurrent(&found.context), "cuCtxGetCurrent");
  if (found.context) {
    checkUnlocked(driver.contextDevice(&found.device), "cuCtxGetDevice");
  } else {
    checkUnlocked(driver.deviceGet(&found.device, 0), "cuDeviceGet");
    checkUnlocked(driver.contextRetain(&found.context, found.device),
                  "cuDevicePrimaryCtxRetain");
    found.isRetained = true;
  }
  if (driver.contextId)
    driver.contextId(found.context, &found.id);
  return found;
}

/// What the program has there; null if nothing. What it had before the context
/// was reset is gone.
static Loaded *lookUp(DeviceProgram &program, const Loaded &wanted) {
  for (Loaded **link = &program.loaded; Loaded *loaded = *link;) {
    if (loaded->context == wanted.context && loaded->id != wanted.id) {
      *link = loaded->next;
      forget(loaded);
      continue;
    }
    if (loaded->context == wanted.context)
      return loaded;
    link = &loaded->next;
  }
  return nullptr;
}

/// Keeps the caller's context alive if it is the primary one of its device. One
/// that the caller made, the caller ends, and nobody can ask whether it did.
static void retain(Loaded &loaded) {
  unsigned flags = 0;
  int isActive = 0;
  Context primary = nullptr;
  if (loaded.isRetained ||
      driver.contextState(loaded.device, &flags, &isActive) != 0 || !isActive ||
      driver.contextRetain(&primary, loaded.device) != 0)
    return;
  loaded.isRetained = primary == loaded.context;
  if (!loaded.isRetained)
    driver.contextRelease(loaded.device);
}

static Loaded *makeLoaded(DeviceProgram &program, const Loaded &wanted) {
  int hasPools = 0;
  driver.deviceAttribute(&hasPools, memoryPoolsSupported, wanted.device);
  auto *loaded = static_cast<Loaded *>(std::calloc(1, sizeof(Loaded)));
  Result result = 0;
  if (loaded && hasPools) {
    std::memcpy(loaded, &wanted, sizeof wanted);
    result = makePool(*loaded);
  }
  if (!loaded || !hasPools || result) {
    std::free(loaded);
    if (wanted.isRetained)
      driver.contextRelease(wanted.device);
    checkUnlocked(result, "cuMemPoolCreate");
    failUnlocked(hasPools ? "out of memory"
                          : "the GPU: its driver has no memory pools");
  }
  retain(*loaded);
  loaded->next = program.loaded;
  program.loaded = loaded;
  opened = &program;
  return loaded;
}

Loaded *numera::cuda::openContext(DeviceProgram &program) {
  lockAll();
  openDriver();
  Loaded wanted = findContext();
  Loaded *loaded = lookUp(program, wanted);
  if (!loaded)
    loaded = makeLoaded(program, wanted);
  else if (wanted.isRetained && loaded->isRetained)
    driver.contextRelease(wanted.device); // once is enough
  else if (wanted.isRetained)
    loaded->isRetained = true;
  unlockAll();
  check(driver.contextPush(loaded->context), "cuCtxPushCurrent");
  return loaded;
}

/// When the program is unloaded: everything that it has on devices, but for
/// contexts that may have ended, and what was in them. At the end of the
/// process the driver may be gone before.
__attribute__((destructor)) static void unload() {
  if (!opened)
    return;
  Context alive = nullptr;
  driver.contextCurrent(&alive);
  for (Loaded *loaded = opened->loaded; loaded;) {
    Loaded *next = loaded->next;
    unsigned long long id = loaded->id;
    bool isThere = (loaded->isRetained || loaded->context == alive) &&
                   driver.contextPush(loaded->context) == 0;
    if (isThere && driver.contextId)
      driver.contextId(loaded->context, &id);
    if (isThere && id == loaded->id) {
      releaseReplays(*loaded);
      while (Lane *lane = loaded->idle) {
        loaded->idle = lane->next;
        destroyLane(lane);
      }
      loaded->constants.forEach(
          [](uint64_t address) { driver.releaseNow(address); });
      if (loaded->module)
        driver.moduleUnload(loaded->module);
      driver.poolDestroy(loaded->pool);
    }
    if (isThere) {
      Context context;
      driver.contextPop(&context);
      if (loaded->isRetained)
        driver.contextRelease(loaded->device);
    }
    forget(loaded);
    loaded = next;
  }
  opened->loaded = nullptr;
  opened = nullptr;
}

// ---- modules

/// The first image that the driver takes: machine code may be for another GPU,
/// or newer than the driver, and PTX follows it. The lock is held.
static void loadModule(const DeviceProgram &program, Loaded &loaded) {
  Result result = loaded.module ? 0 : noBinaryForGPU;
  char log[sizeof Thread().message / 2] = "";
  for (uint64_t i = 0; i < program.imageCount && result != 0; ++i) {
    int options[] = {compilerLog, compilerLogSize};
    void *values[] = {log, reinterpret_cast<void *>(sizeof log)};
    Module module = nullptr;
    result = driver.moduleLoad(&module, program.images[i], 2, options, values);
    if (result == 0)
      loaded.module = module;
  }
  // Of what the driver's compiler says, the first line.
  log[sizeof log - 1] = 0;
  log[std::strcspn(log, "\n")] = 0;
  char what[sizeof log + 32];
  std::snprintf(what, sizeof what, "cuModuleLoadDataEx%s%s", *log ? ": " : "",
                log);
  checkUnlocked(result, what);
}

Function numera::cuda::kernelOf(DeviceProgram &program, Loaded &loaded,
                                const uint64_t *slot, const char *name,
                                int32_t sharedBytes) {
  lockAll();
  uint64_t kernel = loaded.kernels.find(slot);
  if (!kernel) {
    loadModule(program, loaded);
    Function found = nullptr;
    checkUnlocked(driver.moduleFunction(&found, loaded.module, name),
                  "cuModuleGetFunction");
    if (sharedBytes > 0)
      checkUnlocked(driver.functionSet(found, dynamicSharedSize, sharedBytes),
                    "cuFuncSetAttribute");
    kernel = reinterpret_cast<uint64_t>(found);
    if (!loaded.kernels.insert(slot, kernel))
      failUnlocked("out of memory");
  }
  unlockAll();
  return reinterpret_cast<Function>(kernel);
}

Address numera::cuda::constantOf(Loaded &loaded, const uint64_t *slot,
                                 const void *data, int64_t bytes,
                                 Stream stream) {
  lockAll();
  Address buffer = loaded.constants.find(slot);
  if (!buffer) {
    checkUnlocked(driver.allocateNow(&buffer, bytes > 0 ? size_t(bytes) : 1),
                  "cuMemAlloc");
    Result result = driver.upload(buffer, data, size_t(bytes), stream);
    // Other calls have other streams.
    if (!result)
      result = driver.streamSynchronize(stream);
    bool isKept = !result && loaded.constants.insert(slot, buffer);
    if (!isKept)
      driver.releaseNow(buffer);
    checkUnlocked(result, "cuMemcpyHtoDAsync");
    if (!isKept)
      failUnlocked("out of memory");
  }
  unlockAll();
  return buffer;
}

// ---- streams

Lane *numera::cuda::takeLane(Loaded &loaded) {
  lockAll();
  Lane *lane = loaded.idle;
  if (lane) {
    loaded.idle = lane->next;
  } else {
    lane = static_cast<Lane *>(std::calloc(1, sizeof(Lane)));
    if (!lane)
      failUnlocked("out of memory");
    if (Result result = driver.streamCreate(&lane->stream, streamNonBlocking)) {
      std::free(lane);
      checkUnlocked(result, "cuStreamCreate");
    }
  }
  unlockAll();
  return lane;
}

void numera::cuda::giveBack(Loaded &loaded, Lane *lane, bool isIntact) {
  if (isIntact) {
    lockAll();
    lane->next = loaded.idle;
    loaded.idle = lane;
    unlockAll();
    return;
  }
  destroyLane(lane);
}

void numera::cuda::destroyLane(Lane *lane) {
  driver.streamDestroy(lane->stream);
  if (lane->staging)
    driver.releaseHost(lane->staging);
  std::free(lane);
}
