// SPDX-License-Identifier: MIT
//
// The module `_numera`: the C API (numera-c/Numera.h) for the package `numera`,
// which users import.

#include "Binding.h"
#include <nanobind/stl/string.h>

namespace numera::python {

void throwError(char *error) {
  std::string text = error ? error : "unknown error";
  numeraStringFree(error);
  throw Error(text);
}

std::string takeString(char *text, char *error) {
  if (!text)
    throwError(error);
  std::string copy = text;
  numeraStringFree(text);
  return copy;
}

} // namespace numera::python

using namespace numera::python;

NB_MODULE(_numera, module) {
#ifdef NDEBUG
  // Other packages (PyTorch, JAX) keep modules when the interpreter ends, and
  // so what these keep; a report of that is for whoever debugs this one.
  nb::set_leak_warnings(false);
#endif
  module.doc() = "The C API of Numera, for the package numera.";
  // Lives as long as the process, as what is translated does.
  nb::object type = nb::module_::import_("numera._errors").attr("Error");
  nb::register_exception_translator(
      [](const std::exception_ptr &thrown, void *payload) {
        try {
          std::rethrow_exception(thrown);
        } catch (const Error &error) {
          PyErr_SetString(static_cast<PyObject *>(payload), error.what());
        }
      },
      type.release().ptr());
  module.def("version", &numeraVersion, "The library's version.");
  module.def("end_without_memory", &numeraEndWithoutMemory,
             "Has the process end with a line where there is no memory.");
  module.def(
      "load_plugin",
      [](const std::string &path) {
        char *reason = nullptr;
        if (!numeraLoadPlugin(path.c_str(), &reason))
          throwError(reason);
      },
      nb::arg("path"),
      "Adds a plugin's family of formats to the whole process.");
  bindArrays(module);
  bindFormats(module);
  bindPrograms(module);
}
