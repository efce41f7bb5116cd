// SPDX-License-Identifier: MIT
//
// A contraction on memrefs becomes a call of the kernel in runtime/kernels:
//
//   linalg.generic {… numera.mac …}
//     becomes
//   llvm.call @numera.contraction.0(rows, columns, sums, initial, loops,
//                                   counts…)
//
// with the hooks of runtime/kernels/Hooks.h beside it, `…0.row`, `…0.column`,
// `…0.load`, `…0.store`, `…0.prefetch` and `…0.step`, whose bodies are
// operations of `numera` like all others, or calls of the runtime's steps in a
// carrier. Contractions that differ in sizes only share a kernel. Sums in
// quires have a kernel and hooks of their own.

#include "BufferUses.h"
#include "ContractionHooks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "numera/Dialect/Numera/Transforms/Passes.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace numera {
#define GEN_PASS_DEF_NUMERACONTRACT
#include "numera/Dialect/Numera/Transforms/Passes.h.inc"

namespace {

/// Places of a memref: where element 0 of all loops lies, and how far each loop
/// goes.
struct Access {
  Value base; ///< an llvm.ptr
  SmallVector<Value> strides;
};

/// A contraction and what goes with it. All are found before one is replaced:
/// a call of a kernel hides what it does to a buffer.
struct Work {
  linalg::GenericOp generic;
  PackedContraction contraction;
  linalg::FillOp fill; ///< what its sums start with; perhaps null
};

class KernelCalls : HookBuilder {
public:
  using HookBuilder::HookBuilder;

  void replace(const Work &work);

private:
  Access access(linalg::GenericOp generic, OpOperand &operand);
  Value memoryFor(linalg::GenericOp generic, Type type, int64_t count);
  Value takeInitial(linalg::GenericOp generic, linalg::FillOp fill);
  Value writeLoops(linalg::GenericOp generic,
                   const PackedContraction &contraction,
                   ArrayRef<Access> accesses);
  LLVM::LLVMFuncOp kernelFor(linalg::GenericOp generic,
                             const PackedContraction &contraction);
  LLVM::LLVMFuncOp quireKernelFor(const PackedContraction &contraction);
  LLVM::LLVMFuncOp declareKernel(const Twine &name, StringRef kind);
  void addReader(const Twine &name, Type storage, Type carrier,
                 const ElementKind &from, const ElementKind &to);
  void addWriter(const Twine &name, Type storage, Type carrier,
                 const ElementKind &from, const ElementKind &to);
  void addPrefetch(const Twine &name, Type storage);
  void addCarriedSteps(const Twine &name, const PackedContraction &contraction,
                       ArrayRef<int32_t> shortForms);
  void addEntry(const Twine &name, const PackedContraction &contraction,
                StringRef entry, ArrayRef<Type> arguments, Type result,
                ArrayRef<int32_t> trailing);
  void addStep(const Twine &name, const PackedContraction &contraction);
  Value cast(Location loc, Value value, Type type, const ElementKind &from,
             const ElementKind &to);

  llvm::StringMap<LLVM::LLVMFuncOp> kernels; ///< by what they compute
};

/// Those of the vectors in runtime/kernels/Hooks.h.
int64_t lanesOf(Type carrier) {
  return carrier.getIntOrFloatBitWidth() == 64 ? 8 : 16;
}

/// How often `loop` goes into the linear `expr`.
int64_t coefficientOf(AffineExpr expr, unsigned loop) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dim.getPosition() == loop;
  auto binary = cast<AffineBinaryOpExpr>(expr);
  if (expr.getKind() == AffineExprKind::Add)
    return coefficientOf(binary.getLHS(), loop) +
           coefficientOf(binary.getRHS(), loop);
  return coefficientOf(binary.getLHS(), loop) *
         cast<AffineConstantExpr>(binary.getRHS()).getValue();
}

} // namespace

