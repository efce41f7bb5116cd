// SPDX-License-Identifier: MIT

#include "Module.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "numera/Dialect/Numera/IR/Numera.h"
#include "numera/Dialect/Numera/Transforms/Lowering/RegisteredProducts.h"
#include "numera/Registry/Formats/ExactValue.h"
#include "numera/Target/Driver/Compiler.h"
#include "llvm/ADT/STLExtras.h"
#include <chrono>
#include <cstring>

using namespace llvm;

namespace numera::check {

//===----------------------------------------------------------------------===//
// Twins
//===----------------------------------------------------------------------===//

Twins::Twins(const Registry &original) : widened(original) {
  widened.dropProofs(); // the functions themselves are wanted
  auto add = [&](const Format &format) {
    if (!format || format.width() == format.storageBits() ||
        any_of(twins, [&](const auto &pair) { return pair.first == format; }))
      return;
    // No file can have the name: it is not a valid format name.
    std::string name = "storage of " + format.spelling();
    ParameterError none;
    Format twin = findFamily("opaque")->create(
        {{"bits", std::to_string(format.storageBits())}}, name, none);
    twins.emplace_back(format, twin);
  };
  for (const Lowering &entry : original.lowerings()) {
    add(entry.result);
    for_each(entry.operands, add);
  }
  auto replace = [&](Format &format) {
    for (const auto &[from, to] : twins)
      if (from == format)
        format = to;
  };
  for (Lowering entry : original.lowerings()) {
    replace(entry.result);
    for_each(entry.operands, replace);
    widened.add(std::move(entry));
  }
}

Twins Twins::none(const Registry &original) {
  Twins twins;
  twins.widened = original;
  twins.widened.dropProofs();
  return twins;
}

CastType Twins::twinOf(const Checked &checked, const CastType &type) const {
  CastType twin = type;
  // An accumulator is its format's alone.
  if (checked.lowering && !isPartOfAccumulator(checked.operation))
    for (const auto &[from, to] : twins)
      if (from == type.format)
        twin.format = to;
  return twin;
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

static mlir::Type typeOf(mlir::MLIRContext *context, const CastType &type) {
  mlir::Type element = type.format
                           ? typeOfFormat(context, type.format)
                           : mlir::IntegerType::get(context, type.integer);
  return mlir::RankedTensorType::get({mlir::ShapedType::kDynamic}, element);
}

/// The accumulator's sum of one product or of one value.
static mlir::Value sumOfOne(mlir::OpBuilder &builder, mlir::Location loc,
                            const Checked &checked, mlir::ValueRange operands,
                            mlir::Type result) {
  mlir::Type quire =
      QuireType::get(builder.getContext(), checked.result.format);
  mlir::Value begun = QuireZeroOp::create(builder, loc, quire, FormatAttr());
  mlir::Value empty = mlir::tensor::EmptyOp::create(
      builder, loc, mlir::tensor::getMixedSizes(builder, loc, operands.front()),
      quire);
  mlir::Value sums =
      mlir::linalg::FillOp::create(builder, loc, begun, empty).getResult(0);
  if (checked.operation == OpKind::AccumulatorMac)
    sums = QuireMacOp::create(builder, loc, sums.getType(), operands[0],
                              operands[1], sums, FormatAttr());
  else
    sums = QuireAddOp::create(builder, loc, sums.getType(), sums, operands[0],
                              FormatAttr());
  return QuireRoundOp::create(builder, loc, mlir::TypeRange(result),
                              mlir::ValueRange(sums));
}

static mlir::Value zeroOf(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::Type type) {
  mlir::Value zero =
      mlir::arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0));
  if (type == zero.getType())
    return zero;
  return CastOp::create(builder, loc, mlir::TypeRange(type),
                        mlir::ValueRange(zero));
}

