// SPDX-License-Identifier: MIT

#include "KernelModule.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace numera {

/// Names in PTX have letters, digits and `_`.
static std::string nameIn(StringRef function) {
  std::string name;
  for (char c : function)
    name += llvm::isAlnum(c) ? c : '_';
  return llvm::isDigit(name.front()) ? "_" + name : name;
}

gpu::GPUModuleOp kernelModule(ModuleOp module) {
  for (auto present : module.getOps<gpu::GPUModuleOp>())
    return present;
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  module->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                  builder.getUnitAttr());
  return gpu::GPUModuleOp::create(builder, module.getLoc(), "kernels");
}

gpu::GPUFuncOp createKernel(ModuleOp module, Location loc, StringRef name,
                            TypeRange arguments) {
  gpu::GPUModuleOp parent = kernelModule(module);
  OpBuilder builder = OpBuilder::atBlockEnd(parent.getBody());
  auto kernel = gpu::GPUFuncOp::create(builder, loc, nameIn(name),
                                       builder.getFunctionType(arguments, {}));
  kernel->setAttr(gpu::GPUDialect::getKernelFuncAttrName(),
                  builder.getUnitAttr());
  kernel.setKnownBlockSizeAttr(
      builder.getDenseI32ArrayAttr({threadsOfBlock, 1, 1}));
  SymbolTable(parent).insert(kernel);
  return kernel;
}

gpu::LaunchFuncOp launch(OpBuilder &builder, Location loc,
                         gpu::GPUFuncOp kernel, Value blocks,
                         ValueRange operands) {
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value threads = arith::ConstantIndexOp::create(builder, loc, threadsOfBlock);
  return gpu::LaunchFuncOp::create(builder, loc, kernel, {blocks, one, one},
                                   {threads, one, one}, Value(), operands);
}

} // namespace numera
