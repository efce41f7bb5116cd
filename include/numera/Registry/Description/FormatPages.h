// SPDX-License-Identifier: MIT
//
// The output of `numera formats`: the list of formats, the properties of a
// format, or every code of a format, as aligned text or as JSON.

#ifndef NUMERA_REGISTRY_DESCRIPTION_FORMATPAGES_H
#define NUMERA_REGISTRY_DESCRIPTION_FORMATPAGES_H

#include "numera/Registry/Lowerings/RegistryEntries.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace numera {

/// Formats up to this width are printed code by code.
inline constexpr unsigned widestTable = 16;

void printFormatList(const RegistryEntries &registry, bool asJSON,
                     llvm::raw_ostream &stream);
/// `name` is the user's name of the format.
void printFormatDescription(const RegistryEntries &registry,
                            const Format &format, llvm::StringRef name,
                            bool asJSON, llvm::raw_ostream &stream);
void printScaledDescription(const RegistryEntries &registry,
                            const ScaledFormat &format, llvm::StringRef name,
                            bool asJSON, llvm::raw_ostream &stream);
/// Where each operation of an opaque format comes from: to `stream`, or, given
/// `json`, as the attribute `provisions` of an object that is open.
void printProvisions(const RegistryEntries &registry, const Format &format,
                     llvm::json::OStream *json, llvm::raw_ostream &stream);
/// The reason why a format has no table; empty if it has one.
std::string checkFormatTable(const Format &format, llvm::StringRef name);
void printFormatTable(const Format &format, bool asJSON,
                      llvm::raw_ostream &stream);

} // namespace numera

#endif // NUMERA_REGISTRY_DESCRIPTION_FORMATPAGES_H
