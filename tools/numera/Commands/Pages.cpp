// SPDX-License-Identifier: MIT
//
// `numera completion` and `numera man`: what stands around the parts that the
// commands print of themselves (Support/Describe.h).

#include "Commands.h"
#include "Support/CommandLine.h"
#include "Support/Describe.h"

#include "numera/Registry/Formats/Words.h"
#include "numera/Registry/Registry.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace numera;

static std::string onOneLine(StringRef text) {
  std::string line = text.str();
  llvm::replace(line, '\n', ' ');
  return line;
}

static SmallVector<Command> allCommands() {
  SmallVector<Command> all(commands());
  append_range(all, pythonCommands());
  return all;
}

static std::string commandNames() {
  std::string names;
  for (const Command &command : allCommands())
    names += command.name.str() + " ";
  return names + "completion --help --version";
}

/// Every command prints its part.
static int describeAll(StringRef style) {
  std::string option = ("--help=" + style).str();
  for (const Command &command : commands())
    if (int status = command.run({option.c_str()}))
      return status;
  return 0;
}

/// `name words end`, one a line: variables of all three shells.
static void printWords(StringRef before, StringRef after, raw_ostream &stream) {
  Registry registry;
  std::vector<StringRef> formats;
  for (const auto &format : registry.formats())
    formats.push_back(format.name);
  for (const auto &format : registry.scaledFormats())
    formats.push_back(format.name);
  auto print = [&](StringRef name, ArrayRef<StringRef> words) {
    stream << before << name << after << join(words, " ") << "'\n";
  };
  print("formats", formats);
  formats.insert(formats.begin(), {"same", "quire", "tensorcore"});
  print("accumulators", formats);
  print("roundings", supported(roundingWords()));
  print("overflows", supported(overflowWords()));
}

static constexpr StringLiteral bashStart = R"(_numera() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}
  local options="" offer=nothing words=""
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    mapfile -t COMPREPLY < <(compgen -W "$numera_commands" -- "$current")
    return
  fi
  # Bash takes `--option=value` for three words.
  if [ "$current" = = ]; then
    current=""
  elif [ "$previous" = = ]; then
    previous=${COMP_WORDS[COMP_CWORD-2]}
  fi
  case ${COMP_WORDS[1]} in
)";

static constexpr StringLiteral bashEnd =
    R"(  sweep | search | report | cost | import)
    offer=files
    # The Python package has their options.
    case $current in
    -*)
      options=$(numera "${COMP_WORDS[1]}" --help 2>/dev/null |
        grep -oE -e '--[a-z][a-z-]*' | sort -u)
      ;;
    esac
    ;;
  completion)
    offer=words words="bash zsh fish"
    ;;
  esac
  case $current in
  -*) offer=words words=$options ;;
  esac
  case $offer in
  files)
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
    ;;
  folders)
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -d -- "$current")
    ;;
  words) mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current") ;;
  esac
}
complete -F _numera numera
)";

static int printBash(raw_ostream &stream) {
  stream << "# SPDX-License-Identifier: MIT\n# Completion of numera in bash; "
            "`numera completion bash` prints it.\n";
  printWords("numera_", "='", stream);
  stream << "numera_commands='" << commandNames() << "'\n" << bashStart;
  if (int status = describeAll("bash"))
    return status;
  stream << bashEnd;
  return 0;
}

static int printZsh(raw_ostream &stream) {
  stream << "#compdef numera\n# SPDX-License-Identifier: MIT\n# Completion of "
            "numera in zsh; `numera completion zsh` prints it.\n_numera() {\n";
  printWords("  local numera_", "='", stream);
  stream << "  local -a commands=(\n";
  for (const Command &command : allCommands())
    stream << "    '" << command.name << ':'
           << escapedForShell(onOneLine(command.summary)) << "'\n";
  stream << "    'completion:print completions for a shell'\n  )\n"
            "  if (( CURRENT == 2 )); then\n"
            "    _describe command commands\n    return\n  fi\n"
            "  local command=$words[2]\n  shift words\n  (( CURRENT-- ))\n"
            "  case $command in\n";
  if (int status = describeAll("zsh"))
    return status;
  stream << "  sweep|search|report|cost|import)\n"
            "    if [[ $PREFIX = -* ]]; then\n"
            "      compadd -- ${(fu)\"$(numera $command --help 2>/dev/null | "
            "grep -oE -e '--[a-z][a-z-]*')\"}\n"
            "    else\n      _files\n    fi\n    ;;\n"
            "  completion) _arguments '1:shell:(bash zsh fish)' ;;\n  esac\n}\n"
            "if [ \"$funcstack[1]\" = _numera ]; then\n  _numera \"$@\"\nelse\n"
            "  compdef _numera numera\nfi\n";
  return 0;
}

