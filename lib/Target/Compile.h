// SPDX-License-Identifier: MIT
//
// The road from the LLVM dialect to an optimised LLVM module, which is the same
// for every kind of output.

#ifndef NUMERA_LIB_TARGET_COMPILE_H
#define NUMERA_LIB_TARGET_COMPILE_H

#include "numera/Target/Program.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"
#include <map>

namespace numera {

/// Who calls the program: it decides which symbols are visible.
enum class Caller {
  Library,    ///< C programs, or this process: entries and metadata
  Executable, ///< the main of executables
};

/// A module ready for code generation.
struct Compiled {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
  std::unique_ptr<llvm::TargetMachine> machine;
  /// Libraries in machine code that the program needs: .a, .o, .so.
  std::vector<std::string> nativeLibraries;
  Metadata metadata;
};

llvm::Expected<Compiled> compileModule(
    mlir::ModuleOp lowered, llvm::ArrayRef<FunctionSignature> functions,
    const Registry &registry, const CPUOptions &options, Caller caller);

/// An LLVMContext's handler of diagnostics. LLVM remarks on loops that it
/// leaves as they are, which is no one's concern; what it calls an error is one
/// line.
void reportErrors(const llvm::DiagnosticInfo *info, void *);

// ---- EntryPoints.cpp

/// A program is compiled for one kind of CPU or for several, and each time a
/// version of its functions.
struct VersionInfo {
  std::string cpu;       ///< as the user wrote it
  uint64_t features = 0; ///< what it needs, in the order of X86Features.def
};

/// Makes everything in the module of a version internal, and adds for every
/// function what Entry.h calls Invoke.
llvm::Error addInvokes(llvm::Module &module,
                       llvm::ArrayRef<FunctionSignature> functions,
                       unsigned version, Caller caller);
/// Adds the C entry of every function, `numera_metadata`, and what Entry.h asks
/// of the compiler.
llvm::Error addEntryPoints(llvm::Module &module, const Metadata &metadata,
                           llvm::ArrayRef<VersionInfo> versions, Caller caller);

// ---- Allocations.cpp

/// Has the functions of a model, alone in the module yet, allocate by
/// numera_host_allocate and free by numera_host_release.
void keepMemory(llvm::Module &module);

// ---- LinkRuntime.cpp

/// Links what `module` needs of `library`, as internal symbols.
llvm::Error linkInternal(llvm::Module &module,
                         std::unique_ptr<llvm::Module> library);
/// Links the arithmetic of the runtime and of plugins, for the CPU and for
/// kernels.
llvm::Error linkRuntime(llvm::Module &module);
llvm::Error linkDeviceRuntime(llvm::Module &module);
/// Links runtime/host, which is compiled as it is to be.
llvm::Error linkHost(llvm::Module &module);
/// Drops what a library was compiled for, so that the module's target counts.
void stripTarget(llvm::Module &library);

// ---- Kernels.cpp

/// The kernels that a lowered module declares, and the kind of each
/// (embeddedKernel).
using KernelKinds = std::map<std::string, std::string>;
KernelKinds kernelsOf(mlir::ModuleOp lowered);
/// Links each of them, with its hooks, in the form that suits the machine.
llvm::Error linkKernels(llvm::Module &module, const KernelKinds &kernels,
                        const llvm::TargetMachine &machine);

// ---- LinkLibraries.cpp

/// The library that the lowered module names for a symbol (`numera.library`).
using NamedLibraries = llvm::StringMap<std::string>;

/// Links the registered libraries that define what `module` calls. Those in
/// machine code are named in the result.
llvm::Expected<std::vector<std::string>>
linkLibraries(llvm::Module &module, const Registry &registry,
              const NamedLibraries &named, const llvm::TargetMachine &machine);

// ---- Machines.cpp

/// The CPUs of one architecture that a program is for.
struct Machines {
  struct Version : VersionInfo {
    std::unique_ptr<llvm::TargetMachine> machine;
  };
  /// The least of them all: what runs before a version is chosen is for it, and
  /// it generates the code of all.
  std::unique_ptr<llvm::TargetMachine> baseline;
  std::vector<Version> versions; ///< the more it needs, the later
};
/// The machines of `options.cpu`; an error names what is known.
llvm::Expected<Machines> createMachines(const CPUOptions &options);
/// Fails where code for another architecture than this machine's would be run
/// or linked.
llvm::Error checkNative(const Compiled &program);

// ---- Optimize.cpp

/// Sets the target of the module, and of its functions that have none.
void setTarget(llvm::Module &module, const llvm::TargetMachine &machine);
/// LLVM's pipeline for the level.
void optimize(llvm::Module &module, llvm::TargetMachine &machine,
              unsigned level);

// ---- Codegen.cpp

llvm::Error generate(Compiled &program, llvm::CodeGenFileType type,
                     llvm::raw_pwrite_stream &stream);

// ---- Metadata.cpp

llvm::Expected<Metadata> parseMetadata(llvm::StringRef json);

} // namespace numera

#endif // NUMERA_LIB_TARGET_COMPILE_H
