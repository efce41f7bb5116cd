// SPDX-License-Identifier: MIT

#include "numera/Registry/Formats/OpKind.h"
#include "llvm/ADT/StringExtras.h"

using namespace numera;

namespace {
enum class Form { Direct, Ziv, Exact, Choice, Test, Cast, Step, Library };

struct Entry {
  llvm::StringLiteral name;
  unsigned operands;
  Form form = Form::Library;
  unsigned cost = 1;
  llvm::StringLiteral mlir = "";
};
} // namespace

static constexpr Entry entries[] = {
#define NUMERA_OPERATION(enumerator, name, operands, form, cost, onnx, mlir)   \
  {#name, operands, Form::form, cost, mlir},
#define NUMERA_FUNCTION(enumerator, name, operands) {name, operands},
#define NUMERA_IDENTITY(enumerator, name, operands) {name, operands},
#define NUMERA_PART(enumerator, name, operands) {name, operands},
#include "numera/Numerics/Core/Operations.def"
#include "numera/Registry/Formats/LibraryFunctions.def"
};

static const Entry &entryOf(OpKind operation) {
  return entries[static_cast<size_t>(operation)];
}

llvm::StringRef numera::nameOf(OpKind operation) {
  return entryOf(operation).name;
}

/// How many of the entries are operations: functions stand behind them.
static constexpr size_t operations = 0
#define NUMERA_OPERATION(enumerator, name, operands, ...) +1
#include "numera/Numerics/Core/Operations.def"
    ;
static_assert(operations <= 64, "sets of operations are words (Lowering.h)");

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
  return entryOf(operation).operands;
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
  Form form = entryOf(operation).form;
  return form != Form::Choice && form != Form::Test;
}

bool numera::isMachineOperation(OpKind operation) {
  Form form = entryOf(operation).form;
  return form != Form::Ziv && form != Form::Exact;
}

unsigned numera::costOf(OpKind operation) { return entryOf(operation).cost; }

std::optional<OpKind> numera::operationFromMLIR(llvm::StringRef name) {
  for (size_t i = 0; i < operations; ++i)
    for (llvm::StringRef word : llvm::split(entries[i].mlir, ' '))
      if (word == name)
        return static_cast<OpKind>(i);
  return std::nullopt;
}
