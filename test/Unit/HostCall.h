// SPDX-License-Identifier: MIT
//
// Calls as compiled programs make them, of functions of a test.

#ifndef NUMERA_TEST_UNIT_HOSTCALL_H
#define NUMERA_TEST_UNIT_HOSTCALL_H

#include "numera/Runtime/Entry.h"

#include "gtest/gtest.h"

#include <functional>
#include <string>

namespace numera::host {

/// What the function of a call does; one a thread, since calls may be at the
/// same time.
inline thread_local const std::function<void()> *work = nullptr;

/// Runs `body` in a call; its error.
inline std::string call(const numera_options &options,
                        const std::function<void()> &body) {
  Version version{
      "any", 0,
      [](void *const *, void *, uint64_t, uint64_t, uint64_t) { (*work)(); }};
  FunctionInfo function{};
  function.name = "f";
  function.versions = &version;
  function.versionCount = 1;
  char error[100] = "";
  work = &body;
  int code = numera_host_call(&function, nullptr, 0, nullptr, 0, &options,
                              error, sizeof error);
  EXPECT_EQ(code != 0, error[0] != '\0');
  return error;
}

/// The same with so many threads.
inline std::string call(uint32_t threads, const std::function<void()> &body) {
  numera_options options = NUMERA_OPTIONS;
  options.threads = threads;
  return call(options, body);
}

} // namespace numera::host

#endif // NUMERA_TEST_UNIT_HOSTCALL_H
