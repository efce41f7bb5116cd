// SPDX-License-Identifier: MIT

#include "Describe.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include <algorithm>

using namespace llvm;
using namespace numera;

std::string numera::dashed(StringRef name) {
  return (name.size() == 1 ? "-" : "--") + name.str();
}

Offer numera::offerFor(const Flag &flag) {
  if (!flag.choices.empty())
    return Offer::Choices;
  if (flag.value == "FOLDER")
    return Offer::Folders;
  if (flag.value.contains("FILE") || flag.value.starts_with("OUT"))
    return Offer::Files;
  if (flag.name == "accumulate")
    return Offer::Accumulators;
  if (flag.value == "FORMAT")
    return Offer::Formats;
  if (flag.value == "MODE")
    return Offer::Roundings;
  if (flag.value == "RULE")
    return Offer::Overflows;
  return Offer::Nothing;
}

Offer numera::offerForWords(const CommandDescription &command) {
  if (command.synopsis.contains("MODEL"))
    return Offer::Files;
  return command.name() == "formats" || command.name() == "vectors"
             ? Offer::Formats
             : Offer::Nothing;
}

void numera::printHelp(const CommandDescription &command, raw_ostream &stream) {
  stream << "usage: numera " << command.synopsis << "\n\n"
         << command.summary << "\n\n";
  size_t width = StringRef("--help").size();
  auto left = [](const Flag &flag) {
    return dashed(flag.name) +
           (flag.value.empty() ? "" : " " + flag.value.str());
  };
  for (const Flag &flag : command.flags)
    width = std::max(width, left(flag).size());
  for (const Flag &flag : command.flags)
    stream << "  " << left_justify(left(flag), unsigned(width) + 2) << flag.help
           << '\n';
  stream << "  " << left_justify("--help", unsigned(width) + 2)
         << "print this text\n";
}

std::string numera::escapedForMan(StringRef text) {
  std::string result;
  bool startsLine = true;
  for (char c : text) {
    // At the start of a line these are requests.
    if (startsLine && (c == '.' || c == '\''))
      result += "\\&";
    startsLine = c == '\n';
    if (c == '\\')
      result += "\\e";
    else if (c == '-')
      result += "\\-";
    else if (c == '\'')
      result += "\\(aq";
    else
      result += c;
  }
  return result;
}

std::string numera::escapedForShell(StringRef text) {
  std::string result;
  for (char c : text)
    result += c == '\'' ? "'\\''" : std::string(1, c);
  return result;
}

static void describeForMan(const CommandDescription &command,
                           raw_ostream &stream) {
  stream << ".SH NUMERA " << command.name().upper() << "\n.B numera "
         << escapedForMan(command.synopsis) << "\n.PP\n"
         << escapedForMan(command.summary) << '\n';
  for (const Flag &flag : command.flags) {
    stream << ".TP\n\\fB" << escapedForMan(dashed(flag.name)) << "\\fR";
    if (!flag.value.empty())
      stream << " \\fI" << escapedForMan(flag.value) << "\\fR";
    stream << '\n' << escapedForMan(flag.help) << '\n';
  }
}

/// `|` would end a cell of a table.
static std::string escapedForMarkdown(StringRef text) {
  std::string result;
  for (char c : text)
    result += (c == '|' || c == '<' ? "\\" : "") + std::string(1, c);
  return result;
}

/// For docs/Options.md.
static void describeForMarkdown(const CommandDescription &command,
                                raw_ostream &stream) {
  stream << "\n## `numera " << command.name() << "`\n\n    numera "
         << command.synopsis << "\n\n"
         << escapedForMarkdown(command.summary)
         << "\n\n| option | meaning |\n|---|---|\n";
  for (const Flag &flag : command.flags) {
    std::string value = flag.value.empty() ? "" : " " + flag.value.str();
    // A bar ends a cell even in code.
    std::string::size_type bar;
    while ((bar = value.find('|')) != std::string::npos)
      value.replace(bar, 1, " or ");
    stream << "| `" << dashed(flag.name) << value << "` | "
           << escapedForMarkdown(flag.help) << " |\n";
  }
  stream << "| `--help` | print these options |\n";
}

bool numera::describe(StringRef style, const CommandDescription &command,
                      raw_ostream &stream) {
  if (style == "man")
    describeForMan(command, stream);
  else if (style == "markdown")
    describeForMarkdown(command, stream);
  else if (style == "bash")
    describeForBash(command, stream);
  else if (style == "zsh")
    describeForZsh(command, stream);
  else if (style == "fish")
    describeForFish(command, stream);
  else
    return false;
  return true;
}