Access KernelCalls::access(linalg::GenericOp generic, OpOperand &operand) {
  Location loc = generic.getLoc();
  Value memref = operand.get();
  auto type = cast<MemRefType>(memref.getType());
  auto metadata =
      memref::ExtractStridedMetadataOp::create(builder, loc, memref);
  Value address = memref::ExtractAlignedPointerAsIndexOp::create(
      builder, loc, metadata.getBaseBuffer());
  Type i64 = builder.getI64Type();
  Value bits = arith::IndexCastOp::create(builder, loc, i64, address);
  Value buffer = LLVM::IntToPtrOp::create(builder, loc, pointer, bits);
  Value offset =
      arith::IndexCastOp::create(builder, loc, i64, metadata.getOffset());
  Access access;
  access.base = elementAt(loc, buffer, offset, type.getElementType());
  AffineMap map = generic.getMatchingIndexingMap(&operand);
  for (unsigned loop = 0; loop < generic.getNumLoops(); ++loop) {
    Value sum = arith::ConstantIndexOp::create(builder, loc, 0);
    for (auto [expr, stride] :
         llvm::zip_equal(map.getResults(), metadata.getStrides())) {
      int64_t times = coefficientOf(expr, loop);
      if (times == 0)
        continue;
      Value factor = arith::ConstantIndexOp::create(builder, loc, times);
      sum = arith::AddIOp::create(
          builder, loc, sum,
          arith::MulIOp::create(builder, loc, stride, factor));
    }
    access.strides.push_back(
        arith::IndexCastOp::create(builder, loc, i64, sum));
  }
  return access;
}

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

/// Where the element lies that all sums start with, instead of what their
/// memory is filled with in front of the contraction; null if it is not.
Value KernelCalls::takeInitial(linalg::GenericOp generic, linalg::FillOp fill) {
  Location loc = generic.getLoc();
  if (!fill)
    return LLVM::ZeroOp::create(builder, loc, pointer);
  Value value = fill.getInputs().front();
  Value memory = memoryFor(generic, value.getType(), 1);
  LLVM::StoreOp::create(builder, loc, value, memory);
  fill.erase();
  return memory;
}

/// The array of kernel::Loop, on the stack.
Value KernelCalls::writeLoops(linalg::GenericOp generic,
                              const PackedContraction &contraction,
                              ArrayRef<Access> accesses) {
  Location loc = generic.getLoc();
  Type i64 = builder.getI64Type();
  SmallVector<Value> extents;
  auto op = cast<linalg::LinalgOp>(generic.getOperation());
  for (Range range : op.createLoopRanges(builder, loc))
    extents.push_back(arith::IndexCastOp::create(
        builder, loc, i64,
        getValueOrCreateConstantIndexOp(builder, loc, range.size)));
  SmallVector<Value> words;
  for (const SmallVector<unsigned> *loops :
       {&contraction.batch, &contraction.rows, &contraction.columns,
        &contraction.steps})
    for (unsigned loop : *loops) {
      words.push_back(extents[loop]);
      words.push_back(accesses[contraction.rowsInput].strides[loop]);
      words.push_back(accesses[contraction.columnsInput].strides[loop]);
      words.push_back(accesses[2].strides[loop]);
    }
  Value memory = memoryFor(generic, i64, static_cast<int64_t>(words.size()));
  for (auto [i, word] : llvm::enumerate(words)) {
    Value place =
        LLVM::GEPOp::create(builder, loc, pointer, i64, memory,
                            ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i)});
    LLVM::StoreOp::create(builder, loc, word, place);
  }
  return memory;
}

void KernelCalls::replace(const Work &work) {
  linalg::GenericOp generic = work.generic;
  const PackedContraction &contraction = work.contraction;
  Location loc = generic.getLoc();
  LLVM::LLVMFuncOp kernel = kernelFor(generic, contraction);
  builder.setInsertionPoint(generic);
  SmallVector<Access> accesses;
  for (OpOperand &operand : generic->getOpOperands())
    accesses.push_back(access(generic, operand));
  SmallVector<Value> arguments = {accesses[contraction.rowsInput].base,
                                  accesses[contraction.columnsInput].base,
                                  accesses[2].base,
                                  takeInitial(generic, work.fill),
                                  writeLoops(generic, contraction, accesses)};
  for (const SmallVector<unsigned> *loops :
       {&contraction.batch, &contraction.rows, &contraction.columns,
        &contraction.steps})
    arguments.push_back(
        arith::ConstantIntOp::create(builder, loc, builder.getI32Type(),
                                     static_cast<int64_t>(loops->size())));
  LLVM::CallOp::create(builder, loc, kernel, arguments);
  generic.erase();
}

