// SPDX-License-Identifier: MIT
//
// A contraction on memrefs becomes a call of the kernel in runtime/kernels:
//
//   linalg.generic {… numera.mac …}
//     becomes
//   llvm.call @numera.contraction.0(rows, columns, sums, initial, finish,
//                                   loops, counts…)
//
// with the hooks of runtime/kernels/Hooks.h beside it, `…0.row`, `…0.column`,
// `…0.load`, `…0.store`, `…0.prefetch` and `…0.step`, whose bodies are
// operations of `numera`, or calls of the runtime's steps in a carrier. Factors
// that are floats to compute with need no `.row` and no `.column`, and their
// kernel takes what overwrites the sums along (Finish.h).
// Contractions that differ only in sizes share a kernel. Sums in quires have
// their own kernel and hooks. A registered product takes precedence: such
// contractions become calls of it (CallProducts.cpp).

#include "Buffers/BufferUses.h"
#include "CallProducts.h"
#include "ContractionHooks.h"
#include "Finish.h"
#include "PanelConstants.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "numera/Dialect/Numera/Transforms/Passes.h"
#include "numera/Numerics/MultiplyAdd/Step.h"
#include "numera/Registry/Symbols/Tuning.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace numera {
#define GEN_PASS_DEF_NUMERACONTRACT
#include "numera/Dialect/Numera/Transforms/Passes.h.inc"

namespace {

class KernelCalls : HookBuilder {
public:
  KernelCalls(ModuleOp module, const Registry &registry)
      : HookBuilder(module, registry, Target::CPU), constants(module),
        symbols(module) {}

  void replace(const ContractionWork &work);

private:
  Value memoryFor(linalg::GenericOp generic, Type type, int64_t count);
  Value constant(Location loc, Type type, Attribute value);
  Value takeInitial(linalg::GenericOp generic, linalg::FillOp fill);
  Value takeFinish(linalg::GenericOp generic, std::optional<Finish> finish);
  Value writeWords(linalg::GenericOp generic, ArrayRef<Value> words);
  Access accessOfPanels(const ContractionWork &work, const Panels &panels);
  void splitColumns(const ContractionWork &work, const Panels &panels,
                    SmallVectorImpl<Value> &words);
  LLVM::LLVMFuncOp kernelFor(linalg::GenericOp generic,
                             const PackedContraction &contraction);
  LLVM::LLVMFuncOp quireKernelFor(const PackedContraction &contraction);
  LLVM::LLVMFuncOp declareKernel(const Twine &name, StringRef kind);
  void addPrefetch(const Twine &name, Type storage);
  void addCarriedSteps(const Twine &name, const PackedContraction &contraction,
                       const FormatFamily::CarrierStep &step);
  void addHalfSteps(const Twine &name, const PackedContraction &contraction,
                    ArrayRef<int32_t> forms);
  void addConfinedStep(const Twine &name, const PackedContraction &contraction,
                       ArrayRef<int32_t> shortForms, Type vector);

  PanelConstants constants;
  llvm::DenseMap<std::pair<Type, Attribute>, LLVM::GlobalOp> globals;
  SymbolTable symbols;
  llvm::StringMap<LLVM::LLVMFuncOp> kernels; ///< by what they compute
};

/// Those of the vectors in runtime/kernels/Hooks.h.
int64_t lanesOf(Type carrier) {
  return carrier.getIntOrFloatBitWidth() == 64 ? 8 : 16;
}

} // namespace

/// On the stack, taken once, however often the contraction runs.
Value KernelCalls::memoryFor(linalg::GenericOp generic, Type type,
                             int64_t count) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(
      &generic->getParentOfType<func::FuncOp>().front());
  Location loc = generic.getLoc();
  Value size =
      arith::ConstantIntOp::create(builder, loc, builder.getI64Type(), count);
  return LLVM::AllocaOp::create(builder, loc, pointer, type, size);
}

/// In a program's memory, once for all that read it.
Value KernelCalls::constant(Location loc, Type type, Attribute value) {
  LLVM::GlobalOp &global = globals[{type, value}];
  if (!global) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(module.getBody());
    global =
        LLVM::GlobalOp::create(builder, module.getLoc(), type,
                               /*isConstant=*/true, LLVM::Linkage::Internal,
                               "numera.contraction.constant", value);
    symbols.insert(global);
  }
  return LLVM::AddressOfOp::create(builder, loc, global);
}

