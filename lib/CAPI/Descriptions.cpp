// SPDX-License-Identifier: MIT
//
// What is told of formats in numera-c/Numera.h: the JSON that `numera formats`
// prints.

#include "Handles.h"
#include "Options.h"
#include "numera/Registry/Description/FormatPages.h"
#include "numera/Target/Driver/Compiler.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>

using namespace llvm;
using namespace numera;

/// The text that `print` writes.
static char *textOf(function_ref<void(raw_ostream &)> print) {
  std::string text;
  raw_string_ostream stream(text);
  print(stream);
  return strdup(text.c_str());
}

char *numeraFormatList(const NumeraRegistry *registry, char **error) {
  clear(error);
  return textOf([&](raw_ostream &stream) {
    printFormatList(registry->registry, /*asJSON=*/true, stream);
  });
}

char *numeraFormatFacts(const NumeraRegistry *registry, const char *name,
                        char **error) {
  clear(error);
  std::string message;
  ScaledFormat scaled = registry->registry.lookupScaledFormat(name, message);
  Format format = scaled || !message.empty()
                      ? Format()
                      : registry->registry.lookupFormat(name, message);
  if (!scaled && !format)
    return fail(error, message);
  return textOf([&](raw_ostream &stream) {
    if (scaled)
      printScaledDescription(registry->registry, scaled, name, /*asJSON=*/true,
                             stream);
    else
      printFormatDescription(registry->registry, format, name, /*asJSON=*/true,
                             stream);
  });
}

char *numeraFormatTable(const NumeraRegistry *registry, const char *name,
                        char **error) {
  clear(error);
  std::string message;
  Format format = registry->registry.lookupFormat(name, message);
  if (format)
    message = checkFormatTable(format, name);
  if (!message.empty())
    return fail(error, message);
  return textOf([&](raw_ostream &stream) {
    printFormatTable(format, /*asJSON=*/true, stream);
  });
}

char *numeraFormatVariant(const NumeraRegistry *registry, const char *name,
                          const char *const *options, char **error) {
  clear(error);
  std::string message;
  Format format = registry->registry.lookupFormat(name, message);
  std::optional<ModelOptions> chosen = readOptions(options, message);
  if (!format || !chosen || !withOptions(chosen->compile, format, message))
    return fail(error, message);
  return strdup(format.spelling().c_str());
}
