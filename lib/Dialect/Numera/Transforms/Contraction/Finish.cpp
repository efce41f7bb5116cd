// SPDX-License-Identifier: MIT

#include "Finish.h"
#include "Buffers/BufferUses.h"
#include "Loops/ElementLanes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace numera {

/// True for one element of each column, which lie side by side: a bias.
static bool isOfColumns(AffineMap map) {
  if (map.getNumResults() == 0)
    return false;
  AffineExpr column = getAffineDimExpr(map.getNumDims() - 1, map.getContext());
  return map.getResults().back() == column &&
         llvm::all_of(map.getResults().drop_back(), [](AffineExpr expr) {
           auto constant = dyn_cast<AffineConstantExpr>(expr);
           return constant && constant.getValue() == 0;
         });
}

/// True for elements that lie as the sums do, or one of each column.
static bool isInput(linalg::GenericOp generic, OpOperand &input) {
  auto type = dyn_cast<MemRefType>(input.get().getType());
  AffineMap map = generic.getMatchingIndexingMap(&input);
  return type && type.getLayout().isIdentity() &&
         (map.isIdentity() || isOfColumns(map));
}

/// Nothing but constants comes from outside of the body.
static bool isClosed(linalg::GenericOp generic) {
  Block *body = generic.getBody();
  return llvm::all_of(*body, [&](Operation &op) {
    return llvm::all_of(op.getOperands(), [&](Value value) {
      Operation *maker = value.getDefiningOp();
      return value.getParentBlock() == body ||
             (maker && maker->hasTrait<OpTrait::ConstantLike>());
    });
  });
}

std::optional<Finish> Finish::of(const ContractionWork &work) {
  linalg::GenericOp contraction = work.generic;
  const PackedContraction &packed = work.contraction;
  Value sums = contraction.getDpsInits()[0], memory = ownMemoryOf(sums);
  auto type = cast<MemRefType>(sums.getType());
  AffineMap map = contraction.getIndexingMapsArray().back();
  if (!packed.isDirect || !type.getElementType().isF32() || !memory ||
      !type.getLayout().isIdentity() || !packed.batch.empty() ||
      packed.columns.size() != 1 ||
      map.getResults().back() !=
          getAffineDimExpr(packed.columns.front(), type.getContext()))
    return std::nullopt;
  Operation *next = contraction->getNextNode();
  while (next && (isMemoryEffectFree(next) || isa<memref::AllocOp>(next)))
    next = next->getNextNode();
  auto generic = dyn_cast_or_null<linalg::GenericOp>(next);
  if (!generic || !isElementwise(generic) || !isClosed(generic) ||
      generic.getDpsInits()[0] != sums)
    return std::nullopt;
  Finish found = {generic, nullptr};
  for (OpOperand *input : generic.getDpsInputOperands())
    if (!found.sums && input->get() == sums &&
        generic.getMatchingIndexingMap(input).isIdentity())
      found.sums = input;
    else if (!isElsewhere(input->get(), memory) || !isInput(generic, *input))
      return std::nullopt;
  OpBuilder builder(generic);
  if (!found.sums || !ElementLanes(builder, generic).hasForm())
    return std::nullopt;
  return found;
}

/// Fills what of a buffer is not inside the view.
static void fillBorder(OpBuilder &builder, Location loc, Value value,
                       memref::SubViewOp inside) {
  Value buffer = inside.getSource();
  ArrayRef<int64_t> shape = cast<MemRefType>(buffer.getType()).getShape();
  int64_t rank = int64_t(shape.size());
  // What is filled of dimensions that come after: all of them. Of those of a
  // dynamic size nothing is outside.
  SmallVector<OpFoldResult> offsets(rank, builder.getIndexAttr(0)),
      sizes = inside.getMixedSizes(), strides(rank, builder.getIndexAttr(1));
  for (int64_t i = 0; i < rank; ++i)
    if (!ShapedType::isDynamic(shape[i]))
      sizes[i] = builder.getIndexAttr(shape[i]);
  for (int64_t i = 0; i < rank; ++i) {
    if (ShapedType::isDynamic(shape[i]))
      continue;
    int64_t first = inside.getStaticOffset(i);
    int64_t end = first + inside.getStaticSize(i);
    for (auto [from, to] : {std::pair(int64_t(0), first), {end, shape[i]}}) {
      if (from == to)
        continue;
      offsets[i] = builder.getIndexAttr(from);
      sizes[i] = builder.getIndexAttr(to - from);
      Value part = memref::SubViewOp::create(builder, loc, buffer, offsets,
                                             sizes, strides);
      linalg::FillOp::create(builder, loc, ValueRange(value), ValueRange(part));
    }
    // Of those that came before: what is inside.
    offsets[i] = builder.getIndexAttr(first);
    sizes[i] = builder.getIndexAttr(end - first);
  }
}

