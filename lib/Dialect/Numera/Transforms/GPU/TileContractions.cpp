// SPDX-License-Identifier: MIT
//
// A contraction on memrefs becomes a launch of a kernel of
// runtime/kernels/device:
//
//   linalg.generic {… numera.mac …}
//     becomes
//   gpu.launch_func @kernels::@contraction_0 blocks in (tiles, 1, 1)
//       args(rows, columns, sums, initial?, loops…)
//
//   gpu.func @contraction_0(…) kernel {
//     llvm.call @numera.contraction.0(rows, columns, sums, &initial, &loops,
//                                     counts…)
//   }
//
// with the hooks of runtime/kernels/device/Hooks.h beside it. Contractions that
// differ only in sizes share a kernel if their elements have the same layout.

#include "Buffers/BufferUses.h"
#include "Contraction/CallProducts.h"
#include "Contraction/ContractionHooks.h"
#include "KernelModule.h"
#include "PairSteps.h"
#include "TensorCores.h"
#include "TileShapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/OwningOpRef.h"
#include "numera/Dialect/Numera/Transforms/Passes.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace numera {
#define GEN_PASS_DEF_NUMERATILECONTRACTIONS
#include "numera/Dialect/Numera/Transforms/Passes.h.inc"

namespace {

/// Hooks go to a module of their own, which becomes a part of the kernels'.
class TiledKernels : HookBuilder {
public:
  TiledKernels(ModuleOp host, ModuleOp device, const Registry &registry)
      : HookBuilder(device, registry, Target::NVPTX), host(host),
        registry(registry) {}

  LogicalResult replace(ContractionWork work, StringRef gpu,
                        unsigned processors);

private:
  /// How a contraction is computed.
  struct Choice {
    TileShape shape;
    TensorFactors tensor; ///< null: step by step
    StringRef pairs;      ///< instructions on pairs of sums (pairSteps)
    std::array<int32_t, 2> layouts;

    /// The entry of runtime/kernels/device.
    std::string tile() const {
      if (!pairs.empty())
        return (shape.name() + "_" + pairs).str();
      return shape.name() + (tensor ? "_" + tensor.name : "");
    }
  };
  gpu::GPUFuncOp kernelFor(const ContractionWork &work, const Choice &choice,
                           TypeRange arguments);
  LLVM::LLVMFuncOp declareContraction(const Twine &name,
                                      const ContractionWork &work,
                                      const Choice &choice);
  void addHooks(const Twine &name, const ContractionWork &work,
                const Choice &choice);
  void addQuireHooks(const Twine &name, const ContractionWork &work);
  void addFetch(const Twine &name, Type storage);
  void addDecode(const Twine &name, const StoredKind &from, Type carrier,
                 const ElementKind &value);
  void addConstant(const Twine &name, int32_t value);
  void fillKernel(gpu::GPUFuncOp kernel, const ContractionWork &work,
                  LLVM::LLVMFuncOp contraction, bool isQuire);
  Value blocksFor(const ContractionWork &work, const TileShape &shape);

  ModuleOp host;
  const Registry &registry;
  llvm::StringMap<gpu::GPUFuncOp> kernels; ///< by what they compute, and how
};

} // namespace

/// i64 f(ptr base, i64 index): the bits of the element there.
void TiledKernels::addFetch(const Twine &name, Type storage) {
  Location loc = module.getLoc();
  Type i64 = builder.getI64Type();
  Block *body = hook(name, {pointer, i64}, i64);
  Value place =
      elementAt(loc, body->getArgument(0), body->getArgument(1), storage);
  Value bits =
      toBits(builder, loc, LLVM::LoadOp::create(builder, loc, storage, place));
  if (bits.getType() != i64)
    bits = LLVM::ZExtOp::create(builder, loc, i64, bits);
  LLVM::ReturnOp::create(builder, loc, bits);
}

/// The element of which `raw`, an i64, has the bits.
static Value elementOf(OpBuilder &builder, Location loc, Value raw,
                       Type storage) {
  Type bits = builder.getIntegerType(storage.getIntOrFloatBitWidth());
  if (bits != raw.getType())
    raw = LLVM::TruncOp::create(builder, loc, bits, raw);
  return fromBits(builder, loc, raw, storage);
}