/// The body of a sum of products, in the order of its steps.
static void addMac(mlir::OpBuilder &builder, mlir::Location loc,
                   mlir::ValueRange values) {
  mlir::Value step =
      MacOp::create(builder, loc, mlir::TypeRange(values[2].getType()), values);
  mlir::linalg::YieldOp::create(builder, loc, step);
}

/// For each pair, the library's sum of its product, some times: what the sum
/// is, is the library's affair, but not whether there is one.
static mlir::Value productOfEqualTerms(mlir::OpBuilder &builder,
                                       mlir::Location loc, mlir::Value x,
                                       mlir::Value y, mlir::Type result) {
  using Kind = mlir::utils::IteratorType;
  constexpr int64_t terms = 7; // no multiple of what a function unrolls
  mlir::AffineExpr pair = builder.getAffineDimExpr(0);
  mlir::AffineMap one = mlir::AffineMap::get(2, 0, pair),
                  all = builder.getMultiDimIdentityMap(2);
  mlir::OpFoldResult size =
      mlir::tensor::getMixedSizes(builder, loc, x).front();
  auto repeated = [&](mlir::Value value) -> mlir::Value {
    mlir::Value empty = mlir::tensor::EmptyOp::create(
        builder, loc, {size, builder.getIndexAttr(terms)},
        elementType(value.getType()));
    return mlir::linalg::GenericOp::create(
               builder, loc, empty.getType(), value, empty, {one, all},
               {Kind::parallel, Kind::parallel},
               [](mlir::OpBuilder &builder, mlir::Location loc,
                  mlir::ValueRange values) {
                 mlir::linalg::YieldOp::create(builder, loc, values.front());
               })
        .getResult(0);
  };
  mlir::Type sum = elementType(result);
  mlir::Value empty = mlir::tensor::EmptyOp::create(builder, loc, {size}, sum);
  mlir::Value begun = mlir::linalg::FillOp::create(
                          builder, loc, zeroOf(builder, loc, sum), empty)
                          .getResult(0);
  return mlir::linalg::GenericOp::create(
             builder, loc, result, {repeated(x), repeated(y)}, begun,
             {all, all, one}, {Kind::parallel, Kind::reduction}, addMac)
      .getResult(0);
}

/// A `matmul` that is registered beside it would be called in its place.
static void wantProduct(mlir::func::FuncOp function, const Checked &checked) {
  if (checked.operation == OpKind::Dot)
    function->setAttr(dotsAttribute,
                      mlir::UnitAttr::get(function.getContext()));
}

static void addFunction(mlir::ModuleOp module, const Twins &twins,
                        const Checked &checked, size_t i) {
  mlir::MLIRContext *context = module.getContext();
  mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(module.getBody());
  mlir::Location loc = builder.getUnknownLoc();
  bool isTest =
      checked.operation == OpKind::Cmp || checked.operation == OpKind::IsNaN;
  SmallVector<mlir::Type> operands;
  for (const CastType &operand : checked.operands)
    operands.push_back(typeOf(context, twins.twinOf(checked, operand)));
  mlir::Type result = typeOf(context, twins.twinOf(checked, checked.result));
  if (isTest)
    result = mlir::RankedTensorType::get({mlir::ShapedType::kDynamic},
                                         builder.getI1Type());

  auto function =
      mlir::func::FuncOp::create(builder, loc, "operation_" + std::to_string(i),
                                 builder.getFunctionType(operands, {result}));
  wantProduct(function, checked);
  mlir::Block *body = function.addEntryBlock();
  builder.setInsertionPointToEnd(body);
  bool isSum = isPartOfAccumulator(checked.operation);
  if (isSum || isProduct(checked.operation)) {
    mlir::Value sum =
        isSum ? sumOfOne(builder, loc, checked, body->getArguments(), result)
              : productOfEqualTerms(builder, loc, body->getArgument(0),
                                    body->getArgument(1), result);
    mlir::func::ReturnOp::create(builder, loc, sum);
    return;
  }
  mlir::OperationState state(loc,
                             ("numera." + nameOf(checked.operation)).str());
  state.addOperands(body->getArguments());
  state.addTypes(result);
  if (checked.rounded)
    state.addAttribute("format", FormatAttr::get(context, checked.rounded));
  if (checked.operation == OpKind::Cmp)
    state.addAttribute(
        "predicate",
        mlir::arith::CmpFPredicateAttr::get(
            context, *mlir::arith::symbolizeCmpFPredicate(checked.predicate)));
  if (checked.operation == OpKind::Cast &&
      (!checked.operands.front().isSigned || !checked.result.isSigned))
    state.addAttribute("is_unsigned", builder.getUnitAttr());
  Lowering key = keyOf(checked);
  if (isRounded(checked.operation) && checked.result.format &&
      !checked.rounded &&
      key.getRoundingMode().pack() != key.getOwnRoundingMode().pack())
    state.addAttribute(
        "rounding",
        RoundingAttr::get(builder.getContext(), checked.rounding.rounding));
  mlir::Operation *op = builder.create(state);
  mlir::func::ReturnOp::create(builder, loc, op->getResults());
}

