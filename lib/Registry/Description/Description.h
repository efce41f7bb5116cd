// SPDX-License-Identifier: MIT
//
// A description: facts by name, for people or as JSON.

#ifndef NUMERA_LIB_REGISTRY_DESCRIPTION_DESCRIPTION_H
#define NUMERA_LIB_REGISTRY_DESCRIPTION_DESCRIPTION_H

#include "numera/Registry/Description/Decimal.h"
#include "numera/Registry/Description/HexFloat.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace numera {

/// Prints a description as JSON, or as a line for each fact: a name with
/// blanks for underscores, and a value.
class Description {
public:
  /// To `json`, or, without one, to `stream`.
  Description(llvm::json::OStream *json, llvm::raw_ostream &stream)
      : json(json), stream(stream) {}

  void text(llvm::StringRef key, const llvm::Twine &value) {
    if (json)
      json->attribute(key, value.str());
    else
      line(key, value);
  }
  void number(llvm::StringRef key, int64_t value) {
    digits(key, llvm::itostr(value));
  }
  /// A number of codes: 2^64 at most.
  void count(llvm::StringRef key, uint128_t value) {
    digits(key, llvm::toString(
                    llvm::APInt(128, {uint64_t(value), uint64_t(value >> 64)}),
                    10, /*Signed=*/false));
  }
  void digits(llvm::StringRef key, const llvm::Twine &number) {
    if (!json)
      return line(key, number);
    json->attributeBegin(key);
    json->rawValue(number.str());
    json->attributeEnd();
  }
  void truth(llvm::StringRef key, bool value) {
    if (json)
      json->attribute(key, value);
    else
      line(key, value ? "yes" : "no");
  }
  /// In JSON the nearest of 53 bits, a format's own where its values are binary
  /// fractions.
  void value(llvm::StringRef key, const std::optional<Unpacked> &value) {
    if (json)
      json->attribute(key, value
                               ? llvm::json::Value(printNearestHexFloat(*value))
                               : llvm::json::Value(nullptr));
    else if (value)
      line(key, llvm::formatv("{0,-20}  {1}", printRounded(*value, 12),
                              printHexFloat(*value)));
  }
  void line(llvm::StringRef key, const llvm::Twine &value) {
    std::string name = key.str();
    llvm::replace(name, '_', ' ');
    stream << llvm::left_justify(name, 21) << value << '\n';
  }

private:
  llvm::json::OStream *json;
  llvm::raw_ostream &stream;
};

/// Prints what `describe` says: to a JSON object that is open, or, given none,
/// in lines.
inline void
printDescription(bool asJSON, llvm::raw_ostream &stream,
                 llvm::function_ref<void(llvm::json::OStream *)> describe) {
  if (!asJSON)
    return describe(nullptr);
  llvm::json::OStream json(stream, /*IndentSize=*/2);
  json.object([&] { describe(&json); });
  stream << '\n';
}

} // namespace numera

#endif // NUMERA_LIB_REGISTRY_DESCRIPTION_DESCRIPTION_H
