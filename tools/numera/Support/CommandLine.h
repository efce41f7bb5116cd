// SPDX-License-Identifier: MIT
//
// The words behind a command: `--name value`, `--name=value`, `-o value`,
// switches and positional arguments. Whatever is wrong with them is one line
// on stderr that names what was found and what to do.

#ifndef NUMERA_TOOLS_SUPPORT_COMMANDLINE_H
#define NUMERA_TOOLS_SUPPORT_COMMANDLINE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace numera {

/// Prints `numera: error: <message>` as one line and returns 1, the exit
/// status.
int fail(const llvm::Twine &message);

/// A name of a model, for a terminal: with `?` in place of control characters,
/// which could move its cursor.
std::string printable(llvm::StringRef name);

/// An option and where its value goes. A bool is a switch; a list takes the
/// option as often as it comes, everything else keeps the last one.
struct Flag {
  llvm::StringRef name;
  llvm::StringRef value; ///< the value's name in `--help`: `FILE`
  llvm::StringRef help;
  std::variant<bool *, std::string *, std::optional<uint64_t> *,
               std::vector<std::string> *>
      target;
  /// What a string may be; empty: anything.
  std::vector<llvm::StringRef> choices = {};
};

class CommandLine {
public:
  /// `synopsis` is what follows `numera` in the first line of `--help`.
  CommandLine(llvm::StringRef synopsis, llvm::StringRef summary)
      : synopsis(synopsis), summary(summary) {}

  void add(Flag flag) { flags.push_back(std::move(flag)); }

  /// Is called when all options have been read; an exit status that is not 0
  /// is that of `parse`.
  void then(std::function<int()> action) { afterwards = std::move(action); }

  /// The exit status where there is nothing left to do: 0 after `--help` or
  /// `--help=STYLE` (Describe.h), 1 after an error.
  std::optional<int> parse(llvm::ArrayRef<const char *> arguments);

  llvm::ArrayRef<std::string> positional() const { return words; }

private:
  std::optional<int> parseOption(llvm::StringRef argument,
                                 llvm::ArrayRef<const char *> &rest);
  int failUnknown(llvm::StringRef argument) const;
  static int assign(const Flag &flag, llvm::StringRef text);
  /// `numera run`: the command's own words in messages.
  std::string command() const;

  llvm::StringRef synopsis, summary;
  std::vector<Flag> flags;
  std::vector<std::string> words;
  std::function<int()> afterwards;
};

} // namespace numera

#endif // NUMERA_TOOLS_SUPPORT_COMMANDLINE_H