/// Where the element lies that all sums start with, instead of what their
/// memory is filled with in front of the contraction; null if it is not.
Value KernelCalls::takeInitial(linalg::GenericOp generic, linalg::FillOp fill) {
  Location loc = generic.getLoc();
  if (!fill)
    return LLVM::ZeroOp::create(builder, loc, pointer);
  Value value = fill.getInputs().front();
  Attribute known;
  Value memory;
  if (matchPattern(value, m_Constant(&known))) {
    memory = constant(loc, value.getType(), known);
  } else {
    memory = memoryFor(generic, value.getType(), 1);
    LLVM::StoreOp::create(builder, loc, value, memory);
  }
  fill.erase();
  return memory;
}

/// The array of pointers that says what is made of the sums by the operation
/// behind the contraction, which goes; null if there is none.
Value KernelCalls::takeFinish(linalg::GenericOp generic,
                              std::optional<Finish> finish) {
  Location loc = generic.getLoc();
  if (!finish)
    return LLVM::ZeroOp::create(builder, loc, pointer);
  SmallVector<Value> words = {
      LLVM::AddressOfOp::create(builder, loc, finish->emit(symbols))};
  // What they are views of may be made behind the contraction.
  builder.setInsertionPoint(finish->generic);
  for (OpOperand *input : finish->inputs())
    words.push_back(addressOf(builder, loc, input->get()));
  Value memory = memoryFor(generic, pointer, int64_t(words.size()));
  storeWords(builder, loc, words, memory);
  generic->moveBefore(finish->generic);
  builder.setInsertionPoint(generic);
  finish->generic.erase();
  return memory;
}

/// The array of kernel::Loop, on the stack unless all is known.
Value KernelCalls::writeWords(linalg::GenericOp generic,
                              ArrayRef<Value> words) {
  SmallVector<int64_t> known;
  for (Value word : words)
    if (std::optional<int64_t> number = getConstantIntValue(word))
      known.push_back(*number);
  if (known.size() == words.size())
    return constant(
        generic.getLoc(),
        LLVM::LLVMArrayType::get(builder.getI64Type(), known.size()),
        builder.getI64TensorAttr(known));
  Value memory = memoryFor(generic, builder.getI64Type(),
                           static_cast<int64_t>(words.size()));
  storeWords(builder, generic.getLoc(), words, memory);
  return memory;
}

Access KernelCalls::accessOfPanels(const ContractionWork &work,
                                   const Panels &panels) {
  linalg::GenericOp generic = work.generic;
  Location loc = generic.getLoc();
  memref::GlobalOp global = panels.global;
  Value memref = memref::GetGlobalOp::create(builder, loc, global.getType(),
                                             global.getSymName());
  Access access = {addressOf(builder, loc, memref), {}};
  for (int64_t stride : panels.strides)
    access.strides.push_back(arith::ConstantIntOp::create(
        builder, loc, builder.getI64Type(), stride));
  return access;
}

/// The loop over columns becomes one over panels and one over a panel's.
void KernelCalls::splitColumns(const ContractionWork &work,
                               const Panels &panels,
                               SmallVectorImpl<Value> &words) {
  linalg::GenericOp generic = work.generic;
  Location loc = generic.getLoc();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(builder, loc, builder.getI64Type(),
                                        value);
  };
  const PackedContraction &contraction = work.contraction;
  auto *loop =
      words.begin() + 4 * (contraction.batch.size() + contraction.rows.size());
  Value width = constant(panels.width);
  Value outer[] = {constant(panels.count), loop[1], constant(panels.pitch),
                   builder.createOrFold<arith::MulIOp>(loc, loop[3], width)};
  loop[0] = width;
  words.insert(loop, std::begin(outer), std::end(outer));
}

