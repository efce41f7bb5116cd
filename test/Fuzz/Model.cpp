// SPDX-License-Identifier: MIT
//
// Any bytes are an ONNX model that is imported as a valid module, or have one
// error. Inputs are models as onnx.save writes them, or in protobuf's text form
// behind a line that begins with `#`.

#include "Fuzz.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "numera/Import/ONNX.h"

#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/text_format.h>
#include <onnx/onnx_pb.h>

using namespace mlir;
using numera::fuzz::promise;

static MLIRContext &freshContext() {
  static std::unique_ptr<MLIRContext> context;
  static unsigned uses = 0;
  if (uses++ % 200 == 0)
    context = std::make_unique<MLIRContext>(MLIRContext::Threading::DISABLED);
  return *context;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string bytes = numera::fuzz::textOf(data, size).str();
  if (StringRef(bytes).starts_with("#")) {
    google::protobuf::LogSilencer silence;
    onnx::ModelProto model;
    if (!google::protobuf::TextFormat::ParseFromString(bytes, &model))
      return 0;
    model.SerializeToString(&bytes);
  }
  MLIRContext &context = freshContext();
  unsigned errors = 0;
  std::string said;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
      return;
    ++errors;
    said += diagnostic.str() + '\n';
  });
  OwningOpRef<ModuleOp> module =
      numera::importONNX(bytes, "fuzz.onnx", NUMERA_FUZZ_FOLDER, &context);
  promise(errors == (module ? 0u : 1u),
          "a refused model has one error, an imported one none: " + said);
  if (module)
    promise(succeeded(verify(*module)), "what is imported is valid: " + said);
  return 0;
}
