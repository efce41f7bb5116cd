// SPDX-License-Identifier: MIT
//
// The host's part of a program for a GPU. For `f`, which is compiled as for the
// CPU but works on buffers in device memory, the module of a version gets
//
//   @f.host.<v>    what was @f.invoke.<v>: unpacks, and calls the function
//   @f.device      what runtime/cuda/Device.h calls DeviceFunction
//   @f.invoke.<v>  numera_cuda_call(@f.device, its arguments)
//
// and @device.program, with the images of the kernels, for all of them.

#include "Device.h"
#include "Link/LinkRuntime.h"
#include "Support/Embedded.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "numera/Runtime/Entry.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/IRBuilder.h"

using namespace llvm;
using namespace numera;

namespace {

class DeviceHost {
public:
  DeviceHost(Module &module, unsigned version)
      : module(module), version(version), context(module.getContext()),
        pointer(PointerType::getUnqual(context)),
        i32(Type::getInt32Ty(context)), i64(Type::getInt64Ty(context)) {}

  Error run(ArrayRef<FunctionSignature> functions, const DeviceCode &device) {
    GlobalVariable *program = makeProgram(device);
    for (const FunctionSignature &signature : functions)
      wrap(signature, *program);
    // What a failed assertion calls must give back the device's memory first.
    if (Function *fail = module.getFunction("numera_host_fail"))
      fail->setName("numera_cuda_fail");
    return linkLauncher();
  }

private:
  Constant *number(uint64_t value) { return ConstantInt::get(i64, value); }

  GlobalVariable *makeConstant(Constant *value, const Twine &name) {
    return new GlobalVariable(module, value->getType(), /*isConstant=*/true,
                              GlobalValue::PrivateLinkage, value, name);
  }
  Constant *makeText(StringRef text, Align alignment) {
    GlobalVariable *global =
        makeConstant(ConstantDataArray::getString(context, text), "text");
    global->setAlignment(alignment);
    return global;
  }
  Constant *makeList(ArrayRef<std::string> texts, Align alignment) {
    SmallVector<Constant *> list;
    for (const std::string &text : texts)
      list.push_back(makeText(text, alignment));
    return makeConstant(
        ConstantArray::get(ArrayType::get(pointer, list.size()), list), "list");
  }

  GlobalVariable *makeProgram(const DeviceCode &device) {
    Constant *null = ConstantPointerNull::get(pointer);
    Constant *value = ConstantStruct::getAnon(
        {makeList(device.images, Align(64)), number(device.images.size()),
         makeList(device.failures, Align(1)), number(device.failures.size()),
         null});
    return new GlobalVariable(module, value->getType(), /*isConstant=*/false,
                              GlobalValue::InternalLinkage, value,
                              "device.program");
  }

  Constant *makeTensors(ArrayRef<const TensorSignature *> tensors) {
    SmallVector<uint32_t> numbers;
    for (const TensorSignature *tensor : tensors)
      numbers.append({uint32_t(tensor->shape.size()),
                      uint32_t(host::sizeOfDType(tensor->dtype))});
    return makeConstant(ConstantDataArray::get(context, numbers), "tensors");
  }

  GlobalVariable *makeFunction(const FunctionSignature &signature,
                               GlobalVariable &program, Function *invoke) {
    SmallVector<const TensorSignature *> arguments, results;
    for (const TensorSignature &input : signature.inputs)
      arguments.push_back(&input);
    for (const TensorSignature &output : signature.outputs)
      (output.isDestination ? arguments : results).push_back(&output);
    return makeConstant(
        ConstantStruct::getAnon({&program, invoke, makeTensors(arguments),
                                 number(signature.inputs.size()),
                                 number(arguments.size()), makeTensors(results),
                                 number(results.size()),
                                 number(signature.takesSeed)}),
        signature.name + ".device");
  }

