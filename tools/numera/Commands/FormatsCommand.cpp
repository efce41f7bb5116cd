// SPDX-License-Identifier: MIT
//
// `numera formats`: the list, one format described, every code of one, or a
// picture of several.

#include "Commands.h"
#include "Formats/Plot.h"
#include "Support/CommandLine.h"
#include "Support/ModelFlags.h"

#include "numera/Registry/Description/FormatPages.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace numera;

/// The picture of formats that are all known, or one line of error.
static int draw(const Registry &registry, ArrayRef<std::string> names,
                StringRef path) {
  std::vector<PlottedFormat> formats;
  for (const std::string &name : names) {
    std::string error;
    Format format = registry.lookupFormat(name, error);
    if (!format)
      return fail(error);
    if (!format.getFamily().hasArithmetic())
      return fail("format '" + name +
                  "' is opaque: only its library defines its values");
    formats.push_back({name, format});
  }
  if (formats.size() > mostPlotted)
    return fail("a picture shows at most " + Twine(mostPlotted) +
                " formats, found " + Twine(formats.size()));
  std::string error;
  return writePlot(formats, path, error) ? 0 : fail(error);
}

int numera::formatsCommand(ArrayRef<const char *> arguments) {
  FormatSources sources;
  std::string picture;
  bool wantsTable = false, wantsJSON = false;
  CommandLine line("formats [NAME…] [options]",
                   "Lists the number formats, or describes one: a name, or a "
                   "spelling such as posit<12,1>.");
  addFormatsFlags(line, sources);
  line.add({"table", "", "print every code of the format (to 16 bits)",
            &wantsTable});
  line.add({"plot", "OUT.svg",
            "draw the precision and the values of one or more formats",
            &picture});
  line.add({"json", "", "print JSON", &wantsJSON});
  if (std::optional<int> status = line.parse(arguments))
    return *status;
  ArrayRef<std::string> names = line.positional();
  bool wantsPicture = !picture.empty();
  if (names.empty() && (wantsTable || wantsPicture)) {
    StringRef option = wantsTable ? "--table" : "--plot";
    return fail(option + " needs a format: numera formats NAME " + option +
                (wantsTable ? "" : " OUT.svg"));
  }
  if (wantsPicture && (wantsTable || wantsJSON))
    return fail("--plot draws a picture, found " +
                Twine(wantsTable ? "--table" : "--json") + " beside it");
  if (names.size() > 1 && !wantsPicture)
    return fail("one format at a time, found '" + names[0] + "' and '" +
                names[1] + "'");
  Registry registry;
  bool wantsOne = names.size() == 1 && !wantsPicture;
  if (!(wantsOne ? loadLibraries(sources, registry)
                 : loadRegistry(sources, registry)))
    return 1;
  if (wantsPicture)
    return draw(registry, names, picture);
  if (names.empty()) {
    printFormatList(registry, wantsJSON, outs());
    return 0;
  }
  std::string error;
  ScaledFormat scaled = registry.lookupScaledFormat(names[0], error);
  if (!error.empty())
    return fail(error);
  if (scaled && wantsTable)
    return fail(
        "'" + names[0] +
        "' is a scaled format, whose codes mean "
        "something only with a scale; see its element: numera formats '" +
        scaled.element.spelling() + "' --table");
  if (scaled) {
    printScaledDescription(registry, scaled, names[0], wantsJSON, outs());
    return 0;
  }
  Format format = registry.lookupFormat(names[0], error);
  if (!format)
    return fail(error);
  if (wantsTable) {
    std::string reason = checkFormatTable(format, names[0]);
    if (!reason.empty())
      return fail(reason);
    printFormatTable(format, wantsJSON, outs());
    return 0;
  }
  printFormatDescription(registry, format, names[0], wantsJSON, outs());
  return 0;
}
