// SPDX-License-Identifier: MIT
//
// A picture of formats, in SVG: the relative precision over the range, one line
// a format, and below it where the values lie, one row a format.

#ifndef NUMERA_TOOLS_FORMATS_PLOT_H
#define NUMERA_TOOLS_FORMATS_PLOT_H

#include "numera/Registry/Formats/Format.h"
#include "numera/Registry/Scaling/Scaling.h"

namespace numera {

struct PlottedFormat {
  std::string name;
  Format format; ///< with arithmetic; of a scaled format, its elements'
  ScaledFormat scaled = {};

  std::string label() const { return scaled ? name + " elements" : name; }
};

/// More lines than that nobody tells apart.
inline constexpr size_t mostPlotted = 12;

/// The picture; the same formats give the same text.
std::string plot(llvm::ArrayRef<PlottedFormat> formats);

/// Writes the picture to `path` as a whole or not at all; `-` is standard
/// output. False with a message without the path's file touched.
bool writePlot(llvm::ArrayRef<PlottedFormat> formats, llvm::StringRef path,
               std::string &error);

} // namespace numera

#endif // NUMERA_TOOLS_FORMATS_PLOT_H
