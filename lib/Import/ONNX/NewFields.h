//===- NewFields.h - Fields that older onnx headers lack -------*- C++ -*-===//
// SPDX-License-Identifier: MIT
//===---------------------------------------------------------------------===//
//
// What a header of onnx before 1.13 or 1.16 does not name is among a message's
// unknown fields, by its number.
//
//===----------------------------------------------------------------------===//
#ifndef NUMERA_LIB_IMPORT_ONNX_NEWFIELDS_H
#define NUMERA_LIB_IMPORT_ONNX_NEWFIELDS_H

#include <google/protobuf/unknown_field_set.h>
#include <onnx/onnx_pb.h>
#include <string>
#include <vector>

namespace numera::importer {

/// The bytes of each field of the number.
template <typename Message>
std::vector<std::string> unknownFields(const Message &message, int number) {
  std::vector<std::string> found;
  const google::protobuf::UnknownFieldSet &fields = message.unknown_fields();
  for (int i = 0; i < fields.field_count(); ++i)
    if (const auto &field = fields.field(i);
        field.number() == number &&
        field.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED)
      found.emplace_back(field.length_delimited());
  return found;
}

/// The defaults of a function's attributes.
template <typename Function>
std::vector<onnx::AttributeProto> defaultsOf(const Function &function) {
  if constexpr (requires { function.attribute_proto(); }) {
    return {function.attribute_proto().begin(),
            function.attribute_proto().end()};
  } else {
    std::vector<onnx::AttributeProto> defaults;
    for (const std::string &bytes : unknownFields(function, 11))
      if (onnx::AttributeProto attribute; attribute.ParseFromString(bytes))
        defaults.push_back(attribute);
    return defaults;
  }
}

/// Which function of the name and domain it is, or the node calls; `number` is
/// the field's.
template <typename Message>
std::string overloadOf(const Message &message, int number) {
  if constexpr (requires { message.overload(); }) {
    return std::string(message.overload());
  } else {
    std::vector<std::string> names = unknownFields(message, number);
    return names.empty() ? std::string() : names.back();
  }
}

} // namespace numera::importer

#endif // NUMERA_LIB_IMPORT_ONNX_NEWFIELDS_H
