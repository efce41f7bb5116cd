// SPDX-License-Identifier: MIT

#include "numera/InitAll.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "numera/Conversion/NumeraToCPU.h"
#include "numera/Conversion/NumeraToNVPTX.h"
#include "numera/Dialect/Numera/IR/Numera.h"
#include "numera/Dialect/Numera/Transforms/StatisticsPasses.h"

// Only here: to register all passes takes a compiler a second wherever a header
// says it.
namespace numera {
#define GEN_PASS_REGISTRATION
#include "numera/Dialect/Numera/Transforms/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "numera/Dialect/Numera/Transforms/StatisticsPasses.h.inc"
} // namespace numera

namespace {
struct AttachRegistry
    : mlir::DialectExtension<AttachRegistry, numera::NumeraDialect> {
  AttachRegistry(std::shared_ptr<const numera::Registry> formats)
      : formats(std::move(formats)) {}

  void apply(mlir::MLIRContext *,
             numera::NumeraDialect *dialect) const override {
    dialect->setRegistry(formats);
  }

  std::shared_ptr<const numera::Registry> formats;
};
} // namespace

void numera::registerAll(mlir::DialectRegistry &dialects,
                         std::shared_ptr<const Registry> formats) {
  mlir::registerAllDialects(dialects);
  mlir::registerAllExtensions(dialects);
  dialects.insert<NumeraDialect>();
  registerNumeraBufferization(dialects);
  registerShowRowBufferization(dialects);
  if (formats)
    dialects.addExtension(mlir::TypeID::get<AttachRegistry>(),
                          std::make_unique<AttachRegistry>(std::move(formats)));
}

void numera::registerAllPasses() {
  mlir::registerAllPasses();
  registerNumeraPasses();
  registerNumeraStatisticsPasses();
  registerNumeraToCPU();
  registerNumeraToNVPTX();
}
