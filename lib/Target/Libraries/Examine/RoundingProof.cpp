// SPDX-License-Identifier: MIT
//
// `{op: round_to, …, equivalent: bf16}`: the results of a library's function
// are compared with the runtime's rounding, for each of the 2^32 numbers of
// f32, before programs use the latter for the former. Both are inlined in one
// loop,
//
//   i32 @rounding(i32 begin, i32 count)     bits in which some result differs
//   i32 @decoding(i32 begin, i32 count)     the same of codes, cast to f32, and
//                                           what these round to
//
// which takes about a second for all of them, and runs in a child process.
// Proofs are kept for later runs (ProofCache.h).

#include "Codegen/JIT.h"
#include "Codegen/Machines.h"
#include "Codegen/Tuning.h"
#include "Libraries/LibraryRun.h"
#include "Libraries/LibrarySignature.h"
#include "Libraries/LinkLibraries.h"
#include "LibraryExamination.h"
#include "Link/LinkRuntime.h"
#include "Peephole/Optimize.h"
#include "Vectorize/Specialize.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/ValueHandle.h"
#include "llvm/Support/Format.h"

#include <atomic>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

using namespace llvm;
using namespace numera;

namespace {

constexpr unsigned mostSeconds = 120;

/// What the child leaves.
struct Finding {
  enum { Nothing, Equal, RoundsOtherwise, DecodesOtherwise } kind;
  uint32_t place; ///< an f32, or a code
};

class RoundingProof {
public:
  RoundingProof(const Registry &registry, const Lowering &roundTo)
      : registry(registry), roundTo(roundTo), module("rounding", context),
        builder(context) {}

