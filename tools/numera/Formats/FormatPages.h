// SPDX-License-Identifier: MIT
//
// What `numera formats` prints: the list, one format described, every code of
// one. For people in aligned lines, or as JSON.

#ifndef NUMERA_TOOLS_FORMATS_FORMATPAGES_H
#define NUMERA_TOOLS_FORMATS_FORMATPAGES_H

#include "numera/Registry/Registry.h"
#include "llvm/Support/JSON.h"

namespace numera {

/// Formats up to this width are printed code by code.
inline constexpr unsigned widestTable = 16;

void printFormatList(const Registry &registry, bool asJSON);
/// `name` is what the user calls it.
void printFormatDescription(const Registry &registry, const Format &format,
                            llvm::StringRef name, bool asJSON);
void printScaledDescription(const Registry &registry,
                            const ScaledFormat &format, llvm::StringRef name,
                            bool asJSON);
/// Where each operation of an opaque format comes from; as JSON the attribute
/// `provisions` of an object that is open.
void printProvisions(const Registry &registry, const Format &format,
                     llvm::json::OStream *json);
/// Returns the exit status.
int printFormatTable(const Format &format, llvm::StringRef name, bool asJSON);

} // namespace numera

#endif // NUMERA_TOOLS_FORMATS_FORMATPAGES_H
