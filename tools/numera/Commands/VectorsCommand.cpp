// SPDX-License-Identifier: MIT
//
// `numera vectors`: test vectors in the text form of TestFloat.

#include "Check/Vectors.h"
#include "Commands.h"
#include "Support/CommandLine.h"
#include "Support/ModelFlags.h"
#include "numera/Target/Support/TextFile.h"

using namespace llvm;
using namespace numera;

int numera::vectorsCommand(ArrayRef<const char *> arguments) {
  FormatSources sources;
  CompileOptions changes;
  std::optional<uint64_t> draws, seed;
  std::string path = "-";
  CommandLine line("vectors FORMAT OPERATION [options]",
                   "Writes operands, results and flags in the text form of "
                   "TestFloat. OPERATION is one of\nthe dialect, mulAdd, eq, "
                   "le, lt, to_FORMAT, or to_i32, to_ui64 and the like.");
  addFormatsFlags(line, sources);
  line.add({"rounding", "MODE", "round so, e.g. nearest-even, up",
            &changes.rounding});
  line.add({"overflow", "RULE", "infinity, saturate, propagate or wrap",
            &changes.overflow});
  line.add({"draws", "NUMBER",
            "random operands, and no more combinations of boundary values than "
            "that (default: 65536)",
            &draws});
  line.add(
      {"seed", "NUMBER", "seed of the random operands (default: 1)", &seed});
  line.add({"o", "OUT", "the file to write (default: standard output)", &path});
  if (std::optional<int> status = line.parse(arguments))
    return *status;
  if (line.positional().size() != 2)
    return fail("expected a format and an operation, as in numera vectors f16 "
                "add, found " +
                Twine(line.positional().size()));
  constexpr uint64_t most = 10'000'000;
  if (draws.value_or(1) < 1 || draws.value_or(1) > most)
    return fail("option '--draws' is '" + Twine(*draws) + "', expected 1 to " +
                Twine(most));
  Registry registry;
  if (!loadRegistry(sources, registry))
    return 1;
  std::string error;
  Format format = registry.lookupFormat(line.positional()[0], error);
  if (!format)
    return fail(error);
  if (!withOptions(changes, format, error))
    return fail(error);
  VectorOperation operation =
      vectorOperation(registry, format, line.positional()[1], error);
  // A conversion rounds as its result does.
  if (!operation.operands || (operation.operation == OpKind::Cast &&
                              !withOptions(changes, operation.result, error)))
    return fail(error);
  if (Error failure = checkTruncates(operation, changes.rounding))
    return fail(toString(std::move(failure)));
  std::string text;
  raw_string_ostream stream(text);
  if (Error failure = writeVectors(registry, operation, draws.value_or(65536),
                                   seed.value_or(1), stream))
    return fail(toString(std::move(failure)));
  if (Error failure = writeTextFile(path, text))
    return fail(toString(std::move(failure)));
  return 0;
}
