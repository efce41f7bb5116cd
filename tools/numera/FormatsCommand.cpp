// SPDX-License-Identifier: MIT
//
// `numera formats`: the list, one format described, or every code of one.

#include "CommandLine.h"
#include "Commands.h"
#include "FormatFacts.h"
#include "HexFloat.h"
#include "ModelFlags.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace numera;

// ---- The list

static void printListAsJSON(const Registry &registry) {
  json::OStream out(outs(), /*IndentSize=*/2);
  out.array([&] {
    for (const Registry::NamedFormat &named : registry.formats())
      out.object([&] {
        out.attribute("name", named.name);
        out.attribute("spelling", named.format.spelling());
        out.attribute("storage_bits", named.format.storageBits());
        out.attribute("width", named.format.width());
      });
  });
  outs() << '\n';
}

static void printList(const Registry &registry) {
  size_t nameWidth = 4, spellingWidth = 8;
  for (const Registry::NamedFormat &named : registry.formats()) {
    nameWidth = std::max(nameWidth, named.name.size());
    spellingWidth = std::max(spellingWidth, named.format.spelling().size());
  }
  auto print = [&](StringRef name, StringRef spelling, StringRef storage,
                   StringRef width) {
    outs() << left_justify(name, unsigned(nameWidth) + 2)
           << left_justify(spelling, unsigned(spellingWidth) + 2)
           << right_justify(storage, 12) << right_justify(width, 7) << '\n';
  };
  print("name", "spelling", "storage bits", "width");
  for (const Registry::NamedFormat &named : registry.formats())
    print(named.name, named.format.spelling(),
          utostr(named.format.storageBits()), utostr(named.format.width()));
}

// ---- Every code

static std::string printCode(const Format &format, uint64_t code) {
  return "0x" + utohexstr(code, /*LowerCase=*/true, (format.width() + 3) / 4);
}

static int printTable(const Format &format, StringRef name, bool asJSON) {
  if (!format.getFamily().hasArithmetic())
    return fail("format '" + name +
                "' is opaque: only its library knows the values of its codes");
  if (format.width() > widestTable)
    return fail("format '" + name + "' has " + Twine(format.width()) +
                " bits, a table is printed for at most " + Twine(widestTable));
  // One array, one code on a line: a table is for diff and grep as well.
  StringRef separator = asJSON ? "[" : "";
  for (uint64_t code = 0; code >> format.width() == 0; ++code) {
    std::string text = printCode(format, code);
    std::string value = printHexFloat(format.getFamily().decode(format, code));
    if (asJSON)
      outs() << separator << "{\"code\": \"" << text << "\", \"value\": \""
             << value << "\"}";
    else
      outs() << text << ' ' << value << '\n';
    separator = ",\n";
  }
  if (asJSON)
    outs() << "]\n";
  return 0;
}

// ---- One format

namespace {

/// Prints a description as JSON, or as a line for each fact: a name with
/// blanks for underscores, and a value.
class Description {
public:
  explicit Description(json::OStream *json) : json(json) {}

  void text(StringRef key, const Twine &value) {
    if (json)
      json->attribute(key, value.str());
    else
      line(key, value);
  }
  void number(StringRef key, int64_t value) {
    if (json)
      json->attribute(key, value);
    else
      line(key, Twine(value));
  }
  void truth(StringRef key, bool value) {
    if (json)
      json->attribute(key, value);
    else
      line(key, value ? "yes" : "no");
  }
  void value(StringRef key, const std::optional<Unpacked> &value) {
    if (json)
      json->attribute(key, value ? json::Value(printHexFloat(*value))
                                 : json::Value(nullptr));
    else if (value)
      line(key, printHexFloat(*value) + decimal(*value));
  }
  void line(StringRef key, const Twine &value) {
    std::string name = key.str();
    llvm::replace(name, '_', ' ');
    outs() << left_justify(name, 21) << value << '\n';
  }

private:
  static std::string decimal(const Unpacked &value) {
    std::string text = printDecimal(value);
    return text.empty() ? "" : " (" + text + ")";
  }

