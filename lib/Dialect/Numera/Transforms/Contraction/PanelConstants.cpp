// SPDX-License-Identifier: MIT

#include "PanelConstants.h"
#include "numera/Dialect/Numera/IR/SharedElements.h"

using namespace mlir;

namespace numera {

PanelConstants::PanelConstants(ModuleOp module)
    : module(module), symbols(module) {
  module.walk([&](memref::GetGlobalOp get) { ++readers[get.getName()]; });
  for (auto global : module.getOps<memref::GlobalOp>())
    if (auto elements = global.getInitialValue())
      ++owners[*elements];
}

memref::GlobalOp PanelConstants::globalOf(Value value) {
  auto get = value.getDefiningOp<memref::GetGlobalOp>();
  if (!get || !get.getType().getLayout().isIdentity())
    return {};
  auto global = symbols.lookup<memref::GlobalOp>(get.getName());
  return global && global.getConstant() ? global : memref::GlobalOp();
}

/// The widest panel of whole vectors, and of not more than a tile has, that
/// divides the columns; if there is none, the widest that is not much wider
/// than they are.
static int64_t panelWidth(int64_t columns) {
  constexpr int64_t lanes = 16, widest = 3 * lanes;
  for (int64_t width = widest; width > 0; width -= lanes)
    if (columns % width == 0)
      return width;
  return std::min(widest, int64_t(llvm::alignTo(columns, lanes)));
}

/// The dimension of the operand that each loop goes through, or none where one
/// goes through several or a dimension is gone through in another way.
static std::optional<SmallVector<int64_t>> dimensionsOf(AffineMap map) {
  SmallVector<int64_t> found(map.getNumDims(), -1);
  for (auto [i, expr] : llvm::enumerate(map.getResults())) {
    auto loop = dyn_cast<AffineDimExpr>(expr);
    if (!loop || found[loop.getPosition()] >= 0)
      return std::nullopt;
    found[loop.getPosition()] = static_cast<int64_t>(i);
  }
  return found;
}

/// Copies elements of `size` bytes; the last move's lie side by side after it.
void PanelConstants::copy(const char *from, char *to, ArrayRef<Move> moves,
                          int64_t size) {
  const Move &move = moves.front();
  for (int64_t i = 0; i < move.extent; ++i) {
    const char *source = from + i * move.from * size;
    char *place = to + i * move.to * size;
    if (moves.size() == 1)
      std::memcpy(place, source, size_t(size));
    else
      copy(source, place, moves.drop_front(), size);
  }
}

memref::GlobalOp PanelConstants::moved(memref::GlobalOp global,
                                       ArrayRef<Move> moves, size_t panel,
                                       int64_t missing) {
  for (const LaidOut &known : laidOut)
    if (known.from == global && ArrayRef(known.moves) == moves)
      return known.to;
  auto elements = cast<ElementsAttr>(*global.getInitialValue());
  ArrayRef<char> bytes = rawElements(elements);
  int64_t size = int64_t(bytes.size()) / elements.getNumElements(), count = 1;
  SmallVector<int64_t> shape;
  for (const Move &move : moves) {
    shape.push_back(move.extent);
    count *= move.extent;
  }
  size_t packedBytes = size_t(count * size);
  std::shared_ptr<char> packed = SharedElements::allocate(packedBytes);
  if (missing > 0)
    std::memset(packed.get(), 0, packedBytes);
  SmallVector<Move> parts(moves);
  if (missing > 0) {
    const Move last = parts[panel];
    parts[panel].extent = 1;
    parts.back().extent -= missing;
    copy(bytes.data() + (last.extent - 1) * last.from * size,
         packed.get() + (last.extent - 1) * last.to * size, parts, size);
    parts[panel].extent = last.extent - 1;
    parts.back().extent += missing;
  }
  copy(bytes.data(), packed.get(), parts, size);
  Type element = elements.getElementType();
  auto type = RankedTensorType::get(shape, element);
  ElementsAttr panels =
      SharedElements::of(module.getContext()).createConstant(type, packed);
  OpBuilder builder(global);
  auto made = memref::GlobalOp::create(
      builder, global.getLoc(), (global.getSymName() + "_panels").str(),
      builder.getStringAttr("private"), MemRefType::get(shape, element), panels,
      /*constant=*/true, builder.getI64IntegerAttr(64));
  symbols.insert(made);
  laidOut.push_back({global, SmallVector<Move>(moves), made});
  return made;
}

std::optional<Panels> PanelConstants::layOut(const ContractionWork &work) {
  const PackedContraction &contraction = work.contraction;
  linalg::GenericOp generic = work.generic;
  OpOperand &operand = generic->getOpOperand(contraction.columnsInput);
  memref::GlobalOp global = globalOf(operand.get());
  if (!contraction.isDirect || !global || contraction.columns.size() != 1)
    return std::nullopt;
  auto elements = dyn_cast_or_null<ElementsAttr>(
      global.getInitialValue().value_or(Attribute()));
  auto dimensions = dimensionsOf(generic.getMatchingIndexingMap(&operand));
  if (!elements || rawElements(elements).empty() || elements.isSplat() ||
      !dimensions)
    return std::nullopt;
  ArrayRef<int64_t> shape = elements.getShapedType().getShape();
  unsigned column = contraction.columns.front();
  int64_t columns = shape[(*dimensions)[column]];
  Panels panels;
  panels.width = panelWidth(columns);
  panels.count = llvm::divideCeil(columns, panels.width);
  panels.missing = panels.count * panels.width - columns;

  SmallVector<int64_t> strides = computeStrides(shape);
  panels.strides.assign(generic.getNumLoops(), 0);
  panels.strides[column] = 1;
  int64_t across = strides[(*dimensions)[column]];
  SmallVector<Move> moves = {{panels.width, across, 1}};
  int64_t next = panels.width;
  auto place = [&](ArrayRef<unsigned> loops) {
    for (unsigned loop : llvm::reverse(loops)) {
      int64_t dimension = (*dimensions)[loop];
      if (dimension < 0)
        continue; // the same for all of the loop
      panels.strides[loop] = next;
      moves.push_back({shape[dimension], strides[dimension], next});
      next *= shape[dimension];
    }
  };
  place(contraction.steps);
  panels.pitch = next;
  moves.push_back({panels.count, panels.width * across, next});
  next *= panels.count;
  size_t inside = moves.size();
  place(contraction.batch);
  std::reverse(moves.begin(), moves.end());
  panels.global = moved(global, moves, moves.size() - inside, panels.missing);
  replaced.insert(operand.get().getDefiningOp<memref::GetGlobalOp>());
  return panels;
}

void PanelConstants::eraseUnused() {
  replaced.remove_if([&](memref::GetGlobalOp get) {
    if (!get->use_empty())
      return false;
    auto global = symbols.lookup<memref::GlobalOp>(get.getName());
    get.erase();
    if (--readers[global.getSymName()] != 0)
      return true;
    llvm::erase_if(laidOut,
                   [&](LaidOut &known) { return known.from == global; });
    Attribute elements = *global.getInitialValue();
    symbols.erase(global);
    if (--owners[elements] == 0)
      SharedElements::release(elements);
    return true;
  });
}

} // namespace numera
