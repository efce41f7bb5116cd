// SPDX-License-Identifier: MIT

#include "Doctor.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

using namespace llvm;
using namespace numera;

static StringRef stateOf(const Finding &finding) {
  return finding.isFound ? "ok" : finding.isCore ? "broken" : "missing";
}

void numera::printText(ArrayRef<Finding> findings, raw_ostream &stream) {
  size_t width = 0;
  for (const Finding &finding : findings)
    width = std::max(width, finding.name.size());
  for (const Finding &finding : findings) {
    stream << left_justify(stateOf(finding), 9)
           << left_justify(finding.name, unsigned(width) + 2) << finding.found;
    if (!finding.isFound && !finding.needed.empty())
      stream << (finding.found.empty() ? "for " : "; for ") << finding.needed;
    if (!finding.isFound && !finding.advice.empty())
      stream << "; " << finding.advice;
    stream << '\n';
  }
}

void numera::printJSON(ArrayRef<Finding> findings, json::OStream &json) {
  json.array([&] {
    for (const Finding &finding : findings)
      json.object([&] {
        json.attribute("name", finding.name);
        json.attribute("state", stateOf(finding));
        json.attribute("found", json::fixUTF8(finding.found));
        json.attribute("needed_for", finding.needed);
        json.attribute("advice", finding.isFound ? "" : finding.advice);
      });
  });
}
