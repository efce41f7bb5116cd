// SPDX-License-Identifier: MIT
//
// `numera schema`: the JSON Schema of configurations, for editors.

#include "Commands.h"
#include "Support/CommandLine.h"
#include "Support/ModelFlags.h"

#include "numera/Registry/Configuration/Schema.h"

using namespace llvm;
using namespace numera;

int numera::schemaCommand(ArrayRef<const char *> arguments) {
  FormatSources sources;
  CommandLine line("schema",
                   "Prints the JSON Schema of configurations (YAML), for "
                   "editors and for checks without Numera.");
  line.add({"load-plugin", "FILE", "a plugin, whose family has its keys",
            &sources.plugins});
  if (std::optional<int> status = line.parse(arguments))
    return *status;
  if (!line.positional().empty())
    return fail("found '" + line.positional()[0] +
                "', expected no more than numera schema");
  Registry registry;
  if (!loadRegistry(sources, registry))
    return 1;
  printConfigurationSchema(outs());
  return 0;
}
