// SPDX-License-Identifier: MIT
//
// linalg on memrefs becomes kernels, one for each operation:
//
//   linalg.generic {…} ins(%x) outs(%y)
//     becomes
//   gpu.launch_func @kernels::@f blocks in (…) threads in (256, 1, 1) args(%x,
//   %y)
//
// A thread computes one element of the result. It runs the loops of the
// reduction in written order, with the sum in a register, so the bits are those
// of the CPU. What the memory of sums is filled with in front of them is where
// they start, and no kernel of its own.

#include "Buffers/BufferUses.h"
#include "KernelBody.h"
#include "KernelModule.h"
#include "Loops/Loops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include "numera/Dialect/Numera/Transforms/Passes.h"

using namespace mlir;

namespace numera {
#define GEN_PASS_DEF_NUMERAKERNELS
#include "numera/Dialect/Numera/Transforms/Passes.h.inc"

namespace {

class Outliner {
public:
  explicit Outliner(ModuleOp module)
      : module(module), rewriter(module.getContext()) {}

  LogicalResult run(func::FuncOp function);

private:
  LogicalResult generalize(linalg::LinalgOp op);
  void outline(linalg::GenericOp generic);
  SmallVector<Value> takeStarts(linalg::GenericOp generic,
                                const KernelLoops &loops);
  SmallVector<Value> operandsOf(linalg::GenericOp generic,
                                const KernelLoops &loops);
  Value blocksFor(Location loc, const KernelLoops &loops);
  Value failurePlace(Location loc);

  ModuleOp module;
  IRRewriter rewriter;
};

} // namespace

/// A function of the model in the place of its call: kernels have no others.
static LogicalResult inlineCall(func::CallOp call) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      call, call.getCalleeAttr());
  if (!callee || !callee.getBody().hasOneBlock())
    return call.emitError("kernels cannot call '")
           << call.getCallee()
           << "', expected a function of one block without jumps";
  Block &body = callee.getBody().front();
  OpBuilder builder(call);
  IRMapping values;
  values.map(body.getArguments(), call.getOperands());
  for (Operation &op : body.without_terminator())
    builder.clone(op, values);
  for (auto [result, value] :
       llvm::zip(call.getResults(), body.getTerminator()->getOperands()))
    result.replaceAllUsesWith(values.lookupOrDefault(value));
  call.erase();
  return success();
}

/// The calls in what becomes a kernel, and those in the functions called.
static LogicalResult inlineCalls(linalg::GenericOp generic) {
  constexpr unsigned mostCalls = 10000;
  for (unsigned i = 0; i < mostCalls; ++i) {
    func::CallOp found;
    generic.walk([&](func::CallOp call) { found = call; });
    if (!found)
      return success();
    if (failed(inlineCall(found)))
      return failure();
  }
  return generic.emitError("calls functions without an end, which a kernel "
                           "cannot; expected none that calls itself");
}

/// What the kernel has to be given; constants it has itself.
SmallVector<Value> Outliner::operandsOf(linalg::GenericOp generic,
                                        const KernelLoops &loops) {
  llvm::SetVector<Value> values(generic->operand_begin(),
                                generic->operand_end());
  getUsedValuesDefinedAbove(generic.getRegion(), values);
  for (Value extent : loops.extents)
    values.insert(extent);
  values.remove_if(isKernelConstant);
  return values.takeVector();
}

