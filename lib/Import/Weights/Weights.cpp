// SPDX-License-Identifier: MIT
//
// Passes expect dense elements: they round them, and share those that are the
// same. Large ones of f32 are released when they have been encoded.

#include "numera/Import/Weights/Weights.h"
#include "Safetensors.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "numera/Dialect/Numera/IR/SharedElements.h"
#include "numera/Registry/Formats/Words.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cstring>

using namespace mlir;

namespace numera {

namespace {

class WeightLoader {
public:
  WeightLoader(StringRef model, StringRef weights) : path(weights.str()) {
    if (!path.empty() || !model.contains('.'))
      return;
    llvm::SmallString<128> beside(model);
    llvm::sys::path::replace_extension(beside, "safetensors");
    path = beside.str().str();
    isBeside = true;
  }

  /// Dense or shared elements; null after an error at `op`.
  ElementsAttr load(Operation *op, DenseResourceElementsAttr resource);

private:
  ElementsAttr read(Operation *op, DenseResourceElementsAttr resource);
  ElementsAttr fromBytes(Operation *op, StringRef name, ShapedType type,
                         ArrayRef<char> bytes);
  ElementsAttr fromFile(Operation *op, StringRef name, ShapedType type);
  const Safetensors *open(Operation *op, StringRef name);

  std::string path; ///< empty: none
  bool isBeside = false;
  std::optional<Safetensors> file;
  llvm::DenseMap<std::pair<Attribute, unsigned>, ElementsAttr> loaded;
};

} // namespace

/// Floats of one type as those of another that has all their values.
static DenseElementsAttr widened(const StoredTensor &tensor, FloatType from,
                                 ShapedType type) {
  auto to = cast<FloatType>(type.getElementType());
  SmallVector<APFloat> values;
  unsigned bytes = from.getWidth() / 8;
  values.reserve(tensor.bytes.size() / bytes);
  for (size_t at = 0; at < tensor.bytes.size(); at += bytes) {
    uint64_t code = 0;
    for (unsigned i = 0; i < bytes; ++i)
      code |= uint64_t(uint8_t(tensor.bytes[at + i])) << (8 * i);
    APFloat value(from.getFloatSemantics(), APInt(from.getWidth(), code));
    bool isRounded;
    value.convert(to.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                  &isRounded);
    values.push_back(value);
  }
  return DenseElementsAttr::get(type, values);
}

ElementsAttr WeightLoader::fromBytes(Operation *op, StringRef name,
                                     ShapedType type, ArrayRef<char> bytes) {
  Type element = type.getElementType();
  if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() > 64) {
    op->emitError("'") << name << "' is of " << element
                       << "; expected integers or floats of at most 64 bits";
    return {};
  }
  int64_t count = type.getNumElements();
  int64_t size = llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
  if (int64_t(bytes.size()) != count * size) {
    op->emitError("'") << name << "' has " << bytes.size() << " bytes; " << type
                       << " needs " << count * size;
    return {};
  }
  if (element.isInteger(1)) {
    SmallVector<bool> bits;
    bits.reserve(size_t(count));
    for (char byte : bytes)
      bits.push_back(byte != 0);
    return DenseElementsAttr::get(type, bits);
  }
  bool isSplat = count > 0 && std::memcmp(bytes.data(), bytes.data() + size,
                                          bytes.size() - size_t(size)) == 0;
  // Retyping reads those of arith.constant in either form.
  if (!isa<arith::ConstantOp>(op) ||
      !isa<Float32Type, BFloat16Type, Float16Type>(element) || isSplat ||
      bytes.size() < SharedElements::leastBytes)
    return DenseElementsAttr::getFromRawBuffer(type, bytes);
  std::shared_ptr<char> copy = SharedElements::allocate(bytes.size());
  llvm::copy(bytes, copy.get());
  return SharedElements::of(type.getContext()).create(type, std::move(copy));
}

/// True if a link leads out of the folder that the file is named in.
static bool leavesFolder(StringRef file) {
  namespace path = llvm::sys::path;
  StringRef folder = path::parent_path(file);
  llvm::SmallString<256> root, real;
  if (llvm::sys::fs::real_path(folder.empty() ? "." : folder, root) ||
      llvm::sys::fs::real_path(file, real))
    return false; // who opens it says so
  return std::mismatch(path::begin(root), path::end(root), path::begin(real),
                       path::end(real))
             .first != path::end(root);
}