  Error run() {
    Expected<Machines> machines = createMachines(CPUOptions());
    if (!machines)
      return machines.takeError();
    machine = std::move(machines->baseline);
    setTarget(module, *machine);
    addLoop("rounding", [&](Value *place) {
      Value *number = builder.CreateBitCast(place, builder.getFloatTy());
      return std::pair(callLibrary(roundTo, number), round(number));
    });
    addLoop("decoding", [&](Value *place) {
      Value *code = builder.CreateTrunc(
          place, builder.getIntNTy(roundTo.result.storageBits()));
      Value *number = callLibrary(decode(), code);
      return std::pair(number, round(number));
    });
    if (Error error = link())
      return error;
    void *memory = mmap(nullptr, sizeof(Finding), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
      return createStringError("no memory for a proof");
    auto *found = static_cast<Finding *>(memory);
    runInQuietChild([&] { compare(*found); }, mostSeconds);
    Finding finding = *found;
    munmap(memory, sizeof(Finding));
    return verdict(finding);
  }

private:
  const Lowering &decode() const {
    Lowering key{};
    key.operation = OpKind::Cast;
    key.target = numera::Target::CPU;
    key.operands = {roundTo.result};
    key.result = roundTo.operands.front();
    return *registry.findLowering(key); // checked when the file was read
  }

  Value *callLibrary(const Lowering &lowering, Value *operand) {
    FunctionType *type = CSignature::of(lowering).type(context);
    std::string symbol = registry.symbolOf(lowering);
    if (!lowering.library.empty())
      libraries[symbol] = lowering.library;
    CallInst *call =
        builder.CreateCall(module.getOrInsertFunction(symbol, type), operand);
    if (operand->getType()->isIntegerTy())
      call->addParamAttr(0, Attribute::ZExt);
    calls.emplace_back(call);
    return call;
  }

  /// The runtime's rounding in the carrier.
  Value *round(Value *number) {
    const Format &format = roundTo.equivalent;
    SmallVector<Value *> operands = {number};
    for (int32_t parameter : format.getParameters())
      operands.push_back(builder.getInt32(uint32_t(parameter)));
    operands.push_back(
        builder.getInt32(uint32_t(format.getRoundingMode().pack())));
    operands.push_back(builder.getInt32(0));
    SmallVector<Type *> types;
    for (Value *operand : operands)
      types.push_back(operand->getType());
    std::string symbol =
        ("numera_" + format.getFamily().name() + "_round_f32_32").str();
    return builder.CreateCall(
        module.getOrInsertFunction(
            symbol, FunctionType::get(builder.getFloatTy(), types, false)),
        operands);
  }

  void addLoop(StringRef name,
               function_ref<std::pair<Value *, Value *>(Value *)> results) {
    Type *i32 = builder.getInt32Ty();
    auto *function =
        Function::Create(FunctionType::get(i32, {i32, i32}, false),
                         GlobalValue::ExternalLinkage, name, module);
    auto *entry = BasicBlock::Create(context, "entry", function);
    auto *body = BasicBlock::Create(context, "body", function);
    auto *end = BasicBlock::Create(context, "end", function);
    builder.SetInsertPoint(entry);
    builder.CreateBr(body);
    builder.SetInsertPoint(body);
    PHINode *i = builder.CreatePHI(i32, 2), *sum = builder.CreatePHI(i32, 2);
    auto [found, expected] = results(builder.CreateAdd(function->getArg(0), i));
    Value *differs = builder.CreateXor(builder.CreateBitCast(found, i32),
                                       builder.CreateBitCast(expected, i32));
    Value *areNaN =
        builder.CreateAnd(builder.CreateFCmpUNO(found, found),
                          builder.CreateFCmpUNO(expected, expected));
    Value *joined = builder.CreateOr(
        sum, builder.CreateSelect(areNaN, builder.getInt32(0), differs));
    Value *next = builder.CreateAdd(i, builder.getInt32(1));
    for (auto [phi, begin, after] : {std::tuple(i, builder.getInt32(0), next),
                                     {sum, builder.getInt32(0), joined}}) {
      phi->addIncoming(begin, entry);
      phi->addIncoming(after, body);
    }
    builder.CreateCondBr(builder.CreateICmpEQ(next, function->getArg(1)), end,
                         body);
    builder.SetInsertPoint(end);
    builder.CreateRet(joined);
  }

  Error link() {
    Expected<std::vector<std::string>> native =
        linkLibraries(module, registry, libraries, *machine);
    if (!native)
      return native.takeError();
    // System libraries are there beside sources as well.
    if (any_of(calls, [](const WeakTrackingVH &value) {
          const auto *call = dyn_cast_or_null<CallInst>(value);
          return !call || !call->getCalledFunction() ||
                 call->getCalledFunction()->isDeclaration();
        }))
      return createStringError(
          roundTo.location +
          ": 'equivalent' is proven with all numbers of "
          "f32, which machine code is too slow for; give '" +
          roundTo.symbol + "' as source or bitcode");
    nativeLibraries = std::move(*native);
    if (Error error = linkRuntime(module))
      return error;
    defineAnswers(module, *machine);
    setTarget(module, *machine);
    specializeRuntimeCalls(module, *machine);
    return optimize(module, *machine, {});
  }

  /// In the child.
  void compare(Finding &finding) {
    Compiled program;
    program.module.reset(&module); // the process ends before they are freed
    program.machine.reset(machine.release());
    program.nativeLibraries = nativeLibraries;
    auto jit = load(program);
    if (!jit)
      return consumeError(jit.takeError());
    auto find = [&](const char *name) {
      auto address = (*jit)->lookup(name);
      return address ? address->toPtr<uint32_t (*)(uint32_t, uint32_t)>()
                     : (consumeError(address.takeError()), nullptr);
    };
    auto *rounding = find("rounding"), *decoding = find("decoding");
    if (!rounding || !decoding)
      return;
    auto kind = Finding::DecodesOtherwise;
    std::optional<uint32_t> place =
        firstDifference(decoding, uint64_t{1} << roundTo.result.width());
    if (!place) {
      kind = Finding::RoundsOtherwise;
      place = firstDifference(rounding, uint64_t{1} << 32);
    }
    finding.place = place.value_or(0);
    finding.kind = place ? kind : Finding::Equal;
    _exit(0);
  }

  static std::optional<uint32_t>
  firstDifference(uint32_t (*differ)(uint32_t, uint32_t), uint64_t end) {
    uint64_t part = std::min<uint64_t>(end, 1 << 22);
    std::atomic<uint64_t> next = 0, found = end;
    auto work = [&] {
      for (uint64_t at = next.fetch_add(part); at < end && found == end;
           at = next.fetch_add(part))
        if (differ(uint32_t(at), uint32_t(part)))
          found = at;
    };
    std::vector<std::thread> threads;
    for (unsigned i = 1; i < std::thread::hardware_concurrency(); ++i)
      threads.emplace_back(work);
    work();
    for (std::thread &thread : threads)
      thread.join();
    if (found == end)
      return std::nullopt;
    uint64_t at = found;
    while (!differ(uint32_t(at), 1))
      ++at;
    return uint32_t(at);
  }

  Error verdict(const Finding &finding) const {
    std::string name = registry.nameOf(roundTo.equivalent);
    if (name.empty())
      name = roundTo.equivalent.spelling();
    std::string text;
    raw_string_ostream stream(text);
    stream << roundTo.location << ": ";
    switch (finding.kind) {
    case Finding::Equal:
      return Error::success();
    case Finding::RoundsOtherwise:
      stream << "'" << roundTo.symbol << "' rounds the f32 of bits "
             << format_hex(finding.place, 10) << " otherwise than '" << name
             << "' does, expected the same of all; leave 'equivalent' out";
      break;
    case Finding::DecodesOtherwise:
      stream << "'" << decode().symbol << "' gives for code "
             << format_hex(finding.place, 6) << " a number that '" << name
             << "' does not have, expected one that it has; leave "
                "'equivalent' out";
      break;
    case Finding::Nothing:
      stream << "'" << roundTo.symbol << "' crashes or takes more than "
             << mostSeconds << " s for all numbers of f32, expected what '"
             << name << "' rounds them to; leave 'equivalent' out";
      break;
    }
    return createStringError(text);
  }

  const Registry &registry;
  const Lowering &roundTo;
  LLVMContext context;
  Module module;
  IRBuilder<> builder;
  NamedLibraries libraries;
  SmallVector<WeakTrackingVH> calls; ///< of the library's functions
  std::vector<std::string> nativeLibraries;
  std::unique_ptr<TargetMachine> machine;
};

} // namespace

Error numera::proveRounding(const Registry &registry, const Lowering &roundTo,
                            ProofCache &cache) {
  Expected<Fingerprint> about =
      fingerprintOf(registry, {roundTo.result, roundTo.equivalent});
  if (!about)
    return about.takeError();
  about->add("round_to").add(registry.suggest(roundTo)).add(roundTo.symbol);
  if (auto known = cache.find(*about); known && known->holds)
    return Error::success();
  if (Error error = RoundingProof(registry, roundTo).run())
    return error;
  std::string subject = "round_to of " + registry.nameOf(roundTo.result) +
                        " as " + roundTo.equivalent.spelling();
  cache.keep(*about, {subject, /*holds=*/true, uint64_t{1} << 32});
  return Error::success();
}
