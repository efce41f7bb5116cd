// SPDX-License-Identifier: MIT

#include "TensorCores.h"

using namespace mlir;

namespace numera {

unsigned gpuVersion(StringRef gpu) {
  unsigned version = 0;
  if (!gpu.consume_front("sm_") || gpu.consumeInteger(10, version))
    return 0;
  return version;
}

static Format named(const Registry &registry, StringRef name) {
  std::string error;
  return registry.lookupFormat(name, error);
}

/// The 8-bit formats of which there are instructions.
static StringRef byteFactor(const Registry &registry, const Format &format) {
  if (haveSameCodes(format, named(registry, "f8E4M3FN")))
    return "e4m3";
  if (haveSameCodes(format, named(registry, "f8E5M2")))
    return "e5m2";
  return "";
}

FailureOr<TensorFactors> TensorFactors::of(linalg::GenericOp generic,
                                           const PackedContraction &contraction,
                                           const Registry &registry,
                                           StringRef gpu) {
  if (!contraction.step || !MacOp(contraction.step).getTensorcore())
    return TensorFactors();
  ContractionKinds kinds(generic, contraction);
  const Format &row = kinds.row.kind.format, &column = kinds.column.kind.format;
  unsigned version = gpuVersion(gpu);
  bool ofWarpgroups = gpu == "sm_90a";
  StringRef rowByte = byteFactor(registry, row),
            columnByte = byteFactor(registry, column);
  if (version >= 89 && !rowByte.empty() && !columnByte.empty())
    return TensorFactors{row, column, (rowByte + "_" + columnByte).str(), 8,
                         ofWarpgroups};
  for (auto [name, oldest] : {std::pair("f16", 75u), {"bf16", 80u}}) {
    Format carrier = named(registry, name);
    if (!isExactCast(row, carrier) || !isExactCast(column, carrier))
      continue;
    if (version >= oldest)
      return TensorFactors{carrier, carrier, name, 16, ofWarpgroups};
    return generic.emitError("accumulate 'tensorcore' of ")
           << name << " needs sm_" << oldest << " or later, found '" << gpu
           << "'; choose another --gpu, or accumulate f32";
  }
  auto error = generic.emitError(
      "accumulate 'tensorcore' needs factors that f16 or bf16 hold exactly, "
      "found '");
  error << registry.nameOrSpelling(row) << "'";
  if (row != column)
    error << " and '" << registry.nameOrSpelling(column) << "'";
  error << "; choose another format, or accumulate f32";
  return failure();
}

} // namespace numera
