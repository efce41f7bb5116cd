// SPDX-License-Identifier: MIT
//
// One description of a command's options, printed in several styles: the text
// of
// `--help`, a section of the man page, and the part of a shell's completion
// that is about the command. `numera run --help=man` prints one of the others;
// Pages.h puts them together.

#ifndef NUMERA_TOOLS_SUPPORT_DESCRIBE_H
#define NUMERA_TOOLS_SUPPORT_DESCRIBE_H

#include "CommandLine.h"
#include "llvm/Support/raw_ostream.h"

namespace numera {

struct CommandDescription {
  llvm::StringRef synopsis, summary;
  llvm::ArrayRef<Flag> flags;

  /// The command's name: `run`.
  llvm::StringRef name() const { return synopsis.split(' ').first; }
};

/// What a shell offers for a word.
enum class Offer {
  Nothing,
  Files,
  Folders,
  Formats,
  Accumulators,
  Roundings,
  Overflows,
  Choices
};

/// For the value of a flag.
Offer offerFor(const Flag &flag);
/// For the words that are no options.
Offer offerForWords(const CommandDescription &command);

/// `--format`, `-o`.
std::string dashed(llvm::StringRef name);

/// The text of `--help`.
void printHelp(const CommandDescription &command, llvm::raw_ostream &stream);
/// Prints another style: man, markdown, bash, zsh or fish; false: there is no
/// such style.
bool describe(llvm::StringRef style, const CommandDescription &command,
              llvm::raw_ostream &stream);

/// Text in the language of man pages.
std::string escapedForMan(llvm::StringRef text);
/// Text within single quotes of a shell: `'` ends and begins them again.
std::string escapedForShell(llvm::StringRef text);

void describeForBash(const CommandDescription &command,
                     llvm::raw_ostream &stream);
void describeForZsh(const CommandDescription &command,
                    llvm::raw_ostream &stream);
void describeForFish(const CommandDescription &command,
                     llvm::raw_ostream &stream);

} // namespace numera

#endif // NUMERA_TOOLS_SUPPORT_DESCRIBE_H
