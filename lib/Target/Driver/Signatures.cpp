// SPDX-License-Identifier: MIT

#include "Signatures.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinTypes.h"
#include "numera/Dialect/Numera/IR/Numera.h"
#include "numera/Registry/Symbols/ReservedNames.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace numera {

static std::optional<numera_dtype> dtypeOf(Type type) {
  if (type.isF32())
    return NUMERA_F32;
  if (type.isF64())
    return NUMERA_F64;
  if (type.isF16())
    return NUMERA_F16;
  if (type.isBF16())
    return NUMERA_BF16;
  if (type.isIndex())
    return NUMERA_I64;
  auto integer = dyn_cast<IntegerType>(type);
  if (auto num = dyn_cast<NumType>(type)) // codes, as `--output-as storage` has
    integer = IntegerType::get(type.getContext(), num.getFormat().storageBits(),
                               IntegerType::Unsigned);
  if (!integer)
    return std::nullopt;
  switch (integer.getWidth()) {
  case 1:
    return NUMERA_BOOL;
  case 8:
    return integer.isUnsigned() ? NUMERA_U8 : NUMERA_I8;
  case 16:
    return integer.isUnsigned() ? NUMERA_U16 : NUMERA_I16;
  case 32:
    return integer.isUnsigned() ? NUMERA_U32 : NUMERA_I32;
  case 64:
    return integer.isUnsigned() ? NUMERA_U64 : NUMERA_I64;
  case 128:
    return integer.isUnsigned() ? std::optional(NUMERA_U128) : std::nullopt;
  case 256:
    return integer.isUnsigned() ? std::optional(NUMERA_U256) : std::nullopt;
  default:
    return std::nullopt;
  }
}

/// Codes without gaps as what callers see, bytes; any other type itself.
static Type withoutPacking(Type type) {
  if (!isPacked(type))
    return type;
  auto tensor = cast<RankedTensorType>(type);
  int64_t count =
      tensor.hasStaticShape() ? tensor.getNumElements() : ShapedType::kDynamic;
  auto num = cast<NumType>(tensor.getElementType());
  return RankedTensorType::get(
      packedBytes(count, num.getFormat().width()),
      IntegerType::get(type.getContext(), 8, IntegerType::Unsigned));
}

static FailureOr<TensorSignature>
tensorSignature(func::FuncOp function, Type type, DictionaryAttr attributes) {
  TensorSignature tensor;
  if (auto name = attributes ? attributes.getAs<StringAttr>("numera.name")
                             : StringAttr())
    tensor.name = name.str();
  type = withoutPacking(type);
  // Where its elements lie is not for the caller to know.
  if (auto ranked = dyn_cast<RankedTensorType>(type))
    if (Attribute encoding = ranked.getEncoding();
        encoding && !isa<NumeraDialect>(encoding.getDialect()))
      return function.emitError("function '")
             << function.getName() << "' has " << type
             << " at its boundary; expected a dense tensor, of no encoding";
  auto shaped = dyn_cast<ShapedType>(type);
  auto dtype = dtypeOf(shaped ? shaped.getElementType() : type);
  // Arrays of codes have a type of their own where NumPy, or who adds types to
  // it, has the type that the model had.
  if (auto was =
          attributes ? attributes.getAs<TypeAttr>(dtypeAttribute) : TypeAttr())
    dtype = dtypeOf(was.getValue()).value_or(*dtype);
  // Numbers have become tensors, but where the function's address is taken.
  if (dtype && !shaped)
    return function.emitError("function '")
           << function.getName() << "' has " << type
           << " at its boundary and is used otherwise than by calls; expected "
              "tensors or memrefs";
  if (!dtype || !shaped.hasRank() || isa<VectorType>(type))
    return function.emitError("function '")
           << function.getName() << "' has " << type
           << " at its boundary; expected numbers, or tensors or memrefs of "
              "known rank, of floats of up to 64 bits, index, or integers of "
              "1, 8, 16, 32 or 64 bits";
  tensor.dtype = *dtype;
  if (shaped)
    for (int64_t size : shaped.getShape())
      tensor.shape.push_back(ShapedType::isDynamic(size) ? -1 : size);
  return tensor;
}

