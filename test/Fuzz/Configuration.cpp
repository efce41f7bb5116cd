// SPDX-License-Identifier: MIT
//
// Any text is a configuration, or one line of error. The formats of one are
// found again by their names and by their spellings.

#include "Fuzz.h"
#include "numera/Registry/Registry.h"

using namespace llvm;
using namespace numera;
using fuzz::promise;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const Registry builtin;
  Registry registry = builtin;
  std::string errors, error;
  raw_string_ostream stream(errors);
  if (!registry.loadText(fuzz::textOf(data, size), "fuzz.yaml", "/none",
                         stream)) {
    fuzz::promiseOneLine(errors, "fuzz.yaml");
    return 0;
  }
  promise(errors.empty(),
          "a configuration that is read has no error: " + errors);
  for (const Registry::NamedFormat &named : registry.formats()) {
    if (named.isBuiltin)
      continue;
    promise(registry.lookupFormat(named.name, error) == named.format,
            "a format has its name: " + named.name);
    if (!named.format.isOpaque())
      promise(registry.lookupFormat(named.format.spelling(), error) ==
                  named.format,
              "a format has its spelling: " + named.format.spelling());
  }
  for (const Registry::NamedScaledFormat &named : registry.scaledFormats())
    if (!named.isBuiltin)
      promise(registry.lookupScaledFormat(named.name, error) == named.format,
              "a scaled format has its name: " + named.name);
  for (const Lowering &lowering : registry.lowerings())
    (void)registry.symbolOf(lowering);
  return 0;
}
