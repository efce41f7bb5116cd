// SPDX-License-Identifier: MIT
//
// From a model file to a module in the LLVM dialect: what `numera compile` and
// `numera run` share.

#ifndef NUMERA_TARGET_DRIVER_COMPILER_H
#define NUMERA_TARGET_DRIVER_COMPILER_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"
#include "numera/Dialect/Numera/Transforms/Retype/Policy.h"
#include "numera/Dialect/Numera/Transforms/Statistics/FlagCounts.h"
#include "numera/Dialect/Numera/Transforms/Statistics/LayerRows.h"
#include "numera/Registry/Lowerings/LibraryUse.h"
#include "numera/Registry/Lowerings/RuleUse.h"
#include "numera/Registry/Registry.h"
#include "numera/Target/Interface/Signature.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <map>
#include <memory>

namespace numera {

class StepTimes;

/// What a user may choose; an empty string leaves it to the policy and the
/// format.
struct CompileOptions {
  std::string format;     ///< name or spelling
  std::string replace;    ///< the float types it replaces, as in `f32,bf16`
  std::string accumulate; ///< same, quire, tensorcore, or a name or spelling
  std::string rounding, overflow;
  std::optional<uint64_t> randomBits; ///< of a stochastic rounding
  std::string target = "cpu";
  std::string cpu = "native";
  std::string gpu; ///< empty: that of GPUOptions
  /// For a GPU: the driver may be initialised, to ask it for its processors
  /// (LocalGPU.h). Where a library compiles, that is its caller's to do.
  bool startsDriver = false;
  std::string outputAs; ///< f32, f64 or storage; empty: as the model says
  /// Results whose quires are returned behind all results (ReturnQuires.cpp).
  llvm::SmallVector<unsigned> quires;
  std::string function;    ///< empty: every public function
  std::string safetensors; ///< a file; empty: the one beside the model
  /// 0 to 3, as clang's -O; 0 compiles soonest. The bits are the same.
  uint64_t optimization = 3;
  std::string codeCache; ///< a folder, `off`, or empty: see CPUOptions
  /// Return what contractions read, as results behind a function's own.
  bool observe = false;
  /// Return counts of flags, as a result behind a function's own.
  bool countStatusFlags = false;
  /// With countStatusFlags: leave what takes long to another program, and
  /// return FlagCounts::postponed in place of it.
  bool postponeCounts = false;
  /// With countStatusFlags and showLayers: count these rows, and show no layers
  /// after all. It is the other program.
  llvm::SmallVector<int64_t> countedRows;
  /// Return what each layer makes, as results behind a function's own and its
  /// counts (LayerRow).
  bool showLayers = false;
  /// With showLayers, for a CPU: hand these to `show_row` of numera_options
  /// when they are computed, not as results.
  bool showRows = false;
  /// Where what each step took is added; null: nowhere.
  StepTimes *times = nullptr;
};

/// Gives a format the rounding and the overflow that the options ask for. False
/// with a line in `error` where they do not go with it.
bool withOptions(const CompileOptions &options, Format &format,
                 std::string &error);

/// What was chosen, for reports.
struct Resolved {
  Format format;
  /// What numera-retype is told.
  ResolvedPolicy policy;
  std::string formatName;
  std::string accumulateName;
  /// What contractions read and write, where that is not the format itself:
  /// `weights`, `activations` or `outputs`, and the format.
  std::vector<std::pair<std::string, std::string>> roles;
  /// The policy's rules, with the operations that they were for.
  std::vector<RuleUse> rules;
  /// What the last output of a function, but for layers, counts, by the
  /// function's name: with CompileOptions::countStatusFlags, of those that have
  /// anything to count.
  std::map<std::string, llvm::SmallVector<FlagCounts>> counts;
  /// What the last outputs of a function are, three for each row, or what it
  /// hands over: with CompileOptions::showLayers.
  std::map<std::string, std::vector<LayerRow>> layers;
  /// Operations of opaque formats.
  std::vector<LibraryUse> libraryUses;
};

/// On a module whose importer has checked its shapes, or computes checks.
inline constexpr llvm::StringLiteral checksShapesAttribute =
    "numera.checks_shapes";

class Compiler {
public:
  /// Owns a context with everything registered and `registry` attached.
  explicit Compiler(const Registry &registry);

  /// Reads a model, `.onnx`, `.mlir` or `.mlirbc`; tosa becomes linalg.
  /// `weights` has elements of constants (loadWeights). One line to `errors`
  /// and null on failure.
  mlir::OwningOpRef<mlir::ModuleOp> load(llvm::StringRef path,
                                         llvm::raw_ostream &errors,
                                         llvm::StringRef weights = {});

  /// The same of MLIR in memory, under a name for messages.
  mlir::OwningOpRef<mlir::ModuleOp> loadText(llvm::StringRef text,
                                             llvm::StringRef name,
                                             llvm::raw_ostream &errors,
                                             llvm::StringRef weights = {});

  /// A module without functions, for callers that build their own from the
  /// dialects arith, func and numera.
  mlir::OwningOpRef<mlir::ModuleOp> emptyModule();

  /// Retypes the model and lowers it to the LLVM dialect, collecting the
  /// signatures of its public functions on the way.
  mlir::LogicalResult lower(mlir::ModuleOp module,
                            const CompileOptions &options, Resolved &resolved,
                            std::vector<FunctionSignature> &signatures,
                            llvm::raw_ostream &errors);

  /// The same up to a stage, for `--emit mlir`: `import`, `retype` or
  /// `lowered`.
  mlir::LogicalResult lowerTo(mlir::ModuleOp module, llvm::StringRef stage,
                              const CompileOptions &options,
                              llvm::raw_ostream &errors);

  /// True if a pass has failed without an error, which is a fault of Numera.
  bool failedInside() const { return isFaulty; }

private:
  mlir::OwningOpRef<mlir::ModuleOp>
  parse(std::unique_ptr<llvm::MemoryBuffer> buffer, llvm::StringRef path,
        llvm::StringRef weights);
  bool resolve(const CompileOptions &options, Resolved &resolved,
               llvm::raw_ostream &errors) const;
  mlir::LogicalResult
  runPasses(mlir::ModuleOp module,
            llvm::function_ref<void(mlir::OpPassManager &)> build,
            llvm::raw_ostream &errors, llvm::StringSet<> *warned);
  mlir::LogicalResult run(mlir::ModuleOp module,
                          llvm::function_ref<void(mlir::OpPassManager &)> build,
                          llvm::raw_ostream &errors);
  mlir::LogicalResult retype(mlir::ModuleOp module,
                             const CompileOptions &options, Resolved &resolved,
                             llvm::raw_ostream &errors);

  mlir::LogicalResult countStatusFlags(mlir::ModuleOp module,
                                       const CompileOptions &options,
                                       Resolved &resolved,
                                       llvm::raw_ostream &errors);

  const Registry &registry;
  std::unique_ptr<mlir::MLIRContext> context;
  llvm::StringSet<> warned; ///< lines that were printed, each once
  bool isFaulty = false;
};

} // namespace numera

#endif // NUMERA_TARGET_DRIVER_COMPILER_H
