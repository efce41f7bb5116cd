// SPDX-License-Identifier: MIT
//
// libFuzzer's mutations of an ONNX model: what changes is a field of the
// message, so that what comes of it is a message again. Debian has no
// libprotobuf-mutator.

#include <google/protobuf/message.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/text_format.h>
#include <onnx/onnx_pb.h>

#include <cstring>
#include <random>
#include <vector>

using namespace google::protobuf;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

namespace {

using Random = std::minstd_rand;

/// A message and one of its fields.
struct Place {
  Message *message;
  const FieldDescriptor *field;
};

/// All fields of all messages; empty ones seldom, of which there are most.
void collect(Message &message, std::vector<Place> &places, Random &random) {
  const Descriptor &type = *message.GetDescriptor();
  const Reflection &of = *message.GetReflection();
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor *field = type.field(i);
    bool isEmpty = field->is_repeated() ? of.FieldSize(message, field) == 0
                                        : !of.HasField(message, field);
    if (!isEmpty || random() % 8 == 0)
      places.push_back({&message, field});
    if (isEmpty || field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE)
      continue;
    if (!field->is_repeated())
      collect(*of.MutableMessage(&message, field), places, random);
    else
      for (int j = 0; j < of.FieldSize(message, field); ++j)
        collect(*of.MutableRepeatedMessage(&message, field, j), places, random);
  }
}

int64_t changed(int64_t value, Random &random) {
  static constexpr int64_t interesting[] = {0,
                                            1,
                                            -1,
                                            2,
                                            -2,
                                            3,
                                            4,
                                            7,
                                            8,
                                            16,
                                            63,
                                            64,
                                            65,
                                            255,
                                            INT32_MAX,
                                            INT32_MIN,
                                            int64_t(1) << 32,
                                            INT64_MAX,
                                            INT64_MIN};
  switch (random() % 4) {
  case 0:
    return interesting[random() % std::size(interesting)];
  case 1:
    return int64_t(uint64_t(value) + random() % 7 - 3);
  case 2:
    return int64_t(uint64_t(value) ^ (uint64_t(1) << random() % 64));
  default:
    return int64_t(random() % 24);
  }
}

template <typename T> T changedReal(T value, Random &random) {
  bool isSmall = value < T(1e9) && value > T(-1e9);
  return T(changed(isSmall ? int64_t(value) : 0, random)) / 2;
}

/// A text of the same field elsewhere, or a changed one.
std::string changed(std::string text, const std::vector<Place> &places,
                    const FieldDescriptor &field, Random &random) {
  if (random() % 4) {
    const Place &other = places[random() % places.size()];
    const Reflection &of = *other.message->GetReflection();
    if (other.field->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
      if (!other.field->is_repeated())
        return of.GetString(*other.message, other.field);
      if (int size = of.FieldSize(*other.message, other.field))
        return of.GetRepeatedString(*other.message, other.field,
                                    int(random() % size));
    }
    return text;
  }
  size_t size = text.size();
  text.resize(size + 8);
  text.resize(LLVMFuzzerMutate(reinterpret_cast<uint8_t *>(text.data()), size,
                               text.size()));
  return text;
}

/// Of a repeated field: an element more, less, or elsewhere.
bool rearrange(const Place &place, Random &random) {
  auto [message, field] = place;
  const Reflection &of = *message->GetReflection();
  int size = of.FieldSize(*message, field);
  if (size == 0)
    return false;
  switch (random() % 6) {
  case 0:
    of.SwapElements(message, field, int(random() % size), size - 1);
    of.RemoveLast(message, field);
    return true;
  case 1:
    of.SwapElements(message, field, int(random() % size), int(random() % size));
    return true;
  case 2:
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE)
      return false;
    of.AddMessage(message, field)
        ->CopyFrom(
            of.GetRepeatedMessage(*message, field, int(random() % size)));
    return true;
  default:
    return false;
  }
}

