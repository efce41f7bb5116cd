// SPDX-License-Identifier: MIT

#include "Compile.h"
#include "Codegen/CodeCache.h"
#include "Codegen/JIT.h"
#include "Codegen/Machines.h"
#include "Codegen/Tuning.h"
#include "Finish.h"
#include "Libraries/LinkLibraries.h"
#include "Libraries/SharedSymbols.h"
#include "Link/Allocations.h"
#include "Link/KernelParts.h"
#include "Link/LargeConstants.h"
#include "Link/LinkRuntime.h"
#include "NVPTX/Device.h"
#include "PartJobs.h"
#include "Peephole/Optimize.h"
#include "Translate.h"
#include "Vectorize/VectorForms.h"
#include "numera/Registry/Formats/Plugin.h"
#include "numera/Target/NVPTX/GPU.h"
#include "numera/Target/Support/Cancel.h"
#include "numera/Target/Support/StepTimes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Linker/Linker.h"

using namespace llvm;
using namespace numera;

namespace {
/// A constant's bytes, which others may have as well.
class SharedBuffer : public MemoryBuffer {
public:
  explicit SharedBuffer(const CodeConstant &constant) : owner(constant.owner) {
    init(constant.bytes.begin(), constant.bytes.end(),
         /*RequiresNullTerminator=*/false);
  }
  BufferKind getBufferKind() const override { return MemoryBuffer_Malloc; }

private:
  std::shared_ptr<const char> owner;
};
} // namespace

static NamedLibraries librariesOf(mlir::ModuleOp lowered) {
  NamedLibraries named;
  for (auto function : lowered.getOps<mlir::LLVM::LLVMFuncOp>())
    if (auto library =
            function->getAttrOfType<mlir::StringAttr>("numera.library"))
      named[function.getName()] = library.str();
  return named;
}

namespace {

/// A program is a part for each kind of contraction on each kind of CPU, and a
/// module with all else: the functions, a version for each kind of CPU, and
/// what chooses between them. Parts are prepared first, as far as their code
/// follows from what they are then; what is kept of that need not be made.
class ProgramCompiler {
public:
  ProgramCompiler(mlir::ModuleOp lowered, const Registry &registry,
                  const CPUOptions &options, Caller caller, Compiled &program)
      : lowered(lowered), registry(registry), options(options), caller(caller),
        program(program) {}

  /// Large constants are put into the file by what writes it, or into memory.
  /// In an object that is linked with others, their symbols are as unlike those
  /// as the first entry's is.
  Error prepare(bool isWhole) {
    std::string prefix = "numera.constant.";
    if (isWhole)
      prefix =
          entrySymbol(program.metadata.functions.front().name) + ".constant.";
    large.emplace(lowered, /*isLinked=*/caller != Caller::Process, prefix);
    Expected<Machines> created = createMachines(options);
    if (!created)
      return created.takeError();
    machines = std::move(created->versions);
    program.machine = std::move(created->baseline);
    program.module = std::make_unique<Module>("program", *program.context);
    std::vector<VersionInfo> infos(machines.begin(), machines.end());
    program.metadata.target = "cpu ";
    interleave(
        infos,
        [&](const VersionInfo &info) { program.metadata.target += info.cpu; },
        [&] { program.metadata.target += ","; });
    if (options.device)
      program.metadata.target = options.device->target;
    setTarget(*program.module, *program.machine);
    if (Error error =
            addEntryPoints(*program.module, program.metadata, infos, caller))
      return error;
    for (unsigned version = 0; version < machines.size(); ++version)
      if (Error error = prepare(version))
        return error;
    return Error::success();
  }

  /// Everything in the program's module, with what checks, chooses and calls:
  /// it runs on any CPU, even one that no version is for.
  Error finishWhole() {
    for (Kernel &kernel : kernels) {
      if (Error error = finishPart(
              kernel.part, *machines[kernel.version].machine, finishOptions()))
        return error;
      if (Error error = join(std::move(kernel.part.module)))
        return error;
    }
    if (Error error = finishMain())
      return error;
    StepScope step(options.times, "link");
    if (Error error = linkHost(*program.module))
      return error;
    setTarget(*program.module, *program.machine);
    program.linked = large->constants().vec();
    return Error::success();
  }

  /// The program's module as the first object, and one for each part.
  Expected<ObjectCode> finishObjects() {
    CodeCache cache(options.codeCache);
    ObjectCode code;
    code.nativeLibraries = program.nativeLibraries;
    code.metadata = program.metadata;
    PartJobs jobs(options);
    // A process with other threads cannot be copied to run a library's
    // functions for tables.
    bool mayFork = options.makesTables && !registry.lowerings().empty();
    if (!mayFork)
      startParts(cache, jobs);
    auto main = mainObject(cache, code);
    if (!main)
      return main.takeError();
    code.objects.push_back(std::move(*main));
    if (mayFork)
      startParts(cache, jobs);
    if (caller == Caller::Process)
      if (Error error = keepConstants(code))
        return std::move(error);
    if (Error error = takeParts(cache, jobs, code))
      return std::move(error);
    return code;
  }

private:
  struct Kernel {
    KernelPart part;
    unsigned version;
    size_t job = 0; ///< of PartJobs
    std::unique_ptr<MemoryBuffer> kept;
    std::string key = {}; ///< what it is kept under
  };

