// SPDX-License-Identifier: MIT
//
// A YAML document as a tree with positions. It supports only what a
// configuration needs: scalars, sequences and mappings, but no anchors,
// aliases, tags or further documents.

#ifndef NUMERA_LIB_REGISTRY_CONFIGURATION_YAML_H
#define NUMERA_LIB_REGISTRY_CONFIGURATION_YAML_H

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/SMLoc.h"
#include "llvm/Support/SourceMgr.h"
#include <string>
#include <vector>

namespace llvm::yaml {
class Node;
} // namespace llvm::yaml

namespace numera {

struct YamlNode {
  enum class Kind { Nothing, Scalar, Sequence, Mapping };
  Kind kind = Kind::Nothing;
  llvm::SMLoc place;
  llvm::SMLoc end;             ///< of a scalar
  std::string text;            ///< of a scalar, without quotes
  std::vector<YamlNode> items; ///< of a sequence or a mapping
  std::string key;             ///< of an item of a mapping
  llvm::SMLoc keyPlace;

  bool isNothing() const { return kind == Kind::Nothing; }
  bool isScalar() const { return kind == Kind::Scalar; }
  bool isSequence() const { return kind == Kind::Sequence; }
  bool isMapping() const { return kind == Kind::Mapping; }
  /// `a mapping`, for messages.
  llvm::StringRef kindName() const;
  /// The item of a mapping with that key, or null.
  const YamlNode *find(llvm::StringRef key) const;
};

/// The text of a file, its tree, and where its faults are reported.
class YamlFile {
public:
  YamlFile(llvm::StringRef text, llvm::StringRef name,
           llvm::raw_ostream &errors)
      : name(name), errors(errors), text(text) {
    sources.setDiagHandler(handleSyntaxError, this);
  }
  YamlFile(const YamlFile &) = delete; // places point into the text
  YamlFile &operator=(const YamlFile &) = delete;

  /// Reads the document; false after an error.
  bool parse(YamlNode &root);

  /// Where a node begins: at `{` or `[` if it has one, of which the library
  /// says what follows.
  llvm::SMLoc placeOf(const llvm::yaml::Node &node) const;
  /// `name:line:column`.
  std::string location(llvm::SMLoc place) const;
  /// Prints `name:line:column: error: message`, the first time only. Returns
  /// false.
  bool fail(llvm::SMLoc place, const llvm::Twine &message);

private:
  /// False after an error: a byte that is not UTF-8, or a tab that indents.
  bool checkCharacters();
  static void handleSyntaxError(const llvm::SMDiagnostic &, void *file);

  std::string name;
  llvm::raw_ostream &errors;
  llvm::SourceMgr sources;
  std::string text;
  bool failed = false;
};

} // namespace numera

#endif // NUMERA_LIB_REGISTRY_CONFIGURATION_YAML_H