void KernelCalls::replace(const ContractionWork &work) {
  linalg::GenericOp generic = work.generic;
  const PackedContraction &contraction = work.contraction;
  Location loc = generic.getLoc();
  LLVM::LLVMFuncOp kernel = kernelFor(generic, contraction);
  std::optional<Finish> finish = Finish::of(work);
  if (finish)
    finish->writePadded(work);
  builder.setInsertionPoint(generic);
  std::optional<Panels> panels = constants.layOut(work);
  SmallVector<Access> accesses;
  for (OpOperand &operand : generic->getOpOperands())
    if (panels && operand.getOperandNumber() == contraction.columnsInput)
      accesses.push_back(accessOfPanels(work, *panels));
    else
      accesses.push_back(accessOf(builder, generic, operand));
  SmallVector<Value> words = loopWords(builder, work, accesses);
  if (panels)
    splitColumns(work, *panels, words);
  SmallVector<Value> arguments = {accesses[contraction.rowsInput].base,
                                  accesses[contraction.columnsInput].base,
                                  accesses[2].base,
                                  takeInitial(generic, work.fill),
                                  takeFinish(generic, finish),
                                  writeWords(generic, words)};
  arguments.append(loopCounts(builder, loc, contraction, panels ? 2 : 1));
  arguments.push_back(arith::ConstantIntOp::create(
      builder, loc, builder.getI32Type(), panels ? panels->missing : 0));
  LLVM::CallOp::create(builder, loc, kernel, arguments);
  generic.erase();
  constants.eraseUnused();
}

//===----------------------------------------------------------------------===//
// The kernel and its hooks
//===----------------------------------------------------------------------===//

/// What lib/Target/Link/Kernels.cpp links.
LLVM::LLVMFuncOp KernelCalls::declareKernel(const Twine &name, StringRef kind) {
  Type i32 = builder.getI32Type();
  LLVM::LLVMFuncOp kernel =
      function(name,
               {pointer, pointer, pointer, pointer, pointer, pointer, i32, i32,
                i32, i32, i32},
               none());
  kernel->setAttr("numera.kernel", builder.getStringAttr(kind));
  return kernel;
}

LLVM::LLVMFuncOp
KernelCalls::quireKernelFor(const PackedContraction &contraction) {
  QuireOpInterface step = contraction.quireStep;
  auto [place, isNew] =
      kernels.try_emplace("quire " + step.getQuireFormat().spelling());
  if (!isNew)
    return place->second;
  std::string name = "numera.contraction." + std::to_string(kernels.size() - 1);
  addQuireHooks(name, contraction);
  return place->second = declareKernel(name, "quire");
}

LLVM::LLVMFuncOp KernelCalls::kernelFor(linalg::GenericOp generic,
                                        const PackedContraction &contraction) {
  if (contraction.quireStep)
    return quireKernelFor(contraction);
  ContractionKinds kinds(generic, contraction);
  auto [place, isNew] = kernels.try_emplace(kinds.key());
  if (!isNew)
    return place->second;

  std::string name = "numera.contraction." + std::to_string(kernels.size() - 1);
  Type carrier = contraction.carrier;
  FormatFamily::CarrierStep step;
  if (contraction.carried)
    step = contraction.carried.getFamily().carrierStep(contraction.carried);
  if (!contraction.isDirect) {
    addReader(name + ".row", kinds.row, carrier, kinds.value);
    addReader(name + ".column", kinds.column, carrier, kinds.value);
  }
  addReader(name + ".load", kinds.sum, carrier, kinds.value);
  addWriter(name + ".store", kinds.sum, carrier, kinds.value);
  addPrefetch(name + ".prefetch", kinds.sum.storage);
  if (contraction.carried)
    addCarriedSteps(name, contraction, step);
  else
    addStep(name + ".step", contraction,
            VectorType::get(lanesOf(carrier), carrier));
  StringRef form = contraction.isDirect      ? "_direct"
                   : step.shortForms.empty() ? ""
                                             : "_short";
  std::string kind;
  llvm::raw_string_ostream(kind) << carrier << form;
  return place->second = declareKernel(name, kind);
}

/// void f(ptr base, i64 index)
void KernelCalls::addPrefetch(const Twine &name, Type storage) {
  Location loc = module.getLoc();
  Block *body = hook(name, {pointer, builder.getI64Type()}, none());
  Value place =
      elementAt(loc, body->getArgument(0), body->getArgument(1), storage);
  LLVM::Prefetch::create(builder, loc, place, /*rw=*/1, /*hint=*/3,
                         /*cache=data*/ 1);
  LLVM::ReturnOp::create(builder, loc, ValueRange());
}