/// `fill` adds functions to a module.
static Expected<std::unique_ptr<Program>>
compile(const Registry &registry, function_ref<void(mlir::ModuleOp)> fill) {
  std::string errors;
  raw_string_ostream stream(errors);
  Compiler compiler(registry);
  mlir::OwningOpRef<mlir::ModuleOp> module = compiler.emptyModule();
  module->getContext()
      ->loadDialect<mlir::linalg::LinalgDialect, mlir::tensor::TensorDialect>();
  fill(*module);
  CompileOptions options;
  // Formats are in the types: there is nothing to retype.
  options.format = options.accumulate = "f32";
  Resolved resolved;
  std::vector<FunctionSignature> signatures;
  if (failed(compiler.lower(*module, options, resolved, signatures, stream))) {
    StringRef line = StringRef(errors).rtrim();
    line.consume_front("error: ");
    return createStringError(line);
  }
  CPUOptions cpu;
  cpu.metadata.format = "f32";
  cpu.makesTables = false; // the functions themselves are wanted
  return Program::compile(*module, signatures, registry, cpu);
}

Expected<std::unique_ptr<Program>>
compileOperations(const Twins &twins, ArrayRef<Checked> checked) {
  return compile(twins.registry(), [&](mlir::ModuleOp module) {
    for (auto [i, operation] : enumerate(checked))
      addFunction(module, twins, operation, i);
  });
}

/// The same in an accumulator.
static void addAccumulatorMac(mlir::OpBuilder &builder, mlir::Location loc,
                              mlir::ValueRange values) {
  mlir::Value step =
      QuireMacOp::create(builder, loc, values[2].getType(), values[0],
                         values[1], values[2], FormatAttr());
  mlir::linalg::YieldOp::create(builder, loc, step);
}

