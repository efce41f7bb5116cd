// SPDX-License-Identifier: MIT

#include "JIT.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"

using namespace llvm;
using namespace numera;

/// The user's libraries in machine code.
static Error addLibrary(orc::LLJIT &jit, const std::string &path) {
  orc::JITDylib &main = jit.getMainJITDylib();
  StringRef extension = sys::path::extension(path);
  if (extension == ".o") {
    ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFile(path);
    if (!buffer)
      return createStringError("cannot read " + path + ": " +
                               buffer.getError().message());
    return jit.addObjectFile(std::move(*buffer));
  }
  if (extension == ".a") {
    auto generator = orc::StaticLibraryDefinitionGenerator::Load(
        jit.getObjLinkingLayer(), path.c_str());
    if (!generator)
      return generator.takeError();
    main.addGenerator(std::move(*generator));
    return Error::success();
  }
  // A name without a slash would be looked for where the system's libraries
  // are.
  std::string file = path.find('/') == std::string::npos ? "./" + path : path;
  auto generator = orc::DynamicLibrarySearchGenerator::Load(
      file.c_str(), jit.getDataLayout().getGlobalPrefix());
  if (!generator)
    return generator.takeError();
  main.addGenerator(std::move(*generator));
  return Error::success();
}

Expected<std::unique_ptr<orc::LLJIT>> numera::load(Compiled &program) {
  SmallVector<char, 0> code;
  raw_svector_ostream stream(code);
  if (Error error = generate(program, CodeGenFileType::ObjectFile, stream))
    return std::move(error);

  Expected<std::unique_ptr<orc::LLJIT>> jit = orc::LLJITBuilder().create();
  if (!jit)
    return jit.takeError();
  // The user's libraries come first, as on a linker's command line.
  for (const std::string &library : program.nativeLibraries)
    if (Error error = addLibrary(**jit, library))
      return std::move(error);
  auto process = orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      (*jit)->getDataLayout().getGlobalPrefix());
  if (!process)
    return process.takeError();
  (*jit)->getMainJITDylib().addGenerator(std::move(*process));
  if (Error error =
          (*jit)->addObjectFile(std::make_unique<SmallVectorMemoryBuffer>(
              std::move(code), "program")))
    return std::move(error);
  return jit;
}
