// SPDX-License-Identifier: MIT
//
// Lowers the host's part of a program for a GPU. It equals the CPU's program,
// except that buffers are in device memory (runtime/cuda/Device.h):
//
//   memref.alloc                numera_cuda_alloc(bytes)
//   memref.dealloc              numera_cuda_free(buffer)
//   memref.copy                 numera_cuda_copy(to, from, bytes)
//   memref.load, memref.store   numera_cuda_read, numera_cuda_write
//   memref.get_global           numera_cuda_constant(slot, data, bytes)
//   gpu.launch_func             numera_cuda_launch(slot, name, blocks, threads,
//                                                  shared, arguments, bytes)
//
// A slot is a word in which the launcher caches a handle.

#include "mlir/Conversion/ConvertToLLVM/ToLLVMInterface.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/FunctionCallUtils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/DialectConversion.h"
#include "numera/Dialect/Numera/Transforms/Passes.h"

using namespace mlir;

namespace numera {
#define GEN_PASS_DEF_NUMERAOFFLOAD
#include "numera/Dialect/Numera/Transforms/Passes.h.inc"

namespace {

/// A pattern that ends in calls of the launcher.
template <typename Op> struct Offload : ConvertOpToLLVMPattern<Op> {
  explicit Offload(const LLVMTypeConverter &converter)
      // Before upstream's, which take buffers to be the host's.
      : ConvertOpToLLVMPattern<Op>(converter, /*benefit=*/10) {}

  Value call(OpBuilder &builder, Operation *op, StringRef symbol,
             ValueRange operands, Type result = {}) const {
    MLIRContext *context = op->getContext();
    auto module = op->getParentOfType<ModuleOp>();
    Type type = result ? result : LLVM::LLVMVoidType::get(context);
    auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(symbol);
    if (!function) {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(module.getBody());
      function = LLVM::LLVMFuncOp::create(
          builder, module.getLoc(), symbol,
          LLVM::LLVMFunctionType::get(type,
                                      SmallVector<Type>(operands.getTypes())));
    }
    auto made = LLVM::CallOp::create(builder, op->getLoc(), function, operands);
    return result ? made.getResult() : Value();
  }

  Type pointer(Operation *op) const {
    return LLVM::LLVMPointerType::get(op->getContext());
  }
  Value number(OpBuilder &builder, Location loc, Type type,
               int64_t value) const {
    return LLVM::ConstantOp::create(builder, loc, type,
                                    builder.getIntegerAttr(type, value));
  }

  /// Room on the stack, where it is taken once however often `op` runs.
  Value room(OpBuilder &builder, Operation *op, Type type) const {
    OpBuilder::InsertionGuard guard(builder);
    auto function = op->getParentOfType<FunctionOpInterface>();
    builder.setInsertionPointToStart(&function.getFunctionBody().front());
    Value one = number(builder, op->getLoc(), builder.getI64Type(), 1);
    return LLVM::AllocaOp::create(builder, op->getLoc(), pointer(op), type,
                                  one);
  }

  /// The address of a global of the program that the launcher writes to.
  Value slot(OpBuilder &builder, Operation *op, const Twine &name) const {
    std::string symbol = name.str();
    auto module = op->getParentOfType<ModuleOp>();
    auto global = module.lookupSymbol<LLVM::GlobalOp>(symbol);
    if (!global) {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(module.getBody());
      Type word = builder.getI64Type();
      global = LLVM::GlobalOp::create(
          builder, module.getLoc(), word, /*isConstant=*/false,
          LLVM::Linkage::Internal, symbol, builder.getIntegerAttr(word, 0));
    }
    return LLVM::AddressOfOp::create(builder, op->getLoc(), global);
  }
};

/// What a function would have on its stack goes when the call ends.
template <typename AllocLike> struct Alloc : Offload<AllocLike> {
  using Offload<AllocLike>::Offload;
  LogicalResult
  matchAndRewrite(AllocLike op, typename AllocLike::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> sizes, strides;
    Value bytes;
    this->getMemRefDescriptorSizes(op.getLoc(), op.getType(),
                                   adaptor.getDynamicSizes(), rewriter, sizes,
                                   strides, bytes);
    Value buffer =
        this->call(rewriter, op, "numera_cuda_alloc", bytes, this->pointer(op));
    rewriter.replaceOp(op, Value(this->createMemRefDescriptor(
                               op.getLoc(), op.getType(), buffer, buffer, sizes,
                               strides, rewriter)));
    return success();
  }
};

struct Dealloc : Offload<memref::DeallocOp> {
  using Offload::Offload;
  LogicalResult
  matchAndRewrite(memref::DeallocOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Value buffer = MemRefDescriptor(adaptor.getMemref())
                       .allocatedPtr(rewriter, op.getLoc());
    call(rewriter, op, "numera_cuda_free", buffer);
    rewriter.eraseOp(op);
    return success();
  }
};

/// A copy between buffers without gaps; numera-kernels took the others.
struct Copy : Offload<memref::CopyOp> {
  using Offload::Offload;
  LogicalResult
  matchAndRewrite(memref::CopyOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto from = dyn_cast<MemRefType>(op.getSource().getType());
    auto to = dyn_cast<MemRefType>(op.getTarget().getType());
    if (!from || !to || !from.getLayout().isIdentity() ||
        !to.getLayout().isIdentity())
      return failure();
    Location loc = op.getLoc();
    MemRefDescriptor source(adaptor.getSource()), target(adaptor.getTarget());
    Value bytes = getSizeInBytes(loc, from.getElementType(), rewriter);
    for (int64_t i = 0; i < from.getRank(); ++i)
      bytes = LLVM::MulOp::create(rewriter, loc, bytes,
                                  source.size(rewriter, loc, i));
    call(rewriter, op, "numera_cuda_copy",
         {target.bufferPtr(rewriter, loc, *getTypeConverter(), to),
          source.bufferPtr(rewriter, loc, *getTypeConverter(), from), bytes});
    rewriter.eraseOp(op);
    return success();
  }
};

struct Load : Offload<memref::LoadOp> {
  using Offload::Offload;
  LogicalResult
  matchAndRewrite(memref::LoadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type type = getTypeConverter()->convertType(op.getType());
    Value from =
        getStridedElementPtr(rewriter, loc, op.getMemRefType(),
                             adaptor.getMemref(), adaptor.getIndices());
    Value to = room(rewriter, op, type);
    call(rewriter, op, "numera_cuda_read",
         {to, from, getSizeInBytes(loc, type, rewriter)});
    rewriter.replaceOpWithNewOp<LLVM::LoadOp>(op, type, to);
    return success();
  }
};

struct Store : Offload<memref::StoreOp> {
  using Offload::Offload;
  LogicalResult
  matchAndRewrite(memref::StoreOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value value = adaptor.getValue();
    Value to = getStridedElementPtr(rewriter, loc, op.getMemRefType(),
                                    adaptor.getMemref(), adaptor.getIndices());
    Value from = room(rewriter, op, value.getType());
    LLVM::StoreOp::create(rewriter, loc, value, from);
    call(rewriter, op, "numera_cuda_write",
         {to, from, getSizeInBytes(loc, value.getType(), rewriter)});
    rewriter.eraseOp(op);
    return success();
  }
};

struct GetGlobal : Offload<memref::GetGlobalOp> {
  using Offload::Offload;
  LogicalResult
  matchAndRewrite(memref::GetGlobalOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    MemRefType type = op.getType();
    Type word = rewriter.getI64Type();
    Value data =
        LLVM::AddressOfOp::create(rewriter, loc, pointer(op), op.getName());
    Value bytes = LLVM::MulOp::create(
        rewriter, loc, getSizeInBytes(loc, type.getElementType(), rewriter),
        number(rewriter, loc, word, type.getNumElements()));
    Value buffer =
        call(rewriter, op, "numera_cuda_constant",
             {slot(rewriter, op, op.getName() + ".device"), data, bytes},
             pointer(op));
    rewriter.replaceOp(op,
                       Value(MemRefDescriptor::fromStaticShape(
                           rewriter, loc, *getTypeConverter(), type, buffer)));
    return success();
  }
};

struct Launch : Offload<gpu::LaunchFuncOp> {
  using Offload::Offload;

