// SPDX-License-Identifier: MIT
//
// numera-c/Numera.h in terms of the registry, the compiler and its programs.
// What is checked here is what C cannot express; all else reports through the
// classes' own messages.

#include "numera-c/Numera.h"
#include "Options.h"
#include "numera/Registry/Formats/Plugin.h"
#include "numera/Target/Check/Proofs.h"
#include "numera/Target/Driver/Emit.h"
#include "numera/Target/Libraries/Examine/Libraries.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>
#include <dlfcn.h>

using namespace llvm;
using namespace numera;

struct NumeraRegistry {
  Registry registry;
};

struct NumeraProgram {
  std::unique_ptr<Program> program;
  std::string metadata;
};

// ---- errors ----------------------------------------------------------------

/// One line for the caller; returns 0, which is a null pointer, too.
static std::nullptr_t fail(char **error, StringRef message) {
  if (error)
    *error = strdup(message.rtrim().str().c_str());
  return nullptr;
}
static std::nullptr_t fail(char **error, Error reason) {
  return fail(error, toString(std::move(reason)));
}
static void clear(char **error) {
  if (error)
    *error = nullptr;
}
/// The status of functions that return one: 0 after a failure.
static int status(std::nullptr_t) { return 0; }

int numeraApiVersion(void) { return NUMERA_C_VERSION; }
const char *numeraVersion(void) { return version().data(); }
void numeraStringFree(char *text) { free(text); }

// ---- formats ---------------------------------------------------------------

NumeraRegistry *numeraRegistryCreate(void) { return new NumeraRegistry; }
void numeraRegistryDestroy(NumeraRegistry *registry) { delete registry; }

/// Loads into a copy, which takes the registry's place if nothing is wrong.
static int load(NumeraRegistry *registry, char **error,
                function_ref<bool(Registry &, raw_ostream &)> read) {
  clear(error);
  std::string message;
  raw_string_ostream errors(message);
  Registry loaded = registry->registry;
  if (!read(loaded, errors) || !openLibraries(loaded, errors))
    return status(fail(error, StringRef(message).split('\n').first));
  loadProofs(loaded, nulls());
  registry->registry = std::move(loaded);
  return 1;
}

int numeraRegistryLoadFile(NumeraRegistry *registry, const char *path,
                           char **error) {
  return load(registry, error, [&](Registry &loaded, raw_ostream &errors) {
    return loaded.load(path, errors);
  });
}

int numeraRegistryLoadText(NumeraRegistry *registry, const char *yaml,
                           const char *name, const char *directory,
                           char **error) {
  return load(registry, error, [&](Registry &loaded, raw_ostream &errors) {
    return loaded.loadText(yaml, name, directory, errors);
  });
}

int numeraLoadPlugin(const char *path, char **error) {
  clear(error);
  // Plugins refer to this library, which its user may have opened for itself
  // alone: from now on its symbols are there for those that are opened next.
  Dl_info self;
  if (dladdr(reinterpret_cast<void *>(numeraLoadPlugin), &self))
    dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL);
  std::string message;
  return loadPlugin(path, message) || status(fail(error, message));
}

static Format lookup(const NumeraRegistry *registry, const char *name,
                     char **error) {
  clear(error);
  std::string message;
  Format format = registry->registry.lookupFormat(name, message);
  if (!format)
    fail(error, message);
  return format;
}

/// The same for conversions; null for formats that only a library knows.
static Format lookupKnown(const NumeraRegistry *registry, const char *name,
                          char **error) {
  Format format = lookup(registry, name, error);
  if (!format || format.getFamily().hasArithmetic())
    return format;
  fail(error, "format '" + std::string(name) +
                  "' is opaque: only its library knows its values");
  return {};
}

int numeraFormatDescribe(const NumeraRegistry *registry, const char *name,
                         NumeraFormatInfo *info, char **error) {
  Format format = lookup(registry, name, error);
  if (!format)
    return 0;
  NumeraFormatInfo full = {
      .size = uint32_t(std::min(size_t(info->size), sizeof(full))),
      .width = format.width(),
      .storage = format.storageBits(),
      .has_arithmetic = format.getFamily().hasArithmetic()};
  memcpy(info, &full, full.size);
  return 1;
}

char *numeraFormatSpelling(const NumeraRegistry *registry, const char *name,
                           char **error) {
  Format format = lookup(registry, name, error);
  return format ? strdup(format.spelling().c_str()) : nullptr;
}

int numeraFormatEncode(const NumeraRegistry *registry, const char *name,
                       const double *values, uint64_t *codes, size_t count,
                       char **error) {
  Format format = lookupKnown(registry, name, error), f64 = formatF64();
  if (!format)
    return 0;
  for (size_t i = 0; i < count; ++i)
    codes[i] = format.getFamily().encode(
        format, f64.getFamily().decode(f64, bit_cast<uint64_t>(values[i])),
        format.getConstantRounding());
  return 1;
}

int numeraFormatDecode(const NumeraRegistry *registry, const char *name,
                       const uint64_t *codes, double *values, size_t count,
                       char **error) {
  Format format = lookupKnown(registry, name, error), f64 = formatF64();
  if (!format)
    return 0;
  uint64_t mask = maskTrailingOnes<uint64_t>(format.width());
  for (size_t i = 0; i < count; ++i) {
    if (codes[i] & ~mask)
      return status(fail(error, "code 0x" + utohexstr(codes[i], true) +
                                    " has more bits than '" + name + "', " +
                                    std::to_string(format.width())));
    values[i] = bit_cast<double>(
        f64.getFamily().encode(f64, format.getFamily().decode(format, codes[i]),
                               Rounding::NearestEven));
  }
  return 1;
}

