// SPDX-License-Identifier: MIT
//
// Registries, and the formats they know, by name or spelling.

#include "Binding.h"
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace numera::python {

Registry::Registry(const std::vector<Source> &sources)
    : registry(numeraRegistryCreate()) {
  for (const Source &source : sources) {
    char *error = nullptr;
    if (!numeraRegistryLoadText(registry.get(), source.text.c_str(),
                                source.name.c_str(), source.directory.c_str(),
                                &error))
      throwError(error);
  }
}

using SourceTuple = std::tuple<std::string, std::string, std::string>;

static void makeRegistry(Registry *place,
                         const std::vector<SourceTuple> &tuples) {
  std::vector<Source> sources;
  for (const auto &[text, name, directory] : tuples)
    sources.push_back({text, name, directory});
  try {
    // Libraries in C are compiled here.
    nb::gil_scoped_release release;
    new (place) Registry(sources);
  } catch (const Error &) {
    handleSignals();
    throw;
  }
}

/// Width, bits of storage, and whether Numera knows the values.
static std::tuple<unsigned, unsigned, bool> describe(const Registry &registry,
                                                     const char *format) {
  NumeraFormatInfo info = {};
  info.size = sizeof info;
  char *error = nullptr;
  if (!numeraFormatDescribe(registry.get(), format, &info, &error))
    throwError(error);
  return {info.width, info.storage, info.has_arithmetic != 0};
}

static std::string spelling(const Registry &registry, const char *format) {
  char *error = nullptr;
  char *text = numeraFormatSpelling(registry.get(), format, &error);
  return takeString(text, error);
}

static std::string list(const Registry &registry) {
  char *error = nullptr;
  char *text = numeraFormatList(registry.get(), &error);
  return takeString(text, error);
}

static std::string facts(const Registry &registry, const char *format) {
  char *error = nullptr;
  char *text = numeraFormatFacts(registry.get(), format, &error);
  return takeString(text, error);
}

static std::string table(const Registry &registry, const char *format) {
  char *error = nullptr;
  char *text = numeraFormatTable(registry.get(), format, &error);
  return takeString(text, error);
}

static std::string variant(const Registry &registry, const char *format,
                           const std::vector<std::string> &options) {
  char *error = nullptr;
  char *text = numeraFormatVariant(registry.get(), format,
                                   Options(options).get(), &error);
  return takeString(text, error);
}

template <typename T>
using Dense = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <typename To, typename From, typename Convert>
static void convert(const Registry &registry, const char *format,
                    Dense<const From> from, Dense<To> to, Convert function) {
  if (from.size() != to.size())
    throw Error("arrays of different length");
  char *error = nullptr;
  int done;
  {
    nb::gil_scoped_release release;
    done = function(registry.get(), format, from.data(), to.data(), from.size(),
                    &error);
  }
  if (!done)
    throwError(error);
}

/// Names of operations, as lowerings have them, and how many operands they
/// take.
static std::vector<std::pair<std::string, int>> operations() {
  return {
#define NUMERA_OPERATION(enumerator, name, operands, ...) {#name, operands},
#include "numera/Numerics/Core/Operations.def"
  };
}

void bindFormats(nb::module_ &module) {
  module.def("operations", &operations,
             "Operations, and how many operands they take.");
  nb::class_<Registry>(module, "Registry",
                       "The built-in formats, and those of YAML sources.")
      .def("__init__", &makeRegistry, nb::arg("sources"),
           "Each source is text, a name for messages, and a folder.")
      .def("describe", &describe, nb::arg("format"),
           "Width, bits of storage, and whether values are known.")
      .def("spelling", &spelling, nb::arg("format"), "The canonical spelling.")
      .def("list", &list, "The formats, JSON.")
      .def("facts", &facts, nb::arg("format"),
           "What follows from a format, JSON.")
      .def("table", &table, nb::arg("format"), "Every code, JSON.")
      .def("variant", &variant, nb::arg("format"), nb::arg("options"),
           "The spelling with another rounding or overflow.")
      .def(
          "encode",
          [](const Registry &registry, const char *format,
             Dense<const double> values, Dense<uint64_t> codes) {
            convert<uint64_t, double>(registry, format, values, codes,
                                      numeraFormatEncode);
          },
          nb::arg("format"), nb::arg("values"), nb::arg("codes"),
          "Writes the codes of values, each rounded once.")
      .def(
          "decode",
          [](const Registry &registry, const char *format,
             Dense<const uint64_t> codes, Dense<double> values) {
            convert<double, uint64_t>(registry, format, codes, values,
                                      numeraFormatDecode);
          },
          nb::arg("format"), nb::arg("codes"), nb::arg("values"),
          "Writes the values of codes, to the nearest f64.");
}

} // namespace numera::python
