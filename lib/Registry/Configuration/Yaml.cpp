// SPDX-License-Identifier: MIT

#include "Yaml.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/YAMLParser.h"
#include "llvm/Support/raw_ostream.h"

using namespace numera;
namespace yaml = llvm::yaml;

llvm::StringRef YamlNode::kindName() const {
  switch (kind) {
  case Kind::Nothing:
    return "nothing";
  case Kind::Scalar:
    return "a scalar";
  case Kind::Sequence:
    return "a list";
  case Kind::Mapping:
    return "a mapping";
  }
  return {};
}

const YamlNode *YamlNode::find(llvm::StringRef key) const {
  auto found = llvm::find_if(
      items, [&](const YamlNode &item) { return item.key == key; });
  return found == items.end() ? nullptr : &*found;
}

static constexpr llvm::StringLiteral starHint = "; a star is written \"*\"";

/// A message of the YAML library in this project's voice: no capitals at the
/// beginning of sentences, no full stops.
static std::string restyled(llvm::StringRef message) {
  std::string text;
  bool beginning = true;
  for (char c : message.rtrim(".!")) {
    text += beginning ? llvm::toLower(c) : c;
    beginning = (beginning && c == ' ') || c == '.';
    if (c == '.')
      text.back() = ',';
  }
  return text;
}

void YamlFile::handleSyntaxError(const llvm::SMDiagnostic &diagnostic,
                                 void *file) {
  auto *self = static_cast<YamlFile *>(file);
  llvm::StringRef message = diagnostic.getMessage();
  llvm::StringRef hint =
      message.contains("alias")               ? llvm::StringRef(starHint)
      : message.contains("Flow Mapping End")  ? "; is a '}' missing before it?"
      : message.contains("Flow Sequence End") ? "; is a ']' missing before it?"
                                              : "";
  self->fail(diagnostic.getLoc(),
             "not valid YAML: " + restyled(message) + hint);
}

std::string YamlFile::location(llvm::SMLoc place) const {
  const char *begin = text.data();
  const char *at = place.isValid() ? place.getPointer() : begin;
  auto offset = static_cast<size_t>(at - begin);
  llvm::StringRef before = llvm::StringRef(text).take_front(offset);
  size_t line = before.count('\n') + 1;
  size_t column = offset - (before.rfind('\n') + 1) + 1;
  return name + ":" + llvm::utostr(line) + ":" + llvm::utostr(column);
}

bool YamlFile::fail(llvm::SMLoc place, const llvm::Twine &message) {
  if (failed)
    return false;
  failed = true;
  // One line, whatever the text that is quoted in it.
  std::string line = message.str();
  for (char &c : line)
    if (static_cast<unsigned char>(c) < 0x20)
      c = ' ';
  errors << location(place) << ": error: " << line << '\n';
  return false;
}

namespace {

/// Copies the library's nodes, which can be walked only once, into a tree.
class TreeBuilder {
public:
  TreeBuilder(YamlFile &file, yaml::Stream &stream)
      : file(file), stream(stream) {}

  bool build(yaml::Node *from, YamlNode &into, unsigned depth = 0);

private:
  bool buildMapping(yaml::MappingNode &from, YamlNode &into, unsigned depth);
  bool buildItem(yaml::KeyValueNode &from, YamlNode &into, unsigned depth);
  bool buildSequence(yaml::SequenceNode &from, YamlNode &into, unsigned depth);
  bool hasNoGap(const YamlNode &list, llvm::SMLoc item);
  bool hasNoGapAtEnd(const YamlNode &list);

  /// The deepest a configuration nests is 6.
  static constexpr unsigned maxDepth = 16;

  YamlFile &file;
  yaml::Stream &stream;
};

} // namespace

llvm::SMLoc YamlFile::placeOf(const yaml::Node &node) const {
  llvm::SMLoc place = node.getSourceRange().Start;
  char bracket = llvm::isa<yaml::MappingNode>(node)    ? '{'
                 : llvm::isa<yaml::SequenceNode>(node) ? '['
                                                       : '\0';
  if (bracket == '\0')
    return place;
  size_t offset = place.getPointer() - text.data();
  llvm::StringRef before = llvm::StringRef(text).take_front(offset).rtrim();
  return before.ends_with(bracket)
             ? llvm::SMLoc::getFromPointer(before.end() - 1)
             : place;
}

