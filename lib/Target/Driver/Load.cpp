// SPDX-License-Identifier: MIT
//
// Models from files.

#include "ModelOperations.h"
#include "Nesting.h"
#include "OneLine.h"
#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/Parser/Parser.h"
#include "numera/Import/ONNX.h"
#include "numera/Import/Weights/Weights.h"
#include "numera/Target/Driver/Compiler.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

namespace numera {

/// What makes a model of a file that other tools write.
static std::string hintFor(StringRef path) {
  StringRef ending = llvm::sys::path::extension(path);
  if (ending == ".tflite")
    return "; convert it: python -m tf2onnx.convert --tflite " + path.str() +
           " --output model.onnx";
  if (ending == ".pt2" || ending == ".stablehlo")
    return "; convert it: numera import " + path.str() + " -o model.mlir";
  return "";
}

OwningOpRef<ModuleOp> Compiler::load(StringRef path, llvm::raw_ostream &errors,
                                     StringRef weights) {
  OneLine oneLine(*context, errors);
  OwningOpRef<ModuleOp> module;
  if (path.ends_with(".onnx")) {
    if (!weights.empty()) {
      errors << "error: --safetensors is for models in MLIR, found '" << path
             << "', which names its own files\n";
      return {};
    }
    module = importONNX(path, context.get());
    if (module)
      (*module)->setAttr(checksShapesAttribute, UnitAttr::get(context.get()));
  } else if (path.ends_with(".mlir") || path.ends_with(".mlirbc")) {
    auto buffer = llvm::MemoryBuffer::getFile(path);
    if (!buffer) {
      errors << path << ": error: cannot read the model: "
             << buffer.getError().message() << '\n';
      return {};
    }
    module = parse(std::move(*buffer), path, weights);
  } else {
    errors << path
           << ": error: not a model; expected a file that ends in .onnx, .mlir "
              "or .mlirbc"
           << hintFor(path) << '\n';
    return {};
  }
  if (!module && !oneLine.anyPrinted())
    errors << path << ": error: the model could not be read\n";
  return module;
}

OwningOpRef<ModuleOp> Compiler::loadText(StringRef text, StringRef name,
                                         llvm::raw_ostream &errors,
                                         StringRef weights) {
  OneLine oneLine(*context, errors);
  OwningOpRef<ModuleOp> module =
      parse(llvm::MemoryBuffer::getMemBufferCopy(text, name), "", weights);
  if (!module && !oneLine.anyPrinted())
    errors << name << ": error: the model could not be read\n";
  return module;
}

OwningOpRef<ModuleOp>
Compiler::parse(std::unique_ptr<llvm::MemoryBuffer> buffer, StringRef path,
                StringRef weights) {
  llvm::MemoryBufferRef text = *buffer;
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  std::optional<TooDeep> found;
  if (!isBytecode(text))
    found = findTooDeep(text.getBuffer());
  if (found) {
    auto [line, column] = sources.getLineAndColumn(
        llvm::SMLoc::getFromPointer(text.getBufferStart() + found->place));
    auto error = emitError(FileLineColLoc::get(
                     context.get(), text.getBufferIdentifier(), line, column))
                 << "nested more than " << deepestNesting << " levels deep";
    if (!found->name.empty())
      error << ", with what '" << found->name << "' stands for";
    return {};
  }
  auto module = parseSourceFile<ModuleOp>(sources, context.get());
  if (module) // whatever the text says
    (*module)->removeAttr(checksShapesAttribute);
  if (module && (failed(checkOperations(*module)) ||
                 failed(loadWeights(*module, path, weights))))
    return {};
  return module;
}

} // namespace numera
