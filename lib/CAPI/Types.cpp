// SPDX-License-Identifier: MIT

#include "Types.h"
#include "Handles.h"
#include "numera/Dialect/Numera/Transforms/Retype/Policy.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>

using namespace llvm;
using namespace numera;

/// The parameter of `!numera.num`: a spelling, in which words with hyphens,
/// which MLIR has not, are strings.
static std::string parameterOf(const Format &format) {
  if (format.isOpaque())
    return formatv("opaque<\"{0}\", {1}>", format.getOpaqueName(),
                   format.width());
  std::string spelling = format.spelling();
  auto [family, arguments] = StringRef(spelling).split('<');
  SmallVector<StringRef> parts;
  arguments.drop_back().split(parts, ',');
  auto quoted = [](StringRef part) {
    bool isNegative = part.split('=').second.starts_with("-"); // bias=-3
    return isNegative || !part.contains('-') ? part.str()
                                             : ("\"" + part + "\"").str();
  };
  return family.str() + "<" + join(map_range(parts, quoted), ",") + ">";
}

std::string numera::elementType(const Format &format) {
  if (format == formatF32())
    return "f32";
  if (format == formatF64())
    return "f64";
  return "!numera.num<" + parameterOf(format) + ">";
}

static std::string dimensions(int32_t rank) {
  std::string text = "tensor<";
  for (int32_t d = 0; d < rank; ++d)
    text += "?x";
  return text;
}

std::string numera::tensorType(const Format &format, int32_t rank) {
  return dimensions(rank) + elementType(format) + ">";
}

std::string numera::tensorType(const ScaledFormat &format, int32_t rank,
                               int32_t axis) {
  const Scaling &scaling = format.scaling;
  std::string text;
  raw_string_ostream out(text);
  out << dimensions(rank) << "!numera.num<" << parameterOf(format.element)
      << ">, #numera.scaling<\"" << nameOf(scaling.rule) << "\", "
      << parameterOf(scaling.scale);
  if (axis >= 0)
    out << ", axis = " << axis;
  if (scaling.block)
    out << ", block = " << scaling.block;
  if (scaling.hasTensorScale)
    out << ", tensor";
  if (scaling.fullScale != 0)
    out << ", full = " << llvm::format("%.9e", double(scaling.fullScale));
  out << ">>";
  return text;
}

// ---- the C functions -------------------------------------------------------

char *numeraFormatAccumulator(const NumeraRegistry *registry,
                              const char *format, char **error) {
  clear(error);
  std::string message;
  auto request = readRequest(registry->registry, format, "", message);
  std::optional<ResolvedPolicy> policy;
  if (request)
    policy = resolvePolicy(registry->registry, *request, message);
  if (!policy)
    return fail(error, message);
  return strdup(policy->accumulateName.c_str());
}

char *numeraTensorType(const NumeraRegistry *registry, const char *format,
                       int32_t rank, int32_t axis, char **error) {
  clear(error);
  std::string message;
  const Registry &formats = registry->registry;
  if (rank < 0 || rank > NUMERA_MAX_RANK || axis >= rank)
    return fail(error, "rank " + std::to_string(rank) + " with the axis " +
                           std::to_string(axis) +
                           "; expected a rank of 0 to 16, and an axis below");
  if (ScaledFormat scaled = formats.lookupScaledFormat(format, message)) {
    if (scaled.isBlock() && axis < 0)
      return fail(error, "blocks of '" + std::string(format) +
                             "' lie along an axis; none is named");
    return strdup(tensorType(scaled, rank, axis).c_str());
  }
  if (!message.empty())
    return fail(error, message);
  Format plain = formats.lookupFormat(format, message);
  if (!plain)
    return fail(error, message);
  return strdup(tensorType(plain, rank).c_str());
}
