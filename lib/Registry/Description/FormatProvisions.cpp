// SPDX-License-Identifier: MIT
//
// Where the operations of an opaque format come from: a registered function,
// others of them, f32, or nowhere.

#include "numera/Registry/Description/FormatFacts.h"
#include "numera/Registry/Description/FormatPages.h"

#include "numera/Registry/Lowerings/Derivation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace numera;

namespace {
struct ProvidedOperation {
  std::string operation;
  Provision provision;
  const Proof *proof = nullptr; ///< that it is the equivalent's; null: none
};
} // namespace

static Lowering keyOf(OpKind operation, const Format &format) {
  Lowering key;
  key.operation = operation;
  key.target = numera::Target::CPU;
  key.result = format;
  key.operands.assign(operandCount(operation), format);
  return key;
}

static void addCasts(const RegistryEntries &registry, const Format &format,
                     std::vector<ProvidedOperation> &rows) {
  auto add = [&](StringRef from, StringRef to, const Lowering &key) {
    rows.push_back({("cast " + from + " -> " + to).str(),
                    provisionOf(registry, key), registry.findProof(key)});
  };
  std::string name = registry.nameOrSpelling(format);
  for (auto [text, machine] :
       {std::pair("f32", formatF32()), std::pair("f64", formatF64())}) {
    Lowering key = keyOf(OpKind::Cast, format);
    key.operands = {machine};
    add(text, name, key);
    std::swap(key.operands.front(), key.result);
    add(name, text, key);
  }
  for (StringRef integer :
       {"i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"}) {
    CastType type = *integerFromName(integer);
    Lowering key = keyOf(OpKind::Cast, format);
    key.operands = {Format()};
    key.fromInteger = type.integer;
    key.integerIsSigned = type.isSigned;
    add(integer, name, key);
    std::swap(key.operands.front(), key.result);
    std::swap(key.fromInteger, key.toInteger);
    add(name, integer, key);
  }
}

/// What the library has beside operations, where it has.
static void addFunctions(const RegistryEntries &registry, const Format &format,
                         std::vector<ProvidedOperation> &rows) {
  auto add = [&](std::string name, const Lowering *found) {
    if (found)
      rows.push_back(
          {std::move(name), {Provision::Kind::Registered, found, ""}});
  };
  add("round_to", registry.findRoundTo(format, numera::Target::CPU));
  for (const Lowering &entry : registry.lowerings()) {
    bool isOfFormat =
        entry.result == format || is_contained(entry.operands, format);
    if (!isProduct(entry.operation) || !isOfFormat)
      continue;
    std::string name = nameOf(entry.operation).str();
    if (!all_equal(entry.operands) || entry.operands.front() != entry.result)
      name += " -> " + registry.nameOrSpelling(entry.result);
    add(std::move(name), &entry);
  }
#define NUMERA_IDENTITY(enumerator, name, operands)                            \
  add("identity " name,                                                        \
      registry.findPart(OpKind::enumerator, format, numera::Target::CPU));
#define NUMERA_PART(enumerator, name, operands)                                \
  add("accumulator " name,                                                     \
      registry.findPart(OpKind::enumerator, format, numera::Target::CPU));
#include "numera/Registry/Formats/LibraryFunctions.def"
}

static std::vector<ProvidedOperation> rowsOf(const RegistryEntries &registry,
                                             const Format &format) {
  std::vector<ProvidedOperation> rows;
  addCasts(registry, format, rows);
  auto addUniform = [&](OpKind operation) {
    Lowering key = keyOf(operation, format);
    if (operation == OpKind::Cast)
      return;
    // Where nobody registers the step of a sum, it is a product and a sum.
    if (operation == OpKind::Mac && !registry.findLowering(key))
      return;
    if (operation != OpKind::Cmp) {
      rows.push_back({nameOf(operation).str(), provisionOf(registry, key),
                      registry.findProof(key)});
      return;
    }
    for (StringRef predicate :
         {"oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge",
          "ult", "ule", "une", "uno"}) {
      key.predicate = predicate.str();
      rows.push_back({("cmp " + predicate).str(), provisionOf(registry, key),
                      registry.findProof(key)});
    }
  };
#define NUMERA_OPERATION(enumerator, name, operands, ...)                      \
  addUniform(OpKind::enumerator);
#include "numera/Numerics/Core/Operations.def"
  addFunctions(registry, format, rows);
  return rows;
}

static StringRef wordOf(Provision::Kind kind) {
  switch (kind) {
  case Provision::Kind::Registered:
    return "registered";
  case Provision::Kind::BuiltIn:
    return "built in";
  case Provision::Kind::Derived:
    return "derived";
  case Provision::Kind::Fallback:
    return "fallback";
  case Provision::Kind::Missing:
    return "missing";
  }
  return "";
}

/// The library of a registered function, where its entry or the file says.
static std::string libraryOf(const RegistryEntries &registry,
                             const Lowering &lowering) {
  if (!lowering.library.empty() || registry.libraries().size() != 1)
    return lowering.library;
  return registry.libraries().front().name;
}

void numera::printProvisions(const RegistryEntries &registry,
                             const Format &format, json::OStream *json,
                             raw_ostream &stream) {
  std::vector<ProvidedOperation> rows = rowsOf(registry, format);
  Format equivalent = registry.equivalentOf(format);
  std::string meaning =
      equivalent ? registry.nameOrSpelling(equivalent) : std::string();
  const RegistryEntries::NamedFormat *entry = registry.entryOf(format);
  bool isAnyNaN =
      entry && entry->proofs == RegistryEntries::NamedFormat::Proofs::AnyNaN;
  auto print = [&](const ProvidedOperation &row) {
    const Provision &provision = row.provision;
    const Lowering *lowering = provision.lowering;
    std::string library = lowering ? libraryOf(registry, *lowering) : "";
    if (json) {
      json->object([&] {
        auto text = [&](StringRef key, StringRef value) {
          json->attribute(key, value.empty() ? json::Value(nullptr)
                                             : json::Value(value));
        };
        text("operation", row.operation);
        text("kind", wordOf(provision.kind));
        text("function", lowering ? StringRef(lowering->symbol) : "");
        text("library", library);
        text("target", lowering ? nameOf(lowering->target) : "");
        text("origin", provision.origin);
        text("proven", row.proof ? meaning : "");
        if (row.proof)
          json->attribute("exceptions", int64_t(row.proof->exceptions.size()));
      });
      return;
    }
    std::string origin = provision.origin;
    if (lowering)
      origin = lowering->symbol + ", " +
               (library.empty() ? "" : library + ", ") + "target " +
               nameOf(lowering->target).str();
    if (row.proof) {
      origin += ", proven equal to " + meaning;
      size_t exceptions = row.proof->exceptions.size();
      if (exceptions)
        origin += " but for " + std::to_string(exceptions) +
                  (exceptions == 1 ? " code" : " codes");
      origin += isAnyNaN ? ", NaNs apart" : "";
    }
    std::string kind = wordOf(provision.kind).str();
    kind.resize(origin.empty() ? kind.size() : 12, ' ');
    stream << left_justify(row.operation, 21) << kind << origin << '\n';
  };
  if (json)
    json->attributeArray("provisions", [&] { for_each(rows, print); });
  else
    for_each(rows, print);
}
