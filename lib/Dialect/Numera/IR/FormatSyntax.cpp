// SPDX-License-Identifier: MIT
//
// MLIR's lexer splits a spelling into tokens; they are put back together and
// handed to the registry's parser, which knows the families. A word with a
// hyphen (`toward-zero`) is no MLIR token and is written as a string.

#include "FormatSyntax.h"
#include "numera/Dialect/Numera/IR/Numera.h"
#include "numera/Registry/Formats/Words.h"
#include "numera/Registry/Registry.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace numera {

/// One argument of a spelling: `5`, `fn`, `bias=9`, `"toward-zero"`.
static ParseResult parseArgument(AsmParser &parser, bool isOpaque,
                                 std::string &text) {
  // Before numbers: MLIR's parser reads these two as 0 and 1.
  for (StringRef word : {"true", "false"})
    if (succeeded(parser.parseOptionalKeyword(word))) {
      text += word;
      return success();
    }
  int64_t number;
  OptionalParseResult integer = parser.parseOptionalInteger(number);
  if (integer.has_value()) {
    text += std::to_string(number);
    return *integer;
  }
  std::string quoted;
  if (succeeded(parser.parseOptionalString(&quoted))) {
    text += isOpaque ? '"' + quoted + '"' : quoted;
    return success();
  }
  StringRef word;
  if (parser.parseKeyword(&word))
    return failure();
  text += word;
  if (failed(parser.parseOptionalEqual()))
    return success();
  text += '=';
  return parseArgument(parser, isOpaque, text);
}

/// Says what a word without parameters is, which may be the name of a format.
static void explainName(AsmParser &parser, SMLoc place, StringRef word) {
  std::string unknown;
  Format named = Registry().lookupFormat(word, unknown);
  InFlightDiagnostic error = parser.emitError(place);
  if (named)
    error << "'" << word << "' is a name, expected its spelling, "
          << named.spelling();
  else
    error << "expected '<' behind '" << word << "', and parameters";
}

Format parseFormat(AsmParser &parser) {
  SMLoc start = parser.getCurrentLocation();
  StringRef family;
  if (parser.parseKeyword(&family))
    return {};
  std::string text = family.str() + "<";
  bool isOpaque = family == "opaque", first = true;
  auto argument = [&]() -> ParseResult {
    if (!first)
      text += ',';
    first = false;
    return parseArgument(parser, isOpaque, text);
  };
  if (failed(parser.parseOptionalLess())) {
    explainName(parser, start, family);
    return {};
  }
  if (failed(parser.parseOptionalGreater()) &&
      (failed(parser.parseCommaSeparatedList(argument)) ||
       failed(parser.parseGreater())))
    return {};
  SpellingError error;
  Format format = parseFormatSpelling(text + ">", error);
  if (!format)
    parser.emitError(start, error.message);
  return format;
}

void printFormat(AsmPrinter &printer, const Format &format) {
  std::string spelling = format.spelling();
  StringRef rest = spelling;
  auto [family, arguments] = rest.split('<');
  printer << family << '<';
  SmallVector<StringRef> parts;
  arguments.drop_back().split(parts, ',');
  llvm::interleaveComma(parts, printer.getStream(), [&](StringRef part) {
    auto [key, value] = part.split('=');
    bool negative = value.starts_with("-"); // bias=-3 is a number
    if (part.starts_with("\"") || negative || !part.contains('-'))
      printer << part;
    else
      printer << '"' << part << '"';
  });
  printer << '>';
}

/// `<up>`, `<"nearest-even">`: a word of a list.
static std::optional<int32_t> parseWord(AsmParser &parser, StringRef what,
                                        ArrayRef<Word> words) {
  std::string text;
  if (parser.parseLess())
    return std::nullopt;
  SMLoc place = parser.getCurrentLocation();
  if (failed(parser.parseOptionalString(&text))) {
    StringRef keyword;
    if (parser.parseKeyword(&keyword))
      return std::nullopt;
    text = keyword.str();
  }
  const Word *word = findWord(words, text);
  if (!word) {
    parser.emitError(place) << "unknown " << what << " '" << text
                            << "'; expected " << listed(supported(words));
    return std::nullopt;
  }
  if (parser.parseGreater())
    return std::nullopt;
  return word->value;
}

static void printWord(AsmPrinter &printer, StringRef word) {
  bool isKeyword = !word.contains('-');
  printer << '<' << (isKeyword ? "" : "\"") << word << (isKeyword ? "" : "\"")
          << '>';
}

Attribute RoundingAttr::parse(AsmParser &parser, Type) {
  auto value = parseWord(parser, "rounding", roundingWords());
  return value ? RoundingAttr::get(parser.getContext(), Rounding(*value))
               : RoundingAttr();
}
void RoundingAttr::print(AsmPrinter &printer) const {
  printWord(printer, nameOf(getValue()));
}

Attribute OverflowAttr::parse(AsmParser &parser, Type) {
  auto value = parseWord(parser, "overflow", overflowWords());
  return value ? OverflowAttr::get(parser.getContext(), Overflow(*value))
               : OverflowAttr();
}
void OverflowAttr::print(AsmPrinter &printer) const {
  printWord(printer, nameOf(getValue()));
}

Type NumType::parse(AsmParser &parser) {
  if (parser.parseLess())
    return {};
  Format format = parseFormat(parser);
  if (!format || parser.parseGreater())
    return {};
  return NumType::get(parser.getContext(), format);
}

void NumType::print(AsmPrinter &printer) const {
  printer << '<';
  printFormat(printer, getFormat());
  printer << '>';
}

Type QuireType::parse(AsmParser &parser) {
  SMLoc start = parser.getCurrentLocation();
  if (parser.parseLess())
    return {};
  Format format = parseFormat(parser);
  if (!format || parser.parseGreater())
    return {};
  // The accumulator of an opaque format is the configuration's.
  std::string error;
  if (format.isOpaque() && !hasQuire(parser.getContext(), format, error)) {
    parser.emitError(start) << error;
    return {};
  }
  return QuireType::getChecked([&] { return parser.emitError(start); },
                               parser.getContext(), format);
}

void QuireType::print(AsmPrinter &printer) const {
  printer << '<';
  printFormat(printer, getFormat());
  printer << '>';
}

Attribute FormatAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  Format format = parseFormat(parser);
  if (!format || parser.parseGreater())
    return {};
  return FormatAttr::get(parser.getContext(), format);
}

void FormatAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printFormat(printer, getFormat());
  printer << '>';
}

} // namespace numera