static int printFish(raw_ostream &stream) {
  stream << "# SPDX-License-Identifier: MIT\n# Completion of numera in fish; "
            "`numera completion fish` prints it.\n";
  printWords("set -g numera_", " '", stream);
  for (const Command &command : allCommands())
    stream << "complete -c numera -n __fish_use_subcommand -f -a "
           << command.name << " -d '"
           << escapedForShell(onOneLine(command.summary)) << "'\n";
  stream
      << "complete -c numera -n __fish_use_subcommand -f -a completion -d "
         "'print completions for a shell'\n"
         "complete -c numera -n '__fish_seen_subcommand_from completion' -f "
         "-a 'bash zsh fish'\n"
         "complete -c numera -n '__fish_seen_subcommand_from sweep search "
         "report cost import' -a '(numera (commandline -opc)[2] --help "
         "2>/dev/null | string match -ar -- \"--[a-z][a-z-]+\" | sort -u)'\n";
  return describeAll("fish");
}

int numera::completionCommand(ArrayRef<const char *> arguments) {
  CommandLine line("completion bash|zsh|fish",
                   "Prints completions of commands and options for a shell, "
                   "for example:\nsource <(numera completion bash)");
  if (std::optional<int> status = line.parse(arguments))
    return *status;
  if (line.positional().size() == 1) {
    StringRef shell = line.positional()[0];
    if (shell == "bash")
      return printBash(outs());
    if (shell == "zsh")
      return printZsh(outs());
    if (shell == "fish")
      return printFish(outs());
    return fail("unknown shell '" + shell + "', expected bash, zsh or fish");
  }
  return fail("expected one shell, as in numera completion bash, found " +
              Twine(line.positional().size()));
}

static constexpr StringLiteral manEnd = R"(.SH "EXIT STATUS"
0 on success, 1 otherwise. On failure, standard error has one line that says what
was found and what was expected.
.SH ENVIRONMENT
.TP
\fBNUMERA_CODE_CACHE\fR
the folder where machine code is cached; off: no cache
.TP
\fBNUMERA_CODE_CACHE_SIZE\fR
what it holds at most, in MiB; 256 by default
.TP
\fBNUMERA_PYTHON\fR
the Python that has the package numera, for sweep, search, report, cost and import;
python3 by default
.TP
\fBCUDA_HOME\fR
where CUDA's tools are
.SH FILES
.TP
\fI~/.cache/numera\fR
machine code and proofs, or in \fI$XDG_CACHE_HOME/numera\fR
.SH "SEE ALSO"
.BR numera\-opt (1),
.BR numera\-lsp\-server (1),
.BR numera\-reduce (1),
.BR clang (1)
)";

int numera::manCommand(StringRef version) {
  outs()
      << ".\\\" SPDX-License-Identifier: MIT\n.\\\" `numera man` prints it.\n"
         ".TH NUMERA 1 \"\" \"numera "
      << version
      << "\" \"User Commands\"\n.SH NAME\nnumera \\- compile and run models "
         "in number formats that no hardware has\n.SH SYNOPSIS\n.B numera\n"
         ".I COMMAND\n\\&...\n.SH COMMANDS\n";
  for (const Command &command : allCommands())
    outs() << ".TP\n.B " << escapedForMan(command.name) << '\n'
           << escapedForMan(onOneLine(command.summary)) << '\n';
  outs()
      << ".TP\n.B completion\nprint completions for bash, zsh or fish\n.PP\n"
         "\\fBnumera\\fR \\fICOMMAND\\fR \\fB\\-\\-help\\fR lists the options "
         "of a command, and \\fBnumera \\-\\-version\\fR prints the versions "
         "of Numera and LLVM and the CPU.\n";
  if (int status = describeAll("man"))
    return status;
  outs() << manEnd;
  return 0;
}
