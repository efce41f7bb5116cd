// SPDX-License-Identifier: MIT

#include "Safetensors.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

namespace numera {

static Error wrong(const Twine &message) { return createStringError(message); }

mlir::Type typeOfSafetensors(StringRef name, mlir::MLIRContext *context) {
  mlir::Builder b(context);
  return StringSwitch<mlir::Type>(name)
      .Case("F64", b.getF64Type())
      .Case("F32", b.getF32Type())
      .Case("F16", b.getF16Type())
      .Case("BF16", b.getBF16Type())
      .Case("F8_E4M3", b.getType<mlir::Float8E4M3FNType>())
      .Case("F8_E5M2", b.getType<mlir::Float8E5M2Type>())
      .Cases({"I64", "U64"}, b.getI64Type())
      .Cases({"I32", "U32"}, b.getI32Type())
      .Cases({"I16", "U16"}, b.getI16Type())
      .Cases({"I8", "U8"}, b.getI8Type())
      .Case("BOOL", b.getI1Type())
      .Default({});
}

/// Of an element; 0 for a type that is not read.
static int64_t bytesOf(StringRef type) {
  return StringSwitch<int64_t>(type)
      .Cases({"F64", "I64", "U64"}, 8)
      .Cases({"F32", "I32", "U32"}, 4)
      .Cases({"F16", "BF16", "I16", "U16"}, 2)
      .Cases({"I8", "U8", "BOOL", "F8_E4M3", "F8_E5M2"}, 1)
      .Default(0);
}

Expected<Safetensors> Safetensors::open(StringRef path) {
  auto buffer = MemoryBuffer::getFile(path, /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false);
  if (!buffer)
    return wrong("cannot read the file: " + buffer.getError().message());
  Safetensors file;
  file.buffer = std::move(*buffer);
  if (Error error = file.read())
    return error;
  return file;
}

/// What the header says of a tensor, checked against the `data` behind it.
static Expected<StoredTensor>
readTensor(StringRef name, const json::Value &value, ArrayRef<char> data) {
  auto fail = [&](const Twine &message) {
    return wrong("tensor '" + name + "': " + message);
  };
  const json::Object *object = value.getAsObject();
  const json::Array *shape = object ? object->getArray("shape") : nullptr;
  const json::Array *offsets =
      object ? object->getArray("data_offsets") : nullptr;
  auto type = object ? object->getString("dtype") : std::nullopt;
  if (!type || !shape || !offsets || offsets->size() != 2)
    return fail("expected dtype, shape and two data_offsets");
  StoredTensor tensor;
  tensor.type = type->str();
  int64_t bytes = bytesOf(*type);
  bool isRead = bytes != 0;
  for (const json::Value &each : *shape) {
    auto size = each.getAsInteger();
    if (!size || *size < 0 || MulOverflow(bytes, *size, bytes))
      return fail("its shape is not one of sizes that fit 64 bits");
    tensor.shape.push_back(*size);
  }
  auto begin = (*offsets)[0].getAsInteger(), end = (*offsets)[1].getAsInteger();
  if (!begin || !end || *begin < 0 || *begin > *end ||
      *end > int64_t(data.size()))
    return fail("its data_offsets are not in the file, which has " +
                Twine(data.size()) + " bytes of data");
  if (isRead && *end - *begin != bytes)
    return fail("it has " + Twine(*end - *begin) + " bytes; its shape needs " +
                Twine(bytes));
  tensor.bytes = data.slice(size_t(*begin), size_t(*end - *begin));
  return tensor;
}

/// LLVM's parser of JSON calls itself for each level. A header has three.
static bool isDeep(StringRef json) {
  constexpr unsigned most = 100;
  unsigned depth = 0;
  bool isText = false;
  for (size_t i = 0; i < json.size(); ++i) {
    if (json[i] == '"')
      isText = !isText;
    else if (isText)
      i += json[i] == '\\';
    else if (json[i] == '[' || json[i] == '{')
      ++depth;
    else if ((json[i] == ']' || json[i] == '}') && depth != 0)
      --depth;
    if (depth > most)
      return true;
  }
  return false;
}

Error Safetensors::read() {
  StringRef text = buffer->getBuffer();
  if (text.size() < 8)
    return wrong("not a safetensors file: it has " + Twine(text.size()) +
                 " bytes");
  uint64_t length = support::endian::read64le(text.data());
  text = text.drop_front(8);
  if (length > text.size())
    return wrong("not a safetensors file: its header has " + Twine(length) +
                 " bytes, and " + Twine(text.size()) + " follow");
  if (isDeep(text.take_front(length)))
    return wrong("not a safetensors file: its header nests too deep");
  auto header = json::parse(text.take_front(length));
  if (!header)
    return wrong("not a safetensors file: its header is not JSON: " +
                 toString(header.takeError()));
  const json::Object *entries = header->getAsObject();
  if (!entries)
    return wrong("not a safetensors file: its header is no object");
  ArrayRef<char> data(text.data() + length, text.size() - length);
  for (const auto &[key, value] : *entries) {
    StringRef name = key;
    if (name == "__metadata__")
      continue;
    auto tensor = readTensor(name, value, data);
    if (!tensor)
      return tensor.takeError();
    tensors[name] = std::move(*tensor);
  }
  return Error::success();
}

const StoredTensor *Safetensors::find(StringRef name) const {
  auto found = tensors.find(name);
  return found == tensors.end() ? nullptr : &found->second;
}

SmallVector<StringRef> Safetensors::names() const {
  SmallVector<StringRef> names(tensors.keys());
  sort(names);
  return names;
}

} // namespace numera
