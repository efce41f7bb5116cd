// SPDX-License-Identifier: MIT

#include "numera/Target/Driver/InMemory.h"
#include "numera/Target/NVPTX/GPU.h"
#include <cstring>

using namespace llvm;

namespace numera {

Expected<std::unique_ptr<Program>>
compileInMemory(Compiler &compiler, const Registry &registry, StringRef text,
                StringRef name, const CompileOptions &options) {
  std::string errors;
  raw_string_ostream problems(errors);
  mlir::OwningOpRef<mlir::ModuleOp> module =
      compiler.loadText(text, name, problems);
  Resolved resolved;
  std::vector<FunctionSignature> functions;
  if (!module ||
      failed(compiler.lower(*module, options, resolved, functions, problems)))
    return createStringError(StringRef(errors).rtrim());
  CPUOptions host;
  DeviceCode device;
  if (options.target == "nvptx") {
    GPUOptions gpu;
    if (!options.gpu.empty())
      gpu.gpu = options.gpu;
    Expected<DeviceCode> code = takeDeviceCode(*module, registry, gpu);
    if (!code)
      return code.takeError();
    device = std::move(*code);
    host.device = &device;
  }
  return Program::compile(*module, functions, registry, host);
}

host::DType dtypeOfCodes(const Format &format) {
  switch (format.storageBits()) {
  case 8:
    return host::DType::u1;
  case 16:
    return host::DType::u2;
  case 32:
    return host::DType::u4;
  default:
    return host::DType::u8;
  }
}

uint64_t bitsOf(const host::Array &array, size_t place) {
  size_t size = sizeOf(array.dtype);
  uint64_t bits = 0;
  std::memcpy(&bits, array.bytes.get() + place * size, size);
  return bits;
}

void setBits(host::Array &array, size_t place, uint64_t bits) {
  size_t size = sizeOf(array.dtype);
  std::memcpy(array.bytes.get() + place * size, &bits, size);
}

} // namespace numera