void Finish::writePadded(const ContractionWork &work) const {
  linalg::GenericOp contraction = work.generic;
  Value sums = contraction.getDpsInits()[0];
  bool lieAsSums = llvm::any_of(inputs(), [](OpOperand *input) {
    return cast<linalg::GenericOp>(input->getOwner())
        .getMatchingIndexingMap(input)
        .isIdentity();
  });
  auto copies =
      llvm::make_filter_range(sums.getUsers(), llvm::IsaPred<memref::CopyOp>);
  if (lieAsSums || !llvm::hasSingleElement(copies))
    return;
  auto padding = paddingOf(cast<memref::CopyOp>(*copies.begin()));
  if (!padding || padding->producer != generic)
    return;
  for (Operation *user : sums.getUsers())
    if (user != contraction && user != work.fill && user != generic &&
        user != padding->copy && !isa<memref::DeallocOp>(user))
      return;
  Value buffer = padding->inside.getSource();
  Operation *first = work.fill ? work.fill : contraction.getOperation();
  // What is made behind the contraction comes to stand in front of it.
  auto isBehind = [&](Operation *op) {
    return op && op->getBlock() == first->getBlock() &&
           first->isBeforeInBlock(op);
  };
  Operation *maker = padding->value.getDefiningOp();
  if (!isBehind(buffer.getDefiningOp()) ||
      llvm::any_of(
          buffer.getDefiningOp()->getOperands(),
          [&](Value size) { return isBehind(size.getDefiningOp()); }) ||
      (isBehind(maker) && !maker->hasTrait<OpTrait::ConstantLike>()))
    return;
  buffer.getDefiningOp()->moveBefore(first);
  if (isBehind(maker))
    maker->moveBefore(first);
  padding->inside->moveBefore(first);
  OpBuilder builder(first);
  fillBorder(builder, contraction.getLoc(), padding->value, padding->inside);
  padding->copy.erase();
  padding->fill.erase();
  for (Operation *user : llvm::make_early_inc_range(sums.getUsers()))
    if (isa<memref::DeallocOp>(user))
      user->erase();
  Operation *memory = sums.getDefiningOp();
  sums.replaceAllUsesWith(padding->inside);
  memory->erase();
}

SmallVector<OpOperand *> Finish::inputs() const {
  linalg::GenericOp op = generic;
  SmallVector<OpOperand *> found;
  for (OpOperand *input : op.getDpsInputOperands())
    if (input != sums)
      found.push_back(input);
  return found;
}

namespace {

/// Writes the function's body.
class FinishBody {
public:
  FinishBody(OpBuilder &builder, const Finish &finish, ValueRange arguments)
      : builder(builder), finish(finish), loc(builder.getUnknownLoc()),
        inputs(arguments[0]), tile(arguments[1]), pitch(arguments[2]),
        rows(arguments[3]), rowCount(arguments[4]), place(arguments[5]),
        firstColumn(arguments[6]), count(arguments[7]) {}

  void emit();

private:
  static constexpr int64_t lanes = ElementLanes::lanes;

  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  Value word(Value index) {
    return arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                      index);
  }
  Value index(Value word) {
    return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                      word);
  }
  Value add(Value a, Value b) {
    return arith::AddIOp::create(builder, loc, a, b);
  }
  Value at(Value base, Type element, Value place) {
    return LLVM::GEPOp::create(builder, loc, base.getType(), element, base,
                               ArrayRef<LLVM::GEPArg>{place});
  }
  VectorType vectorType() {
    return VectorType::get({lanes}, builder.getF32Type());
  }
  /// Lanes from column `column` of the tile on, whose row is at `row`; with a
  /// mask, where there are fewer columns.
  void emitLanes(Value row, Value sum, Value column, Value mask);
  Value load(OpOperand &input, Value base, Value sum, Value column, Value mask);
  Value maskOf(Value left);

  OpBuilder &builder;
  const Finish &finish;
  Location loc;
  Value inputs, tile, pitch, rows, rowCount, place, firstColumn, count;
  SmallVector<Value> bases; ///< of the inputs
  IRMapping constants;      ///< of the body
};

} // namespace

Value FinishBody::load(OpOperand &input, Value base, Value sum, Value column,
                       Value mask) {
  linalg::GenericOp generic = finish.generic;
  bool isOfColumn = !generic.getMatchingIndexingMap(&input).isIdentity();
  Value place = add(isOfColumn ? firstColumn : sum, column);
  Value address = at(base, builder.getF32Type(), place);
  constexpr unsigned alignment = 4;
  if (!mask)
    return LLVM::LoadOp::create(builder, loc, vectorType(), address, alignment);
  Value none = arith::ConstantOp::create(builder, loc,
                                         builder.getZeroAttr(vectorType()));
  return LLVM::MaskedLoadOp::create(builder, loc, vectorType(), address, mask,
                                    none, alignment);
}