  json::OStream *json;
};

} // namespace

static void describeArithmetic(const Registry &registry, const Format &format,
                               Description &out) {
  FormatFacts facts = factsOf(registry, format);
  out.number("precision", facts.range.precision);
  out.value("largest", facts.largest);
  out.value("smallest", facts.smallest);
  out.value("smallest_normal", facts.smallestNormal);
  out.value("epsilon", facts.epsilon);
  out.truth("has_infinity", facts.range.hasInfinity);
  out.truth("has_nan", facts.range.hasNaN);
  out.truth("has_negative_zero", facts.range.hasNegativeZero);
  if (facts.counts) {
    out.number("nan_codes", int64_t(facts.counts->nan));
    out.number("infinity_codes", int64_t(facts.counts->infinity));
    out.number("subnormal_codes", int64_t(facts.counts->subnormal));
  }
  out.text("default_accumulator", facts.accumulator);
  if (facts.quireBits)
    out.number("quire_bits", *facts.quireBits);
  out.text("rounding", facts.rounding);
  out.text("overflow", facts.overflow);
}

/// A type of a lowering: a format or an integer.
static std::string typeText(const Registry &registry, const Format &format,
                            unsigned integer, bool isSigned) {
  if (integer)
    return (isSigned ? "i" : "u") + utostr(integer);
  return nameOrSpelling(registry, format);
}

/// `cast(f32) -> mybf16 for *: mybf16_from_f32`.
static std::string printLowering(const Registry &registry,
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

static std::vector<const Lowering *> loweringsOf(const Registry &registry,
                                                 const Format &format) {
  std::vector<const Lowering *> found;
  for (const Lowering &entry : registry.lowerings())
    if (entry.result == format || is_contained(entry.operands, format))
      found.push_back(&entry);
  return found;
}

static void describe(const Registry &registry, const Format &format,
                     StringRef name, json::OStream *json) {
  Description out(json);
  out.text("name", name);
  out.text("spelling", format.spelling());
  out.text("family", format.getFamily().name());
  out.number("width", format.width());
  out.number("storage_bits", format.storageBits());
  if (format.getFamily().hasArithmetic())
    describeArithmetic(registry, format, out);
  std::vector<const Lowering *> lowerings = loweringsOf(registry, format);
  if (!json) {
    for (const Lowering *entry : lowerings)
      out.line("lowering", printLowering(registry, *entry));
    return;
  }
  json->attributeArray("lowerings", [&] {
    for (const Lowering *entry : lowerings)
      json->value(printLowering(registry, *entry));
  });
}

// ---- The command

int numera::formatsCommand(ArrayRef<const char *> arguments) {
  std::vector<std::string> files;
  bool wantsTable = false, wantsJSON = false;
  CommandLine line("formats [NAME] [options]",
                   "Lists the number formats, or describes one: a name, or a "
                   "spelling such as posit<12,1>.");
  addFormatsFlag(line, files);
  line.add({"table", "", "print every code of the format (to 16 bits)",
            &wantsTable});
  line.add({"json", "", "print JSON", &wantsJSON});
  if (std::optional<int> status = line.parse(arguments))
    return *status;
  if (line.positional().size() > 1)
    return fail("one format at a time, found '" + line.positional()[0] +
                "' and '" + line.positional()[1] + "'");
  Registry registry;
  if (!loadRegistry(files, registry))
    return 1;
  if (line.positional().empty()) {
    if (wantsTable)
      return fail("--table needs a format: numera formats NAME --table");
    if (wantsJSON)
      printListAsJSON(registry);
    else
      printList(registry);
    return 0;
  }

  std::string error;
  const std::string &name = line.positional()[0];
  Format format = registry.lookupFormat(name, error);
  if (!format)
    return fail(error);
  if (wantsTable)
    return printTable(format, name, wantsJSON);
  if (!wantsJSON) {
    describe(registry, format, name, nullptr);
    return 0;
  }
  json::OStream json(outs(), /*IndentSize=*/2);
  json.object([&] { describe(registry, format, name, &json); });
  outs() << '\n';
  return 0;
}
