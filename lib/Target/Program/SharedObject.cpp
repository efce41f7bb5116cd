// SPDX-License-Identifier: MIT
//
// Files. Linking goes through clang as the driver, which knows where the C
// library is; the result knows nothing of LLVM.

#include "Compile.h"
#include "Link/ConstantsObject.h"
#include "Support/Embedded.h"
#include "Support/Process.h"
#include "numera/Target/Program/Program.h"
#include "numera/Target/Support/StepTimes.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

using namespace llvm;
using namespace numera;

Error numera::emitLLVM(mlir::ModuleOp lowered,
                       ArrayRef<FunctionSignature> functions,
                       const Registry &registry, const CPUOptions &options,
                       StringRef path) {
  Expected<Compiled> program =
      compileModule(lowered, functions, registry, options);
  if (!program)
    return program.takeError();
  return writeFile(path, [&](raw_pwrite_stream &stream) {
    writeLLVM(stream, *program->module, program->linked);
    return Error::success();
  });
}

Error numera::emitAssembly(mlir::ModuleOp lowered,
                           ArrayRef<FunctionSignature> functions,
                           const Registry &registry, const CPUOptions &options,
                           StringRef path) {
  Expected<Compiled> program =
      compileModule(lowered, functions, registry, options);
  if (!program)
    return program.takeError();
  StepScope step(options.times, "generate");
  return writeFile(path, [&](raw_pwrite_stream &stream) -> Error {
    if (Error error = generate(*program, CodeGenFileType::AssemblyFile, stream))
      return error;
    writeAssembly(stream, program->machine->getTargetTriple(), program->linked);
    return Error::success();
  });
}

Error numera::emitObject(mlir::ModuleOp lowered,
                         ArrayRef<FunctionSignature> functions,
                         const Registry &registry, const CPUOptions &options,
                         StringRef path) {
  Expected<Compiled> program =
      compileModule(lowered, functions, registry, options);
  if (!program)
    return program.takeError();
  StepScope step(options.times, "generate");
  Expected<std::unique_ptr<MemoryBuffer>> code =
      generateObject(*program->module, *program->machine);
  if (!code)
    return code.takeError();
  return writeFile(path, [&](raw_pwrite_stream &stream) {
    return writeObject(stream, program->machine->getTargetTriple(), **code,
                       program->linked);
  });
}

/// The user's libraries, and where the shared ones are found at run time.
static void addNativeLibraries(ArrayRef<std::string> libraries,
                               std::vector<std::string> &arguments) {
  for (const std::string &library : libraries) {
    if (StringRef(library).starts_with("-l")) {
      arguments.push_back(library);
      continue;
    }
    SmallString<128> path(library);
    sys::fs::make_absolute(path);
    arguments.push_back(path.str().str());
    if (isSharedObject(path))
      arguments.push_back("-Wl,-rpath," + sys::path::parent_path(path).str());
  }
}

static Expected<TemporaryFile>
writeTemporary(function_ref<void(raw_ostream &)> write) {
  Expected<TemporaryFile> file = TemporaryFile::createPrivate();
  if (!file)
    return file;
  std::error_code code;
  raw_fd_ostream stream(file->path(), code);
  if (!code) {
    write(stream);
    stream.close();
    code = stream.error();
    stream.clear_error();
  }
  if (code)
    return createStringError("cannot write a temporary file: " +
                             code.message());
  return file;
}

/// Writes objects that are deleted again, for the linker. The files are added
/// to `arguments`.
static Expected<std::vector<TemporaryFile>>
writeObjects(ArrayRef<MemoryBufferRef> objects, const ObjectCode &code,
             std::vector<std::string> &arguments) {
  std::vector<TemporaryFile> files;
  auto add = [&](function_ref<void(raw_ostream &)> write) -> Error {
    Expected<TemporaryFile> file = writeTemporary(write);
    if (!file)
      return file.takeError();
    arguments.push_back(file->path());
    files.push_back(std::move(*file));
    return Error::success();
  };
  for (MemoryBufferRef object : objects)
    if (Error error = add([&](raw_ostream &out) { out << object.getBuffer(); }))
      return std::move(error);
  if (!code.linked.empty())
    if (Error error = add([&](raw_ostream &out) {
          writeObject(out, code.triple, code.linked);
        }))
      return std::move(error);
  return files;
}

/// How many bytes a linked file has by its header: the table of its sections is
/// the last of it. Nothing where there is no whole header.
static std::optional<uint64_t> linkedSize(StringRef path) {
  ELF::Elf64_Ehdr header;
  ErrorOr<std::unique_ptr<MemoryBuffer>> start = MemoryBuffer::getFileSlice(
      path, sizeof header, /*Offset=*/0, /*IsVolatile=*/true);
  if (!start || (*start)->getBufferSize() < sizeof header)
    return std::nullopt;
  std::memcpy(&header, (*start)->getBufferStart(), sizeof header);
  return header.e_shoff + uint64_t(header.e_shnum) * header.e_shentsize;
}

