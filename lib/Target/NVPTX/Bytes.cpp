// SPDX-License-Identifier: MIT
//
// Vector forms (VectorForms.h) in kernels. A GPU has no vectors, but sums and
// products of some 8-bit floats on words of four codes: a call of such a form,
// if its format and rounding are those that are known,
//
//   %c = call <16 x i8> @_ZGV_LLVM_N16vv…_numera_float_mul_8(%a, %b, 4, 3, …)
//
// becomes four calls of @numera_bytes_mul_e4m3 (runtime/nvptx/Bytes.cpp). Any
// other vector form becomes a call for each lane.

#include "Device.h"
#include "Vectorize/VectorForms.h"
#include "numera/Registry/Symbols/VectorForm.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;
using namespace numera;

namespace {
/// A format whose codes have functions on words, from a version of GPUs on.
struct ByteFormat {
  const char *name;
  const char *suffix;
  unsigned oldest;
};
constexpr ByteFormat byteFormats[] = {{"f8E4M3FN", "e4m3", 89},
                                      {"f8E5M2", "e5m2", 75}};
constexpr unsigned codesOfWord = 4;
} // namespace

/// True if the arguments from the third one on are the format's parameters, the
/// default rounding, and no random bits.
static bool takes(const CallInst &call, const Format &format) {
  SmallVector<int32_t, 12> expected(format.getParameters());
  expected.push_back(numera::RoundingMode(format.getRounding()).pack());
  expected.push_back(0);
  if (call.arg_size() != expected.size() + 2)
    return false;
  for (auto [i, value] : enumerate(expected)) {
    auto *constant = dyn_cast<ConstantInt>(call.getArgOperand(unsigned(i) + 2));
    if (!constant || constant->getSExtValue() != value)
      return false;
  }
  return true;
}

/// The function on words that does what the form of `scalar` does for this
/// call; "" if there is none.
static std::string functionOnWords(const CallInst &call, StringRef scalar,
                                   const Registry &registry, unsigned version) {
  auto *type = dyn_cast<FixedVectorType>(call.getType());
  if (!type || !type->getElementType()->isIntegerTy(8) ||
      type->getNumElements() % codesOfWord != 0 ||
      !scalar.consume_front("numera_float_") || !scalar.consume_back("_8") ||
      !is_contained({"add", "sub", "mul"}, scalar) ||
      call.getArgOperand(0)->getType() != type ||
      call.getArgOperand(1)->getType() != type)
    return "";
  for (const ByteFormat &known : byteFormats) {
    std::string error;
    if (version >= known.oldest &&
        takes(call, registry.lookupFormat(known.name, error)))
      return ("numera_bytes_" + scalar + "_" + known.suffix).str();
  }
  return "";
}

static void callOnWords(CallInst &call, StringRef name) {
  IRBuilder<> builder(&call);
  Type *word = builder.getInt32Ty();
  unsigned count =
      cast<FixedVectorType>(call.getType())->getNumElements() / codesOfWord;
  auto *words = FixedVectorType::get(word, count);
  FunctionCallee function =
      call.getModule()->getOrInsertFunction(name, word, word, word);
  Value *a = builder.CreateBitCast(call.getArgOperand(0), words);
  Value *b = builder.CreateBitCast(call.getArgOperand(1), words);
  Value *result = PoisonValue::get(words);
  for (unsigned i = 0; i < count; ++i)
    result = builder.CreateInsertElement(
        result,
        builder.CreateCall(function, {builder.CreateExtractElement(a, i),
                                      builder.CreateExtractElement(b, i)}),
        i);
  call.replaceAllUsesWith(builder.CreateBitCast(result, call.getType()));
  call.eraseFromParent();
}

Error numera::defineDeviceForms(Module &module, const Registry &registry,
                                unsigned version) {
  if (Error error = defineVectorForms(module))
    return error;
  for (Function &form : make_early_inc_range(module)) {
    Function *scalar = scalarOf(form);
    if (!scalar)
      continue;
    for (User *user : make_early_inc_range(form.users())) {
      auto *call = cast<CallInst>(user);
      std::string name =
          functionOnWords(*call, scalar->getName(), registry, version);
      InlineFunctionInfo info;
      if (!name.empty())
        callOnWords(*call, name);
      else
        (void)InlineFunction(*call, info);
    }
    form.eraseFromParent();
  }
  return Error::success();
}
