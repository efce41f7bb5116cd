// SPDX-License-Identifier: MIT

#include "ContractionHooks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace numera {

LLVM::LLVMFuncOp HookBuilder::function(const Twine &name,
                                       ArrayRef<Type> arguments, Type result) {
  builder.setInsertionPointToEnd(module.getBody());
  return LLVM::LLVMFuncOp::create(
      builder, module.getLoc(), name.str(),
      LLVM::LLVMFunctionType::get(result, arguments));
}

Block *HookBuilder::hook(const Twine &name, ArrayRef<Type> arguments,
                         Type result) {
  LLVM::LLVMFuncOp hook = function(name, arguments, result);
  hook.setAlwaysInline(true);
  Block *body = hook.addEntryBlock(builder);
  builder.setInsertionPointToStart(body);
  return body;
}

Value HookBuilder::elementAt(Location loc, Value base, Value index,
                             Type storage) {
  return LLVM::GEPOp::create(builder, loc, pointer, storage, base,
                             ArrayRef<LLVM::GEPArg>{index});
}

Value HookBuilder::cast(Location loc, Value value, Type type,
                        const ElementKind &from, const ElementKind &to) {
  // Codes of f32 are its bits.
  if (from == to)
    return value.getType() == type
               ? value
               : LLVM::BitcastOp::create(builder, loc, type, value);
  auto op = CastOp::create(builder, loc, TypeRange(type), ValueRange(value));
  auto attribute = [&](const ElementKind &kind) {
    return FormatAttr::get(module.getContext(), kind.format);
  };
  op.setFormatAttr(attribute(to));
  op.setOperandFormatsAttr(builder.getArrayAttr(attribute(from)));
  return op;
}

void HookBuilder::addReader(const Twine &name, const StoredKind &from,
                            Type carrier, const ElementKind &value) {
  Location loc = module.getLoc();
  Block *body = hook(name, {pointer, builder.getI64Type()}, carrier);
  Value place =
      elementAt(loc, body->getArgument(0), body->getArgument(1), from.storage);
  Value element = LLVM::LoadOp::create(builder, loc, from.storage, place);
  LLVM::ReturnOp::create(builder, loc,
                         cast(loc, element, carrier, from.kind, value));
}

void HookBuilder::addWriter(const Twine &name, const StoredKind &to,
                            Type carrier, const ElementKind &value) {
  Location loc = module.getLoc();
  Block *body = hook(name, {pointer, builder.getI64Type(), carrier}, none());
  Value place =
      elementAt(loc, body->getArgument(0), body->getArgument(1), to.storage);
  Value code = cast(loc, body->getArgument(2), to.storage, value, to.kind);
  LLVM::StoreOp::create(builder, loc, code, place);
  LLVM::ReturnOp::create(builder, loc, ValueRange());
}

void HookBuilder::addEntry(const Twine &name,
                           const PackedContraction &contraction,
                           StringRef entry, ArrayRef<Type> arguments,
                           Type result, ArrayRef<int32_t> trailing) {
  Block *body = hook(name, arguments, result);
  Value value =
      callEntry(contraction, entry, body->getArguments(), result, trailing);
  LLVM::ReturnOp::create(builder, module.getLoc(), value);
}

Value HookBuilder::callEntry(const PackedContraction &contraction,
                             StringRef entry, ValueRange arguments, Type result,
                             ArrayRef<int32_t> trailing) {
  unsigned bits = contraction.carrier.getIntOrFloatBitWidth();
  SmallVector<Value> operands(arguments);
  return lowerings.callFamily(builder, module.getLoc(), contraction.carried,
                              entry + "_f" + Twine(bits) + "_" + Twine(bits),
                              operands, trailing, getElementTypeOrSelf(result));
}

void HookBuilder::addEitherEntry(const Twine &name,
                                 const PackedContraction &contraction,
                                 StringRef entry, ArrayRef<Type> arguments,
                                 Type result, StringRef question,
                                 int32_t ifTrue, int32_t ifFalse) {
  Location loc = module.getLoc();
  auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(question);
  if (!function)
    function = this->function(question, {}, builder.getI1Type());
  Block *body = hook(name, arguments, result);
  auto call = [&](int32_t trailing) {
    return callEntry(contraction, entry, body->getArguments(), result,
                     trailing);
  };
  Value answer =
      LLVM::CallOp::create(builder, loc, function, ValueRange()).getResult();
  Value value =
      LLVM::SelectOp::create(builder, loc, answer, call(ifTrue), call(ifFalse));
  LLVM::ReturnOp::create(builder, loc, value);
}

