// SPDX-License-Identifier: MIT
//
// The description of a program: as JSON inside it, and as a C header beside it.

#ifndef NUMERA_TARGET_INTERFACE_METADATA_H
#define NUMERA_TARGET_INTERFACE_METADATA_H

#include "numera/Registry/Lowerings/LibraryUse.h"
#include "numera/Registry/Lowerings/RuleUse.h"
#include "numera/Target/Interface/Signature.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

namespace numera {

/// The metadata of a compiled program (`numera_metadata`).
struct Metadata {
  std::string version; ///< of Numera
  std::string target;  ///< of the code, e.g. `cpu znver4`
  std::string format;  ///< names or spellings, as the caller writes them
  std::string accumulate;
  std::string rounding;
  std::string overflow;
  uint64_t seed = 0;
  std::vector<LibraryUse> libraryUses; ///< operations of opaque formats
  std::vector<RuleUse> rules;          ///< of the policy
  std::vector<FunctionSignature> functions;
};

/// The metadata as JSON, as a program contains it.
std::string printMetadata(const Metadata &metadata);
llvm::json::Array printUses(llvm::ArrayRef<LibraryUse> uses);
llvm::json::Array printRules(llvm::ArrayRef<RuleUse> rules);
/// Reads the JSON of a program.
llvm::Expected<Metadata> parseMetadata(llvm::StringRef json);

/// Numera's version.
llvm::StringRef version();

/// The text of a C header that declares the entries and contains the text of
/// numera.h, so that it is self-contained. `stem` names the include guard.
std::string renderHeader(llvm::ArrayRef<FunctionSignature> functions,
                         llvm::StringRef stem);

} // namespace numera

#endif // NUMERA_TARGET_INTERFACE_METADATA_H
