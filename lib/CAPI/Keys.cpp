// SPDX-License-Identifier: MIT

#include "Keys.h"
#include "numera/Import/ONNX.h"
#include "numera/Registry/Formats/Plugin.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace numera;

/// The code of libraries and plugins is not in what names them. What counts or
/// shows layers has more than a program, and one for a GPU is assembled by
/// other tools.
static bool isPlain(const Registry &registry, const CompileOptions &options) {
  return registry.libraries().empty() && registry.lowerings().empty() &&
         loadedPlugins().empty() && options.target == "cpu" &&
         !options.countStatusFlags && !options.showLayers && !options.observe;
}

/// A model's file, and those that have its weights.
static bool addModel(ProgramCache &cache, StringRef path,
                     const CompileOptions &options) {
  cache.add(sys::path::extension(path));
  if (!cache.addFile(path))
    return false;
  if (path.ends_with(".onnx")) {
    auto files = externalFilesOf(path);
    return files && all_of(*files, [&](const auto &each) {
             cache.add(each.first);
             return cache.addFile(each.second);
           });
  }
  if (!options.safetensors.empty())
    return true;
  SmallString<128> beside(path);
  sys::path::replace_extension(beside, "safetensors");
  bool isThere = sys::fs::exists(beside);
  cache.add(isThere ? "beside" : "");
  return !isThere || cache.addFile(beside);
}

bool numera::addTo(ProgramCache &cache, const NumeraRegistry &registry,
                   const Model &model, const char *const *list,
                   const CompileOptions &options) {
  if (!cache.isOn() || !isPlain(registry.registry, options))
    return false;
  for (; list && *list; ++list)
    if (!StringRef(*list).starts_with("code-cache="))
      cache.add(*list);
  cache.add(utostr(registry.sources.size()));
  for (StringRef text : registry.sources)
    cache.add(text);
  if (!options.safetensors.empty() && !cache.addFile(options.safetensors))
    return false;
  cache.add(model.isText ? "text" : "file");
  if (model.isText) {
    cache.add(model.name);
    cache.add(model.text);
    return true;
  }
  return addModel(cache, model.name, options);
}
