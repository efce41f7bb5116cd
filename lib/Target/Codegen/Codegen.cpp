// SPDX-License-Identifier: MIT

#include "Compiled.h"

#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LegacyPassManager.h"

using namespace llvm;
using namespace numera;

void numera::reportErrors(const DiagnosticInfo *info, void *) {
  if (info->getSeverity() != DS_Error)
    return;
  DiagnosticPrinterRawOStream printer(errs() << "error: ");
  info->print(printer);
  errs() << '\n';
}

Error numera::generate(Compiled &program, CodeGenFileType type,
                       raw_pwrite_stream &stream) {
  legacy::PassManager passes;
  if (program.machine->addPassesToEmitFile(passes, stream, nullptr, type))
    return createStringError("the target cannot emit this kind of file");
  passes.run(*program.module);
  return Error::success();
}
