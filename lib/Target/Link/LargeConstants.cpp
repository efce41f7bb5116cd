// SPDX-License-Identifier: MIT

#include "LargeConstants.h"
#include "numera/Dialect/Numera/IR/SharedElements.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/Constants.h"

using namespace llvm;
using namespace numera;

/// From here on it counts what LLVM does with each element.
static constexpr size_t leastBytes = 1 << 14;

static bool isLarge(mlir::LLVM::GlobalOp global) {
  auto elements = dyn_cast_or_null<mlir::ElementsAttr>(global.getValueOrNull());
  ArrayRef<char> bytes = rawElements(elements);
  if (!elements || !global.getConstant() || elements.isSplat() ||
      !elements.getElementType().isIntOrFloat())
    return false;
  // MLIR has an i24 in three bytes, LLVM in four.
  unsigned width = elements.getElementType().getIntOrFloatBitWidth();
  return width >= 8 && isPowerOf2_32(width) && bytes.size() >= leastBytes;
}

/// What the hooks of contractions read.
static StringSet<> readByHooks(mlir::ModuleOp lowered) {
  StringSet<> names;
  for (auto function : lowered.getOps<mlir::LLVM::LLVMFuncOp>())
    if (function.getName().starts_with("numera.contraction."))
      function.walk([&](mlir::LLVM::AddressOfOp op) {
        names.insert(op.getGlobalName());
      });
  return names;
}

/// Where a linker sees it, the model's name could be that of a C function, and
/// what else than letters it has could mean something: a version, behind `@`.
static std::string symbolOf(StringRef prefix, StringRef name,
                            const mlir::SymbolTable &symbols,
                            StringSet<> &taken) {
  std::string symbol = prefix.str();
  for (char letter : name)
    symbol += isAlnum(letter) || letter == '_' || letter == '.' ? letter : '_';
  while (symbols.lookup(symbol) || !taken.insert(symbol).second)
    symbol += '_';
  return symbol;
}

static void renameUses(mlir::ModuleOp lowered,
                       const StringMap<std::string> &names) {
  lowered.walk([&](mlir::LLVM::AddressOfOp op) {
    auto found = names.find(op.getGlobalName());
    if (found != names.end())
      op.setGlobalName(found->second);
  });
}

LargeConstants::LargeConstants(mlir::ModuleOp lowered, bool isLinked,
                               StringRef prefix)
    : lowered(lowered) {
  mlir::SymbolTable symbols(lowered);
  StringSet<> kept = readByHooks(lowered), symbolsTaken;
  for (auto global : lowered.getOps<mlir::LLVM::GlobalOp>())
    if (isLarge(global) && !kept.contains(global.getSymName()))
      take(global,
           symbolOf(prefix, global.getSymName(), symbols, symbolsTaken));
  StringMap<std::string> names;
  for (auto [entry, constant] : zip_equal(taken, all))
    names[entry.first.getSymName()] = constant.symbol;
  renameUses(lowered, names);
  for (auto [entry, constant] : zip_equal(taken, all))
    entry.first.setSymName(constant.symbol);
  for (auto &[global, attributes] : taken)
    declare(global, isLinked && !areFar(all));
}

bool LargeConstants::areFar(ArrayRef<CodeConstant> constants) {
  uint64_t bytes = 0;
  for (const CodeConstant &constant : constants)
    bytes += constant.bytes.size();
  return bytes > uint64_t(1) << 30;
}

void LargeConstants::take(mlir::LLVM::GlobalOp global, std::string symbol) {
  taken.emplace_back(global, global->getAttrDictionary());
  mlir::Attribute elements = global.getValueOrNull();
  SharedBytes owner = SharedElements::find(elements);
  if (!isAddrAligned(Align(alignment), owner.get()))
    owner = nullptr; // they are copied
  all.push_back({std::move(symbol), rawElements(elements), std::move(owner)});
}

void LargeConstants::declare(mlir::LLVM::GlobalOp global, bool isNear) {
  global.removeValueAttr();
  global.setLinkage(mlir::LLVM::Linkage::External);
  global.setAlignment(alignment);
  // Memory may lie farther away than an instruction reaches: its address is
  // looked up.
  global.setDsoLocal(isNear);
  global.setVisibility_(isNear ? mlir::LLVM::Visibility::Hidden
                               : mlir::LLVM::Visibility::Default);
}

LargeConstants::~LargeConstants() {
  for (auto &[global, attributes] : taken)
    global->setAttrs(attributes);
  StringMap<std::string> names;
  for (auto [entry, constant] : zip_equal(taken, all))
    names[constant.symbol] = entry.first.getSymName().str();
  renameUses(lowered, names);
}