  Error prepare(unsigned version) {
    StepScope step(options.times, "translate");
    TargetMachine &machine = *machines[version].machine;
    Expected<std::unique_ptr<Module>> translated =
        translate(lowered, *program.context);
    if (!translated)
      return translated.takeError();
    Module &module = **translated;
    step.next("link");
    setTarget(module, machine);
    keepMemory(module);
    KernelKinds kinds = kernelsOf(lowered);
    for (KernelPart &part : takeKernelParts(module, kinds, registry, machine)) {
      if (Error error = checkEntryNames(*part.module))
        return error;
      kernels.push_back({std::move(part), version, 0, nullptr});
    }
    // Before their hooks are hidden.
    if (Error error = linkKernels(module, kinds, machine))
      return error;
    if (Error error =
            addInvokes(module, program.metadata.functions, version, caller))
      return error;
    if (options.device)
      if (Error error = attachDevice(module, program.metadata.functions,
                                     version, *options.device))
        return error;
    if (Error error = defineVectorForms(module))
      return error;
    Expected<std::vector<std::string>> native =
        linkLibraries(module, registry, librariesOf(lowered), machine);
    if (!native)
      return native.takeError();
    program.nativeLibraries = std::move(*native);
    if (Error error = checkEntryNames(module))
      return error;
    if (Error error = checkSharedNames(module))
      return error;
    versions.push_back(std::move(*translated));
    return Error::success();
  }

  /// What is left to the linker would be found in the program itself.
  Error checkEntryNames(const Module &module) const {
    for (const FunctionSignature &signature : program.metadata.functions) {
      std::string entry = entrySymbol(signature.name);
      const Function *wanted = module.getFunction(entry);
      if (caller != Caller::Executable && wanted && wanted->isDeclaration())
        return createStringError("a lowering calls '" + entry +
                                 "', but the program has another function of "
                                 "that name; rename one of them");
    }
    return Error::success();
  }

  /// What the loader would find elsewhere, in a program that is a file.
  Error checkSharedNames(const Module &module) const {
    if (caller == Caller::Process)
      return Error::success();
    std::vector<std::string> entries;
    if (caller == Caller::Library)
      for (const FunctionSignature &signature : program.metadata.functions)
        entries.push_back(entrySymbol(signature.name));
    return checkSharedSymbols(module, registry, program.nativeLibraries,
                              entries);
  }

  Error join(std::unique_ptr<Module> module) {
    StepScope step(options.times, "link");
    if (Linker::linkModules(*program.module, std::move(module)))
      return createStringError("cannot link the parts of the program");
    return Error::success();
  }

  FinishOptions finishOptions() const {
    return {.optimizer = {.level = options.optimization, .unrolls = false},
            .times = options.times};
  }

  Error finishMain() {
    for (auto [version, module] : zip_equal(machines, versions)) {
      FinishOptions finished = finishOptions();
      if (options.makesTables)
        finished.tabulated = &program.nativeLibraries;
      if (Error error = finishModule(*module, *version.machine, finished))
        return error;
      if (Error error = join(std::move(module)))
        return error;
    }
    for (Function &function : *program.module)
      if (!function.isDeclaration() && function.hasHiddenVisibility())
        function.setLinkage(GlobalValue::InternalLinkage);
    return Error::success();
  }

  // ---- code that is kept

  /// What goes into the code of all parts, besides themselves.
  Fingerprint beginOf(const CodeCache &cache) const {
    Fingerprint about = cache.begin();
    for (const Plugin *plugin : loadedPlugins())
      about.add(plugin->cpuBitcode);
    addTo(about, *program.machine);
    return about.add(uint64_t(options.optimization));
  }

  std::unique_ptr<MemoryBuffer> find(const CodeCache &cache, StringRef key) {
    StepScope step(options.times, "look up");
    return cache.find(key);
  }
  void keep(const CodeCache &cache, StringRef key, const MemoryBuffer &object) {
    StepScope step(options.times, "keep");
    cache.keep(key, object.getBuffer());
  }

  /// For a program that stays in this process: into its memory, if they are not
  /// its own as they are.
  Error keepConstants(ObjectCode &code) {
    if (large->constants().empty())
      return Error::success();
    StepScope step(options.times, "constants");
    for (const CodeConstant &constant : large->constants()) {
      if (constant.owner) {
        code.constants.emplace_back(constant.symbol,
                                    std::make_unique<SharedBuffer>(constant));
        continue;
      }
      auto buffer = WritableMemoryBuffer::getNewUninitMemBuffer(
          constant.bytes.size(), constant.symbol,
          Align(LargeConstants::alignment));
      if (!buffer)
        return createStringError("out of memory for the program's constants");
      copy(constant.bytes, buffer->getBufferStart());
      code.constants.emplace_back(constant.symbol, std::move(buffer));
    }
    return Error::success();
  }

