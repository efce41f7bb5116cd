// SPDX-License-Identifier: MIT
//
// Compilations and programs of numera-c/Numera.h.

#include "Handles.h"
#include "Keys.h"
#include "Options.h"
#include "numera/Target/Driver/Emit.h"
#include "numera/Target/Support/Cancel.h"
#include "numera/Target/Support/NullFault.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"
#include <atomic>
#include <cstring>
#include <new>
#include <unistd.h>

using namespace llvm;
using namespace numera;

// ---- compiling -------------------------------------------------------------

void numeraSetInterrupt(int (*interrupt)(void *context), void *context) {
  askToCancel(interrupt, context);
}

/// What is said where there is no memory, and how long it is.
static std::atomic<const char *> lastLine = nullptr;
static size_t lastLength = 0;

[[noreturn]] static void endWithoutMemory() {
  // Of several threads one has its say.
  if (const char *line = lastLine.exchange(nullptr))
    (void)!write(STDERR_FILENO, line, lastLength);
  else
    sleep(1);
  _exit(1);
}

void numeraEndWithoutMemory(const char *line) {
  if (lastLength)
    return;
  std::string text = std::string(line) + "\n";
  lastLength = text.size();
  lastLine = strdup(text.c_str());
  std::set_new_handler(endWithoutMemory);
  endAtNullFault(endWithoutMemory);
  install_bad_alloc_error_handler(
      [](void *, const char *, bool) { endWithoutMemory(); });
  // Of LLVM's own errors, that a thread has no memory for its stack.
  install_fatal_error_handler([](void *, const char *reason, bool) {
    if (StringRef(reason).starts_with("pthread_create"))
      endWithoutMemory();
    errs() << "LLVM ERROR: " << reason << '\n';
    abort();
  });
}

namespace {
/// A model on its way to a program.
class Compilation {
public:
  Compilation(const NumeraRegistry *registry, const char *const *options,
              char **error)
      : handle(*registry), registry(registry->registry), given(options),
        error(error) {
    clear(error);
    std::string message;
    this->options = readOptions(options, message);
    if (!this->options)
      fail(error, message);
  }

  bool lower(const Model &model) {
    raw_string_ostream errors(message);
    if (load(model, errors) &&
        succeeded(compiler->lower(*module, options->compile, resolved,
                                  functions, errors)))
      return true;
    return report(message);
  }