bool TreeBuilder::build(yaml::Node *from, YamlNode &into, unsigned depth) {
  if (!from || stream.failed())
    return file.fail(into.keyPlace, "not valid YAML: expected a value");
  into.place = file.placeOf(*from);
  if (depth > maxDepth)
    return file.fail(into.place, "nested too deeply, expected at most " +
                                     llvm::Twine(maxDepth) + " levels");
  if (!from->getRawTag().empty())
    return file.fail(into.place, "found the tag '" + from->getRawTag() +
                                     "', expected a value without tag");
  if (!from->getAnchor().empty())
    return file.fail(into.place, "found the anchor '" + from->getAnchor() +
                                     "', expected a value without anchor");
  if (auto *alias = llvm::dyn_cast<yaml::AliasNode>(from))
    return file.fail(into.place, "found the alias '*" + alias->getName() +
                                     "', expected a value" + starHint);
  llvm::SmallString<64> storage;
  if (auto *scalar = llvm::dyn_cast<yaml::ScalarNode>(from)) {
    into.kind = YamlNode::Kind::Scalar;
    into.end = from->getSourceRange().End;
    into.text = scalar->getValue(storage).str();
  } else if (auto *block = llvm::dyn_cast<yaml::BlockScalarNode>(from)) {
    into.kind = YamlNode::Kind::Scalar;
    into.text = block->getValue().str();
  } else if (auto *mapping = llvm::dyn_cast<yaml::MappingNode>(from)) {
    into.kind = YamlNode::Kind::Mapping;
    return buildMapping(*mapping, into, depth);
  } else if (auto *sequence = llvm::dyn_cast<yaml::SequenceNode>(from)) {
    into.kind = YamlNode::Kind::Sequence;
    return buildSequence(*sequence, into, depth);
  }
  return !stream.failed();
}

bool TreeBuilder::buildItem(yaml::KeyValueNode &from, YamlNode &into,
                            unsigned depth) {
  yaml::Node *key = from.getKey();
  if (key)
    into.keyPlace = file.placeOf(*key);
  auto *scalar = llvm::dyn_cast_or_null<yaml::ScalarNode>(key);
  if (!scalar || stream.failed())
    return file.fail(into.keyPlace, "found a key that is no scalar, expected "
                                    "a word");
  llvm::SmallString<64> storage;
  into.key = scalar->getValue(storage).str();
  return build(from.getValue(), into, depth + 1);
}

/// `{a: 1,, b: 2}`, `[, 1]`, `[1,,]`: the library passes over entries that are
/// not there.
bool TreeBuilder::hasNoGap(const YamlNode &list, llvm::SMLoc item) {
  const char *begin = list.place.getPointer();
  if (*begin != '{' && *begin != '[')
    return true; // no commas in between
  llvm::StringRef before(begin, size_t(item.getPointer() - begin));
  before = before.rtrim();
  if (!before.consume_back(","))
    return true;
  llvm::SMLoc comma = llvm::SMLoc::getFromPointer(before.end());
  before = before.rtrim();
  if (!before.ends_with(",") && before.size() > 1)
    return true;
  return file.fail(comma, "found ',' where an entry is expected");
}

bool TreeBuilder::hasNoGapAtEnd(const YamlNode &list) {
  if (list.items.empty() || !list.items.back().isScalar())
    return true;
  llvm::StringRef after(list.items.back().end.getPointer());
  after = after.ltrim();
  return !after.consume_front(",") || !after.ltrim().starts_with(",") ||
         hasNoGap(list, llvm::SMLoc::getFromPointer(after.ltrim().data() + 1));
}

bool TreeBuilder::buildMapping(yaml::MappingNode &from, YamlNode &into,
                               unsigned depth) {
  for (yaml::KeyValueNode &item : from) {
    into.items.emplace_back();
    if (!buildItem(item, into.items.back(), depth) ||
        !hasNoGap(into, into.items.back().keyPlace))
      return false;
  }
  return !stream.failed() && hasNoGapAtEnd(into);
}

bool TreeBuilder::buildSequence(yaml::SequenceNode &from, YamlNode &into,
                                unsigned depth) {
  for (yaml::Node &item : from) {
    into.items.emplace_back();
    if (!build(&item, into.items.back(), depth + 1) ||
        !hasNoGap(into, into.items.back().place))
      return false;
  }
  return !stream.failed() && hasNoGapAtEnd(into);
}

bool YamlFile::checkCharacters() {
  size_t offset = 0;
  if (!llvm::json::isUTF8(text, &offset) ||
      (offset = text.find('\0')) != std::string::npos)
    return fail(llvm::SMLoc::getFromPointer(text.data() + offset),
                "found a byte that is no text, expected a file in UTF-8");
  for (llvm::StringRef line : llvm::split(text, '\n')) {
    llvm::StringRef words = line.ltrim();
    if (line.starts_with("\t") && !words.empty() && !words.starts_with("#"))
      return fail(llvm::SMLoc::getFromPointer(line.data()),
                  "not valid YAML: found a tab, lines are indented by spaces");
  }
  return true;
}

bool YamlFile::parse(YamlNode &root) {
  if (!checkCharacters())
    return false;
  yaml::Stream stream(llvm::MemoryBufferRef(text, name), sources,
                      /*ShowColors=*/false);
  yaml::document_iterator document = stream.begin();
  if (document == stream.end())
    return !stream.failed();
  yaml::Node *top = document->getRoot();
  if (!top)
    return fail({}, "not valid YAML: expected sections such as formats");
  TreeBuilder builder(*this, stream);
  if (!builder.build(top, root))
    return fail(root.place, "not valid YAML");
  if (++document != stream.end() && !stream.failed()) {
    const yaml::Node *second = document->getRoot();
    return fail(second ? placeOf(*second) : root.place,
                "found a second document, expected one");
  }
  return !stream.failed() && !failed;
}