/// carrier f(i64 element)
void TiledKernels::addDecode(const Twine &name, const StoredKind &from,
                             Type carrier, const ElementKind &value) {
  Location loc = module.getLoc();
  Block *body = hook(name, {builder.getI64Type()}, carrier);
  Value element = elementOf(builder, loc, body->getArgument(0), from.storage);
  LLVM::ReturnOp::create(builder, loc,
                         cast(loc, element, carrier, from.kind, value));
}

/// i32 f()
void TiledKernels::addConstant(const Twine &name, int32_t value) {
  Location loc = module.getLoc();
  hook(name, {}, builder.getI32Type());
  Value constant =
      LLVM::ConstantOp::create(builder, loc, builder.getI32Type(), value);
  LLVM::ReturnOp::create(builder, loc, constant);
}

void TiledKernels::addHooks(const Twine &name, const ContractionWork &work,
                            const Choice &choice) {
  const PackedContraction &contraction = work.contraction;
  ContractionKinds kinds(work.generic, contraction);
  Type carrier = contraction.carrier, factor = carrier;
  ElementKind row = kinds.value, column = kinds.value;
  if (choice.tensor) {
    factor = builder.getIntegerType(choice.tensor.bits);
    row.format = choice.tensor.row;
    column.format = choice.tensor.column;
  }
  addConstant(name + ".row_layout", choice.layouts[0]);
  addConstant(name + ".column_layout", choice.layouts[1]);
  addFetch(name + ".fetch_row", kinds.row.storage);
  addFetch(name + ".fetch_column", kinds.column.storage);
  addDecode(name + ".row", kinds.row, factor, row);
  addDecode(name + ".column", kinds.column, factor, column);
  addReader(name + ".load", kinds.sum, carrier, kinds.value);
  addWriter(name + ".store", kinds.sum, carrier, kinds.value);
  if (choice.tensor || !choice.pairs.empty())
    return;
  if (contraction.carried)
    addCarriedStep(name + ".step", contraction, carrier);
  else
    addStep(name + ".step", contraction, carrier);
}

void TiledKernels::addQuireHooks(const Twine &name,
                                 const ContractionWork &work) {
  Location loc = module.getLoc();
  QuireMacOp step = work.contraction.quireStep;
  QuireOpInterface op = step;
  Type storage = step.getLhs().getType(), quire = op.getQuire().getType();
  Type i64 = builder.getI64Type();
  addFetch(name + ".fetch_row", storage);
  addFetch(name + ".fetch_column", storage);
  for (bool isLoad : {true, false}) {
    Block *body = hook(name + (isLoad ? ".load" : ".store"),
                       {pointer, i64, pointer}, none());
    Value from =
        elementAt(loc, body->getArgument(0), body->getArgument(1), quire);
    Value to = body->getArgument(2);
    if (!isLoad)
      std::swap(from, to);
    Value value = LLVM::LoadOp::create(builder, loc, quire, from);
    LLVM::StoreOp::create(builder, loc, value, to);
    LLVM::ReturnOp::create(builder, loc, ValueRange());
  }
  // The factors are of one format, and a product has no order.
  Block *mac = hook(name + ".mac", {pointer, i64, i64}, none());
  auto code = [&](Value raw) {
    return toBits(builder, loc, elementOf(builder, loc, raw, storage));
  };
  lowerings.callEntry(builder, loc, op.getQuireFormat(), "quire_mac",
                      {mac->getArgument(0), code(mac->getArgument(1)),
                       code(mac->getArgument(2))},
                      {}, {});
  LLVM::ReturnOp::create(builder, loc, ValueRange());
}