void HookBuilder::addCarriedStep(const Twine &name,
                                 const PackedContraction &contraction,
                                 Type type) {
  // The factors are of one format, and a product has no order.
  if (!contraction.carried.isOpaque())
    return addEntry(name, contraction, "step", {type, type, type}, type, {});
  // The two roundings are the library's.
  Location loc = MacOp(contraction.step).getLoc();
  Block *body = hook(name, {type, type, type}, type);
  auto format = FormatAttr::get(module.getContext(), contraction.carried);
  auto round = [&](Value x) -> Value {
    return RoundToOp::create(builder, loc, type, x, format, {}, {}, {});
  };
  Value product = arith::MulFOp::create(builder, loc, body->getArgument(1),
                                        body->getArgument(2));
  Value sum =
      arith::AddFOp::create(builder, loc, body->getArgument(0), round(product));
  LLVM::ReturnOp::create(builder, loc, round(sum));
}

void HookBuilder::addStep(const Twine &name,
                          const PackedContraction &contraction, Type type) {
  MacOp step = contraction.step;
  Block *body = hook(name, {type, type, type}, type);
  bool rowsAreLeft = llvm::cast<BlockArgument>(step.getLhs()).getArgNumber() ==
                     contraction.rowsInput;
  Value row = body->getArgument(1), column = body->getArgument(2);
  OperationState state(step.getLoc(), step->getName());
  state.addOperands({rowsAreLeft ? row : column, rowsAreLeft ? column : row,
                     body->getArgument(0)});
  state.addTypes(type);
  state.addAttributes(step->getAttrs());
  // The factors have been cast to the sum's format.
  Operation *made = builder.create(state);
  made->removeAttr("operand_formats");
  LLVM::ReturnOp::create(builder, module.getLoc(), made->getResult(0));
}

//===----------------------------------------------------------------------===//
// Quires
//===----------------------------------------------------------------------===//

Value HookBuilder::codeAt(Value base, Value index, Type storage) {
  Location loc = module.getLoc();
  Value element = LLVM::LoadOp::create(builder, loc, storage,
                                       elementAt(loc, base, index, storage));
  return toBits(builder, loc, element);
}

/// f64 f(ptr base, i64 index): exact.
void HookBuilder::addQuireReader(const Twine &name, const Format &format,
                                 Type storage) {
  Location loc = module.getLoc();
  Type f64 = builder.getF64Type();
  Block *body = hook(name, {pointer, builder.getI64Type()}, f64);
  Value base = body->getArgument(0), index = body->getArgument(1), value;
  if (isa<FloatType>(storage)) {
    value = LLVM::LoadOp::create(builder, loc, storage,
                                 elementAt(loc, base, index, storage));
    if (storage != f64)
      value = arith::ExtFOp::create(builder, loc, f64, value);
  } else {
    value = lowerings.callEntry(builder, loc, format, "decode_f64",
                                {codeAt(base, index, storage)}, {}, f64);
  }
  LLVM::ReturnOp::create(builder, loc, value);
}

void HookBuilder::addQuireHooks(const Twine &name,
                                const PackedContraction &contraction) {
  QuireMacOp step = contraction.quireStep;
  QuireOpInterface op = step;
  Format format = op.getQuireFormat();
  Location loc = module.getLoc();
  Type storage = step.getLhs().getType();
  Type quire = op.getQuire().getType();
  Type i64 = builder.getI64Type(), f64 = builder.getF64Type();
  addQuireReader(name + ".row", format, storage);
  addQuireReader(name + ".column", format, storage);

  Block *span = hook(name + ".span", {f64, f64}, i64);
  Value packed = lowerings.callFamily(
      builder, loc, format, "slices_span_f64_64",
      {span->getArgument(0), span->getArgument(1)}, {}, i64);
  LLVM::ReturnOp::create(builder, loc, packed);

  // void f(ptr quires, i64 index, ptr products, i32 count)
  Block *add = hook(name + ".add",
                    {pointer, i64, pointer, builder.getI32Type()}, none());
  Value place = elementAt(loc, add->getArgument(0), add->getArgument(1), quire);
  lowerings.callFamily(builder, loc, format, "slice_products_add_f64_64",
                       {place, add->getArgument(2), add->getArgument(3)}, {},
                       {});
  LLVM::ReturnOp::create(builder, loc, ValueRange());

  // void f(ptr quires, i64 index, ptr rows, i64 row, ptr columns, i64 column)
  Block *mac =
      hook(name + ".mac", {pointer, i64, pointer, i64, pointer, i64}, none());
  place = elementAt(loc, mac->getArgument(0), mac->getArgument(1), quire);
  Value row = codeAt(mac->getArgument(2), mac->getArgument(3), storage);
  Value column = codeAt(mac->getArgument(4), mac->getArgument(5), storage);
  lowerings.callEntry(builder, loc, format, "quire_mac", {place, row, column},
                      {}, {});
  LLVM::ReturnOp::create(builder, loc, ValueRange());
}

} // namespace numera
