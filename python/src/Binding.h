// SPDX-License-Identifier: MIT
//
// What the sources of the module `_numera` share: the C API's errors as
// exceptions, and a registry as Python holds it.

#ifndef NUMERA_PYTHON_SRC_BINDING_H
#define NUMERA_PYTHON_SRC_BINDING_H

#include "numera-c/Numera.h"
#include <memory>
#include <nanobind/nanobind.h>
#include <stdexcept>
#include <string>
#include <vector>

namespace numera::python {

namespace nb = nanobind;

/// Becomes numera.Error.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Throws the line that a function of the C API left, and frees it.
[[noreturn]] void throwError(char *error);

/// Has Python handle the signals that came while its lock was released: an
/// interrupt is thrown from here, and goes before an error that it has caused.
inline void handleSignals() {
  if (PyErr_CheckSignals() != 0)
    throw nb::python_error();
}

/// Takes a string of the C API; null, and `error`, are a failure.
std::string takeString(char *text, char *error);

/// YAML with formats: text, a name for messages, and the folder at which
/// relative paths of libraries start.
struct Source {
  std::string text, name, directory;
};

/// Formats, libraries and lowerings. Filled when it is made and read-only from
/// then on, so that any thread may use it.
class Registry {
public:
  /// The built-in names, and what `sources` add, in their order.
  explicit Registry(const std::vector<Source> &sources);
  const NumeraRegistry *get() const { return registry.get(); }

private:
  struct Destroy {
    void operator()(NumeraRegistry *registry) const {
      numeraRegistryDestroy(registry);
    }
  };
  std::unique_ptr<NumeraRegistry, Destroy> registry;
};

/// "key=value" strings as the C API takes them.
class Options {
public:
  explicit Options(const std::vector<std::string> &list) {
    for (const std::string &option : list)
      pointers.push_back(option.c_str());
    pointers.push_back(nullptr);
  }
  const char *const *get() const { return pointers.data(); }

private:
  std::vector<const char *> pointers;
};

void bindArrays(nb::module_ &module);
void bindFormats(nb::module_ &module);
void bindPrograms(nb::module_ &module);

} // namespace numera::python

#endif // NUMERA_PYTHON_SRC_BINDING_H
