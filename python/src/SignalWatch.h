// SPDX-License-Identifier: MIT
//
// Signals that come while a program runs.

#ifndef NUMERA_PYTHON_SRC_SIGNALWATCH_H
#define NUMERA_PYTHON_SRC_SIGNALWATCH_H

#include "Binding.h"
#include "numera/Runtime/numera.h"
#include <chrono>

namespace numera::python {

/// Has Python handle signals while a program runs. An interrupt (Ctrl-C) ends
/// the call; nobody waits for its end then. Short calls do not ask for the
/// interpreter's lock.
class SignalWatch {
public:
  /// The program asks, whenever it may stop.
  void watch(numera_options &options) {
    options.interrupt = [](void *watch) {
      return int(static_cast<SignalWatch *>(watch)->isRaised());
    };
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

private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds interval{50};

  bool isRaised() {
    if (raised || Clock::now() < next)
      return raised;
    nb::gil_scoped_acquire acquire;
    raised = PyErr_CheckSignals() != 0;
    next = Clock::now() + interval;
    return raised;
  }

  Clock::time_point next = Clock::now() + interval;
  bool raised = false;
};

} // namespace numera::python

#endif // NUMERA_PYTHON_SRC_SIGNALWATCH_H
