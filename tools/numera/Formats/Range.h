// SPDX-License-Identifier: MIT
//
// What formats can represent, one a line.

#ifndef NUMERA_TOOLS_FORMATS_RANGE_H
#define NUMERA_TOOLS_FORMATS_RANGE_H

#include "Plot.h"
#include "numera/Registry/Lowerings/RegistryEntries.h"
#include "llvm/Support/raw_ostream.h"

namespace numera {

/// A table of the ends of each format, its epsilon, and how many codes are
/// what; as JSON the descriptions that `numera formats NAME --json` prints, in
/// a list.
void printRanges(const RegistryEntries &registry,
                 llvm::ArrayRef<PlottedFormat> formats, bool asJSON,
                 llvm::raw_ostream &stream);

} // namespace numera

#endif // NUMERA_TOOLS_FORMATS_RANGE_H
