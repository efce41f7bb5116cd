// SPDX-License-Identifier: MIT
//
// What the opaque types of numera-c/Numera.h are, and how its functions report.

#ifndef NUMERA_LIB_CAPI_HANDLES_H
#define NUMERA_LIB_CAPI_HANDLES_H

#include "Casts.h"
#include "numera-c/Numera.h"
#include "numera/Registry/Registry.h"
#include "numera/Target/Driver/LayerErrors.h"
#include "numera/Target/Driver/Statistics.h"
#include "numera/Target/Program/Program.h"
#include "llvm/Support/Error.h"
#include <map>

struct NumeraRegistry {
  numera::Registry registry;
  /// Text that was read, with its name and directory: without libraries, all
  /// that the registry has besides the built-in formats.
  std::vector<std::string> sources = {};
  /// Conversions of arrays that were compiled for it.
  mutable numera::CastCache casts;
};

struct NumeraProgram {
  std::unique_ptr<numera::Program> program;
  std::string metadata;
  std::string warnings = {};
  /// What the last output of functions counts, by their names.
  std::map<std::string, llvm::SmallVector<numera::FlagCounts>> counts = {};
  /// The layers that functions show, as their last outputs or in calls.
  std::map<std::string, std::vector<numera::LayerRow>> layers = {};
  bool returnsLayers = false;
};

struct NumeraLayers {
  NumeraLayers(llvm::ArrayRef<numera::LayerRow> rows,
               const numera::Registry &registry, unsigned threads)
      : collector(rows, registry, threads) {}
  numera::LayerCollector collector;
};

namespace numera {

/// The name of a function, or of the program's first one for NULL.
inline std::string functionNamed(const NumeraProgram &program,
                                 const char *function) {
  auto functions = program.program->functions();
  return function ? function : functions.empty() ? "" : functions.front().name;
}

/// One line for the caller; returns 0, which is a null pointer, too.
std::nullptr_t fail(char **error, llvm::StringRef message);
std::nullptr_t fail(char **error, llvm::Error reason);
inline void clear(char **error) {
  if (error)
    *error = nullptr;
}
/// The status of functions that return one: 0 after a failure.
inline int status(std::nullptr_t) { return 0; }

} // namespace numera

#endif // NUMERA_LIB_CAPI_HANDLES_H
