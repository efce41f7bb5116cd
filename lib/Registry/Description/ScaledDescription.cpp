// SPDX-License-Identifier: MIT

#include "Description.h"
#include "numera/Registry/Description/FormatFacts.h"
#include "numera/Registry/Description/FormatPages.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace numera;

/// What a scale is, as the rule computes it.
static StringRef meaningOf(ScaleRule rule) {
  switch (rule) {
  case ScaleRule::Floor:
    return "2^(floor(log2 amax) - emax)";
  case ScaleRule::Ceil:
    return "2^(ceil(log2 amax) - emax)";
  case ScaleRule::Even:
    return "2^(floor(log2 of amax in the element's precision) - emax)";
  case ScaleRule::RoundUpCeil:
    return "amax / full scale, rounded up to a power of two";
  case ScaleRule::Absmax:
    return "amax / full scale";
  case ScaleRule::Range:
    return "amax; a value is data * scale / full scale";
  case ScaleRule::MinMax:
    return "(most - least) / the element's range; a value is "
           "(data - zero point) * scale";
  }
  return {};
}

static std::string shortest(double number) {
  std::string text;
  raw_string_ostream(text) << llvm::format("%.9g", number);
  return text;
}

static void describe(const RegistryEntries &registry,
                     const ScaledFormat &format, StringRef name,
                     json::OStream *json, raw_ostream &stream) {
  const Scaling &scaling = format.scaling;
  Description out(json, stream);
  out.text("name", name);
  out.text("spelling", format.spelling());
  out.text("family", format.isBlock() ? "block" : "scaled");
  out.text("element", registry.nameOrSpelling(format.element));
  out.number("element_width", format.element.width());
  out.number("element_storage_bits", format.element.storageBits());
  if (format.isBlock())
    out.number("block", scaling.block);
  out.text("scale", registry.nameOrSpelling(scaling.scale));
  out.number("scale_width", scaling.scale.width());
  out.truth("tensor_scale", scaling.hasTensorScale);
  out.truth("packed", scaling.isPacked);
  out.text("rule", nameOf(scaling.rule));
  if (!json)
    out.line("scale_of", meaningOf(scaling.rule));
  if (!format.hasZeroPoint()) {
    out.digits("full_scale", shortest(format.fullScale()));
    out.number("emax", std::ilogb(format.fullScale()));
  }
  out.digits("bits_per_element", shortest(format.bitsPerElement()));
}

void numera::printScaledDescription(const RegistryEntries &registry,
                                    const ScaledFormat &format, StringRef name,
                                    bool asJSON, raw_ostream &stream) {
  printDescription(asJSON, stream, [&](json::OStream *json) {
    describe(registry, format, name, json, stream);
  });
}
