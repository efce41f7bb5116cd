// SPDX-License-Identifier: MIT

#include "Range.h"

#include "numera/Registry/Description/Decimal.h"
#include "numera/Registry/Description/FormatFacts.h"
#include "numera/Registry/Description/FormatPages.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace numera;

/// Six digits, or the exact number where it is as short.
static std::string printValue(const std::optional<Unpacked> &value) {
  if (!value)
    return "-";
  std::string exact = printDecimal(*value);
  if (!value->sticky && exact.size() <= 8)
    return exact;
  std::string six = printRounded(*value, 6);
  // printRounded prints exact values of up to 20 characters.
  if (six.size() <= 12)
    return six;
  DecimalDigits digits = roundDigits(digitsOf(*value), 6);
  std::string text = digits.digits.substr(0, 1);
  if (digits.digits.size() > 1)
    text += "." + digits.digits.substr(1);
  int32_t exponent = std::abs(digits.exponent);
  return (value->negative ? "-" : "") + text +
         (digits.exponent < 0 ? "e-" : "e+") + (exponent < 10 ? "0" : "") +
         std::to_string(exponent);
}

static std::string printCount(uint128_t value) {
  return toString(APInt(128, {uint64_t(value), uint64_t(value >> 64)}), 10,
                  /*Signed=*/false);
}

void numera::printRanges(const RegistryEntries &registry,
                         ArrayRef<PlottedFormat> formats, bool asJSON,
                         raw_ostream &stream) {
  if (asJSON) {
    stream << "[\n";
    for (auto [index, plotted] : enumerate(formats)) {
      if (plotted.scaled)
        printScaledDescription(registry, plotted.scaled, plotted.name,
                               /*asJSON=*/true, stream);
      else
        printFormatDescription(registry, plotted.format, plotted.name,
                               /*asJSON=*/true, stream);
      stream << (index + 1 < formats.size() ? ",\n" : "");
    }
    stream << "]\n";
    return;
  }
  std::vector<std::vector<std::string>> rows = {
      {"format", "bits", "smallest", "normal", "largest", "lowest", "epsilon",
       "decades", "NaN", "inf", "subnormal", "numbers"}};
  for (const PlottedFormat &plotted : formats) {
    FormatFacts facts = factsOf(registry, plotted.format);
    rows.push_back(
        {plotted.label(), std::to_string(plotted.format.width()),
         printValue(facts.smallest), printValue(facts.smallestNormal),
         printValue(facts.largest), printValue(facts.lowest),
         printValue(facts.epsilon), formatv("{0:f1}", facts.decades),
         std::to_string(facts.codes.nan), std::to_string(facts.codes.infinity),
         std::to_string(facts.subnormalCodes), printCount(facts.finiteValues)});
  }
  std::vector<size_t> widths(rows[0].size());
  for (const auto &row : rows)
    for (auto [width, cell] : zip_equal(widths, row))
      width = std::max(width, cell.size());
  for (const auto &row : rows) {
    stream << left_justify(row[0], unsigned(widths[0]));
    for (size_t i = 1; i < row.size(); ++i)
      stream << right_justify(row[i], unsigned(widths[i]) + 2);
    stream << '\n';
  }
}
