// SPDX-License-Identifier: MIT

#include "Lanes.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ExecutionEngine/Orc/ThreadSafeModule.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/TargetSelect.h"
#include "gtest/gtest.h"

#include <bit>

using namespace llvm;
using namespace numera::test;

Function *Lanes::addCaller(StringRef name, FunctionCallee callee,
                           ArrayRef<int32_t> constants) {
  LLVMContext &context = module->getContext();
  Type *pointer = PointerType::getUnqual(context);
  FunctionType *called = callee.getFunctionType();
  Function *caller = Function::Create(
      FunctionType::get(Type::getVoidTy(context), {pointer, pointer}, false),
      Function::ExternalLinkage, name, *module);
  IRBuilder<> builder(BasicBlock::Create(context, "", caller));
  SmallVector<Value *> arguments;
  for (unsigned i = 0; i < called->getNumParams() - constants.size(); ++i) {
    Value *place = builder.CreateLoad(
        pointer, builder.CreateConstGEP1_32(pointer, caller->getArg(0), i));
    arguments.push_back(
        builder.CreateAlignedLoad(called->getParamType(i), place, Align(1)));
  }
  for (int32_t constant : constants)
    arguments.push_back(builder.getInt32(constant));
  builder.CreateAlignedStore(builder.CreateCall(callee, arguments),
                             caller->getArg(1), Align(1));
  builder.CreateRetVoid();
  return caller;
}

bool Lanes::compile() {
  std::string errors;
  raw_string_ostream stream(errors);
  if (verifyModule(*module, &stream)) {
    ADD_FAILURE() << errors;
    return false;
  }
  InitializeNativeTarget();
  InitializeNativeTargetAsmPrinter();
  auto made = orc::LLJITBuilder().create();
  if (!made) {
    ADD_FAILURE() << toString(made.takeError());
    return false;
  }
  jit = std::move(*made);
  module->setDataLayout(jit->getDataLayout());
  if (Error error = jit->addIRModule(
          orc::ThreadSafeModule(std::move(module), std::move(context)))) {
    ADD_FAILURE() << toString(std::move(error));
    return false;
  }
  return true;
}

void Lanes::call(StringRef name, ArrayRef<const void *> arguments,
                 void *result) {
  auto address = jit->lookup(name);
  if (!address) {
    ADD_FAILURE() << toString(address.takeError());
    return;
  }
  address->toPtr<void(const void *const *, void *)>()(arguments.data(), result);
}

void Lanes::expectSame(StringRef scalar, StringRef vector, unsigned lanes,
                       ArrayRef<Operand> operands, unsigned result,
                       unsigned rounds) {
  auto bytesOf = [](const Operand &operand) {
    return std::bit_ceil((operand.bits + 7) / 8);
  };
  std::vector<std::vector<uint8_t>> arguments;
  for (const Operand &operand : operands)
    arguments.emplace_back(bytesOf(operand) * (operand.isVector ? lanes : 1));
  std::vector<uint8_t> results(lanes * result), one(result);
  for (unsigned round = 0; round < rounds; ++round) {
    // In half of the rounds few bits are set: small numbers, zeros.
    for (auto [bytes, operand] : zip_equal(arguments, operands))
      for (size_t i = 0; i < bytes.size(); i += bytesOf(operand)) {
        uint64_t bits = round % 2 ? random() : random() & random() & random();
        bits &= ~uint64_t{0} >> (64 - operand.bits);
        memcpy(&bytes[i], &bits, bytesOf(operand));
      }
    SmallVector<const void *> pointers;
    for (std::vector<uint8_t> &bytes : arguments)
      pointers.push_back(bytes.data());
    call(vector, pointers, results.data());
    for (unsigned lane = 0; lane < lanes; ++lane) {
      SmallVector<const void *> places;
      std::string text;
      for (auto [bytes, operand] : zip_equal(arguments, operands)) {
        places.push_back(bytes.data() +
                         (operand.isVector ? lane * bytesOf(operand) : 0));
        uint64_t bits = 0;
        memcpy(&bits, places.back(), bytesOf(operand));
        text += " " + utohexstr(bits);
      }
      call(scalar, places, one.data());
      ASSERT_EQ(memcmp(one.data(), results.data() + lane * result, result), 0)
          << vector.str() << ", lane " << lane << ", operands" << text;
    }
  }
}