  /// The addresses of the arguments, in an array.
  Value writeArguments(gpu::LaunchFuncOp op, ValueRange converted,
                       OpBuilder &builder) const {
    Location loc = op.getLoc();
    SmallVector<Value> arguments = getTypeConverter()->promoteOperands(
        loc, op.getKernelOperands(), converted, builder);
    SmallVector<Type> types = llvm::map_to_vector(
        arguments, [](Value argument) { return argument.getType(); });
    Type record = LLVM::LLVMStructType::getLiteral(op.getContext(), types);
    Value values = room(builder, op, record);
    Value array =
        room(builder, op, LLVM::LLVMArrayType::get(pointer(op), types.size()));
    for (auto [i, argument] : llvm::enumerate(arguments)) {
      auto place = static_cast<int32_t>(i);
      Value value =
          LLVM::GEPOp::create(builder, loc, pointer(op), record, values,
                              ArrayRef<LLVM::GEPArg>{0, place});
      LLVM::StoreOp::create(builder, loc, argument, value);
      Value element =
          LLVM::GEPOp::create(builder, loc, pointer(op), pointer(op), array,
                              ArrayRef<LLVM::GEPArg>{place});
      LLVM::StoreOp::create(builder, loc, value, element);
    }
    return array;
  }

  /// The kernel's name, which the device's code has too.
  Value nameOf(gpu::LaunchFuncOp op, OpBuilder &builder) const {
    auto module = op->getParentOfType<ModuleOp>();
    StringRef kernel = op.getKernelName();
    std::string symbol = (kernel + ".name").str();
    auto global = module.lookupSymbol<LLVM::GlobalOp>(symbol);
    if (!global) {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(module.getBody());
      std::string text = kernel.str() + std::string(1, '\0');
      global = LLVM::GlobalOp::create(
          builder, module.getLoc(),
          LLVM::LLVMArrayType::get(builder.getI8Type(), text.size()),
          /*isConstant=*/true, LLVM::Linkage::Internal, symbol,
          builder.getStringAttr(text));
    }
    return LLVM::AddressOfOp::create(builder, op.getLoc(), global);
  }

