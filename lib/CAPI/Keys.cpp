// SPDX-License-Identifier: MIT

#include "Keys.h"
#include "numera/Registry/Formats/Plugin.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
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

/// Whether tensors of an ONNX model may lie in other files: then a key of their
/// `external_data` is in it, and Protocol Buffers have texts as they are.
static bool mayHaveOthers(StringRef path) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> file = MemoryBuffer::getFile(
      path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  return !file || (*file)->getBuffer().contains("location");
}

/// A model's file, and the one beside it that may have its weights.
static bool addModel(ProgramCache &cache, StringRef path,
                     const CompileOptions &options) {
  bool isONNX = path.ends_with(".onnx");
  if ((isONNX && mayHaveOthers(path)) || !cache.addFile(path))
    return false;
  if (isONNX || !options.safetensors.empty())
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
  cache.add(model.name);
  if (!options.safetensors.empty() && !cache.addFile(options.safetensors))
    return false;
  cache.add(model.isText ? "text" : "file");
  if (model.isText)
    return cache.add(model.text), true;
  return addModel(cache, model.name, options);
}
