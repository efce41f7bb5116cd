// SPDX-License-Identifier: MIT
//
// Programs for this process, from one compilation to the next and from one
// process to another, without their models being read again. A program is known
// by all that it follows from: the compiler, the machine, and what the caller
// adds. The files are those of the code cache (docs/CommandLine.md), which has
// a program's objects; a program of its own is what they are put together from.

#ifndef NUMERA_TARGET_PROGRAM_PROGRAMCACHE_H
#define NUMERA_TARGET_PROGRAM_PROGRAMCACHE_H

#include "numera/Target/Program/Program.h"

namespace numera {

class ProgramCache {
public:
  /// For programs of `options.cpu` and `options.optimization`, in
  /// `options.codeCache`.
  explicit ProgramCache(const CPUOptions &options);
  ~ProgramCache();

  /// False where nothing is kept: the code cache is off, or the CPU unknown.
  bool isOn() const;
  /// Adds something that the program follows from. Two texts are not the one
  /// that they make together.
  void add(llvm::StringRef text);
  /// The same of a file's bytes; false if it cannot be read.
  bool addFile(llvm::StringRef path);
  /// Of all that was added.
  std::string key() const;

  /// A program that was kept under the key, and what was said of it. Null where
  /// there is none, or none that is whole.
  std::unique_ptr<Program> find(std::string &warnings) const;
  /// While it lives, no other process that asks makes the program of the key.
  std::shared_ptr<void> lock() const;

  /// Program::compile, whose result is kept unless `isStill` is false then.
  /// Those that call libraries in machine code, have static initialisers, or
  /// constants of more than a quarter of the cache, are not kept.
  llvm::Expected<std::unique_ptr<Program>>
  compile(mlir::ModuleOp lowered, llvm::ArrayRef<FunctionSignature> functions,
          const Registry &registry, const CPUOptions &options,
          llvm::StringRef warnings, llvm::function_ref<bool()> isStill) const;

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace numera

#endif // NUMERA_TARGET_PROGRAM_PROGRAMCACHE_H
