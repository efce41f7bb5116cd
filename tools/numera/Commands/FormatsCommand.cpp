// SPDX-License-Identifier: MIT
//
// `numera formats`: the list, one format described, every code of one, or a
// table, a chart or a picture of several.

#include "Commands.h"
#include "Formats/Page.h"
#include "Formats/Range.h"
#include "Formats/TextPlot.h"
#include "Support/CommandLine.h"
#include "Support/ModelFlags.h"

#include "numera/Registry/Description/FormatPages.h"
#include "numera/Target/Support/TextFile.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace numera;

namespace {
struct FormatsFlags {
  FormatSources sources;
  std::string picture, page;
  bool wantsTable = false, wantsRange = false, wantsJSON = false;
  /// About formats whose values are compared, not about one.
  bool wantsValues() const {
    return wantsRange || !picture.empty() || !page.empty();
  }
};
} // namespace

/// A table, a chart or a picture of formats that are all known, or one line of
/// error.
static int show(const Registry &registry, ArrayRef<std::string> names,
                const FormatsFlags &flags) {
  std::vector<PlottedFormat> formats;
  for (const std::string &name : names) {
    std::string error;
    ScaledFormat scaled = registry.lookupScaledFormat(name, error);
    Format format = scaled          ? scaled.element
                    : error.empty() ? registry.lookupFormat(name, error)
                                    : Format();
    if (!format)
      return fail(error);
    if (!format.getFamily().hasArithmetic())
      return fail("format '" + name +
                  "' is opaque: only its library defines its values");
    formats.push_back({name, format, scaled});
  }
  bool isText = flags.picture == "text";
  if (!flags.picture.empty() && formats.size() > mostPlotted)
    return fail("a picture shows at most " + Twine(mostPlotted) +
                " formats, found " + Twine(formats.size()));
  if (!flags.page.empty()) {
    if (formats.size() > 1)
      return fail("a page is about one format, found '" + names[0] + "' and '" +
                  names[1] + "'");
    Error error = writeTextFile(flags.page, pageOf(registry, formats[0]));
    if (error)
      return fail(toString(std::move(error)));
  }
  if (flags.wantsRange)
    printRanges(registry, formats, flags.wantsJSON, outs());
  if (isText)
    printTextPlot(formats, outs());
  std::string error;
  if (!flags.picture.empty() && !isText &&
      !writePlot(formats, flags.picture, error))
    return fail(error);
  return 0;
}

/// What does not go together, in one line.
static std::string contradiction(const FormatsFlags &flags,
                                 ArrayRef<std::string> names) {
  StringRef option = flags.wantsTable         ? "--table"
                     : !flags.picture.empty() ? "--plot"
                     : !flags.page.empty()    ? "--page"
                     : flags.wantsRange       ? "--range"
                                              : "";
  if (names.empty() && !option.empty())
    return (option + " needs a format: numera formats NAME " + option +
            (option == "--plot"   ? " OUT.svg"
             : option == "--page" ? " OUT.html"
                                  : ""))
        .str();
  if (!flags.picture.empty() && (flags.wantsTable || flags.wantsJSON))
    return ("--plot draws a picture, found " +
            Twine(flags.wantsTable ? "--table" : "--json") + " beside it")
        .str();
  StringRef ending = sys::path::extension(flags.picture);
  if (!ending.empty() && !ending.equals_insensitive(".svg"))
    return "--plot draws SVG, found '" + flags.picture +
           "', expected OUT.svg or text";
  if (flags.wantsTable && flags.wantsValues())
    return ("--table prints codes, found " +
            Twine(flags.wantsRange ? "--range" : "--page") + " beside it")
        .str();
  if (names.size() > 1 && !flags.wantsValues())
    return "one format at a time, found '" + names[0] + "' and '" + names[1] +
           "'";
  return "";
}

int numera::formatsCommand(ArrayRef<const char *> arguments) {
  FormatsFlags flags;
  CommandLine line("formats [NAME…] [options]",
                   "Lists the number formats, or describes one: a name, or a "
                   "spelling such as posit<12,1>.");
  addFormatsFlags(line, flags.sources);
  line.add({"table", "", "print every code of the format (to 16 bits)",
            &flags.wantsTable});
  line.add({"range", "",
            "print the least and largest numbers, epsilon and numbers of codes "
            "of one or more formats",
            &flags.wantsRange});
  line.add({"plot", "OUT.svg|text",
            "draw the precision and the values of one or more formats, or "
            "print the precision as text",
            &flags.picture});
  line.add({"page", "OUT.html",
            "write a page: properties, picture and, to 8 bits, every code",
            &flags.page});
  line.add({"json", "", "print JSON", &flags.wantsJSON});
  if (std::optional<int> status = line.parse(arguments))
    return *status;
  ArrayRef<std::string> names = line.positional();
  if (std::string error = contradiction(flags, names); !error.empty())
    return fail(error);
  Registry registry;
  bool wantsOne = names.size() == 1 && !flags.wantsValues();
  if (!(wantsOne ? loadLibraries(flags.sources, registry)
                 : loadRegistry(flags.sources, registry)))
    return 1;
  if (flags.wantsValues())
    return show(registry, names, flags);
  if (names.empty()) {
    printFormatList(registry, flags.wantsJSON, outs());
    return 0;
  }
  std::string error;
  ScaledFormat scaled = registry.lookupScaledFormat(names[0], error);
  if (!error.empty())
    return fail(error);
  if (scaled && flags.wantsTable)
    return fail(
        "'" + names[0] +
        "' is a scaled format, whose codes mean "
        "something only with a scale; see its element: numera formats '" +
        scaled.element.spelling() + "' --table");
  if (scaled) {
    printScaledDescription(registry, scaled, names[0], flags.wantsJSON, outs());
    return 0;
  }
  Format format = registry.lookupFormat(names[0], error);
  if (!format)
    return fail(error);
  if (flags.wantsTable) {
    std::string reason = checkFormatTable(format, names[0]);
    if (!reason.empty())
      return fail(reason);
    printFormatTable(format, flags.wantsJSON, outs());
    return 0;
  }
  printFormatDescription(registry, format, names[0], flags.wantsJSON, outs());
  return 0;
}
