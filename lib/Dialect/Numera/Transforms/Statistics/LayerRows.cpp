// SPDX-License-Identifier: MIT

#include "numera/Dialect/Numera/Transforms/Statistics/LayerRows.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace numera {

static constexpr llvm::StringLiteral attributeName = "numera.layers";

void setLayerRows(func::FuncOp function, ArrayRef<LayerRow> rows) {
  if (rows.empty())
    return;
  Builder builder(function.getContext());
  SmallVector<Attribute> entries;
  for (const LayerRow &row : rows) {
    SmallVector<int32_t> inputs(row.inputs.begin(), row.inputs.end());
    entries.push_back(builder.getDictionaryAttr(
        {builder.getNamedAttr("name", builder.getStringAttr(row.name)),
         builder.getNamedAttr("operation",
                              builder.getStringAttr(row.operation)),
         builder.getNamedAttr("format", builder.getStringAttr(row.format)),
         builder.getNamedAttr("inputs",
                              builder.getDenseI32ArrayAttr(inputs))}));
  }
  function->setAttr(attributeName, builder.getArrayAttr(entries));
}

size_t countLayerRows(func::FuncOp function) {
  auto entries = function->getAttrOfType<ArrayAttr>(attributeName);
  return entries ? entries.size() : 0;
}

std::vector<LayerRow> layerRowsOf(func::FuncOp function) {
  std::vector<LayerRow> rows;
  auto entries = function->getAttrOfType<ArrayAttr>(attributeName);
  if (!entries)
    return rows;
  for (auto entry : entries.getAsRange<DictionaryAttr>()) {
    auto inputs = entry.getAs<DenseI32ArrayAttr>("inputs").asArrayRef();
    auto text = [&](StringRef key) {
      return entry.getAs<StringAttr>(key).str();
    };
    rows.push_back({text("name"), text("operation"), text("format"),
                    std::vector<int>(inputs.begin(), inputs.end())});
  }
  return rows;
}

unsigned countOwnResults(func::FuncOp function) {
  unsigned all = function.getNumResults();
  size_t rows = countLayerRows(function) * LayerRow::results;
  return rows > all ? all : all - unsigned(rows);
}

void dropLayerRows(func::FuncOp function) {
  function->removeAttr(attributeName);
}

void eraseLayerRows(func::FuncOp function) {
  unsigned own = countOwnResults(function), all = function.getNumResults();
  dropLayerRows(function);
  if (own == all)
    return;
  llvm::BitVector rows(all);
  rows.set(own, all);
  function.front().getTerminator()->eraseOperands(rows);
  (void)function.eraseResults(rows);
}

} // namespace numera
