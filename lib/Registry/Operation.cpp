// SPDX-License-Identifier: MIT

#include "numera/Registry/Operation.h"

using namespace numera;

namespace {
struct Entry {
  llvm::StringLiteral name;
  unsigned operands;
};
} // namespace

static constexpr Entry entries[] = {
#define NUMERA_OPERATION(enumerator, name, operands) {name, operands},
#include "numera/Registry/Operations.def"
};

llvm::StringRef numera::nameOf(Operation operation) {
  return entries[static_cast<size_t>(operation)].name;
}

std::optional<Operation> numera::operationFromName(llvm::StringRef name) {
  for (size_t i = 0; i < std::size(entries); ++i)
    if (entries[i].name == name)
      return static_cast<Operation>(i);
  return std::nullopt;
}

unsigned numera::operandCount(Operation operation) {
  return entries[static_cast<size_t>(operation)].operands;
}

bool numera::isRounded(Operation operation) {
  switch (operation) {
  case Operation::Neg:
  case Operation::Abs:
  case Operation::Min:
  case Operation::Max:
  case Operation::MinNum:
  case Operation::MaxNum:
  case Operation::Cmp:
  case Operation::IsNaN:
    return false;
  default:
    return true;
  }
}
