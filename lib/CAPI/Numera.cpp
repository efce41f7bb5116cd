// SPDX-License-Identifier: MIT
//
// numera-c/Numera.h in terms of the registry; Programs.cpp has programs.
// What is checked here is what C cannot express; all else reports through the
// classes' own messages.

#include "Handles.h"
#include "numera/Registry/Formats/Plugin.h"
#include "numera/Target/Check/Proofs.h"
#include "numera/Target/Libraries/Examine/Libraries.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>
#include <dlfcn.h>

using namespace llvm;
using namespace numera;

// ---- errors ----------------------------------------------------------------

std::nullptr_t numera::fail(char **error, StringRef message) {
  // A line without a place begins so for those who print it.
  message.consume_front("error: ");
  if (error)
    *error = strdup(message.rtrim().str().c_str());
  return nullptr;
}
std::nullptr_t numera::fail(char **error, Error reason) {
  return fail(error, toString(std::move(reason)));
}

int numeraApiVersion(void) { return NUMERA_C_VERSION; }
const char *numeraVersion(void) { return version().data(); }
void numeraStringFree(char *text) { free(text); }

// ---- formats ---------------------------------------------------------------

NumeraRegistry *numeraRegistryCreate(void) { return new NumeraRegistry; }
void numeraRegistryDestroy(NumeraRegistry *registry) { delete registry; }

/// Loads into a copy, which takes the registry's place if nothing is wrong.
static int load(NumeraRegistry *registry, char **error,
                function_ref<bool(Registry &, raw_ostream &)> read) {
  clear(error);
  std::string message;
  raw_string_ostream errors(message);
  Registry loaded = registry->registry;
  if (!read(loaded, errors) || !openLibraries(loaded, errors))
    return status(fail(error, StringRef(message).split('\n').first));
  loadProofs(loaded, nulls());
  registry->registry = std::move(loaded);
  registry->casts.clear();
  return 1;
}

static int loadText(NumeraRegistry *registry, StringRef yaml, StringRef name,
                    StringRef directory, char **error) {
  if (!load(registry, error, [&](Registry &loaded, raw_ostream &errors) {
        return loaded.loadText(yaml, name, directory, errors);
      }))
    return 0;
  for (StringRef text : {yaml, name, directory})
    registry->sources.push_back(text.str());
  return 1;
}

int numeraRegistryLoadFile(NumeraRegistry *registry, const char *path,
                           char **error) {
  auto file = MemoryBuffer::getFile(path, /*IsText=*/true);
  if (file)
    return loadText(registry, (*file)->getBuffer(), path,
                    sys::path::parent_path(path), error);
  return load(registry, error, [&](Registry &loaded, raw_ostream &errors) {
    return loaded.load(path, errors); // which says why it cannot be read
  });
}

int numeraRegistryLoadText(NumeraRegistry *registry, const char *yaml,
                           const char *name, const char *directory,
                           char **error) {
  return loadText(registry, yaml, name, directory, error);
}

int numeraLoadPlugin(const char *path, char **error) {
  clear(error);
  // Plugins refer to this library, which its user may have opened for itself
  // alone: from now on its symbols are there for those that are opened next.
  Dl_info self;
  if (dladdr(reinterpret_cast<void *>(numeraLoadPlugin), &self))
    dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL);
  std::string message;
  return loadPlugin(path, message) || status(fail(error, message));
}

static Format lookup(const NumeraRegistry *registry, const char *name,
                     char **error) {
  clear(error);
  std::string message;
  Format format = registry->registry.lookupFormat(name, message);
  if (!format)
    fail(error, message);
  return format;
}

/// The same for conversions; null for formats that only a library knows.
static Format lookupKnown(const NumeraRegistry *registry, const char *name,
                          char **error) {
  Format format = lookup(registry, name, error);
  if (!format || format.getFamily().hasArithmetic())
    return format;
  fail(error, "format '" + std::string(name) +
                  "' is opaque: only its library defines its values");
  return {};
}

/// Bits of the least machine float that has all values of a format; 0: none.
static int32_t carrierOf(const Registry &registry, const Format &format) {
  const FormatFamily &family = format.getFamily();
  if (!family.hasArithmetic()) {
    Format carrier = registry.exactCarrierOf(format);
    return carrier ? int32_t(carrier.width()) : 0;
  }
  return family.embedsInF32(format) ? 32 : family.embedsInF64(format) ? 64 : 0;
}

int numeraFormatDescribe(const NumeraRegistry *registry, const char *name,
                         NumeraFormatInfo *info, char **error) {
  Format format = lookup(registry, name, error);
  if (!format)
    return 0;
  NumeraFormatInfo full = {
      .size = uint32_t(std::min(size_t(info->size), sizeof(full))),
      .width = format.width(),
      .storage = format.storageBits(),
      .has_arithmetic = format.getFamily().hasArithmetic(),
      .carrier = carrierOf(registry->registry, format)};
  memcpy(info, &full, full.size);
  return 1;
}

char *numeraFormatSpelling(const NumeraRegistry *registry, const char *name,
                           char **error) {
  Format format = lookup(registry, name, error);
  return format ? strdup(format.spelling().c_str()) : nullptr;
}

int numeraFormatEncode(const NumeraRegistry *registry, const char *name,
                       const double *values, uint64_t *codes, size_t count,
                       char **error) {
  Format format = lookupKnown(registry, name, error), f64 = formatF64();
  if (!format)
    return 0;
  for (size_t i = 0; i < count; ++i)
    codes[i] = format.getFamily().encode(
        format, f64.getFamily().decode(f64, bit_cast<uint64_t>(values[i])),
        format.getConstantRounding());
  return 1;
}

int numeraFormatDecode(const NumeraRegistry *registry, const char *name,
                       const uint64_t *codes, double *values, size_t count,
                       char **error) {
  Format format = lookupKnown(registry, name, error), f64 = formatF64();
  if (!format)
    return 0;
  uint64_t mask = maskTrailingOnes<uint64_t>(format.width());
  for (size_t i = 0; i < count; ++i) {
    if (codes[i] & ~mask)
      return status(fail(error, "code 0x" + utohexstr(codes[i], true) +
                                    " has more bits than '" + name + "', " +
                                    std::to_string(format.width())));
    values[i] = bit_cast<double>(
        f64.getFamily().encode(f64, format.getFamily().decode(format, codes[i]),
                               Rounding::NearestEven));
  }
  return 1;
}
