// SPDX-License-Identifier: MIT
//
// A text that is being typed is often no YAML yet, so a place is found by
// indentation and braces alone.

#include "Suggestions.h"

#include "numera/Registry/Configuration/Schema.h"
#include "numera/Registry/Registry.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;
using namespace numera;

/// Stands for an element of a sequence in a path of keys.
static constexpr StringLiteral element = "[]";

namespace {

/// Where the cursor is.
struct Place {
  SmallVector<StringRef> path; ///< the keys from the file's mapping on
  StringSet<> present;         ///< what else that mapping has
  StringRef key;               ///< whose value is typed; empty: a key is
  StringRef family;            ///< of the format that the place is in
};

/// One line of block style without its comment.
struct Line {
  explicit Line(StringRef text) {
    StringRef content = text.ltrim(' ');
    indent = text.size() - content.size();
    if (content == "-" || content.starts_with("- ")) {
      isElement = true;
      content = content.drop_front().ltrim(' ');
    }
    inner = text.size() - content.size();
    std::tie(key, value) = content.split(':');
    hasKey = content.contains(':') && !key.contains('{');
    key = key.trim();
    value = value.split(" #").first.trim();
    isBlank = content.empty() && !isElement;
    isBlank |= content.starts_with("#");
  }
  size_t indent; ///< of the line
  size_t inner;  ///< of what is behind a dash
  bool isElement = false, hasKey = false, isBlank = false;
  StringRef key, value;
};

} // namespace

/// Adds what `text`, which begins inside a mapping of flow style, has open at
/// its end.
static void followBraces(StringRef text, Place &place) {
  SmallVector<StringSet<>> outer;
  StringRef key;
  size_t begin = 0;
  auto end = [&](size_t i) {
    StringRef piece = text.slice(begin, i).trim();
    if (!key.empty())
      place.present.insert(key);
    if (key == "family")
      place.family = piece;
    begin = i + 1;
    key = "";
  };
  for (size_t i = 0; i < text.size(); ++i) {
    switch (text[i]) {
    case '{':
    case '[':
      if (!key.empty())
        place.path.push_back(key);
      if (text[i] == '[')
        place.path.push_back(element);
      outer.push_back(std::move(place.present));
      place.present.clear();
      key = "";
      begin = i + 1;
      break;
    case '}':
    case ']':
      if (outer.empty())
        return;
      while (!place.path.empty() && place.path.back() == element)
        place.path.pop_back();
      if (!place.path.empty())
        place.path.pop_back();
      place.present = outer.pop_back_val();
      key = "";
      begin = i + 1;
      break;
    case ',':
      end(i);
      break;
    case ':':
      if (i + 1 == text.size() || text[i + 1] == ' ') {
        key = text.slice(begin, i).trim();
        begin = i + 1;
      }
      break;
    default:
      break;
    }
  }
  place.key = key;
}

static Place placeAt(StringRef text, unsigned row, unsigned column) {
  SmallVector<StringRef> lines;
  text.split(lines, '\n');
  Place place;
  if (row >= lines.size())
    return place;
  StringRef typed = lines[row].take_front(column);
  Line current(typed);
  size_t indent = current.inner;
  SmallVector<StringRef> reversed;
  auto goOut = [&](const Line &line) {
    if (line.isElement && line.indent < indent)
      reversed.push_back(element);
    indent = line.indent;
  };
  if (current.isElement)
    goOut(current);
  bool isInMapping = !current.isElement;
  for (size_t i = row; i-- > 0;) {
    Line line(lines[i]);
    if (line.isBlank)
      continue;
    if (line.inner == indent && line.key == "family" && place.family.empty())
      place.family = line.value;
    if (isInMapping && line.inner == indent && line.hasKey) {
      place.present.insert(line.key);
      if (line.isElement) {
        goOut(line);
        isInMapping = false;
      }
      continue;
    }
    // A sequence may be as far in as its key.
    bool isOfSequence = !reversed.empty() && reversed.back() == element;
    if (line.inner > indent || !line.hasKey ||
        (line.inner == indent && (!isOfSequence || line.isElement)))
      continue;
    reversed.push_back(line.key);
    isInMapping = false;
    indent = line.inner;
    if (line.isElement)
      goOut(line);
  }
  place.path.append(reversed.rbegin(), reversed.rend());
  size_t brace = typed.find_first_of("{[");
  if (brace == StringRef::npos) {
    if (current.hasKey)
      place.key = current.key;
    return place;
  }
  // A mapping in braces, of the key before it or of an element.
  Line before(typed.take_front(brace));
  place.present.clear();
  if (before.hasKey)
    place.path.push_back(before.key);
  if (typed[brace] == '[')
    place.path.push_back(element);
  followBraces(typed.drop_front(brace + 1), place);
  return place;
}

