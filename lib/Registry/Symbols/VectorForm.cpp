// SPDX-License-Identifier: MIT

#include "numera/Registry/Symbols/VectorForm.h"

using namespace numera;
using llvm::StringRef;

static constexpr llvm::StringLiteral prefix = "_ZGV_LLVM_N";

std::string VectorForm::symbol() const {
  std::string name = prefix.str() + std::to_string(lanes);
  for (bool each : isVector)
    name += each ? 'v' : 'u';
  return name + "_" + scalar;
}

std::optional<VectorForm> VectorForm::parse(StringRef symbol) {
  VectorForm form;
  if (!symbol.consume_front(prefix) || symbol.consumeInteger(10, form.lanes) ||
      form.lanes == 0)
    return std::nullopt;
  for (; !symbol.empty() && symbol.front() != '_';
       symbol = symbol.drop_front()) {
    if (symbol.front() != 'v' && symbol.front() != 'u')
      return std::nullopt;
    form.isVector.push_back(symbol.front() == 'v');
  }
  if (!symbol.consume_front("_") || symbol.empty())
    return std::nullopt;
  form.scalar = symbol.str();
  return form;
}