const Safetensors *WeightLoader::open(Operation *op, StringRef name) {
  if (file)
    return &*file;
  if (path.empty() || (isBeside && !llvm::sys::fs::exists(path))) {
    auto error = op->emitError("the model has no elements of '") << name << "'";
    if (isBeside)
      error << ", and there is no " << path << " beside it";
    error << "; give the file with --safetensors";
    return nullptr;
  }
  if (isBeside && leavesFolder(path)) {
    op->emitError(path) << " beside the model is a link to another folder; "
                           "name it with --safetensors";
    return nullptr;
  }
  llvm::Expected<Safetensors> opened = Safetensors::open(path);
  if (!opened) {
    emitError(FileLineColLoc::get(op->getContext(), path, 0, 0),
              llvm::toString(opened.takeError()));
    return nullptr;
  }
  file = std::move(*opened);
  return &*file;
}

ElementsAttr WeightLoader::fromFile(Operation *op, StringRef name,
                                    ShapedType type) {
  const Safetensors *weights = open(op, name);
  if (!weights)
    return {};
  auto fail = [&](const Twine &message) -> ElementsAttr {
    op->emitError(path) << ": " << message;
    return {};
  };
  const StoredTensor *tensor = weights->find(name);
  if (!tensor) {
    StringRef near = nearest(name, weights->names());
    return fail("there is no tensor '" + name + "'" +
                (near.empty() ? "" : ", did you mean '" + near + "'?"));
  }
  std::string wanted;
  llvm::raw_string_ostream(wanted) << "'" << type << "'";
  if (ArrayRef(tensor->shape) != type.getShape()) {
    std::string found =
        llvm::join(llvm::map_range(tensor->shape,
                                   [](int64_t n) { return Twine(n).str(); }),
                   ", ");
    return fail("tensor '" + name + "' has shape (" + found + "), expected " +
                wanted);
  }
  Type stored = typeOfSafetensors(tensor->type, op->getContext());
  if (stored == type.getElementType())
    return fromBytes(op, name, type, tensor->bytes);
  auto from = dyn_cast_or_null<FloatType>(stored);
  auto to = dyn_cast<FloatType>(type.getElementType());
  if (from && to &&
      APFloat::isRepresentableBy(from.getFloatSemantics(),
                                 to.getFloatSemantics()))
    return widened(*tensor, from, type);
  return fail("tensor '" + name + "' is of " + tensor->type + ", expected " +
              wanted);
}

ElementsAttr WeightLoader::load(Operation *op,
                                DenseResourceElementsAttr resource) {
  // What several constants name is read once.
  ElementsAttr &known =
      loaded[{resource, unsigned(isa<arith::ConstantOp>(op))}];
  if (!known)
    known = read(op, resource);
  return known;
}

ElementsAttr WeightLoader::read(Operation *op,
                                DenseResourceElementsAttr resource) {
  auto type = cast<ShapedType>(resource.getType());
  StringRef name = resource.getRawHandle().getKey();
  if (AsmResourceBlob *blob = resource.getRawHandle().getBlob())
    return fromBytes(op, name, type, blob->getData());
  return fromFile(op, name, type);
}

LogicalResult loadWeights(ModuleOp module, StringRef model, StringRef weights) {
  WeightLoader loader(model, weights);
  SmallVector<DenseResourceElementsHandle> read;
  WalkResult result = module.walk([&](Operation *op) {
    for (NamedAttribute attribute : op->getAttrs())
      if (auto resource =
              dyn_cast<DenseResourceElementsAttr>(attribute.getValue())) {
        ElementsAttr elements = loader.load(op, resource);
        if (!elements)
          return WalkResult::interrupt();
        op->setAttr(attribute.getName(), elements);
        read.push_back(resource.getRawHandle());
      }
    return WalkResult::advance();
  });
  for (DenseResourceElementsHandle &handle : read)
    handle.getResource()->setBlob(AsmResourceBlob());
  return failure(result.wasInterrupted());
}

} // namespace numera