/// Puts what the launch gives it where the contraction looks for it.
void TiledKernels::fillKernel(gpu::GPUFuncOp kernel,
                              const ContractionWork &work,
                              LLVM::LLVMFuncOp contraction, bool isQuire) {
  Location loc = kernel.getLoc();
  builder.setInsertionPointToEnd(&kernel.getBody().front());
  auto room = [&](Type type, int64_t count) -> Value {
    Value size = LLVM::ConstantOp::create(builder, loc, builder.getI64Type(),
                                          builder.getI64IntegerAttr(count));
    return LLVM::AllocaOp::create(builder, loc, pointer, type, size);
  };
  SmallVector<Value> given(kernel.getArguments());
  Value initial = LLVM::ZeroOp::create(builder, loc, pointer);
  if (work.fill) {
    initial = room(given[3].getType(), 1);
    LLVM::StoreOp::create(builder, loc, given[3], initial);
  }
  auto words = ValueRange(given).drop_front(work.fill ? 4 : 3);
  Value loops = room(builder.getI64Type(), static_cast<int64_t>(words.size()));
  storeWords(builder, loc, words, loops);
  SmallVector<Value> arguments = {given[0], given[1], given[2], initial, loops};
  arguments.append(loopCounts(builder, loc, work.contraction));
  if (isQuire) {
    QuireOpInterface op = work.contraction.quireStep;
    arguments.push_back(room(op.getQuire().getType(), 1));
  }
  LLVM::CallOp::create(builder, loc, contraction, arguments);
  gpu::ReturnOp::create(builder, loc);
}

/// With its hooks.
LLVM::LLVMFuncOp TiledKernels::declareContraction(const Twine &name,
                                                  const ContractionWork &work,
                                                  const Choice &choice) {
  const PackedContraction &contraction = work.contraction;
  bool isQuire = contraction.quireStep != nullptr;
  if (isQuire)
    addQuireHooks(name, work);
  else
    addHooks(name, work, choice);
  Type i32 = builder.getI32Type();
  SmallVector<Type> types = {pointer, pointer, pointer, pointer, pointer,
                             i32,     i32,     i32,     i32};
  if (isQuire)
    types.push_back(pointer);
  LLVM::LLVMFuncOp declared = function(name, types, none());
  std::string kind = "quire";
  if (choice.tensor)
    kind = choice.tensor.kind();
  else if (!choice.pairs.empty())
    kind = "pairs";
  else if (!isQuire)
    llvm::raw_string_ostream(kind = "") << contraction.carrier;
  declared->setAttr("numera.kernel", builder.getStringAttr(kind));
  declared->setAttr("numera.tile", builder.getStringAttr(choice.tile()));
  return declared;
}

gpu::GPUFuncOp TiledKernels::kernelFor(const ContractionWork &work,
                                       const Choice &choice,
                                       TypeRange arguments) {
  const PackedContraction &contraction = work.contraction;
  bool isQuire = contraction.quireStep != nullptr;
  std::string key;
  llvm::raw_string_ostream stream(key);
  if (isQuire)
    stream
        << "quire "
        << QuireOpInterface(contraction.quireStep).getQuireFormat().spelling();
  else
    stream << ContractionKinds(work.generic, contraction).key();
  stream << ' ' << choice.tile() << ' ' << choice.layouts[0] << ' '
         << choice.layouts[1] << ' ' << contraction.batch.size() << ' '
         << contraction.rows.size() << ' ' << contraction.columns.size() << ' ';
  llvm::interleaveComma(arguments, stream);
  auto [place, isNew] = kernels.try_emplace(key);
  if (!isNew)
    return place->second;

  std::string number = std::to_string(kernels.size() - 1);
  LLVM::LLVMFuncOp declared =
      declareContraction("numera.contraction." + number, work, choice);
  gpu::GPUFuncOp kernel =
      createKernel(host, linalg::GenericOp(work.generic).getLoc(),
                   "contraction_" + number, arguments);
  // Two blocks at a time hide what one waits for: 128 registers a thread.
  kernel->setAttr("nvvm.minctasm", builder.getI32IntegerAttr(2));
  fillKernel(kernel, work, declared, isQuire);
  return place->second = kernel;
}

