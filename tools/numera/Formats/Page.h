// SPDX-License-Identifier: MIT
//
// A page about a format, in HTML that needs no other file.

#ifndef NUMERA_TOOLS_FORMATS_PAGE_H
#define NUMERA_TOOLS_FORMATS_PAGE_H

#include "Plot.h"
#include "numera/Registry/Lowerings/RegistryEntries.h"

namespace numera {

/// Its properties, its picture, and, up to 8 bits, every code.
std::string pageOf(const RegistryEntries &registry,
                   const PlottedFormat &plotted);

} // namespace numera

#endif // NUMERA_TOOLS_FORMATS_PAGE_H
