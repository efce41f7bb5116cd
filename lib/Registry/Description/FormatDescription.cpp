// SPDX-License-Identifier: MIT

#include "Description.h"
#include "numera/Registry/Description/FormatFacts.h"
#include "numera/Registry/Description/FormatPages.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace numera;

// ---- The list

namespace {
/// A row of the list.
struct ListedFormat {
  std::string name, spelling;
  unsigned storageBits;
  std::string width; ///< of a scaled format with its part of the scale
};
} // namespace

static std::vector<ListedFormat> rowsOf(const RegistryEntries &registry) {
  std::vector<ListedFormat> rows;
  for (const RegistryEntries::NamedFormat &named : registry.formats())
    rows.push_back({named.name, named.format.spelling(),
                    named.format.storageBits(), utostr(named.format.width())});
  for (const RegistryEntries::NamedScaledFormat &named :
       registry.scaledFormats())
    rows.push_back({named.name, named.format.spelling(),
                    named.format.element.storageBits(),
                    formatv("{0}", named.format.bitsPerElement()).str()});
  return rows;
}

static void printListAsJSON(const RegistryEntries &registry,
                            raw_ostream &stream) {
  json::OStream out(stream, /*IndentSize=*/2);
  out.array([&] {
    for (const ListedFormat &row : rowsOf(registry))
      out.object([&] {
        out.attribute("name", row.name);
        out.attribute("spelling", row.spelling);
        out.attribute("storage_bits", row.storageBits);
        out.attributeBegin("width");
        out.rawValue(row.width);
        out.attributeEnd();
      });
  });
  stream << '\n';
}

static void printList(const RegistryEntries &registry, raw_ostream &stream) {
  size_t nameWidth = 4, spellingWidth = 8;
  std::vector<ListedFormat> rows = rowsOf(registry);
  for (const ListedFormat &row : rows) {
    nameWidth = std::max(nameWidth, row.name.size());
    spellingWidth = std::max(spellingWidth, row.spelling.size());
  }
  auto print = [&](StringRef name, StringRef spelling, StringRef storage,
                   StringRef width) {
    stream << left_justify(name, unsigned(nameWidth) + 2)
           << left_justify(spelling, unsigned(spellingWidth) + 2)
           << right_justify(storage, 12) << right_justify(width, 7) << '\n';
  };
  print("name", "spelling", "storage bits", "width");
  for (const ListedFormat &row : rows)
    print(row.name, row.spelling, utostr(row.storageBits), row.width);
}

void numera::printFormatList(const RegistryEntries &registry, bool asJSON,
                             raw_ostream &stream) {
  if (asJSON)
    printListAsJSON(registry, stream);
  else
    printList(registry, stream);
}

// ---- One format

/// `truncate-operands 3, rounding up`: the keys and values of a configuration.
static SmallVector<std::pair<StringRef, std::string>>
changesOf(const OperationChange &change) {
  SmallVector<std::pair<StringRef, std::string>> changes;
  if (change.rounding)
    changes.push_back({"rounding", nameOf(*change.rounding).str()});
  if (change.rounding == Rounding::Stochastic)
    changes.push_back({"random-bits", itostr(change.randomBits)});
  if (change.overflow)
    changes.push_back({"overflow", nameOf(*change.overflow).str()});
  if (change.truncateOperands)
    changes.push_back({"truncate-operands", itostr(change.truncateOperands)});
  return changes;
}

static void describeChanges(const Format &format, json::OStream *json,
                            Description &out) {
  if (!json) {
    for (const OperationChange &change : format.getChanges()) {
      std::string text;
      for (const auto &[key, value] : changesOf(change))
        text += (text.empty() ? "" : ", ") + key.str() + " " + value;
      out.line(nameOf(change.operation), text);
    }
    return;
  }
  json->attributeObject("operations", [&] {
    for (const OperationChange &change : format.getChanges())
      json->attributeObject(nameOf(change.operation), [&] {
        for (const auto &[key, value] : changesOf(change)) {
          int64_t number;
          if (StringRef(value).getAsInteger(10, number))
            json->attribute(key, value);
          else
            json->attribute(key, number);
        }
      });
  });
}