/// True if an assertion may fail in the body.
static bool mayFail(linalg::GenericOp generic) {
  return generic
      .walk([](LLVM::CallOp call) {
        return call.getCallee() == "numera_host_fail" ? WalkResult::interrupt()
                                                      : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Where kernels of this call leave the number of an assertion that failed.
Value Outliner::failurePlace(Location loc) {
  constexpr StringLiteral name = "numera_cuda_failure";
  auto pointer = LLVM::LLVMPointerType::get(module.getContext());
  auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(name);
  if (!function) {
    OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
    function = LLVM::LLVMFuncOp::create(
        builder, module.getLoc(), name,
        LLVM::LLVMFunctionType::get(pointer, ArrayRef<Type>()));
  }
  return LLVM::CallOp::create(rewriter, loc, function, ValueRange())
      .getResult();
}

/// A thread cannot end the call, as numera-lower-asserts has it: it leaves the
/// number of the message, from 1, at `place`, and ends.
static void leaveFailures(gpu::GPUFuncOp kernel, Value place) {
  SmallVector<LLVM::CallOp> calls;
  kernel.walk([&](LLVM::CallOp call) {
    if (call.getCallee() == "numera_host_fail")
      calls.push_back(call);
  });
  for (LLVM::CallOp call : calls) {
    auto text = call.getOperand(0).getDefiningOp<LLVM::AddressOfOp>();
    int64_t number = 0;
    (void)text.getGlobalName().rsplit('_').second.getAsInteger(10, number);
    OpBuilder builder(call);
    Location loc = call.getLoc();
    Value value = arith::ConstantIntOp::create(
        builder, loc, builder.getI32Type(), number + 1);
    // What a kernel before this one has left says why.
    Value left = LLVM::LoadOp::create(builder, loc, value.getType(), place);
    Value none = arith::ConstantIntOp::create(builder, loc, value.getType(), 0);
    Value isFirst = arith::CmpIOp::create(builder, loc,
                                          arith::CmpIPredicate::eq, left, none);
    value = arith::SelectOp::create(builder, loc, isFirst, value, left);
    LLVM::StoreOp::create(builder, loc, value, place);
    LLVM::CallIntrinsicOp::create(
        builder, loc, builder.getStringAttr("llvm.nvvm.exit"), ValueRange());
    call.erase();
    if (text.use_empty())
      text.erase();
  }
}

Value Outliner::blocksFor(Location loc, const KernelLoops &loops) {
  Value count = arith::ConstantIndexOp::create(rewriter, loc, 1);
  for (unsigned loop : loops.parallel)
    count = arith::MulIOp::create(rewriter, loc, count, loops.extents[loop]);
  Value size = arith::ConstantIndexOp::create(rewriter, loc,
                                              threadsOfBlock * loops.width);
  return arith::CeilDivUIOp::create(rewriter, loc, count, size);
}

/// What a buffer has all elements of, in another shape.
static Value wholeOf(Value buffer) {
  while (Operation *op = buffer.getDefiningOp()) {
    if (!isa<memref::CollapseShapeOp, memref::ExpandShapeOp>(op))
      break;
    buffer = op->getOperand(0);
  }
  return buffer;
}

/// What each sum starts with, whose memory is filled with that in front of the
/// kernel, and which is written once for each of its elements. The fill goes.
SmallVector<Value> Outliner::takeStarts(linalg::GenericOp generic,
                                        const KernelLoops &loops) {
  auto op = cast<linalg::LinalgOp>(generic.getOperation());
  SmallVector<Value> starts;
  for (OpOperand &init : op.getDpsInitsMutable()) {
    Value &start = starts.emplace_back();
    AffineMap map = op.getMatchingIndexingMap(&init);
    bool isWhole = !loops.sequential.empty() && map.isProjectedPermutation() &&
                   map.getNumResults() == loops.parallel.size() &&
                   llvm::all_of(loops.parallel, [&](unsigned loop) {
                     return map.isFunctionOfDim(loop);
                   });
    Value memory = ownMemoryOf(init.get());
    bool isReadElsewhere =
        llvm::any_of(generic->getOpOperands(), [&](OpOperand &operand) {
          return &operand != &init &&
                 isa<MemRefType>(operand.get().getType()) &&
                 ownMemoryOf(operand.get()) == memory;
        });
    linalg::FillOp fill;
    if (isWhole && !isReadElsewhere)
      fill = fillBefore(generic, wholeOf(init.get()));
    Value value = fill ? fill.getInputs().front() : Value();
    if (!value || !isKernelConstant(value) ||
        value.getType() != getElementTypeOrSelf(init.get().getType()))
      continue;
    start = value;
    rewriter.eraseOp(fill);
  }
  return starts;
}

void Outliner::outline(linalg::GenericOp generic) {
  rewriter.setInsertionPoint(generic);
  Location loc = generic.getLoc();
  KernelLoops loops = KernelLoops::of(rewriter, generic);
  SmallVector<Value> starts = takeStarts(generic, loops);
  SmallVector<Value> operands = operandsOf(generic, loops);
  bool fails = mayFail(generic);
  if (fails)
    operands.push_back(failurePlace(loc));
  auto function = generic->getParentOfType<func::FuncOp>();
  gpu::GPUFuncOp kernel = createKernel(module, loc, function.getName(),
                                       ValueRange(operands).getTypes());
  launch(rewriter, loc, kernel, blocksFor(loc, loops), operands);
  buildKernelBody(generic, loops, operands, starts, kernel);
  if (fails)
    leaveFailures(kernel, kernel.getArguments().back());
  rewriter.eraseOp(generic);
}

LogicalResult Outliner::generalize(linalg::LinalgOp op) {
  rewriter.setInsertionPoint(op);
  auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
  if (!generic) {
    FailureOr<linalg::GenericOp> made = linalg::generalizeNamedOp(rewriter, op);
    if (failed(made))
      return op.emitError("'") << op->getName() << "' cannot become a kernel";
    generic = *made;
  }
  collapse(rewriter, generic);
  return success();
}

LogicalResult Outliner::run(func::FuncOp function) {
  replaceStridedCopies(rewriter, function);
  // Fills last: those that sums start with need no kernel.
  for (bool takesFills : {false, true}) {
    SmallVector<linalg::LinalgOp> named;
    function.walk([&](linalg::LinalgOp op) {
      if (takesFills || !isa<linalg::FillOp>(op))
        named.push_back(op);
    });
    for (linalg::LinalgOp op : named)
      if (failed(generalize(op)))
        return failure();
    SmallVector<linalg::GenericOp> generics;
    function.walk([&](linalg::GenericOp op) { generics.push_back(op); });
    for (linalg::GenericOp generic : generics) {
      if (failed(inlineCalls(generic)))
        return failure();
      outline(generic);
    }
  }
  return success();
}

namespace {
struct KernelsPass : impl::NumeraKernelsBase<KernelsPass> {
  void runOnOperation() override {
    if (failed(checkIsInMemory(getOperation())))
      return signalPassFailure();
    Outliner outliner(getOperation());
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (failed(outliner.run(function)))
        return signalPassFailure();
  }
};
} // namespace

} // namespace numera
