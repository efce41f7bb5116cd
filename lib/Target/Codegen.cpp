// SPDX-License-Identifier: MIT

#include "Compile.h"

#include "llvm/IR/LegacyPassManager.h"

using namespace llvm;
using namespace numera;

Error numera::generate(Compiled &program, CodeGenFileType type,
                       raw_pwrite_stream &stream) {
  legacy::PassManager passes;
  if (program.machine->addPassesToEmitFile(passes, stream, nullptr, type))
    return createStringError("the target cannot emit this kind of file");
  passes.run(*program.module);
  return Error::success();
}
