// SPDX-License-Identifier: MIT
//
// The C prototype that a lowering's function must have, and the other
// prototypes that programs accept.

#ifndef NUMERA_LIB_TARGET_LIBRARIES_LIBRARYSIGNATURE_H
#define NUMERA_LIB_TARGET_LIBRARIES_LIBRARYSIGNATURE_H

#include "numera/Registry/Registry.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"

namespace numera {

/// A number of the C language: an integer, float or double.
struct CNumber {
  unsigned bits;
  bool isFloat = false;
  bool isSigned = false;
  bool isInteger = false; ///< of a cast: a library may have it in a wider type
  /// No number, but a pointer to such numbers, or to anything where `bits` is
  /// 0: `void *`, `const uint16_t *`; or nothing at all.
  enum class Memory { None, Written, Read, Nothing } memory = Memory::None;

  /// Of a code: the bits of its format, while `bits` are those of its storage;
  /// else 0.
  unsigned width = 0;

  bool isCode() const { return memory == Memory::None && width != 0; }
  bool isWideCode() const { return isCode() && bits > 64; }

  std::string name() const; ///< `uint16_t`; of a wide code `T128`
  llvm::Type *type(llvm::LLVMContext &context) const;
  /// True if a function may have it in that type. An integer of a cast may be
  /// `int_fast32_t`, of 64 bits; a code of 16 bits `_Float16` or `__bf16`.
  bool converts(const llvm::Type &type) const;
};

/// A number in another of the types that it converts to.
llvm::Value *convertNumber(llvm::IRBuilderBase &builder, llvm::Value *value,
                           llvm::Type *type, bool isSigned);

/// What a lowering's function takes and returns.
struct CSignature {
  CNumber result;
  std::vector<CNumber> operands;
  bool isTest = false; ///< the result is true or false

  /// As a library has it whose codes are signed or unsigned integers.
  static CSignature of(const Lowering &lowering, bool hasSignedCodes = false);
  /// As a library says of itself: codes by their sign, f32 and f64 perhaps as
  /// the integers of their bits.
  static CSignature of(const Lowering &lowering, const Library &library);
  /// `uint16_t my_add(uint16_t, uint16_t)`.
  std::string prototype(llvm::StringRef symbol) const;
  llvm::FunctionType *type(llvm::LLVMContext &context) const;
  /// What a function is expected to be, for messages.
  std::string expectation(llvm::StringRef symbol) const;
  /// True if `definition` computes the same on types that convert: f32 and f64
  /// as their bits, truth as bool or int, integers of a cast in wider ones,
  /// wide codes in one of the ways of C compilers.
  bool isServedBy(const llvm::Function &definition) const;
  /// True if the result, which is no wide code, may be of that type.
  bool returns(const llvm::Type &type) const;
  /// True if the function has each number as one that converts.
  bool isServedPlainly(const llvm::FunctionType &type) const;
};

/// The prototype of a function in bitcode, as far as its types say.
std::string prototypeOf(const llvm::Function &function);

/// Defines `adapter`, which is declared as the program calls it, as a call of
/// `callee`, which computes the same on types that convert.
void defineAdapter(llvm::Function &adapter, llvm::Function &callee,
                   const CSignature &signature);

} // namespace numera

#endif // NUMERA_LIB_TARGET_LIBRARIES_LIBRARYSIGNATURE_H
