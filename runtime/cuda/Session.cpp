// SPDX-License-Identifier: MIT

#include "Session.h"

#include <cstdio>
#include <cstring>
#include <pthread.h>

using namespace numera;
using namespace numera::cuda;

Driver numera::cuda::driver;
static bool isLoaded = false;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void numera::cuda::lockAll() { pthread_mutex_lock(&lock); }
void numera::cuda::unlockAll() { pthread_mutex_unlock(&lock); }

/// A pthread key: thread-local variables need a loader, which a program run in
/// memory has not.
static pthread_key_t threadKey() {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  static pthread_key_t key;
  pthread_once(&once, [] { pthread_key_create(&key, std::free); });
  return key;
}

Thread *numera::cuda::thisThread() {
  auto *thread = static_cast<Thread *>(pthread_getspecific(threadKey()));
  if (!thread) {
    thread = static_cast<Thread *>(std::calloc(1, sizeof(Thread)));
    if (!thread)
      host::numera_host_fail("out of memory");
    pthread_setspecific(threadKey(), thread);
  }
  return thread;
}

void numera::cuda::check(Result result, const char *what) {
  if (result == 0)
    return;
  const char *text = nullptr;
  if (driver.errorString(result, &text) != 0 || !text)
    text = "unknown error";
  Thread *thread = thisThread();
  std::snprintf(thread->message, sizeof thread->message, "the GPU: %s: %s (%d)",
                what, text, result);
  numera_cuda_fail(thread->message);
}

static void failUnlocked(const char *message) {
  unlockAll();
  numera_cuda_fail(message);
}
void numera::cuda::checkUnlocked(Result result, const char *what) {
  if (result == 0)
    return;
  unlockAll();
  check(result, what);
}

/// Memory that was freed stays with the process.
static void keepPool(DeviceNumber device) {
  int hasPools = 0;
  check(driver.deviceAttribute(&hasPools, memoryPoolsSupported, device),
        "cuDeviceGetAttribute");
  if (!hasPools)
    numera_cuda_fail("the GPU: its driver has no memory pools");
  Pool pool;
  uint64_t all = UINT64_MAX;
  check(driver.devicePool(&pool, device), "cuDeviceGetDefaultMemPool");
  check(driver.poolSet(pool, poolReleaseThreshold, &all),
        "cuMemPoolSetAttribute");
}

void numera::cuda::openDevice(DeviceProgram &program) {
  lockAll();
  if (!isLoaded) {
    if (const char *problem = driver.load())
      failUnlocked(problem);
    checkUnlocked(driver.init(0), "cuInit");
    isLoaded = true;
  }
  DeviceNumber device = 0;
  Context context = program.context;
  if (!context) {
    checkUnlocked(driver.deviceGet(&device, 0), "cuDeviceGet");
    checkUnlocked(driver.contextRetain(&context, device),
                  "cuDevicePrimaryCtxRetain");
  }
  bool isNew = !program.context;
  program.context = context;
  unlockAll();
  check(driver.contextPush(context), "cuCtxPushCurrent");
  current().isOpen = true;
  if (isNew)
    keepPool(device);
}

/// The first image that the driver takes: machine code may be for another GPU,
/// or newer than the driver, and PTX follows it.
void numera::cuda::loadModule(DeviceProgram &program) {
  lockAll();
  Result result = program.module ? 0 : noBinaryForGPU;
  char log[sizeof Thread().message / 2] = "";
  for (uint64_t i = 0; i < program.imageCount && result != 0; ++i) {
    int options[] = {compilerLog, compilerLogSize};
    void *values[] = {log, reinterpret_cast<void *>(sizeof log)};
    Module module = nullptr;
    result = driver.moduleLoad(&module, program.images[i], 2, options, values);
    if (result == 0)
      program.module = module;
  }
  // Of what the driver's compiler says, the first line.
  log[sizeof log - 1] = 0;
  log[std::strcspn(log, "\n")] = 0;
  char what[sizeof log + 32];
  std::snprintf(what, sizeof what, "cuModuleLoadDataEx%s%s", *log ? ": " : "",
                log);
  checkUnlocked(result, what);
  unlockAll();
}

void numera::cuda::synchronize() {
  check(driver.streamSynchronize(current().stream), "cuStreamSynchronize");
}

void numera::cuda::close(Session &session) {
  if (session.stream) {
    while (Address buffer = session.buffers.takeLast())
      driver.release(buffer, session.stream);
    driver.streamSynchronize(session.stream);
    session.profile.end();
    driver.streamDestroy(session.stream);
  }
  if (session.isOpen) {
    Context context;
    driver.contextPop(&context);
  }
  session.buffers.dispose();
  std::free(session.arguments);
}