/// LLVM's linker, which writes to standard output here, does not look whether
/// that took all: on a full disk, it does not.
static Error checkIsWhole(StringRef path, uint64_t leastSize) {
  uint64_t found = 0;
  std::optional<uint64_t> wanted = linkedSize(path);
  if (wanted && !sys::fs::file_size(path, found) && found >= *wanted)
    return Error::success();
  std::string full = findNoRoom(path, wanted.value_or(leastSize));
  return createStringError(full.empty() ? "only a part of it was written"
                                        : full);
}

/// Whether LLVM's linker links so many bytes. It maps what it reads and holds
/// what it writes, which is twice the weights; GNU's holds one section.
static bool takesLLD(uint64_t size) {
  constexpr uint64_t large = uint64_t(1) << 26;
  return hasLLD() && (size < large || !sys::findProgramByName("ld"));
}

/// Compiles, and has clang link the objects into `path`.
static Error link(mlir::ModuleOp lowered, ArrayRef<FunctionSignature> functions,
                  const Registry &registry, const CPUOptions &options,
                  Caller caller, StringRef path,
                  function_ref<void()> beforeLinking = {}) {
  Expected<ObjectCode> code =
      compileObjects(lowered, functions, registry, options, caller);
  if (!code)
    return code.takeError();
  StepScope step(options.times, "write");
  bool isExecutable = caller == Caller::Executable;
  std::vector<MemoryBufferRef> objects;
  for (const std::unique_ptr<MemoryBuffer> &object : code->objects)
    objects.push_back(object->getMemBufferRef());
  objects.push_back(embeddedEntryObject());
  if (isExecutable)
    objects.push_back(embeddedMain());
  uint64_t size = 0;
  for (MemoryBufferRef object : objects)
    size += object.getBufferSize();
  for (const CodeConstant &constant : code->linked)
    size += constant.bytes.size();
  std::vector<std::string> arguments;
  Expected<std::vector<TemporaryFile>> files =
      writeObjects(objects, *code, arguments);
  if (!files)
    return files.takeError();
  arguments.insert(arguments.end(),
                   {"-Wl,--gc-sections", "-Wl,--as-needed", "-Wl,-z,defs"});
  bool isLLD = takesLLD(size);
  if (isLLD)
    // A full disk is an error of a write, and a fault of a map.
    arguments.insert(arguments.end(),
                     {"-fuse-ld=lld", "-Wl,--no-mmap-output-file"});
  if (isExecutable) {
    // The C++ library of the main goes into the program: it runs elsewhere too.
    arguments.insert(arguments.end(), {"-static-libstdc++", "-static-libgcc"});
  } else {
    arguments.insert(arguments.end(), {"-shared", "-Wl,-Bsymbolic"});
  }
  // The driver links the C++ library of an executable.
  if (isExecutable)
    erase(code->nativeLibraries, "-lstdc++");
  addNativeLibraries(code->nativeLibraries, arguments);
  arguments.push_back("-lm");
  return replaceFile(
      path, /*isExecutable=*/true, [&](StringRef temporary) -> Error {
        if (beforeLinking)
          beforeLinking();
        // LLVM's linker makes a file beside its output, but for standard
        // output.
        arguments.insert(arguments.end(),
                         {"-o", isLLD ? "-" : temporary.str()});
        Error error =
            runClang(/*cxx=*/isExecutable, arguments, isLLD ? temporary : "");
        if (!error) {
          if (Error part = checkIsWhole(temporary, size))
            return createStringError("cannot write " + path + ": " +
                                     toString(std::move(part)));
          return Error::success();
        }
        std::string reason = toString(std::move(error));
        if (std::string full = findNoRoom(temporary, size); !full.empty())
          return createStringError("cannot write " + path + ": " + full);
        return createStringError("cannot link " + path + ": " + reason);
      });
}

Error numera::emitSharedObject(mlir::ModuleOp lowered,
                               ArrayRef<FunctionSignature> functions,
                               const Registry &registry,
                               const CPUOptions &options, StringRef path,
                               function_ref<void()> beforeLinking) {
  return link(lowered, functions, registry, options, Caller::Library, path,
              beforeLinking);
}

Error numera::emitExecutable(mlir::ModuleOp lowered,
                             ArrayRef<FunctionSignature> functions,
                             const Registry &registry,
                             const CPUOptions &options, StringRef path) {
  return link(lowered, functions, registry, options, Caller::Executable, path);
}
