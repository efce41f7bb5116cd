// SPDX-License-Identifier: MIT
//
// A command's part of the completion of each shell. The words of formats,
// rounding modes and overflow rules are variables of the whole (Pages.cpp).

#include "Describe.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace numera;

/// Shell text, within double quotes or none, that makes the words of an offer.
static std::string wordsOf(Offer offer, ArrayRef<StringRef> choices) {
  switch (offer) {
  case Offer::Formats:
    return "$numera_formats";
  case Offer::Accumulators:
    return "$numera_accumulators";
  case Offer::Roundings:
    return "$numera_roundings";
  case Offer::Overflows:
    return "$numera_overflows";
  case Offer::Choices:
    return join(choices, " ");
  case Offer::Nothing:
  case Offer::Files:
  case Offer::Folders:
    return "";
  }
}

/// `offer=files` or `offer=words words="…"`, as the completion in bash reads
/// it.
static std::string bashOffer(Offer offer, ArrayRef<StringRef> choices) {
  if (offer == Offer::Nothing)
    return "offer=nothing";
  if (offer == Offer::Files)
    return "offer=files";
  if (offer == Offer::Folders)
    return "offer=folders";
  return "offer=words words=\"" + wordsOf(offer, choices) + "\"";
}

void numera::describeForBash(const CommandDescription &command,
                             raw_ostream &stream) {
  stream << "  " << command.name() << ")\n    options=\"";
  for (const Flag &flag : command.flags)
    stream << dashed(flag.name) << ' ';
  stream << "--help\"\n    " << bashOffer(offerForWords(command), {})
         << "\n    case $previous in\n";
  for (const Flag &flag : command.flags)
    if (!flag.value.empty())
      stream << "    " << dashed(flag.name) << ") "
             << bashOffer(offerFor(flag), flag.choices) << " ;;\n";
  stream << "    esac\n    ;;\n";
}

/// Text within the brackets of a specification of `_arguments`.
static std::string escapedForZsh(StringRef text) {
  std::string result;
  for (char c : text) {
    if (is_contained({'[', ']', ':', '\\'}, c))
      result += '\\';
    result += c;
  }
  return escapedForShell(result);
}

/// `:FILE:_files`: what zsh offers for a value of that name.
static std::string zshOffer(StringRef name, Offer offer,
                            ArrayRef<StringRef> choices) {
  std::string action = " ";
  if (offer == Offer::Files)
    action = "_files";
  else if (offer == Offer::Folders)
    action = "_files -/";
  else if (offer == Offer::Choices)
    action = "(" + wordsOf(offer, choices) + ")";
  else if (offer != Offer::Nothing)
    action = "(" + wordsOf(offer, choices).substr(1) + ")";
  // A variable goes outside the quotes around it all.
  if (StringRef(action).starts_with("(numera_"))
    action = "('\"$" + action.substr(1, action.size() - 2) + "\"')";
  return ":" + escapedForZsh(name) + ":" + action;
}

void numera::describeForZsh(const CommandDescription &command,
                            raw_ostream &stream) {
  stream << "  " << command.name() << ")\n    _arguments \\\n";
  for (const Flag &flag : command.flags) {
    bool isLong = flag.name.size() > 1, takesValue = !flag.value.empty();
    stream << "      '"
           << (std::holds_alternative<std::vector<std::string> *>(flag.target)
                   ? "*"
                   : "")
           << dashed(flag.name) << (isLong && takesValue ? "=" : "") << '['
           << escapedForZsh(flag.help) << ']';
    if (takesValue)
      stream << zshOffer(flag.value, offerFor(flag), flag.choices);
    stream << "' \\\n";
  }
  stream << "      '--help[print the options]' \\\n      '*"
         << zshOffer("word", offerForWords(command), {}) << "'\n    ;;\n";
}

void numera::describeForFish(const CommandDescription &command,
                             raw_ostream &stream) {
  std::string start = ("complete -c numera -n '__fish_seen_subcommand_from " +
                       command.name() + "' ")
                          .str();
  auto offer = [&](Offer offer, ArrayRef<StringRef> choices) -> std::string {
    if (offer == Offer::Nothing)
      return "-f";
    if (offer == Offer::Files)
      return "-F";
    if (offer == Offer::Folders)
      return "-f -a '(__fish_complete_directories)'";
    return "-f -a \"" + wordsOf(offer, choices) + "\"";
  };
  stream << start << offer(offerForWords(command), {}) << '\n';
  for (const Flag &flag : command.flags) {
    stream << start << (flag.name.size() == 1 ? "-s " : "-l ") << flag.name;
    if (!flag.value.empty())
      stream << " -r " << offer(offerFor(flag), flag.choices);
    stream << " -d '" << escapedForShell(flag.help) << "'\n";
  }
  stream << start << "-l help -d 'print the options'\n";
}
