// SPDX-License-Identifier: MIT

#include "numera/Registry/Formats/OpKind.h"

using namespace numera;

namespace {
struct Entry {
  llvm::StringLiteral name;
  unsigned operands;
};
} // namespace

static constexpr Entry entries[] = {
#define NUMERA_OPERATION(enumerator, name, operands) {name, operands},
#define NUMERA_FUNCTION(enumerator, name, operands) {name, operands},
#define NUMERA_IDENTITY(enumerator, name, operands) {name, operands},
#define NUMERA_PART(enumerator, name, operands) {name, operands},
#include "numera/Registry/Formats/Operations.def"
};

llvm::StringRef numera::nameOf(OpKind operation) {
  return entries[static_cast<size_t>(operation)].name;
}

/// How many of the entries are operations: functions stand behind them.
static constexpr size_t operations = 0
#define NUMERA_OPERATION(enumerator, name, operands) +1
#include "numera/Registry/Formats/Operations.def"
    ;

static std::optional<OpKind> find(llvm::StringRef name, size_t begin,
                                  size_t end) {
  for (size_t i = begin; i < end; ++i)
    if (entries[i].name == name)
      return static_cast<OpKind>(i);
  return std::nullopt;
}

std::optional<OpKind> numera::operationFromName(llvm::StringRef name) {
  return find(name, 0, operations);
}

std::optional<OpKind> numera::libraryFunctionFromName(llvm::StringRef name) {
  return find(name, operations, static_cast<size_t>(OpKind::IdentityZero));
}

unsigned numera::operandCount(OpKind operation) {
  return entries[static_cast<size_t>(operation)].operands;
}

bool numera::isProduct(OpKind operation) {
  return operation == OpKind::Matmul || operation == OpKind::Dot;
}

bool numera::isIdentity(OpKind operation) {
  return operation >= OpKind::IdentityZero &&
         operation < OpKind::AccumulatorInit;
}

bool numera::isPartOfAccumulator(OpKind operation) {
  return operation >= OpKind::AccumulatorInit;
}

bool numera::isRounded(OpKind operation) {
  switch (operation) {
  case OpKind::Neg:
  case OpKind::Abs:
  case OpKind::Min:
  case OpKind::Max:
  case OpKind::MinNum:
  case OpKind::MaxNum:
  case OpKind::Cmp:
  case OpKind::IsNaN:
    return false;
  default:
    return true;
  }
}
