// SPDX-License-Identifier: MIT
//
// Nothing is folded: MLIR folds in the model's float type, and (a - b) + b to
// a.

#include "Decompose.h"
#include "mlir/Conversion/ComplexToStandard/ComplexToStandard.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Transforms/DialectConversion.h"
#include "numera/Dialect/Numera/IR/Operator.h"

using namespace mlir;

namespace numera {

/// True for what makes a number of its parts, and what takes them.
static bool isOfParts(Operation *op) {
  return isa<complex::CreateOp, complex::ReOp, complex::ImOp>(op);
}

static void createParts(complex::ConstantOp constant) {
  OpBuilder builder(constant);
  auto part = [&](unsigned i) -> Value {
    return arith::ConstantOp::create(builder, constant.getLoc(),
                                     cast<TypedAttr>(constant.getValue()[i]));
  };
  Value real = part(0), imaginary = part(1);
  constant.replaceAllUsesWith(
      complex::CreateOp::create(builder, constant.getLoc(), constant.getType(),
                                real, imaginary)
          .getResult());
  constant.erase();
}

/// A choice between numbers is one between their parts.
static void chooseParts(arith::SelectOp select) {
  auto type = dyn_cast<ComplexType>(select.getType());
  if (!type)
    return;
  OpBuilder builder(select);
  Location loc = select.getLoc();
  Value yes = select.getTrueValue(), no = select.getFalseValue();
  Value condition = select.getCondition();
  Value real = arith::SelectOp::create(builder, loc, condition,
                                       complex::ReOp::create(builder, loc, yes),
                                       complex::ReOp::create(builder, loc, no));
  Value imaginary = arith::SelectOp::create(
      builder, loc, condition, complex::ImOp::create(builder, loc, yes),
      complex::ImOp::create(builder, loc, no));
  select.replaceAllUsesWith(
      complex::CreateOp::create(builder, loc, type, real, imaginary)
          .getResult());
  select.erase();
}

/// A part of what was made of parts is this part.
static void forwardParts(ModuleOp module) {
  module.walk([](Operation *op) {
    if (!isa<complex::ReOp, complex::ImOp>(op))
      return;
    auto create = op->getOperand(0).getDefiningOp<complex::CreateOp>();
    if (!create)
      return;
    op->getResult(0).replaceAllUsesWith(
        create->getOperand(isa<complex::ReOp>(op) ? 0 : 1));
    op->erase();
  });
  module.walk([](complex::CreateOp create) {
    if (create.use_empty())
      create.erase();
  });
}

LogicalResult decomposeComplex(ModuleOp module) {
  bool isAny = false;
  module.walk([&](Operation *op) {
    if (auto constant = dyn_cast<complex::ConstantOp>(op))
      createParts(constant);
    else if (!isa_and_nonnull<complex::ComplexDialect>(op->getDialect()))
      return;
    else
      op->setLoc(withOperator(op->getLoc(), op->getName().getStringRef()));
    isAny = true;
  });
  if (!isAny)
    return success();
  MLIRContext *context = module.getContext();
  RewritePatternSet patterns(context);
  populateComplexToStandardConversionPatterns(patterns);
  ConversionTarget target(*context);
  target.addLegalDialect<arith::ArithDialect, math::MathDialect>();
  target.addDynamicallyLegalDialect<complex::ComplexDialect>(isOfParts);
  target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  ConversionConfig config;
  config.foldingMode = DialectConversionFoldingMode::Never;
  {
    // The message below names the operation.
    ScopedDiagnosticHandler silent(context, [](Diagnostic &) {});
    (void)applyPartialConversion(module, target, std::move(patterns), config);
  }
  WalkResult result = module.walk([](Operation *op) {
    if (!isa_and_nonnull<complex::ComplexDialect>(op->getDialect()) ||
        isOfParts(op))
      return WalkResult::advance();
    op->emitError("'") << op->getName() << "' on complex numbers is not "
                       << "compiled; write it on their parts (complex.re, "
                       << "complex.im)";
    return WalkResult::interrupt();
  });
  if (result.wasInterrupted())
    return failure();
  module.walk(chooseParts);
  forwardParts(module);
  return success();
}

} // namespace numera