  void wrap(const FunctionSignature &signature, GlobalVariable &program) {
    std::string name = (signature.name + ".invoke." + Twine(version)).str();
    Function *invoke = module.getFunction(name);
    auto visibility = invoke->getVisibility();
    auto linkage = invoke->getLinkage();
    invoke->setName(signature.name + ".host." + Twine(version));
    invoke->setLinkage(GlobalValue::InternalLinkage);
    invoke->setVisibility(GlobalValue::DefaultVisibility);
    Constant *info = makeFunction(signature, program, invoke);
    Function *wrapper =
        Function::Create(invoke->getFunctionType(), linkage, name, module);
    wrapper->setVisibility(visibility);
    wrapper->addFnAttr(Attribute::NoInline);
    SmallVector<Value *> arguments = {info};
    SmallVector<Type *> types = {pointer};
    for (Argument &argument : wrapper->args()) {
      arguments.push_back(&argument);
      types.push_back(argument.getType());
    }
    FunctionCallee call = module.getOrInsertFunction(
        "numera_cuda_call",
        FunctionType::get(Type::getVoidTy(context), types, false));
    IRBuilder<> builder(BasicBlock::Create(context, "", wrapper));
    builder.CreateCall(call, arguments);
    builder.CreateRetVoid();
  }

  Error linkLauncher() {
    Expected<std::unique_ptr<Module>> launcher =
        parseBitcodeFile(embeddedLauncher(), context);
    if (!launcher)
      return launcher.takeError();
    return linkInternal(module, std::move(*launcher));
  }

  Module &module;
  unsigned version;
  LLVMContext &context;
  PointerType *pointer;
  Type *i32, *i64;
};

} // namespace

Error numera::attachDevice(Module &module,
                           ArrayRef<FunctionSignature> functions,
                           unsigned version, const DeviceCode &device) {
  return DeviceHost(module, version).run(functions, device);
}

/// The texts of `numera_assertion_<i>`, in their order.
static std::vector<std::string> failuresOf(mlir::ModuleOp lowered) {
  std::vector<std::string> texts;
  while (auto global = lowered.lookupSymbol<mlir::LLVM::GlobalOp>(
             "numera_assertion_" + std::to_string(texts.size())))
    texts.push_back(cast<mlir::StringAttr>(*global.getValue())
                        .getValue()
                        .rtrim('\0')
                        .str());
  return texts;
}

/// Code for sm_90a runs on that architecture alone, code for sm_90 on later
/// ones too: without the instructions of warpgroups, which the former has,
/// programs are for the latter.
static GPUOptions portable(GPUOptions options, mlir::gpu::GPUModuleOp kernels) {
  auto usesWarpgroups = [](mlir::LLVM::LLVMFuncOp function) {
    auto kind = function->getAttrOfType<mlir::StringAttr>("numera.kernel");
    return kind && kind.getValue().starts_with("warpgroup");
  };
  if (none_of(kernels.getOps<mlir::LLVM::LLVMFuncOp>(), usesWarpgroups))
    options.gpu = StringRef(options.gpu).rtrim("af").str();
  return options;
}

Expected<DeviceCode> numera::takeDeviceCode(mlir::ModuleOp lowered,
                                            const Registry &registry,
                                            const GPUOptions &given) {
  DeviceCode code;
  code.target = "nvptx " + given.gpu;
  code.failures = failuresOf(lowered);
  auto modules = lowered.getOps<mlir::gpu::GPUModuleOp>();
  if (modules.empty())
    return code; // it only hands on what it was given
  GPUOptions options = portable(given, *modules.begin());
  Expected<std::string> ptx = compileToPTX(lowered, registry, options);
  if (!ptx)
    return ptx.takeError();
  if (canAssemble(options)) {
    Expected<std::string> cubin = assemble(*ptx, options);
    if (!cubin)
      return cubin.takeError();
    code.images.push_back(std::move(*cubin));
  }
  code.images.push_back(std::move(*ptx));
  for (auto kernels : make_early_inc_range(modules))
    kernels.erase();
  return code;
}
