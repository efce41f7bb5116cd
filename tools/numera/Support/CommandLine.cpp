// SPDX-License-Identifier: MIT

#include "CommandLine.h"
#include "Describe.h"

#include "numera/Registry/Formats/Words.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace numera;

std::string numera::printable(StringRef name) {
  std::string text = name.str();
  for (char &letter : text)
    if (uint8_t(letter) < ' ' || letter == '\x7f')
      letter = '?';
  return text;
}

int numera::fail(const Twine &message) {
  std::string line = message.str();
  // Messages of the system and of libraries may span lines.
  while (!line.empty() && isSpace(line.back()))
    line.pop_back();
  llvm::replace(line, '\n', ' ');
  errs() << "numera: error: " << printable(line) << '\n';
  return 1;
}

std::string CommandLine::command() const {
  return "numera " + synopsis.split(' ').first.str();
}

std::optional<int> CommandLine::parse(ArrayRef<const char *> arguments) {
  bool optionsEnded = false;
  while (!arguments.empty()) {
    StringRef argument = arguments.consume_front();
    if (optionsEnded || argument == "-" || !argument.starts_with("-")) {
      words.push_back(argument.str());
    } else if (argument == "--") {
      optionsEnded = true;
    } else if (argument == "--help" || argument == "-h") {
      printHelp({synopsis, summary, flags}, outs());
      return 0;
    } else if (StringRef style = argument;
               style.consume_front("--help=") &&
               describe(style, {synopsis, summary, flags}, outs())) {
      return 0;
    } else if (std::optional<int> status = parseOption(argument, arguments)) {
      return status;
    }
  }
  if (int status = afterwards ? afterwards() : 0)
    return status;
  return std::nullopt;
}

std::optional<int> CommandLine::parseOption(StringRef argument,
                                            ArrayRef<const char *> &rest) {
  auto [name, text] = argument.split('=');
  bool hasText = name.size() != argument.size();
  auto flag = find_if(
      flags, [&](const Flag &flag) { return name == dashed(flag.name); });
  if (flag == flags.end())
    return failUnknown(name);

  if (bool *const *target = std::get_if<bool *>(&flag->target)) {
    if (hasText)
      return fail("option '" + name + "' takes no value, found '" + text + "'");
    **target = true;
    return std::nullopt;
  }
  if (!hasText) {
    if (rest.empty())
      return fail("option '" + name + "' needs a value: " + name + " " +
                  flag->value);
    text = rest.consume_front();
  }
  if (assign(*flag, text))
    return 1;
  return std::nullopt;
}

int CommandLine::failUnknown(StringRef argument) const {
  std::vector<std::string> names;
  for (const Flag &flag : flags)
    names.push_back(dashed(flag.name));
  std::vector<StringRef> candidates(names.begin(), names.end());
  std::string line = "unknown option '" + argument.str() + "'";
  if (StringRef meant = nearest(argument, candidates); !meant.empty())
    return fail(line + ", did you mean '" + meant + "'?");
  return fail(line + ", see " + command() + " --help");
}

int CommandLine::assign(const Flag &flag, StringRef text) {
  if (!flag.choices.empty() && !is_contained(flag.choices, text))
    return fail("option '" + dashed(flag.name) + "' is '" + text +
                "', expected " + listed(flag.choices));
  // Empty is what an option that is not given is.
  if (text.empty())
    return fail("option '" + dashed(flag.name) + "' is empty, expected " +
                dashed(flag.name) + " " + flag.value);
  if (std::string *const *target = std::get_if<std::string *>(&flag.target)) {
    **target = text.str();
    return 0;
  }
  if (auto *const *target =
          std::get_if<std::vector<std::string> *>(&flag.target)) {
    (*target)->push_back(text.str());
    return 0;
  }
  uint64_t number;
  if (text.getAsInteger(10, number))
    return fail("option '" + dashed(flag.name) + "' is '" + text +
                "', expected a whole number from 0 on");
  *std::get<std::optional<uint64_t> *>(flag.target) = number;
  return 0;
}