void FinishBody::emitLanes(Value row, Value sum, Value column, Value mask) {
  constexpr unsigned alignment = 64;
  Value address = at(row, builder.getF32Type(), column);
  linalg::GenericOp generic = finish.generic;
  SmallVector<Value> values;
  size_t i = 0;
  for (OpOperand *input : generic.getDpsInputOperands())
    values.push_back(input == finish.sums
                         ? LLVM::LoadOp::create(builder, loc, vectorType(),
                                                address, alignment)
                               .getResult()
                         : load(*input, bases[i++], sum, column, mask));
  Value result = ElementLanes(builder, generic).computeFrom(values, constants);
  LLVM::StoreOp::create(builder, loc, result, address, alignment);
}

/// True for as many lanes as columns are left.
Value FinishBody::maskOf(Value left) {
  auto type = VectorType::get({lanes}, builder.getI64Type());
  auto numbers = llvm::to_vector(llvm::seq<int64_t>(0, lanes));
  Value lane = arith::ConstantOp::create(
      builder, loc, DenseElementsAttr::get(type, ArrayRef<int64_t>(numbers)));
  Value all = vector::BroadcastOp::create(builder, loc, type, left);
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, lane,
                               all);
}

void FinishBody::emit() {
  linalg::GenericOp generic = finish.generic;
  Type pointer = inputs.getType();
  for (size_t i = 0; i < finish.inputs().size(); ++i)
    bases.push_back(LLVM::LoadOp::create(
        builder, loc, pointer, at(inputs, pointer, word(constant(i)))));
  for (Operation &op : *generic.getBody())
    for (Value value : op.getOperands())
      if (value.getParentBlock() != generic.getBody() &&
          !constants.contains(value))
        constants.map(value,
                      builder.clone(*value.getDefiningOp())->getResult(0));
  Value rest =
      arith::RemUIOp::create(builder, loc, count, word(constant(lanes)));
  Value whole = arith::SubIOp::create(builder, loc, count, rest);
  auto overRows = scf::ForOp::create(builder, loc, constant(0), index(rowCount),
                                     constant(1));
  builder.setInsertionPointToStart(overRows.getBody());
  Value r = word(overRows.getInductionVar());
  Value row = at(tile, builder.getF32Type(),
                 arith::MulIOp::create(builder, loc, r, pitch));
  Value sum = add(LLVM::LoadOp::create(builder, loc, builder.getI64Type(),
                                       at(rows, builder.getI64Type(), r)),
                  place);
  auto overLanes = scf::ForOp::create(builder, loc, constant(0), index(whole),
                                      constant(lanes));
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(overLanes.getBody());
    emitLanes(row, sum, word(overLanes.getInductionVar()), {});
  }
  Value isLeft = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                       rest, word(constant(0)));
  auto ifLeft = scf::IfOp::create(builder, loc, isLeft);
  builder.setInsertionPointToStart(ifLeft.thenBlock());
  emitLanes(row, sum, whole, maskOf(rest));
}

LLVM::LLVMFuncOp Finish::emit(SymbolTable &symbols) const {
  linalg::GenericOp op = generic;
  Location loc = op.getLoc();
  MLIRContext *context = op.getContext();
  std::string name =
      (op->getParentOfType<func::FuncOp>().getName() + ".finish").str();
  Type pointer = LLVM::LLVMPointerType::get(context);
  Type i64 = IntegerType::get(context, 64);
  Type types[] = {pointer, pointer, i64, pointer, i64, i64, i64, i64};
  OpBuilder builder(context);
  // A loop of scf is at home in a function of func, an address in one of llvm.
  auto body = func::FuncOp::create(loc, name + ".body",
                                   builder.getFunctionType(types, {}));
  body.setPrivate();
  symbols.insert(body);
  Block *entry = body.addEntryBlock();
  builder.setInsertionPointToStart(entry);
  func::ReturnOp end = func::ReturnOp::create(builder, loc);
  builder.setInsertionPoint(end);
  FinishBody(builder, *this, entry->getArguments()).emit();

  builder.clearInsertionPoint();
  auto function = LLVM::LLVMFuncOp::create(
      builder, loc, name,
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), types),
      LLVM::Linkage::Internal);
  symbols.insert(function);
  builder.setInsertionPointToStart(function.addEntryBlock(builder));
  func::CallOp::create(builder, loc, body, function.getArguments());
  LLVM::ReturnOp::create(builder, loc, ValueRange());
  return function;
}

} // namespace numera
