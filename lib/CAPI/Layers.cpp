// SPDX-License-Identifier: MIT
//
// How far the layers of functions are from f32 (Handles.h).

#include "Handles.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>

using namespace llvm;
using namespace numera;

/// What a program shows of a function; null with an error where it does not.
static const std::vector<LayerRow> *rowsOf(const NumeraProgram &program,
                                           StringRef function, bool asResults,
                                           char **error) {
  auto found = program.layers.find(function.str());
  if (found != program.layers.end() && program.returnsLayers == asResults)
    return &found->second;
  return fail(error, "function '" + function.str() +
                         "' shows no layers; compile it with count=" +
                         (asResults ? "layers" : "rows"));
}

static char *print(const LayerCollector &layers) {
  std::string text;
  raw_string_ostream stream(text);
  json::OStream json(stream);
  json.object([&] { layers.print(json); });
  return strdup(text.c_str());
}

char *numeraProgramLayers(const NumeraProgram *program,
                          const NumeraRegistry *registry, const char *function,
                          const numera_tensor *results, size_t result_count,
                          char **error) {
  clear(error);
  std::string name = functionNamed(*program, function);
  auto *rows = rowsOf(*program, name, /*asResults=*/true, error);
  if (!rows)
    return nullptr;
  size_t count = rows->size() * LayerRow::results;
  if (result_count < count)
    return fail(error, "function '" + name + "' has " + std::to_string(count) +
                           " results for its layers, found " +
                           std::to_string(result_count));
  LayerCollector layers(*rows, registry->registry, /*threads=*/0);
  layers.add(ArrayRef(results, result_count).take_back(count));
  return print(layers);
}

NumeraLayers *numeraLayersCreate(const NumeraProgram *program,
                                 const NumeraRegistry *registry,
                                 const char *function, uint32_t threads,
                                 char **error) {
  clear(error);
  auto *rows = rowsOf(*program, functionNamed(*program, function),
                      /*asResults=*/false, error);
  return rows ? new NumeraLayers(*rows, registry->registry, threads) : nullptr;
}

void numeraLayersDestroy(NumeraLayers *layers) { delete layers; }

void numeraLayersCollect(NumeraLayers *layers, numera_options *options) {
  layers->collector.collectFrom(*options);
}

char *numeraLayersPrint(const NumeraLayers *layers) {
  return print(layers->collector);
}