Value TiledKernels::blocksFor(const ContractionWork &work,
                              const TileShape &shape) {
  linalg::GenericOp generic = work.generic;
  Location loc = generic.getLoc();
  SmallVector<Value> extents = extentsOf(builder, generic);
  auto product = [&](ArrayRef<unsigned> loops) {
    Value count = arith::ConstantIndexOp::create(builder, loc, 1);
    for (unsigned loop : loops)
      count = arith::MulIOp::create(builder, loc, count, extents[loop]);
    return count;
  };
  auto tiles = [&](ArrayRef<unsigned> loops, int64_t size) -> Value {
    return arith::CeilDivUIOp::create(
        builder, loc, product(loops),
        arith::ConstantIndexOp::create(builder, loc, size));
  };
  const PackedContraction &contraction = work.contraction;
  return arith::MulIOp::create(
      builder, loc, product(contraction.batch),
      arith::MulIOp::create(builder, loc, tiles(contraction.rows, shape.rows),
                            tiles(contraction.columns, shape.columns)));
}

/// What the operands hold, where it is known.
static std::optional<int64_t> bytesOf(linalg::GenericOp generic) {
  int64_t sum = 0;
  for (Value operand : generic->getOperands()) {
    auto type = llvm::cast<MemRefType>(operand.getType());
    if (!type.hasStaticShape())
      return std::nullopt;
    sum += type.getNumElements() * static_cast<int64_t>(llvm::divideCeil(
                                       type.getElementTypeBitWidth(), 8));
  }
  return sum;
}

LogicalResult TiledKernels::replace(ContractionWork work, StringRef gpu,
                                    unsigned processors) {
  linalg::GenericOp generic = work.generic;
  PackedContraction &contraction = work.contraction;
  FailureOr<TensorFactors> tensor =
      TensorFactors::of(generic, contraction, registry, gpu);
  if (failed(tensor))
    return failure();
  StringRef pairs = pairSteps(generic, contraction, registry, gpu);
  bool isBrief =
      !pairs.empty() || (contraction.carrier.isF32() && !contraction.carried);
  if (!pairs.empty()) { // which are of codes
    contraction.carrier =
        builder.getIntegerType(contraction.carried.storageBits());
    contraction.carried = {};
  }
  Choice choice = {
      TileShape::of(generic, contraction, *tensor, isBrief, gpu, processors),
      *tensor,
      pairs,
      {}};
  if (!contraction.quireStep)
    choice.layouts = layoutsOf(work, choice.shape, choice.tensor);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(generic);
  SmallVector<Access> accesses;
  for (OpOperand &operand : generic->getOpOperands())
    accesses.push_back(accessOf(builder, generic, operand));
  SmallVector<Value> arguments = {accesses[contraction.rowsInput].base,
                                  accesses[contraction.columnsInput].base,
                                  accesses[2].base};
  if (linalg::FillOp fill = work.fill)
    arguments.push_back(fill.getInputs().front());
  arguments.append(loopWords(builder, work, accesses));
  Value blocks = blocksFor(work, choice.shape);
  gpu::GPUFuncOp kernel =
      kernelFor(work, choice, ValueRange(arguments).getTypes());
  builder.setInsertionPoint(generic);
  gpu::LaunchFuncOp call =
      launch(builder, generic.getLoc(), kernel, blocks, arguments);
  if (std::optional<int64_t> bytes = bytesOf(generic))
    call->setAttr("numera.bytes", builder.getI64IntegerAttr(*bytes));
  if (linalg::FillOp fill = work.fill)
    fill.erase();
  generic.erase();
  return success();
}

namespace {
struct TileContractionsPass
    : impl::NumeraTileContractionsBase<TileContractionsPass> {
  using NumeraTileContractionsBase::NumeraTileContractionsBase;
  void runOnOperation() override {
    if (failed(checkIsOnCodes(getOperation())) ||
        failed(refuseProducts(getOperation(), Target::NVPTX)))
      return signalPassFailure();
    std::vector<ContractionWork> found =
        findContractions(getOperation(), Target::NVPTX);
    if (found.empty())
      return;
    auto *dialect = getContext().getLoadedDialect<NumeraDialect>();
    OwningOpRef<ModuleOp> device = ModuleOp::create(getOperation().getLoc());
    TiledKernels kernels(getOperation(), *device, dialect->getRegistry());
    for (const ContractionWork &work : found)
      if (failed(kernels.replace(work, gpu, processors)))
        return signalPassFailure();
    auto &made = device->getBody()->getOperations();
    Block *body = kernelModule(getOperation()).getBody();
    body->getOperations().splice(body->end(), made);
  }
};
} // namespace

} // namespace numera