/// The step with both roundings in a carrier, and its short form.
void KernelCalls::addCarriedSteps(const Twine &name,
                                  const PackedContraction &contraction,
                                  const FormatFamily::CarrierStep &step) {
  ArrayRef<int32_t> shortForms = step.shortForms;
  Type scalar = contraction.carrier;
  Type vector = VectorType::get(lanesOf(scalar), scalar);
  addCarriedStep(name + ".step", contraction, vector);
  if (shortForms.empty())
    return;
  ArrayRef<int32_t> form = shortForms.take_front();
  addEntry(name + ".admits", contraction, "step_admits", {scalar, scalar},
           builder.getI8Type(), form);
  for (StringRef part : {"first", "second", "prepared", "start", "result"})
    addEntry(name + "." + part, contraction, ("step_" + part).str(), {scalar},
             scalar, form);
  SmallVector<Type, 4> operands(4, vector);
  constexpr auto normal = int32_t(StepForm::Normal),
                 fused = int32_t(StepForm::Fused);
  if (form.front() == normal && is_contained(shortForms, fused))
    addEitherEntry(name + ".short", contraction, "step_short", operands, vector,
                   fusesAdditionsSymbol, fused, normal);
  else
    addEntry(name + ".short", contraction, "step_short", operands, vector,
             form);
  addConfinedStep(name, contraction, shortForms, vector);
  if (!step.halfForms.empty())
    addHalfSteps(name + "." + halfHooks, contraction, step.halfForms);
}

/// The same in binary16, for CPUs that compute in it.
void KernelCalls::addHalfSteps(const Twine &name,
                               const PackedContraction &contraction,
                               ArrayRef<int32_t> forms) {
  Type value = contraction.carrier, half = builder.getF16Type();
  Type vector = VectorType::get(32, half);
  SmallVector<Type, 4> operands(4, vector);
  int32_t all = forms.front(), confined = forms.back();
  auto add = [&](StringRef hook, StringRef entry, ArrayRef<Type> arguments,
                 Type result, int32_t form) {
    addEntry(name + "." + hook, contraction, ("half_" + entry).str(), arguments,
             result, form);
  };
  for (StringRef part : {"first", "second", "prepared", "start"})
    add(part, part, value, half, all);
  add("result", "result", half, value, all);
  add("admits", "admits", {value, value}, builder.getI8Type(), all);
  add("confines", "admits", {value, value}, builder.getI8Type(), confined);
  add("short", "short", operands, vector, all);
  add("confined", "short", operands, vector, confined);
}

/// i8 f(carrier least, carrier most) and the step for the products that it is
/// true of: of none, where the format has no such form.
void KernelCalls::addConfinedStep(const Twine &name,
                                  const PackedContraction &contraction,
                                  ArrayRef<int32_t> shortForms, Type vector) {
  constexpr auto confined = int32_t(StepForm::Confined);
  bool exists = is_contained(shortForms, confined);
  int32_t form = exists ? confined : shortForms.front();
  SmallVector<Type, 4> operands(4, vector);
  addEntry(name + ".confined", contraction, "step_short", operands, vector,
           form);
  SmallVector<Type, 2> bounds(2, contraction.carrier);
  Type i8 = builder.getI8Type();
  if (exists)
    return addEntry(name + ".confines", contraction, "step_admits", bounds, i8,
                    form);
  hook(name + ".confines", bounds, i8);
  Location loc = module.getLoc();
  Value never = LLVM::ConstantOp::create(builder, loc, i8, 0);
  LLVM::ReturnOp::create(builder, loc, never);
}

namespace {
struct ContractPass : impl::NumeraContractBase<ContractPass> {
  void runOnOperation() override {
    if (failed(checkIsOnCodes(getOperation())) ||
        failed(callProducts(getOperation())))
      return signalPassFailure();
    auto *dialect = getContext().getLoadedDialect<NumeraDialect>();
    KernelCalls calls(getOperation(), dialect->getRegistry());
    for (const ContractionWork &work :
         findContractions(getOperation(), Target::CPU))
      calls.replace(work);
  }
};
} // namespace

} // namespace numera