/// LLVM's functions know no such attributes: the signature has them now.
static void dropAttributes(func::FuncOp function) {
  for (StringRef name : {StringRef("numera.name"), StringRef(dtypeAttribute)}) {
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      function.removeArgAttr(i, name);
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      function.removeResultAttr(i,
                                StringAttr::get(function.getContext(), name));
  }
}

FailureOr<std::vector<FunctionSignature>> collectSignatures(ModuleOp module) {
  std::vector<FunctionSignature> signatures;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isExternal())
      return function.emitError("function '")
             << function.getName()
             << "' has no body; define it, or register a library's function "
                "as a lowering";
    if (isReservedName(function.getName()))
      return function.emitError(reservedNameError(function.getName()));
    if (!function.isPublic())
      continue;
    if (function.getNumResults() == 0)
      return function.emitError("function '")
             << function.getName()
             << "' returns nothing; return the tensor or memref it computes";
    FunctionSignature signature;
    signature.name = function.getName().str();
    signature.sharesBatch = false;
    signature.takesSeed = function->hasAttr(drawsAttribute);
    ArrayRef<Type> arguments = function.getArgumentTypes();
    if (signature.takesSeed &&
        (arguments.size() < 3 ||
         !llvm::all_of(arguments.take_back(3),
                       [](Type type) { return type.isInteger(64); })))
      return function.emitError("function '")
             << function.getName() << "' has the attribute '" << drawsAttribute
             << "'; expected three arguments of type i64 at its end, for seed, "
                "step and sample";
    arguments = arguments.drop_back(signature.takesSeed ? 3 : 0);
    for (auto [i, type] : llvm::enumerate(arguments)) {
      auto tensor = tensorSignature(function, type, function.getArgAttrDict(i));
      if (failed(tensor))
        return failure();
      signature.inputs.push_back(*tensor);
      // Importers name what belongs to a model; a `?` there is its batch.
      signature.sharesBatch |= !tensor->name.empty();
    }
    for (auto [i, type] : llvm::enumerate(function.getResultTypes())) {
      auto tensor =
          tensorSignature(function, type, function.getResultAttrDict(i));
      if (failed(tensor))
        return failure();
      signature.outputs.push_back(*tensor);
    }
    dropAttributes(function);
    function->removeAttr(drawsAttribute);
    signatures.push_back(std::move(signature));
  }
  return signatures;
}

void readDestinations(ModuleOp lowered,
                      std::vector<FunctionSignature> &signatures) {
  for (FunctionSignature &signature : signatures) {
    auto function = lowered.lookupSymbol<LLVM::LLVMFuncOp>(signature.name);
    auto destinations =
        function ? function->getAttrOfType<ArrayAttr>(destinationsAttribute)
                 : ArrayAttr();
    if (!destinations)
      continue;
    for (auto [output, attribute] :
         llvm::zip_equal(signature.outputs, destinations)) {
      auto numbers = dyn_cast<DenseI64ArrayAttr>(attribute);
      if (!numbers)
        continue;
      output.isDestination = true;
      for (int64_t d = 0; d < numbers.size(); d += 2)
        output.sources.push_back(
            {int32_t(numbers[d]), int32_t(numbers[d + 1])});
    }
  }
}

LogicalResult keepFunction(ModuleOp module, StringRef name) {
  SmallVector<std::string> names;
  bool found = false;
  for (auto function :
       llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
    if (!function.isPublic() || function.isExternal())
      continue;
    names.push_back("'" + function.getName().str() + "'");
    found |= function.getName() == name;
    if (function.getName() != name)
      function.setPrivate();
  }
  if (!found)
    return module.emitError("no public function '")
           << name << "'; the module has " << llvm::join(names, ", ");
  return success();
}

} // namespace numera
