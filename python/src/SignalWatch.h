// SPDX-License-Identifier: MIT
//
// Signals that come while something compiles or runs.

#ifndef NUMERA_PYTHON_SRC_SIGNALWATCH_H
#define NUMERA_PYTHON_SRC_SIGNALWATCH_H

#include "Binding.h"
#include "numera-c/Numera.h"
#include <chrono>

namespace numera::python {

/// Has Python handle signals while a program runs, or is compiled. An interrupt
/// (Ctrl-C) ends it; nobody waits for its end then. What is short does not ask
/// for the interpreter's lock.
class SignalWatch {
public:
  /// The program asks, whenever it may stop.
  void watch(numera_options &options) {
    options.interrupt = ask;
    options.interrupt_context = this;
  }
  /// A call that was ended: the exception of a signal's handler, rather than
  /// that it was.
  void rethrow(char *error) const {
    if (!raised)
      return;
    numeraStringFree(error);
    throw nb::python_error();
  }

protected:
  static int ask(void *watch) {
    return int(static_cast<SignalWatch *>(watch)->isRaised());
  }

private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds interval{50};

  bool isRaised() {
    if (raised || Clock::now() < next)
      return raised;
    nb::gil_scoped_acquire acquire;
    raised = raised || PyErr_CheckSignals() != 0;
    next = Clock::now() + interval;
    return raised;
  }

  Clock::time_point next = Clock::now() + interval;
  bool raised = false;
};

/// While one lives, it watches what this thread compiles.
class CompilationWatch : public SignalWatch {
public:
  CompilationWatch() { numeraSetInterrupt(askAgain, this); }
  CompilationWatch(const CompilationWatch &) = delete;
  ~CompilationWatch() { numeraSetInterrupt(nullptr, nullptr); }

private:
  /// What compiles in a signal's handler leaves no question behind.
  static int askAgain(void *watch) {
    int isRaised = ask(watch);
    numeraSetInterrupt(askAgain, watch);
    return isRaised;
  }
};

} // namespace numera::python

#endif // NUMERA_PYTHON_SRC_SIGNALWATCH_H