static void describeArithmetic(const RegistryEntries &registry,
                               const Format &format, json::OStream *json,
                               Description &out) {
  FormatFacts facts = factsOf(registry, format);
  out.number("precision", facts.range.precision);
  out.value("largest", facts.largest);
  out.value("lowest", facts.lowest);
  out.value("smallest", facts.smallest);
  out.value("smallest_normal", facts.smallestNormal);
  out.value("epsilon", facts.epsilon);
  out.digits("decades", formatv("{0:f1}", facts.decades).str());
  out.count("finite_values", facts.finiteValues);
  out.truth("has_infinity", facts.range.hasInfinity);
  out.truth("has_nan", facts.range.hasNaN);
  out.truth("has_negative_zero", facts.range.hasNegativeZero);
  out.count("nan_codes", facts.codes.nan);
  out.count("infinity_codes", facts.codes.infinity);
  out.count("subnormal_codes", facts.subnormalCodes);
  std::string noQuire;
  std::optional<QuireLayout> quire = quireOf(format, noQuire);
  if (quire)
    out.number("quire_bits", quire->bits);
  else if (json)
    json->attribute("quire_bits", nullptr);
  else
    out.line("quire", "none");
  out.text("default_accumulator", facts.accumulator);
  out.text("rounding", facts.rounding);
  if (format.getRounding() == Rounding::Stochastic)
    out.number("random_bits", format.getRandomBits());
  out.text("overflow", facts.overflow);
  describeChanges(format, json, out);
}

/// A type of a lowering: a format or an integer.
static std::string typeText(const RegistryEntries &registry,
                            const Format &format, unsigned integer,
                            bool isSigned) {
  if (integer)
    return (isSigned ? "i" : "u") + utostr(integer);
  return registry.nameOrSpelling(format);
}

/// `cast(f32) -> mybf16 for *: mybf16_from_f32`.
static std::string printLowering(const RegistryEntries &registry,
                                 const Lowering &entry) {
  auto operand = [&](const Format &format) {
    return typeText(registry, format, entry.fromInteger, entry.integerIsSigned);
  };
  std::string operands = entry.fromInteger
                             ? operand({})
                             : join(map_range(entry.operands, operand), ", ");
  return formatv(
      "{0}{1}({2}) -> {3} for {4}: {5}", nameOf(entry.operation),
      entry.predicate.empty() ? "" : " " + entry.predicate, operands,
      typeText(registry, entry.result, entry.toInteger, entry.integerIsSigned),
      nameOf(entry.target), entry.symbol);
}

static std::vector<const Lowering *>
loweringsOf(const RegistryEntries &registry, const Format &format) {
  std::vector<const Lowering *> found;
  for (const Lowering &entry : registry.lowerings())
    if (entry.result == format || is_contained(entry.operands, format))
      found.push_back(&entry);
  return found;
}

static void describe(const RegistryEntries &registry, const Format &format,
                     StringRef name, json::OStream *json, raw_ostream &stream) {
  Description out(json, stream);
  out.text("name", name);
  out.text("spelling", format.spelling());
  out.text("family", format.getFamily().name());
  out.number("width", format.width());
  out.number("storage_bits", format.storageBits());
  if (format.getFamily().hasArithmetic())
    describeArithmetic(registry, format, json, out);
  std::vector<const Lowering *> lowerings = loweringsOf(registry, format);
  if (json)
    json->attributeArray("lowerings", [&] {
      for (const Lowering *entry : lowerings)
        json->value(printLowering(registry, *entry));
    });
  else
    for (const Lowering *entry : lowerings)
      out.line("lowering", printLowering(registry, *entry));
  if (format.isOpaque())
    printProvisions(registry, format, json, stream);
}

void numera::printFormatDescription(const RegistryEntries &registry,
                                    const Format &format, StringRef name,
                                    bool asJSON, raw_ostream &stream) {
  printDescription(asJSON, stream, [&](json::OStream *json) {
    describe(registry, format, name, json, stream);
  });
}