namespace {

/// The parts of a schema that a place can be of.
class Reader {
public:
  /// `family`: of the format that the place is in; else empty.
  Reader(const json::Value &schema, StringRef family)
      : root(*schema.getAsObject()), family(family) {}

  using Nodes = SmallVector<const json::Object *>;
  Nodes all() const { return {&root}; }

  /// A node without references and alternatives.
  void expand(const json::Value *value, Nodes &nodes) const {
    const json::Object *node = value ? value->getAsObject() : nullptr;
    if (!node)
      return;
    if (std::optional<StringRef> name = node->getString("$ref")) {
      isFormat |= *name == "#/$defs/format";
      if (name->consume_front("#/$defs/"))
        expand(root.getObject("$defs")->get(*name), nodes);
      return;
    }
    nodes.push_back(node);
    // What a format has besides its family follows from that.
    if (const json::Object *condition = node->getObject("if")) {
      const json::Object *properties = condition->getObject("properties");
      const json::Object *wanted =
          properties ? properties->getObject("family") : nullptr;
      if (wanted && wanted->getString("const") == family)
        expand(node->get("then"), nodes);
    }
    for (StringRef kind : {"anyOf", "oneOf", "allOf"})
      if (const json::Array *parts = node->getArray(kind))
        for (const json::Value &part : *parts)
          expand(&part, nodes);
  }

  Nodes inside(const Nodes &nodes, StringRef key) const {
    Nodes found;
    isFormat = false;
    for (const json::Object *node : nodes) {
      if (key == element) {
        expand(node->get("items"), found);
        continue;
      }
      const json::Object *properties = node->getObject("properties");
      const json::Value *property = properties ? properties->get(key) : nullptr;
      expand(property ? property : node->get("additionalProperties"), found);
    }
    return found;
  }

  mutable bool isFormat = false; ///< what was last gone into may be one

private:
  const json::Object &root;
  StringRef family;
};

} // namespace

/// The names of the file's own formats, one in a line.
static SmallVector<StringRef> formatsOf(StringRef text) {
  SmallVector<StringRef> lines, names;
  text.split(lines, '\n');
  bool isInside = false;
  size_t indent = 0;
  for (StringRef each : lines) {
    Line line(each);
    if (line.isBlank)
      continue;
    if (line.indent == 0) {
      isInside = line.key == "formats";
      indent = 0;
    } else if (isInside && line.hasKey) {
      indent = indent ? indent : line.indent;
      if (line.indent == indent)
        names.push_back(line.key);
    }
  }
  return names;
}

static json::Value readSchema() {
  std::string text;
  raw_string_ostream stream(text);
  printConfigurationSchema(stream);
  return cantFail(json::parse(text));
}

Suggestions::Suggestions() : schema(readSchema()) {}

std::vector<Suggestion> Suggestions::at(StringRef text, unsigned line,
                                        unsigned column) const {
  Place place = placeAt(text, line, column);
  Reader reader(schema, place.family);
  Reader::Nodes nodes = reader.all();
  for (StringRef key : place.path)
    nodes = reader.inside(nodes, key);
  std::vector<Suggestion> found;
  StringSet<> known;
  auto add = [&](StringRef word, bool isKey) {
    if (known.insert(word).second)
      found.push_back({word.str(), isKey});
  };
  if (place.key.empty()) {
    for (const json::Object *node : nodes)
      if (const json::Object *properties = node->getObject("properties"))
        for (const auto &property : *properties)
          if (!place.present.contains(property.first))
            add(property.first, /*isKey=*/true);
  } else {
    for (const json::Object *node : reader.inside(nodes, place.key))
      if (const json::Array *words = node->getArray("enum"))
        for (const json::Value &word : *words)
          if (std::optional<StringRef> string = word.getAsString())
            add(*string, /*isKey=*/false);
    if (reader.isFormat) {
      static const Registry builtin;
      for (const Registry::NamedFormat &named : builtin.formats())
        add(named.name, /*isKey=*/false);
      // A policy stores numbers with scales; sums have none.
      bool isStored = !place.path.empty() && place.path.front() == "policy" &&
                      place.key != "accumulate";
      if (isStored)
        for (const Registry::NamedScaledFormat &named : builtin.scaledFormats())
          add(named.name, /*isKey=*/false);
      for (StringRef name : formatsOf(text))
        add(name, /*isKey=*/false);
    }
  }
  sort(found, [](const Suggestion &a, const Suggestion &b) {
    return a.word < b.word;
  });
  return found;
}
