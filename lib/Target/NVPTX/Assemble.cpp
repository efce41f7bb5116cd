// SPDX-License-Identifier: MIT
//
// Writes PTX, and runs NVIDIA's tools on it. PTX itself needs none of them.

#include "Device.h"
#include "Support/Process.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"

using namespace llvm;
using namespace numera;

Expected<std::string> numera::findTool(StringRef name,
                                       const GPUOptions &options) {
  if (!options.cudaPath.empty()) {
    SmallString<128> folder(options.cudaPath);
    sys::path::append(folder, "bin");
    if (auto path =
            sys::findProgramByName(name, {options.cudaPath, folder.str()}))
      return *path;
    return createStringError("no " + name + " in " + options.cudaPath +
                             ", which --cuda-path names");
  }
  if (auto path = sys::findProgramByName(name))
    return *path;
  if (std::optional<std::string> home = sys::Process::GetEnv("CUDA_HOME")) {
    SmallString<128> folder(*home);
    sys::path::append(folder, "bin");
    if (auto path = sys::findProgramByName(name, {folder.str()}))
      return *path;
  }
  return createStringError(
      "no " + name +
      " on PATH or in CUDA_HOME: CUDA's tools make machine code; name their "
      "folder with --cuda-path, or write PTX, which needs none");
}

Expected<std::string> numera::compileToPTX(mlir::ModuleOp lowered,
                                           const Registry &registry,
                                           const GPUOptions &options) {
  Expected<Compiled> device = compileDevice(lowered, registry, options);
  if (!device)
    return device.takeError();
  SmallString<0> text;
  raw_svector_ostream stream(text);
  if (Error error = generate(*device, CodeGenFileType::AssemblyFile, stream))
    return std::move(error);
  return moveBeforeNarrowStores(text.str());
}

static Error writeTemporary(const TemporaryFile &file, StringRef bytes) {
  return writeFile(file.path(), [&](raw_pwrite_stream &stream) {
    stream << bytes;
    return Error::success();
  });
}

static Expected<std::string> readBytes(const TemporaryFile &file) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> bytes = MemoryBuffer::getFile(
      file.path(), /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!bytes)
    return createStringError("cannot read " + file.path() + ": " +
                             bytes.getError().message());
  return (*bytes)->getBuffer().str();
}

bool numera::canAssemble(const GPUOptions &options) {
  Expected<std::string> tool = findTool("ptxas", options);
  if (tool)
    return true;
  consumeError(tool.takeError());
  return false;
}

Expected<std::string> numera::assemble(StringRef ptx,
                                       const GPUOptions &options) {
  Expected<std::string> tool = findTool("ptxas", options);
  if (!tool)
    return tool.takeError();
  Expected<TemporaryFile> source = TemporaryFile::create("ptx");
  if (!source)
    return source.takeError();
  Expected<TemporaryFile> cubin = TemporaryFile::create("cubin");
  if (!cubin)
    return cubin.takeError();
  if (Error error = writeTemporary(*source, ptx))
    return std::move(error);
  if (Error error = runTool(
          *tool, {"-arch=" + options.gpu, source->path(), "-o", cubin->path()}))
    return createStringError("cannot assemble for " + options.gpu + ": " +
                             toString(std::move(error)));
  return readBytes(*cubin);
}

// ---- files

/// Compiles the kernels, and writes what `make` makes of their PTX.
static Error
emitFromPTX(mlir::ModuleOp lowered, const Registry &registry,
            const GPUOptions &options, StringRef path,
            function_ref<Expected<std::string>(std::string ptx)> make) {
  Expected<std::string> ptx = compileToPTX(lowered, registry, options);
  if (!ptx)
    return ptx.takeError();
  Expected<std::string> made = make(std::move(*ptx));
  if (!made)
    return made.takeError();
  return writeFile(path, [&](raw_pwrite_stream &stream) {
    stream << *made;
    return Error::success();
  });
}

Error numera::emitPTX(mlir::ModuleOp lowered, const Registry &registry,
                      const GPUOptions &options, StringRef path) {
  return emitFromPTX(
      lowered, registry, options, path,
      [](std::string ptx) -> Expected<std::string> { return ptx; });
}

Error numera::emitCubin(mlir::ModuleOp lowered, const Registry &registry,
                        const GPUOptions &options, StringRef path) {
  return emitFromPTX(lowered, registry, options, path,
                     [&](std::string ptx) { return assemble(ptx, options); });
}

static Expected<std::string> pack(StringRef ptx, const GPUOptions &options) {
  Expected<std::string> tool = findTool("fatbinary", options);
  if (!tool)
    return tool.takeError();
  Expected<std::string> code = assemble(ptx, options);
  if (!code)
    return code.takeError();
  Expected<TemporaryFile> source = TemporaryFile::create("ptx");
  Expected<TemporaryFile> cubin = TemporaryFile::create("cubin");
  Expected<TemporaryFile> fatbin = TemporaryFile::create("fatbin");
  for (Expected<TemporaryFile> *file : {&source, &cubin, &fatbin})
    if (!*file)
      return file->takeError();
  if (Error error = writeTemporary(*source, ptx))
    return std::move(error);
  if (Error error = writeTemporary(*cubin, *code))
    return std::move(error);
  if (Error error =
          runTool(*tool, {"--create=" + fatbin->path(), "-64",
                          "--image3=kind=elf,sm=" + options.gpu.substr(3) +
                              ",file=" + cubin->path(),
                          "--image3=kind=ptx,sm=" + options.gpu.substr(3) +
                              ",file=" + source->path()}))
    return createStringError("cannot pack for " + options.gpu + ": " +
                             toString(std::move(error)));
  return readBytes(*fatbin);
}

Error numera::emitFatbin(mlir::ModuleOp lowered, const Registry &registry,
                         const GPUOptions &options, StringRef path) {
  return emitFromPTX(lowered, registry, options, path,
                     [&](std::string ptx) { return pack(ptx, options); });
}
