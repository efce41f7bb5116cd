// SPDX-License-Identifier: MIT
//
// What a program says about itself: as JSON inside it, and as a C header beside
// it.

#ifndef NUMERA_TARGET_INTERFACE_METADATA_H
#define NUMERA_TARGET_INTERFACE_METADATA_H

#include "numera/Registry/Lowerings/LibraryUse.h"
#include "numera/Registry/Lowerings/RuleUse.h"
#include "numera/Target/Interface/Signature.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

namespace numera {

/// What a compiled program says about itself (`numera_metadata`).
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

/// The same as JSON, as a program has it.
std::string printMetadata(const Metadata &metadata);
llvm::json::Array printUses(llvm::ArrayRef<LibraryUse> uses);
llvm::json::Array printRules(llvm::ArrayRef<RuleUse> rules);
/// Reads the JSON of a program.
llvm::Expected<Metadata> parseMetadata(llvm::StringRef json);

/// Numera's version.
llvm::StringRef version();

/// The text of a C header that declares the entries and includes numera.h's
/// text, so that it stands alone. `stem` names the include guard.
std::string renderHeader(llvm::ArrayRef<FunctionSignature> functions,
                         llvm::StringRef stem);

} // namespace numera

#endif // NUMERA_TARGET_INTERFACE_METADATA_H
