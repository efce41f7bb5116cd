// SPDX-License-Identifier: MIT
//
// `numera doctor`: what is missing on this machine, and what to do.

#include "Commands.h"
#include "Doctor/Doctor.h"
#include "Support/CommandLine.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace numera;

int numera::doctorCommand(ArrayRef<const char *> arguments) {
  bool wantsJSON = false;
  CommandLine line("doctor [--json]",
                   "Says what is missing on this machine for each feature, and "
                   "what to do. Fails only if\nprograms cannot be compiled and "
                   "run.");
  line.add({"json", "", "print JSON", &wantsJSON});
  if (std::optional<int> status = line.parse(arguments))
    return *status;
  if (!line.positional().empty())
    return fail("found '" + line.positional()[0] +
                "', expected no more than numera doctor --json");
  std::vector<Finding> findings;
  examineCore(findings);
  examineTools(findings);
  examineMachine(findings);
  if (wantsJSON) {
    json::OStream json(outs(), /*IndentSize=*/2);
    printJSON(findings, json);
    outs() << '\n';
  } else {
    printText(findings, outs());
  }
  return any_of(findings, [](const Finding &finding) {
    return finding.isCore && !finding.isFound;
  });
}