  /// What the buffers hold that the kernel is given; of those that it is given
  /// as addresses, `numera.bytes` says it.
  Value bytesOf(gpu::LaunchFuncOp op, ValueRange converted,
                ConversionPatternRewriter &rewriter) const {
    Location loc = op.getLoc();
    Type word = rewriter.getI64Type();
    auto given = op->getAttrOfType<IntegerAttr>("numera.bytes");
    Value sum = number(rewriter, loc, word, given ? given.getInt() : 0);
    for (auto [operand, value] :
         llvm::zip_equal(op.getKernelOperands(), converted)) {
      auto type = dyn_cast<MemRefType>(operand.getType());
      if (!type)
        continue;
      Value bytes = getSizeInBytes(loc, type.getElementType(), rewriter);
      for (int64_t i = 0; i < type.getRank(); ++i)
        bytes =
            LLVM::MulOp::create(rewriter, loc, bytes,
                                MemRefDescriptor(value).size(rewriter, loc, i));
      sum = LLVM::AddOp::create(rewriter, loc, sum, bytes);
    }
    return sum;
  }

  LogicalResult
  matchAndRewrite(gpu::LaunchFuncOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value shared = adaptor.getDynamicSharedMemorySize();
    if (!shared)
      shared = number(rewriter, loc, rewriter.getI32Type(), 0);
    call(rewriter, op, "numera_cuda_launch",
         {slot(rewriter, op, op.getKernelName().getValue() + ".kernel"),
          nameOf(op, rewriter), adaptor.getGridSizeX(), adaptor.getGridSizeY(),
          adaptor.getGridSizeZ(), adaptor.getBlockSizeX(), shared,
          writeArguments(op, adaptor.getKernelOperands(), rewriter),
          bytesOf(op, adaptor.getKernelOperands(), rewriter)});
    rewriter.eraseOp(op);
    return success();
  }
};

struct OffloadPass : impl::NumeraOffloadBase<OffloadPass> {
  void runOnOperation() override {
    bool isStructured = false;
    getOperation().walk([&](linalg::LinalgOp op) {
      isStructured = true;
      op.emitError("'") << op->getName()
                        << "' is neither a kernel nor loops; make it one first "
                           "(numera-kernels)";
      return WalkResult::interrupt();
    });
    if (isStructured)
      return signalPassFailure();
    MLIRContext *context = &getContext();
    LLVMConversionTarget target(*context);
    LLVMTypeConverter converter(context);
    RewritePatternSet patterns(context);
    for (Dialect *dialect : context->getLoadedDialects())
      if (auto *interface = dyn_cast<ConvertToLLVMPatternInterface>(dialect))
        interface->populateConvertToLLVMConversionPatterns(target, converter,
                                                           patterns);
    patterns.add<Alloc<memref::AllocOp>, Alloc<memref::AllocaOp>, Dealloc, Copy,
                 Load, Store, GetGlobal, Launch>(converter);
    target.addLegalOp<ModuleOp>();
    // Lowered already.
    target.addLegalOp<gpu::GPUModuleOp>();
    target.markOpRecursivelyLegal<gpu::GPUModuleOp>();
    if (failed(applyPartialConversion(getOperation(), target,
                                      std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace

} // namespace numera
