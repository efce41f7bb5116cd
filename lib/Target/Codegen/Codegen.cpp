// SPDX-License-Identifier: MIT

#include "Compiled.h"

#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"

using namespace llvm;
using namespace numera;

void numera::reportErrors(const DiagnosticInfo *info, void *) {
  if (info->getSeverity() != DS_Error)
    return;
  DiagnosticPrinterRawOStream printer(errs() << "error: ");
  info->print(printer);
  errs() << '\n';
}

static Error generate(Module &module, TargetMachine &machine,
                      CodeGenFileType type, raw_pwrite_stream &stream) {
  legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, type))
    return createStringError("the target cannot emit this kind of file");
  passes.run(module);
  return Error::success();
}

Error numera::generate(Compiled &program, CodeGenFileType type,
                       raw_pwrite_stream &stream) {
  return ::generate(*program.module, *program.machine, type, stream);
}

Expected<std::unique_ptr<MemoryBuffer>>
numera::generateObject(Module &module, TargetMachine &machine) {
  SmallVector<char, 0> code;
  raw_svector_ostream stream(code);
  if (Error error =
          ::generate(module, machine, CodeGenFileType::ObjectFile, stream))
    return std::move(error);
  return std::make_unique<SmallVectorMemoryBuffer>(std::move(code), "program");
}
