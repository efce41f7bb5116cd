// SPDX-License-Identifier: MIT
//
// Commands of the Python package (docs/Python.md). This process becomes Python,
// so that its exit status, its terminal and its signals are theirs.

#include "Commands.h"
#include "Support/CommandLine.h"

#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <unistd.h>
#include <vector>

using namespace llvm;
using namespace numera;

ArrayRef<Command> numera::pythonCommands() {
  static const Command all[] = {
      {"sweep", "run a model in many formats and compare", nullptr},
      {"search", "look for a format for each layer of a model", nullptr},
      {"report", "say what a format did to a model, as a page", nullptr},
      {"cost", "count operations, and add up energy and area by a table",
       nullptr},
      {"import", "write a model of PyTorch or JAX as MLIR", nullptr},
  };
  return all;
}

/// What `python3 -m numera` does, but for a folder `numera` at hand, which is
/// not taken for the package. argv is: -c, the command, its words.
static constexpr StringLiteral script = R"(
import sys
if not sys.path[0]:
    del sys.path[0]
try:
    from numera.study._command import main
except KeyboardInterrupt:
    print("numera: interrupted", file=sys.stderr)
    sys.exit(130)
except ImportError as error:
    name = (error.name or "numera").partition(".")[0]
    missing = ("pip install the folder of Numera's sources, or its wheel"
               if name == "numera" else f"pip install {name}")
    sys.exit(f"numera: error: 'numera {sys.argv[1]}' needs the Python package "
             f"{name}, which {sys.executable} has not: {missing}, or name "
             f"another Python in NUMERA_PYTHON")
sys.exit(main(sys.argv[1:]))
)";

int numera::runInPython(StringRef name, ArrayRef<const char *> arguments) {
  const char *named = std::getenv("NUMERA_PYTHON");
  std::string python = named && *named ? named : "python3",
              command = name.str();
  std::vector<const char *> words = {python.c_str(), "-c", script.data(),
                                     command.c_str()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  words.push_back(nullptr);
  outs().flush();
  execvp(python.c_str(), const_cast<char *const *>(words.data()));
  std::string reason = std::generic_category().message(errno);
  return fail("'numera " + name + "' needs Python, and '" + python +
              "' cannot be run: " + reason +
              "; NUMERA_PYTHON names one that has the package numera-mlir");
}
