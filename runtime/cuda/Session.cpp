// SPDX-License-Identifier: MIT

#include "Session.h"

#include <cstdio>
#include <pthread.h>

using namespace numera;
using namespace numera::cuda;

Driver numera::cuda::driver;
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

void numera::cuda::failUnlocked(const char *message) {
  unlockAll();
  numera_cuda_fail(message);
}

void numera::cuda::checkUnlocked(Result result, const char *what) {
  if (result == 0)
    return;
  unlockAll();
  check(result, what);
}

void numera::cuda::synchronize() {
  check(driver.streamSynchronize(current().stream), "cuStreamSynchronize");
}

void numera::cuda::close(Session &session) {
  if (session.lane) {
    while (Address buffer = session.buffers.takeLast())
      driver.release(buffer, session.stream);
    if (session.graph)
      driver.graphDestroy(session.graph);
    if (session.replay && !session.replay->lane) // there is no graph after all
      session.replay->memory.release(session.stream);
    bool isIntact =
        !session.waits || driver.streamSynchronize(session.stream) == 0;
    session.profile.end();
    bool isReplays = session.replay && session.replay->lane == session.lane;
    if (!isReplays)
      giveBack(*session.loaded, session.lane, isIntact);
    session.isIntact = isIntact;
  }
  if (session.replay)
    giveBackReplay(session);
  if (session.loaded) {
    Context context;
    driver.contextPop(&context);
  }
  session.buffers.dispose();
  std::free(session.arguments);
}
