//===- Text.cpp - Operators written in operators of ONNX ------------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
#include "Text.h"
#include "llvm/ADT/StringExtras.h"
#include <cstdlib>

using llvm::StringRef;
using onnx::AttributeProto;
using onnx::NodeProto;

namespace numera::importer {

namespace {
class Line {
public:
  Line(StringRef text, std::vector<NodeProto> &nodes)
      : rest(text), nodes(nodes) {}

  void parse();

private:
  void skip() { rest = rest.ltrim(); }
  bool accept(char c) {
    skip();
    return rest.consume_front(StringRef(&c, 1));
  }
  StringRef word();
  StringRef numberText();
  bool atNumber();
  void attribute(NodeProto &node);
  void numbers(AttributeProto &attribute, bool isList);
  std::string argument(const NodeProto &node, int position);

  StringRef rest;
  std::vector<NodeProto> &nodes;
};
} // namespace

StringRef Line::word() {
  skip();
  StringRef taken = rest.take_while(
      [](char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; });
  rest = rest.drop_front(taken.size());
  return taken;
}

bool Line::atNumber() {
  skip();
  return !rest.empty() && (llvm::isDigit(rest[0]) ||
                           (rest[0] == '-' && rest.size() > 1 &&
                            (llvm::isDigit(rest[1]) || rest[1] == 'i')));
}

/// Digits with a sign, a point and an exponent, or an infinity.
StringRef Line::numberText() {
  skip();
  StringRef taken = rest.take_while([](char c) {
    return llvm::isDigit(c) || c == '.' || c == '-' || c == '+' || c == 'e' ||
           c == 'i' || c == 'n' || c == 'f';
  });
  rest = rest.drop_front(taken.size());
  return taken;
}

/// One number or a list of them.
void Line::numbers(AttributeProto &attribute, bool isList) {
  bool isFloat = false;
  do {
    if (isList && accept(']'))
      break;
    std::string text = numberText().str();
    isFloat |= text.find_first_of(".ief") != std::string::npos;
    if (isFloat)
      attribute.add_floats(std::strtof(text.c_str(), nullptr));
    else
      attribute.add_ints(std::strtoll(text.c_str(), nullptr, 10));
    if (isList && accept(']'))
      break;
  } while (isList && accept(','));
  if (!isList && isFloat)
    attribute.set_f(attribute.floats(0));
  if (!isList && !isFloat)
    attribute.set_i(attribute.ints(0));
  if (isList)
    attribute.set_type(isFloat ? AttributeProto::FLOATS : AttributeProto::INTS);
  else
    attribute.set_type(isFloat ? AttributeProto::FLOAT : AttributeProto::INT);
}

void Line::attribute(NodeProto &node) {
  AttributeProto &attribute = *node.add_attribute();
  attribute.set_name(word().str());
  accept('=');
  if (accept('"')) {
    auto [text, behind] = rest.split('"');
    attribute.set_s(text.str());
    attribute.set_type(AttributeProto::STRING);
    rest = behind;
    return;
  }
  numbers(attribute, accept('['));
}

/// The name of an input, of a Constant before the node where it is a literal.
std::string Line::argument(const NodeProto &node, int position) {
  bool isList = accept('[');
  if (!isList && !atNumber()) {
    if (accept('-'))
      return {};
    return word().str();
  }
  NodeProto constant;
  constant.set_op_type("Constant");
  constant.add_output(node.output(0) + "$" + std::to_string(position));
  AttributeProto &value = *constant.add_attribute();
  numbers(value, isList);
  bool isFloat = value.type() == AttributeProto::FLOAT ||
                 value.type() == AttributeProto::FLOATS;
  value.set_name(std::string("value_") + (isFloat ? "float" : "int") +
                 (isList ? "s" : ""));
  nodes.push_back(constant);
  return constant.output(0);
}

void Line::parse() {
  NodeProto node;
  do
    node.add_output(word().str());
  while (accept(','));
  for (std::string &output : *node.mutable_output())
    if (output == "_")
      output.clear();
  accept('=');
  node.set_op_type(word().str());
  if (accept('<'))
    while (!accept('>')) {
      attribute(node);
      accept(',');
    }
  accept('(');
  for (int i = 0; !accept(')'); ++i) {
    std::string name = argument(node, i);
    node.add_input(name);
    accept(',');
  }
  nodes.push_back(node);
}

std::vector<NodeProto> parseNodes(StringRef text) {
  std::vector<NodeProto> nodes;
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    if (!line.trim().empty())
      Line(line.trim(), nodes).parse();
    text = rest;
  }
  return nodes;
}

} // namespace numera::importer
