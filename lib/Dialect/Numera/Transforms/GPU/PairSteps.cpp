// SPDX-License-Identifier: MIT

#include "PairSteps.h"
#include "TensorCores.h"

using namespace mlir;

namespace numera {

StringRef pairSteps(linalg::GenericOp generic,
                    const PackedContraction &contraction,
                    const Registry &registry, StringRef gpu) {
  // Of an opaque format that rounds alike the codes are others.
  if (!contraction.carried ||
      ContractionKinds(generic, contraction).sum.kind.format !=
          contraction.carried)
    return "";
  for (auto [name, oldest] : {std::pair("f16", 75u), {"bf16", 80u}}) {
    std::string error;
    if (contraction.carried == registry.lookupFormat(name, error) &&
        gpuVersion(gpu) >= oldest)
      return name;
  }
  return "";
}

} // namespace numera