  Expected<std::unique_ptr<MemoryBuffer>> generate(Module &module) {
    if (isCancelled())
      return cancelled();
    StepScope step(options.times, "generate");
    return generateObject(module, *program.machine);
  }

  Fingerprint about(const CodeCache &cache, const Kernel &kernel) const {
    Fingerprint about = beginOf(cache);
    addTo(about, *machines[kernel.version].machine);
    return about.add(kernel.part.symbol);
  }

  /// Finds the code of parts, or begins to make it.
  void startParts(const CodeCache &cache, PartJobs &jobs) {
    for (Kernel &kernel : kernels) {
      if (cache.isOn()) {
        kernel.key = about(cache, kernel).digits();
        kernel.kept = find(cache, kernel.key);
      }
      if (!kernel.kept)
        kernel.job = jobs.start(kernel.part, kernel.version);
    }
  }

  Error takeParts(const CodeCache &cache, PartJobs &jobs, ObjectCode &code) {
    if (jobs.haveBegun()) {
      StepScope step(options.times, "kernels");
      if (Error error = jobs.wait())
        return error;
    }
    for (Kernel &kernel : kernels) {
      if (!kernel.kept) {
        PartJobs::Object object = jobs.take(kernel.job);
        if (!object)
          return object.takeError();
        kernel.kept = std::move(*object);
        if (cache.isOn())
          keep(cache, kernel.key, *kernel.kept);
      }
      code.objects.push_back(std::move(kernel.kept));
      if (!code.keys.empty())
        code.keys.push_back(std::move(kernel.key));
    }
    if (caller != Caller::Process)
      code.linked = large->constants().vec();
    code.triple = program.machine->getTargetTriple();
    return Error::success();
  }

  Expected<std::unique_ptr<MemoryBuffer>> mainObject(const CodeCache &cache,
                                                     ObjectCode &code) {
    code.entry = entrySymbol(program.metadata.functions.front().name);
    auto make = [&]() -> Expected<std::unique_ptr<MemoryBuffer>> {
      if (Error error = finishMain())
        return std::move(error);
      if (caller == Caller::Process)
        nameInitializers(*program.module, code);
      return generate(*program.module);
    };
    if (!cache.isOn() || !program.nativeLibraries.empty() || hasInitializers())
      return make();
    Fingerprint about = beginOf(cache);
    {
      StepScope step(options.times, "look up");
      about.add(uint64_t(caller)).add(uint64_t(options.makesTables));
      addTo(about, *program.module);
      for (auto [version, module] : zip_equal(machines, versions)) {
        addTo(about, *version.machine);
        addTo(about, *module);
      }
    }
    std::string key = about.digits();
    code.keys = {key};
    if (std::unique_ptr<MemoryBuffer> kept = find(cache, key))
      return kept;
    auto object = make();
    if (object)
      keep(cache, key, **object);
    return object;
  }

  /// What a library in machine code gives is not known, and what is to run when
  /// code is loaded is known by its name in a module alone.
  bool hasInitializers() const {
    return any_of(versions, [](const std::unique_ptr<Module> &module) {
      return module->getNamedGlobal("llvm.global_ctors") ||
             module->getNamedGlobal("llvm.global_dtors");
    });
  }

  mlir::ModuleOp lowered;
  const Registry &registry;
  const CPUOptions &options;
  Caller caller;
  Compiled &program;
  std::vector<Machines::Version> machines;
  std::vector<std::unique_ptr<Module>> versions; ///< as `machines`
  std::vector<Kernel> kernels;
  std::optional<LargeConstants> large;
};

} // namespace

/// A program with a context, and without a module yet.
static Expected<Compiled> begin(ArrayRef<FunctionSignature> functions,
                                const CPUOptions &options) {
  Compiled program;
  program.metadata = options.metadata;
  program.metadata.version = version().str();
  program.metadata.functions = functions.vec();
  if (functions.empty())
    return createStringError("the module has no function to call");
  program.context = std::make_unique<LLVMContext>();
  program.context->setDiagnosticHandlerCallBack(reportErrors);
  return program;
}

Expected<Compiled> numera::compileModule(mlir::ModuleOp lowered,
                                         ArrayRef<FunctionSignature> functions,
                                         const Registry &registry,
                                         const CPUOptions &options) {
  Expected<Compiled> program = begin(functions, options);
  if (!program)
    return program;
  ProgramCompiler compiler(lowered, registry, options, Caller::Library,
                           *program);
  if (Error error = compiler.prepare(/*isWhole=*/true))
    return std::move(error);
  if (Error error = compiler.finishWhole())
    return std::move(error);
  return program;
}

Expected<ObjectCode> numera::compileObjects(
    mlir::ModuleOp lowered, ArrayRef<FunctionSignature> functions,
    const Registry &registry, const CPUOptions &options, Caller caller) {
  Expected<Compiled> program = begin(functions, options);
  if (!program)
    return program.takeError();
  ProgramCompiler compiler(lowered, registry, options, caller, *program);
  if (Error error = compiler.prepare(/*isWhole=*/false))
    return std::move(error);
  if (Error error = checkNative(*program))
    return std::move(error);
  return compiler.finishObjects();
}