void mutate(const Place &place, const std::vector<Place> &places,
            Random &random) {
  auto [message, field] = place;
  const Reflection &of = *message->GetReflection();
  bool isRepeated = field->is_repeated();
  if (isRepeated && rearrange(place, random))
    return;
  int size = isRepeated ? of.FieldSize(*message, field) : 0;
  // An index at the end adds an element.
  int index = isRepeated ? int(random() % unsigned(size + 1)) : 0;
  bool isNew = isRepeated && index == size;
  if (!isRepeated && random() % 8 == 0) {
    of.ClearField(message, field);
    return;
  }
#define CHANGE(NAME, TYPE, VALUE)                                              \
  {                                                                            \
    TYPE old{};                                                                \
    if (!isRepeated)                                                           \
      old = of.Get##NAME(*message, field);                                     \
    else if (!isNew)                                                           \
      old = of.GetRepeated##NAME(*message, field, index);                      \
    TYPE now = (VALUE);                                                        \
    if (!isRepeated)                                                           \
      of.Set##NAME(message, field, now);                                       \
    else if (isNew)                                                            \
      of.Add##NAME(message, field, now);                                       \
    else                                                                       \
      of.SetRepeated##NAME(message, field, index, now);                        \
    return;                                                                    \
  }
  switch (field->cpp_type()) {
  case FieldDescriptor::CPPTYPE_INT32:
    CHANGE(Int32, int32_t, int32_t(changed(int64_t(old), random)))
  case FieldDescriptor::CPPTYPE_INT64:
    CHANGE(Int64, int64_t, changed(old, random))
  case FieldDescriptor::CPPTYPE_UINT32:
    CHANGE(UInt32, uint32_t, uint32_t(changed(int64_t(old), random)))
  case FieldDescriptor::CPPTYPE_UINT64:
    CHANGE(UInt64, uint64_t, uint64_t(changed(int64_t(old), random)))
  case FieldDescriptor::CPPTYPE_FLOAT:
    CHANGE(Float, float, changedReal(old, random))
  case FieldDescriptor::CPPTYPE_DOUBLE:
    CHANGE(Double, double, changedReal(old, random))
  case FieldDescriptor::CPPTYPE_BOOL:
    CHANGE(Bool, bool, !old)
  case FieldDescriptor::CPPTYPE_ENUM: {
    int value =
        field->enum_type()
            ->value(int(random() % unsigned(field->enum_type()->value_count())))
            ->number();
    if (!isRepeated)
      of.SetEnumValue(message, field, value);
    return;
  }
  case FieldDescriptor::CPPTYPE_STRING:
    CHANGE(String, std::string, changed(old, places, *field, random))
  case FieldDescriptor::CPPTYPE_MESSAGE:
    break;
  }
#undef CHANGE
  // A message like another one of its type.
  for (int tries = 0; tries < 32; ++tries) {
    const Place &other = places[random() % places.size()];
    if (other.message->GetDescriptor() != field->message_type())
      continue;
    std::unique_ptr<Message> copy(other.message->New());
    copy->CopyFrom(*other.message);
    if (isRepeated)
      of.AddMessage(message, field)->CopyFrom(*copy);
    else
      of.MutableMessage(message, field)->CopyFrom(*copy);
    return;
  }
}

bool parse(const uint8_t *data, size_t size, onnx::ModelProto &model) {
  LogSilencer silence;
  if (size != 0 && data[0] == '#')
    return TextFormat::ParseFromString(
        std::string(reinterpret_cast<const char *>(data), size), &model);
  return model.ParseFromArray(data, int(size));
}

size_t write(const onnx::ModelProto &model, uint8_t *data, size_t maxSize) {
  std::string bytes;
  if (!model.SerializeToString(&bytes) || bytes.size() > maxSize)
    return 0;
  std::memcpy(data, bytes.data(), bytes.size());
  return bytes.size();
}

} // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t maxSize, unsigned seed) {
  Random random(seed);
  onnx::ModelProto model;
  // Some inputs are no messages.
  if (random() % 32 == 0 || !parse(data, size, model))
    return LLVMFuzzerMutate(data, size, maxSize);
  for (unsigned i = 0, count = 1 + random() % 3; i < count; ++i) {
    std::vector<Place> places;
    collect(model, places, random);
    if (!places.empty())
      mutate(places[random() % places.size()], places, random);
  }
  size_t written = write(model, data, maxSize);
  return written ? written : size;
}

/// The nodes and constants of both, the second's behind the first's.
extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t *data1, size_t size1,
                                            const uint8_t *data2, size_t size2,
                                            uint8_t *out, size_t maxSize,
                                            unsigned seed) {
  Random random(seed);
  onnx::ModelProto model, other;
  if (!parse(data1, size1, model) || !parse(data2, size2, other))
    return 0;
  for (const auto &node : other.graph().node())
    if (random() % 2)
      *model.mutable_graph()->add_node() = node;
  for (const auto &constant : other.graph().initializer())
    if (random() % 2)
      *model.mutable_graph()->add_initializer() = constant;
  for (const auto &input : other.graph().input())
    if (random() % 2)
      *model.mutable_graph()->add_input() = input;
  return write(model, out, maxSize);
}
