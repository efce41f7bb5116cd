// SPDX-License-Identifier: MIT
//
// What `numera check` found, as text and as JSON (docs/CommandLine.md).

#ifndef NUMERA_TOOLS_CHECK_CHECKREPORT_H
#define NUMERA_TOOLS_CHECK_CHECKREPORT_H

#include "numera/Target/Check/Check.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace numera {

/// The name by which a user asked for a format.
struct AskedName {
  Format format;
  std::string name;
};

/// Writes down what was found of one format after the other.
class CheckReport {
public:
  /// Formats are called by their `names`, then as the registry calls them.
  CheckReport(const Registry &registry, uint64_t timeLimit,
              std::vector<AskedName> names)
      : registry(registry), timeLimit(timeLimit), names(std::move(names)) {}

  void printText(const check::Report &report, llvm::raw_ostream &out) const;
  void printJSON(const check::Report &report, llvm::json::OStream &json) const;

  /// `3 operations, 1966080 inputs: no mismatch`.
  static std::string summary(uint64_t operations, uint64_t inputs,
                             uint64_t bad);

private:
  std::string typeName(const CastType &type) const;
  /// `add`, `cmp olt`, `cast f32 -> bf16`.
  std::string title(const check::Result &result) const;
  /// `-` where there is nothing to round.
  llvm::StringRef roundingOf(const check::Checked &checked) const;
  std::string code(const CastType &type, uint64_t bits) const;
  /// The value of a code as text; empty where nobody says what it means.
  std::string value(const CastType &type, uint64_t bits) const;
  std::string operands(const check::Result &result,
                       const check::Example &example) const;
  std::string describe(const check::Result &result,
                       const check::Example &example, check::Fault fault) const;
  /// How running it ended; empty if it finished.
  std::string hint(const check::Result &result) const;
  std::string ending(const check::Result &result) const;
  void printRows(llvm::ArrayRef<check::Result> results,
                 llvm::raw_ostream &out) const;
  void printFindings(const check::Result &result, llvm::raw_ostream &out) const;
  void printResult(const check::Result &result,
                   llvm::json::OStream &json) const;
  void printExample(const check::Result &result, const check::Example &example,
                    llvm::json::OStream &json, bool hasResult) const;

  const Registry &registry;
  uint64_t timeLimit; ///< in seconds
  std::vector<AskedName> names;
};

} // namespace numera

#endif // NUMERA_TOOLS_CHECK_CHECKREPORT_H
