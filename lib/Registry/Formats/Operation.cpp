// SPDX-License-Identifier: MIT

#include "numera/Registry/Formats/Operation.h"

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

llvm::StringRef numera::nameOf(Operation operation) {
  return entries[static_cast<size_t>(operation)].name;
}

/// How many of the entries are operations: functions stand behind them.
static constexpr size_t operations = 0
#define NUMERA_OPERATION(enumerator, name, operands) +1
#include "numera/Registry/Formats/Operations.def"
    ;

static std::optional<Operation> find(llvm::StringRef name, size_t begin,
                                     size_t end) {
  for (size_t i = begin; i < end; ++i)
    if (entries[i].name == name)
      return static_cast<Operation>(i);
  return std::nullopt;
}

std::optional<Operation> numera::operationFromName(llvm::StringRef name) {
  return find(name, 0, operations);
}

std::optional<Operation> numera::libraryFunctionFromName(llvm::StringRef name) {
  return find(name, operations, static_cast<size_t>(Operation::IdentityZero));
}

unsigned numera::operandCount(Operation operation) {
  return entries[static_cast<size_t>(operation)].operands;
}

bool numera::isProduct(Operation operation) {
  return operation == Operation::Matmul || operation == Operation::Dot;
}

bool numera::isIdentity(Operation operation) {
  return operation >= Operation::IdentityZero &&
         operation < Operation::AccumulatorInit;
}

bool numera::isPartOfAccumulator(Operation operation) {
  return operation >= Operation::AccumulatorInit;
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