// ---- compiling -------------------------------------------------------------

namespace {
/// A model on its way to a program.
class Compilation {
public:
  Compilation(const NumeraRegistry *registry, const char *const *options,
              char **error)
      : registry(registry->registry), compiler(registry->registry),
        error(error) {
    clear(error);
    std::string message;
    this->options = readOptions(options, message);
    if (!this->options)
      fail(error, message);
  }

  /// With `read` one of Compiler's functions that load.
  template <typename Read> bool lower(Read read) {
    if (!options)
      return false;
    std::string message;
    raw_string_ostream errors(message);
    module = read(compiler, errors);
    if (module && succeeded(compiler.lower(*module, options->compile, resolved,
                                           functions, errors)))
      return true;
    fail(error, message);
    return false;
  }

  bool isForGPU() const { return options->compile.target == "nvptx"; }

  /// `kind` as checkEmit has it.
  int write(StringRef kind, StringRef path) {
    EmitOptions emission = {.kind = kind.str(), .cpu = cpu()};
    if (isForGPU())
      emission.gpu = options->gpu;
    if (Error reason =
            emit(*module, functions, registry, std::move(emission), path))
      return status(fail(error, std::move(reason)));
    return 1;
  }

  NumeraProgram *program() {
    CPUOptions host = cpu();
    DeviceCode device;
    if (isForGPU()) {
      Expected<DeviceCode> code =
          takeDeviceCode(*module, registry, options->gpu);
      if (!code)
        return fail(error, code.takeError());
      device = std::move(*code);
      host.device = &device;
    }
    auto made = Program::compile(*module, functions, registry, host);
    if (!made)
      return fail(error, made.takeError());
    std::string metadata = printMetadata((*made)->metadata());
    return new NumeraProgram{std::move(*made), std::move(metadata)};
  }

private:
  CPUOptions cpu() const {
    return cpuOptions(options->compile, resolved, options->seed);
  }

  const Registry &registry;
  Compiler compiler;
  char **error;
  std::optional<ModelOptions> options;
  Resolved resolved;
  std::vector<FunctionSignature> functions;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};
} // namespace

NumeraProgram *numeraCompileFile(const NumeraRegistry *registry,
                                 const char *model, const char *const *options,
                                 char **error) {
  Compilation compilation(registry, options, error);
  bool lowered =
      compilation.lower([&](Compiler &compiler, raw_ostream &errors) {
        return compiler.load(model, errors);
      });
  return lowered ? compilation.program() : nullptr;
}

NumeraProgram *numeraCompileText(const NumeraRegistry *registry,
                                 const char *mlir, const char *name,
                                 const char *const *options, char **error) {
  Compilation compilation(registry, options, error);
  bool lowered =
      compilation.lower([&](Compiler &compiler, raw_ostream &errors) {
        return compiler.loadText(mlir, name, errors);
      });
  return lowered ? compilation.program() : nullptr;
}

int numeraCompileToFile(const NumeraRegistry *registry, const char *model,
                        const char *const *options, const char *kind,
                        const char *output, char **error) {
  Compilation compilation(registry, options, error);
  bool lowered =
      compilation.lower([&](Compiler &compiler, raw_ostream &errors) {
        return compiler.load(model, errors);
      });
  if (!lowered)
    return 0;
  StringRef target = compilation.isForGPU() ? "nvptx" : "cpu";
  if (StringRef(kind) == "mlir")
    return status(fail(error, "--emit mlir is for numera compile alone"));
  if (std::string wrong = checkEmit(kind, target); !wrong.empty())
    return status(fail(error, wrong));
  return compilation.write(kind, output);
}

// ---- programs --------------------------------------------------------------

NumeraProgram *numeraProgramOpen(const char *path, char **error) {
  clear(error);
  auto program = Program::open(path);
  if (!program)
    return fail(error, program.takeError());
  std::string metadata = printMetadata((*program)->metadata());
  return new NumeraProgram{std::move(*program), std::move(metadata)};
}

void numeraProgramDestroy(NumeraProgram *program) { delete program; }

const char *numeraProgramMetadata(const NumeraProgram *program) {
  return program->metadata.c_str();
}

size_t numeraProgramFunctionCount(const NumeraProgram *program) {
  return program->program->functions().size();
}

const char *numeraProgramFunctionName(const NumeraProgram *program,
                                      size_t index) {
  ArrayRef<FunctionSignature> functions = program->program->functions();
  return index < functions.size() ? functions[index].name.c_str() : nullptr;
}

numera_entry *numeraProgramEntry(const NumeraProgram *program,
                                 const char *function) {
  if (!function)
    function = numeraProgramFunctionName(program, 0);
  return function ? program->program->entry(function) : nullptr;
}

int numeraProgramRun(const NumeraProgram *program, const char *function,
                     const numera_tensor *inputs, size_t input_count,
                     numera_tensor *outputs, size_t output_count,
                     const numera_options *options, char **error) {
  clear(error);
  numera_entry *entry = numeraProgramEntry(program, function);
  if (!entry)
    return status(fail(error, "no function '" +
                                  std::string(function ? function : "") + "'"));
  char message[512] = "";
  if (entry(inputs, input_count, outputs, output_count, options, message,
            sizeof message))
    return status(fail(error, message));
  return 1;
}
