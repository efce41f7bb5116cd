// SPDX-License-Identifier: MIT

#ifndef NUMERA_TOOLS_LSP_SERVER_SUGGESTIONS_H
#define NUMERA_TOOLS_LSP_SERVER_SUGGESTIONS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"
#include <string>
#include <vector>

namespace numera {

struct Suggestion {
  std::string word;
  bool isKey; ///< else a value
};

/// What can stand at a place of a configuration, by the schema of all of them.
class Suggestions {
public:
  Suggestions();

  /// The keys of the mapping there that it does not have yet, or the values of
  /// the key before it. `line` and `column` begin at 0.
  std::vector<Suggestion> at(llvm::StringRef text, unsigned line,
                             unsigned column) const;

private:
  llvm::json::Value schema;
};

} // namespace numera

#endif // NUMERA_TOOLS_LSP_SERVER_SUGGESTIONS_H