//===----------------------------------------------------------------------===//
// The kernel and its hooks
//===----------------------------------------------------------------------===//

/// What lib/Target/Kernels.cpp links.
LLVM::LLVMFuncOp KernelCalls::declareKernel(const Twine &name, StringRef kind) {
  Type i32 = builder.getI32Type();
  LLVM::LLVMFuncOp kernel = function(
      name, {pointer, pointer, pointer, pointer, pointer, i32, i32, i32, i32},
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
  MacOp step = contraction.step;
  auto storageOf = [&](unsigned operand) {
    return cast<MemRefType>(generic->getOperand(operand).getType())
        .getElementType();
  };
  FormatOpInterface op = step;
  auto kindOf = [&](unsigned input) {
    bool isLhs = cast<BlockArgument>(step.getLhs()).getArgNumber() == input;
    return op.getOperandElement(isLhs ? 0 : 1);
  };
  // The step itself, with its formats and attributes, and which factor is
  // which: that is all that the hooks say.
  std::string key;
  llvm::raw_string_ostream stream(key);
  stream << step->getAttrDictionary() << step->getOperandTypes()
         << kindOf(contraction.rowsInput).format.spelling() << ' '
         << kindOf(contraction.columnsInput).format.spelling() << ' '
         << (cast<BlockArgument>(step.getLhs()).getArgNumber() ==
             contraction.rowsInput);
  auto [place, isNew] = kernels.try_emplace(key);
  if (!isNew)
    return place->second;

  std::string name = "numera.contraction." + std::to_string(kernels.size() - 1);
  Type carrier = contraction.carrier;
  ElementKind sum = op.getResultElement(), value = sum;
  SmallVector<int32_t, 3> shortForms;
  if (contraction.carried) {
    value.format = formatOfType(carrier);
    shortForms = contraction.carried.getFamily()
                     .carrierStep(contraction.carried)
                     .shortForms;
  }
  addReader(name + ".row", storageOf(contraction.rowsInput), carrier,
            kindOf(contraction.rowsInput), value);
  addReader(name + ".column", storageOf(contraction.columnsInput), carrier,
            kindOf(contraction.columnsInput), value);
  addReader(name + ".load", storageOf(2), carrier, sum, value);
  addWriter(name + ".store", storageOf(2), carrier, value, sum);
  addPrefetch(name + ".prefetch", storageOf(2));
  if (contraction.carried)
    addCarriedSteps(name, contraction, shortForms);
  else
    addStep(name + ".step", contraction);
  std::string kind;
  llvm::raw_string_ostream(kind)
      << carrier << (shortForms.empty() ? "" : "-short");
  return place->second = declareKernel(name, kind);
}

Value KernelCalls::cast(Location loc, Value value, Type type,
                        const ElementKind &from, const ElementKind &to) {
  if (from == to)
    return value;
  auto op = CastOp::create(builder, loc, TypeRange(type), ValueRange(value));
  auto attribute = [&](const ElementKind &kind) {
    return FormatAttr::get(module.getContext(), kind.format);
  };
  op.setFormatAttr(attribute(to));
  op.setOperandFormatsAttr(builder.getArrayAttr(attribute(from)));
  return op;
}

/// carrier f(ptr base, i64 index)
void KernelCalls::addReader(const Twine &name, Type storage, Type carrier,
                            const ElementKind &from, const ElementKind &to) {
  Location loc = module.getLoc();
  Block *body = hook(name, {pointer, builder.getI64Type()}, carrier);
  Value place =
      elementAt(loc, body->getArgument(0), body->getArgument(1), storage);
  Value value = LLVM::LoadOp::create(builder, loc, storage, place);
  LLVM::ReturnOp::create(builder, loc, cast(loc, value, carrier, from, to));
}

/// void f(ptr base, i64 index, carrier)
void KernelCalls::addWriter(const Twine &name, Type storage, Type carrier,
                            const ElementKind &from, const ElementKind &to) {
  Location loc = module.getLoc();
  Block *body = hook(name, {pointer, builder.getI64Type(), carrier}, none());
  Value place =
      elementAt(loc, body->getArgument(0), body->getArgument(1), storage);
  Value code = cast(loc, body->getArgument(2), storage, from, to);
  LLVM::StoreOp::create(builder, loc, code, place);
  LLVM::ReturnOp::create(builder, loc, ValueRange());
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

/// A hook that is an entry of the runtime for the format's family.
void KernelCalls::addEntry(const Twine &name,
                           const PackedContraction &contraction,
                           StringRef entry, ArrayRef<Type> arguments,
                           Type result, ArrayRef<int32_t> trailing) {
  Location loc = module.getLoc();
  Block *body = hook(name, arguments, result);
  unsigned bits = contraction.carrier.getIntOrFloatBitWidth();
  SmallVector<Value> operands(body->getArguments());
  Value value =
      lowerings.callFamily(builder, loc, contraction.carried,
                           entry + "_f" + Twine(bits) + "_" + Twine(bits),
                           operands, trailing, getElementTypeOrSelf(result));
  LLVM::ReturnOp::create(builder, loc, value);
}

/// The step with both roundings in a carrier, and its short form.
void KernelCalls::addCarriedSteps(const Twine &name,
                                  const PackedContraction &contraction,
                                  ArrayRef<int32_t> shortForms) {
  Type scalar = contraction.carrier;
  Type vector = VectorType::get(lanesOf(scalar), scalar);
  // The factors are of one format, and a product has no order.
  addEntry(name + ".step", contraction, "step", {vector, vector, vector},
           vector, {});
  if (shortForms.empty())
    return;
  ArrayRef<int32_t> form = shortForms.take_front();
  addEntry(name + ".admits", contraction, "step_admits", {scalar, scalar},
           builder.getI8Type(), form);
  for (StringRef part : {"first", "second", "prepared", "start", "result"})
    addEntry(name + "." + part, contraction, ("step_" + part).str(), {scalar},
             scalar, form);
  addEntry(name + ".short", contraction, "step_short",
           {vector, vector, vector, vector}, vector, form);
}

/// vector f(vector sum, vector row, vector column)
void KernelCalls::addStep(const Twine &name,
                          const PackedContraction &contraction) {
  MacOp step = contraction.step;
  auto vector =
      VectorType::get(lanesOf(contraction.carrier), contraction.carrier);
  Block *body = hook(name, {vector, vector, vector}, vector);
  bool rowsAreLeft = cast<BlockArgument>(step.getLhs()).getArgNumber() ==
                     contraction.rowsInput;
  Value row = body->getArgument(1), column = body->getArgument(2);
  OperationState state(module.getLoc(), step->getName());
  state.addOperands({rowsAreLeft ? row : column, rowsAreLeft ? column : row,
                     body->getArgument(0)});
  state.addTypes(vector);
  state.addAttributes(step->getAttrs());
  // The factors have been cast to the sum's format.
  mlir::Operation *onVectors = builder.create(state);
  onVectors->removeAttr("operand_formats");
  LLVM::ReturnOp::create(builder, module.getLoc(), onVectors->getResult(0));
}

namespace {
struct ContractPass : impl::NumeraContractBase<ContractPass> {
  void runOnOperation() override {
    std::vector<Work> found;
    getOperation().walk([&](linalg::GenericOp generic) {
      if (!generic.hasPureBufferSemantics())
        return;
      auto contraction = PackedContraction::of(generic);
      if (!contraction)
        return;
      // Quires are many words, which their kernel adds to in memory.
      linalg::FillOp fill;
      if (!contraction->quireStep)
        fill = fillBefore(generic, generic.getDpsInits().front());
      found.push_back({generic, std::move(*contraction), fill});
    });
    auto *dialect = getContext().getLoadedDialect<NumeraDialect>();
    KernelCalls calls(getOperation(), dialect->getRegistry());
    for (const Work &work : found)
      calls.replace(work);
  }
};
} // namespace

} // namespace numera
