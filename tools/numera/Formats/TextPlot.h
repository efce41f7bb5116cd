// SPDX-License-Identifier: MIT
//
// The precision of formats over their range, drawn in characters.

#ifndef NUMERA_TOOLS_FORMATS_TEXTPLOT_H
#define NUMERA_TOOLS_FORMATS_TEXTPLOT_H

#include "Plot.h"
#include "llvm/Support/raw_ostream.h"

namespace numera {

/// One chart a format, below each other, with one axis of exponents for all.
void printTextPlot(llvm::ArrayRef<PlottedFormat> formats,
                   llvm::raw_ostream &stream);

} // namespace numera

#endif // NUMERA_TOOLS_FORMATS_TEXTPLOT_H
