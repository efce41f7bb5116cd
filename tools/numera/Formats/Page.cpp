// SPDX-License-Identifier: MIT

#include "Page.h"

#include "numera/Registry/Description/FormatPages.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace numera;

static std::string escapedForHTML(StringRef text) {
  std::string escaped;
  raw_string_ostream stream(escaped);
  printHTMLEscaped(text, stream);
  return escaped;
}

static constexpr StringLiteral head = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>%</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em; }
th { text-align: left; font-weight: normal; color: #666; padding-right: 2em; vertical-align: top; }
td, pre { font-family: ui-monospace, monospace; white-space: pre-wrap; }
svg { max-width: 100%; height: auto; }
pre { columns: 2; white-space: pre; overflow-x: auto; }
</style>
</head>
<body>
<h1>%</h1>
)";

std::string numera::pageOf(const RegistryEntries &registry,
                           const PlottedFormat &plotted) {
  std::string page, described;
  raw_string_ostream out(page), description(described);
  auto [first, rest] = head.split('%');
  auto [second, last] = rest.rsplit('%');
  std::string name = escapedForHTML(plotted.name);
  out << first << name << second << name << last << "<table>\n";
  if (plotted.scaled)
    printScaledDescription(registry, plotted.scaled, plotted.name,
                           /*asJSON=*/false, description);
  else
    printFormatDescription(registry, plotted.format, plotted.name,
                           /*asJSON=*/false, description);
  constexpr size_t keyWidth = 21; // Description::line
  for (StringRef line : split(described, '\n'))
    if (!line.empty())
      out << "<tr><th>" << escapedForHTML(line.take_front(keyWidth).rtrim())
          << "</th><td>" << escapedForHTML(line.drop_front(keyWidth))
          << "</td></tr>\n";
  out << "</table>\n<h2>Precision and values</h2>\n" << plot({plotted});
  if (plotted.format.width() <= 8) {
    std::string table;
    raw_string_ostream stream(table);
    printFormatTable(plotted.format, /*asJSON=*/false, stream);
    out << "<h2>" << (plotted.scaled ? "Codes of elements" : "Codes")
        << "</h2>\n<pre>\n"
        << escapedForHTML(table) << "</pre>\n";
  }
  out << "</body>\n</html>\n";
  return page;
}
