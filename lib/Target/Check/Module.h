// SPDX-License-Identifier: MIT
//
// Operations as a program: one function on tensors for each, compiled as a
// model's are.

#ifndef NUMERA_LIB_TARGET_CHECK_MODULE_H
#define NUMERA_LIB_TARGET_CHECK_MODULE_H

#include "Cases.h"
#include "numera/Target/Program/Program.h"

namespace numera::check {

/// A registry in which the formats of registered functions have twins as wide
/// as their storage, so that no program masks what the functions return.
class Twins {
public:
  explicit Twins(const Registry &original);
  /// None: operations are compiled as programs have them.
  static Twins none(const Registry &original);

  const Registry &registry() const { return widened; }
  /// `type` as the program for `checked` has it.
  CastType twinOf(const Checked &checked, const CastType &type) const;

private:
  Twins() = default;

  Registry widened;
  std::vector<std::pair<Format, Format>> twins;
};

/// Compiles the operations; function `i` computes `checked[i]`.
llvm::Expected<std::unique_ptr<Program>>
compileOperations(const Twins &twins, llvm::ArrayRef<Checked> checked);

/// The same of casts, without those that are none, and a function `product` of
/// two matrices, which calls a registered `matmul` or `dot` or sums in a
/// registered accumulator.
llvm::Expected<std::unique_ptr<Program>>
compileProduct(const Registry &registry, const Checked &product,
               llvm::ArrayRef<Checked> casts);

/// Calls function `i` on `count` inputs, stored one behind the other; false
/// with a message where the program refuses.
class Caller {
public:
  Caller(const Program &program, size_t i, const Checked &checked);

  /// Operands as codes, by operand; `results` is resized.
  bool call(llvm::ArrayRef<std::vector<uint64_t>> operands,
            std::vector<uint64_t> &results, std::string &message);
  /// What the program took for the last call.
  double seconds() const { return elapsed; }

private:
  double elapsed = 0;
  numera_entry *entry;
  const FunctionSignature *signature;
  std::vector<std::vector<char>> inputs;
  std::vector<char> output;
  std::vector<unsigned> sizes; ///< bytes of an operand, then of the result
};

} // namespace numera::check

#endif // NUMERA_LIB_TARGET_CHECK_MODULE_H