  /// The model at a stage, as text.
  char *print(const Model &model, StringRef stage) {
    std::string message, text;
    raw_string_ostream errors(message), stream(text);
    if (!load(model, errors) ||
        failed(compiler->lowerTo(*module, stage, options->compile, errors))) {
      report(message);
      return nullptr;
    }
    module->print(stream);
    return strdup(text.c_str());
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

  /// The program, from the cache if it is there.
  NumeraProgram *program(const Model &model) {
    if (!options)
      return nullptr;
    ProgramCache cache(machine());
    if (!addTo(cache, handle, model, given, options->compile))
      return lower(model) ? made(nullptr, {}) : nullptr;
    if (NumeraProgram *kept = find(cache))
      return kept;
    std::shared_ptr<void> lock = cache.lock();
    if (NumeraProgram *kept = find(cache))
      return kept;
    if (!lower(model))
      return nullptr;
    return made(&cache, [&] {
      // A file that is found under another name has another one in warnings,
      // and it may have changed meanwhile.
      if (!model.isText && !message.empty())
        return false;
      ProgramCache again(machine());
      return addTo(again, handle, model, given, options->compile) &&
             again.key() == cache.key();
    });
  }

private:
  NumeraProgram *find(const ProgramCache &cache) {
    std::unique_ptr<Program> found = cache.find(message);
    if (!found)
      return nullptr;
    std::string metadata = printMetadata(found->metadata());
    return new NumeraProgram{std::move(found), std::move(metadata), message};
  }

  /// What was lowered as a program, which goes into the cache, if there is one.
  NumeraProgram *made(const ProgramCache *cache, function_ref<bool()> isStill) {
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
    auto program = cache ? cache->compile(*module, functions, registry, host,
                                          message, isStill)
                         : Program::compile(*module, functions, registry, host);
    if (!program)
      return fail(error, program.takeError());
    std::string metadata = printMetadata((*program)->metadata());
    return new NumeraProgram{std::move(*program),
                             std::move(metadata),
                             message,
                             std::move(resolved.counts),
                             std::move(resolved.layers),
                             !options->compile.showRows};
  }

  bool load(const Model &model, raw_ostream &errors) {
    if (!options)
      return false;
    StringRef weights = options->compile.safetensors;
    compiler.emplace(registry);
    module = model.isText
                 ? compiler->loadText(model.text, model.name, errors, weights)
                 : compiler->load(model.name, errors, weights);
    return bool(module);
  }
  /// Unless something has been said before.
  bool report(StringRef message) {
    if (options)
      fail(error, message);
    return false;
  }
  /// Of cpu(), what is known before a model is read.
  CPUOptions machine() const {
    CPUOptions made;
    made.cpu = options->compile.cpu;
    made.optimization = unsigned(options->compile.optimization);
    made.codeCache = options->compile.codeCache;
    return made;
  }
  CPUOptions cpu() const {
    return cpuOptions(options->compile, resolved, options->seed);
  }

  const NumeraRegistry &handle;
  const Registry &registry;
  const char *const *given; ///< the options as they were
  std::optional<Compiler> compiler;
  char **error;
  std::optional<ModelOptions> options;
  std::string message; ///< of a lowering: warnings if it went well
  Resolved resolved;
  std::vector<FunctionSignature> functions;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};
} // namespace

static NumeraProgram *compile(const NumeraRegistry *registry,
                              const Model &model, const char *const *options,
                              char **error) {
  return Compilation(registry, options, error).program(model);
}

NumeraProgram *numeraCompileFile(const NumeraRegistry *registry,
                                 const char *model, const char *const *options,
                                 char **error) {
  return compile(registry, {model}, options, error);
}

NumeraProgram *numeraCompileText(const NumeraRegistry *registry,
                                 const char *mlir, const char *name,
                                 const char *const *options, char **error) {
  return compile(registry, {name, mlir, true}, options, error);
}

static int compileToFile(const NumeraRegistry *registry, const Model &model,
                         const char *const *options, const char *kind,
                         const char *output, char **error) {
  Compilation compilation(registry, options, error);
  if (!compilation.lower(model))
    return 0;
  StringRef target = compilation.isForGPU() ? "nvptx" : "cpu";
  if (StringRef(kind) == "mlir")
    return status(fail(error, "--emit mlir is for numera compile alone"));
  if (std::string wrong = checkEmit(kind, target); !wrong.empty())
    return status(fail(error, wrong));
  return compilation.write(kind, output);
}

int numeraCompileToFile(const NumeraRegistry *registry, const char *model,
                        const char *const *options, const char *kind,
                        const char *output, char **error) {
  return compileToFile(registry, {model}, options, kind, output, error);
}

int numeraCompileTextToFile(const NumeraRegistry *registry, const char *mlir,
                            const char *name, const char *const *options,
                            const char *kind, const char *output,
                            char **error) {
  return compileToFile(registry, {name, mlir, true}, options, kind, output,
                       error);
}

char *numeraPrintFile(const NumeraRegistry *registry, const char *model,
                      const char *const *options, const char *stage,
                      char **error) {
  return Compilation(registry, options, error).print({model}, stage);
}

char *numeraPrintText(const NumeraRegistry *registry, const char *mlir,
                      const char *name, const char *const *options,
                      const char *stage, char **error) {
  return Compilation(registry, options, error).print({name, mlir, true}, stage);
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

const char *numeraProgramWarnings(const NumeraProgram *program) {
  return program->warnings.c_str();
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

/// What a call of a function counted; nothing with an error where it does not.
static std::optional<StatisticsCollector> collect(const NumeraProgram &program,
                                                  StringRef function,
                                                  const int64_t *numbers,
                                                  char **error) {
  clear(error);
  auto found = program.counts.find(function.str());
  if (found == program.counts.end()) {
    fail(error, "function '" + function.str() +
                    "' counts nothing; compile it with count=flags");
    return std::nullopt;
  }
  StatisticsCollector collector(found->second);
  collector.add(numbers);
  return collector;
}

char *numeraProgramPostponed(const NumeraProgram *program, const char *function,
                             const int64_t *numbers, char **error) {
  auto collector =
      collect(*program, functionNamed(*program, function), numbers, error);
  if (!collector)
    return nullptr;
  std::string text;
  raw_string_ostream stream(text);
  interleave(collector->postponed(), stream, ",");
  return strdup(text.c_str());
}

char *numeraProgramStatistics(const NumeraProgram *program,
                              const NumeraRegistry *registry,
                              const char *function, const int64_t *numbers,
                              char **error) {
  auto collector =
      collect(*program, functionNamed(*program, function), numbers, error);
  if (!collector)
    return nullptr;
  std::string text;
  raw_string_ostream stream(text);
  json::OStream json(stream);
  json.object(
      [&] { printStatistics(collector->finish(registry->registry), json); });
  return strdup(text.c_str());
}