/// `product(a: m x k, b: k x n) -> m x n`.
static void addProduct(mlir::ModuleOp module, const Checked &product) {
  using Kind = mlir::utils::IteratorType;
  mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(module.getBody());
  mlir::Location loc = builder.getUnknownLoc();
  auto matrix = [&](const CastType &type) -> mlir::Type {
    constexpr int64_t any = mlir::ShapedType::kDynamic;
    return mlir::RankedTensorType::get(
        {any, any}, typeOfFormat(module.getContext(), type.format));
  };
  mlir::Type result = matrix(product.result), sum = elementType(result);
  bool isAccumulated = product.operation == OpKind::AccumulatorMac;
  if (isAccumulated)
    sum = QuireType::get(module.getContext(), product.result.format);
  auto function = mlir::func::FuncOp::create(
      builder, loc, "product",
      builder.getFunctionType(
          {matrix(product.operands[0]), matrix(product.operands[1])},
          {result}));
  wantProduct(function, product);
  mlir::Block *body = function.addEntryBlock();
  builder.setInsertionPointToEnd(body);
  mlir::Value a = body->getArgument(0), b = body->getArgument(1);
  mlir::Value empty = mlir::tensor::EmptyOp::create(
      builder, loc,
      {mlir::tensor::getMixedSizes(builder, loc, a)[0],
       mlir::tensor::getMixedSizes(builder, loc, b)[1]},
      sum);
  mlir::Value zero =
      isAccumulated
          ? QuireZeroOp::create(builder, loc, sum, FormatAttr()).getResult()
          : zeroOf(builder, loc, sum);
  mlir::Value begun =
      mlir::linalg::FillOp::create(builder, loc, zero, empty).getResult(0);
  auto dims = [&](unsigned first, unsigned second) {
    return mlir::AffineMap::get(
        3, 0,
        {builder.getAffineDimExpr(first), builder.getAffineDimExpr(second)},
        module.getContext());
  };
  mlir::Value made =
      mlir::linalg::GenericOp::create(
          builder, loc, begun.getType(), mlir::ValueRange{a, b}, begun,
          ArrayRef{dims(0, 2), dims(2, 1), dims(0, 1)},
          ArrayRef{Kind::parallel, Kind::parallel, Kind::reduction},
          isAccumulated ? addAccumulatorMac : addMac)
          .getResult(0);
  if (isAccumulated)
    made = QuireRoundOp::create(builder, loc, mlir::TypeRange(result),
                                mlir::ValueRange(made));
  mlir::func::ReturnOp::create(builder, loc, made);
}

Expected<std::unique_ptr<Program>> compileProduct(const Registry &registry,
                                                  const Checked &product,
                                                  ArrayRef<Checked> casts) {
  Twins none = Twins::none(registry);
  return compile(none.registry(), [&](mlir::ModuleOp module) {
    for (auto [i, cast] : enumerate(casts))
      if (cast.operands.front().format != cast.result.format)
        addFunction(module, none, cast, i);
    addProduct(module, product);
  });
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

Caller::Caller(const Program &program, size_t i, const Checked &checked) {
  std::string name = "operation_" + std::to_string(i);
  entry = program.entry(name);
  signature = program.find(name);
  for (const CastType &operand : checked.operands)
    sizes.push_back(storageBits(operand) / 8);
  sizes.push_back(storageBits(checked.result) / 8);
  inputs.resize(checked.operands.size());
}

bool Caller::call(ArrayRef<std::vector<uint64_t>> operands,
                  std::vector<uint64_t> &results, std::string &message) {
  size_t count = operands.front().size();
  std::array<numera_tensor, 4> tensors{};
  auto describe = [&](std::vector<char> &bytes, numera_dtype dtype,
                      unsigned size) {
    bytes.resize(count * size);
    numera_tensor tensor{};
    tensor.data = bytes.data();
    tensor.capacity = bytes.size();
    tensor.dtype = dtype;
    tensor.rank = 1;
    tensor.shape[0] = int64_t(count);
    return tensor;
  };
  // Storage is little endian, as codes are.
  for (size_t j = 0; j < operands.size(); ++j) {
    tensors[j] = describe(inputs[j], signature->inputs[j].dtype, sizes[j]);
    for (size_t k = 0; k < count; ++k)
      std::memcpy(inputs[j].data() + k * sizes[j], &operands[j][k], sizes[j]);
  }
  numera_tensor result =
      describe(output, signature->outputs[0].dtype, sizes.back());
  numera_options options = NUMERA_OPTIONS;
  options.threads = 1;
  char text[256] = "";
  auto begin = std::chrono::steady_clock::now();
  int status = entry(tensors.data(), operands.size(), &result, 1, &options,
                     text, sizeof text);
  elapsed =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
          .count();
  if (status != 0) {
    message = text;
    return false;
  }
  results.assign(count, 0);
  for (size_t k = 0; k < count; ++k)
    std::memcpy(&results[k], output.data() + k * sizes.back(), sizes.back());
  return true;
}

} // namespace numera::check
