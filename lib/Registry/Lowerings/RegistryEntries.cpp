// SPDX-License-Identifier: MIT

#include "numera/Registry/Lowerings/RegistryEntries.h"
#include "numera/Registry/Formats/Words.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <tuple>

using namespace numera;
using llvm::StringRef;

StringRef numera::nameOf(Target target) {
  switch (target) {
  case Target::Any:
    return "*";
  case Target::CPU:
    return "cpu";
  case Target::NVPTX:
    return "nvptx";
  }
  return {};
}

std::optional<CastType> numera::integerFromName(StringRef name) {
  StringRef bits = name.drop_front(name.empty() ? 0 : 1);
  if ((!name.starts_with("i") && !name.starts_with("u")) ||
      !llvm::is_contained({"8", "16", "32", "64"}, bits))
    return std::nullopt;
  CastType type;
  type.isSigned = name.front() == 'i';
  bits.getAsInteger(10, type.integer);
  return type;
}

/// Of a name with numbers in place of parameters, as `posit10` or `e5m7`, the
/// spelling; empty if there is none.
static std::string spellingOf(StringRef text) {
  auto number = [](StringRef digits) {
    return !digits.empty() && digits.size() <= 3 &&
           llvm::all_of(digits, llvm::isDigit);
  };
  std::string spelling;
  StringRef rest = text;
  if (rest.consume_front_insensitive("posit") && number(rest))
    spelling = ("posit<" + rest + ",2>").str();
  else if (rest.consume_front_insensitive("takum") && number(rest))
    spelling = ("takum<" + rest + ">").str();
  else if (rest.consume_front_insensitive("e")) {
    auto [exponent, significand] = rest.split('m');
    if (number(exponent) && number(significand))
      spelling = ("float<" + exponent + "," + significand + ">").str();
  }
  SpellingError fault;
  return !spelling.empty() && parseFormatSpelling(spelling, fault) ? spelling
                                                                   : "";
}

/// The format that other tools have under a name; empty if none is known.
static std::string formatOfOthers(StringRef text) {
  static constexpr struct {
    llvm::StringLiteral theirs, ours;
  } names[] = {
      {"bfloat16", "bf16"},
      {"brainfloat16", "bf16"},
      {"half", "f16"},
      {"fp16", "f16"},
      {"float16", "f16"},
      {"binary16", "f16"},
      {"float", "f32"},
      {"fp32", "f32"},
      {"float32", "f32"},
      {"single", "f32"},
      {"binary32", "f32"},
      {"fp64", "f64"},
      {"double", "f64"},
      {"float64", "f64"},
      {"binary64", "f64"},
      {"tfloat32", "tf32"},
      {"tensorfloat32", "tf32"},
      {"f8", "f8E4M3FN"},
      {"fp8", "f8E4M3FN"},
      {"float8", "f8E4M3FN"},
      {"hf8", "f8E4M3FN"},
      {"e4m3", "f8E4M3FN"},
      {"e4m3fn", "f8E4M3FN"},
      {"fp8_e4m3", "f8E4M3FN"},
      {"fp8e4m3", "f8E4M3FN"},
      {"float8_e4m3fn", "f8E4M3FN"},
      {"float8e4m3fn", "f8E4M3FN"},
      {"float8_e4m3", "f8E4M3"},
      {"float8_e3m4", "f8E3M4"},
      {"float8_e4m3fnuz", "f8E4M3FNUZ"},
      {"float8e4m3fnuz", "f8E4M3FNUZ"},
      {"float8_e4m3b11fnuz", "float<4,3,fnuz,bias=11>"},
      {"bf8", "f8E5M2"},
      {"e5m2", "f8E5M2"},
      {"fp8_e5m2", "f8E5M2"},
      {"fp8e5m2", "f8E5M2"},
      {"float8_e5m2", "f8E5M2"},
      {"float8e5m2", "f8E5M2"},
      {"float8_e5m2fnuz", "f8E5M2FNUZ"},
      {"float8e5m2fnuz", "f8E5M2FNUZ"},
      {"e8m0", "f8E8M0FNU"},
      {"float8_e8m0fnu", "f8E8M0FNU"},
      {"float8e8m0", "f8E8M0FNU"},
      {"fp6", "f6E2M3FN"},
      {"e2m3", "f6E2M3FN"},
      {"float6_e2m3fn", "f6E2M3FN"},
      {"e3m2", "f6E3M2FN"},
      {"float6_e3m2fn", "f6E3M2FN"},
      {"fp4", "f4E2M1FN"},
      {"float4", "f4E2M1FN"},
      {"e2m1", "f4E2M1FN"},
      {"float4_e2m1fn", "f4E2M1FN"},
      {"float4e2m1", "f4E2M1FN"},
      {"i4", "fixed<3,0>"},
      {"i8", "fixed<7,0>"},
      {"i16", "fixed<15,0>"},
      {"i32", "fixed<31,0>"},
      {"u4", "fixed<4,0,unsigned>"},
      {"u8", "fixed<8,0,unsigned>"},
      {"u16", "fixed<16,0,unsigned>"},
      {"u32", "fixed<32,0,unsigned>"},
      {"int4", "fixed<3,0>"},
      {"int8", "fixed<7,0>"},
      {"int16", "fixed<15,0>"},
      {"int32", "fixed<31,0>"},
      {"uint4", "fixed<4,0,unsigned>"},
      {"uint8", "fixed<8,0,unsigned>"},
      {"uint16", "fixed<16,0,unsigned>"},
      {"uint32", "fixed<32,0,unsigned>"},
  };
  for (const auto &name : names)
    if (name.theirs.equals_insensitive(text))
      return name.ours.str();
  return spellingOf(text);
}

Format RegistryEntries::lookupFormat(StringRef text, std::string &error) const {
  auto found = byName.find(text);
  if (found != byName.end())
    return named[found->second].format;
  auto isName = [&](const NamedScaledFormat &other) {
    return other.name == text;
  };
  if (isScaledSpelling(text) || llvm::any_of(scaled, isName)) {
    error = "'" + text.str() +
            "' is a scaled format, which tensors have; expected a format of "
            "numbers";
    return {};
  }
  if (text.contains('<')) {
    SpellingError fault;
    Format format = parseFormatSpelling(text, fault);
    if (!format)
      error = "in '" + text.str() + "': " + fault.message;
    return format;
  }
  for (const FormatFamily *family : allFamilies())
    if (family->isRuledName(text))
      return family->formatOfRuledName(text, error);
  llvm::SmallVector<StringRef> names;
  for (const NamedFormat &format : named)
    names.push_back(format.name);
  for (const NamedScaledFormat &format : scaled)
    names.push_back(format.name);
  std::string near = formatOfOthers(text);
  if (near.empty())
    near = nearest(text, names).str();
  error = "unknown format '" + text.str() + "'";
  error += near.empty() ? ", expected a name such as posit16, a spelling such "
                          "as posit<16,2>, or a name that a file of formats "
                          "gives"
                        : ", did you mean '" + near + "'?";
  return {};
}

Format RegistryEntries::lookupFloatType(StringRef name,
                                        std::string &error) const {
  constexpr llvm::StringLiteral types[] = {
      "f64",        "f32",      "tf32",     "f16",      "bf16",
      "f8E4M3FN",   "f8E5M2",   "f8E4M3",   "f8E3M4",   "f8E4M3FNUZ",
      "f8E5M2FNUZ", "f6E3M2FN", "f6E2M3FN", "f4E2M1FN", "f8E8M0FNU"};
  // The one type whose format has no name.
  if (name == "f8E4M3B11FNUZ")
    return lookupFormat("float<4,3,fnuz,bias=11>", error);
  if (llvm::is_contained(types, name))
    return lookupFormat(name, error);
  error = "unknown float type '" + name.str() + "', expected one of MLIR's:";
  for (StringRef type : types)
    error += " " + type.str();
  return {};
}

Format RegistryEntries::lookupElement(StringRef text,
                                      std::string &error) const {
  return numera::lookupElement(
      [this](StringRef name, std::string &fault) {
        return lookupFormat(name, fault);
      },
      text, error);
}

ScaledFormat RegistryEntries::lookupScaledFormat(StringRef text,
                                                 std::string &error) const {
  for (const NamedScaledFormat &candidate : scaled)
    if (candidate.name == text)
      return candidate.format;
  if (!isScaledSpelling(text))
    return {};
  return parseScaledFormat(
      [this](StringRef name, std::string &fault) {
        return lookupFormat(name, fault);
      },
      text, error);
}

std::string RegistryEntries::nameOf(const ScaledFormat &format) const {
  for (const NamedScaledFormat &candidate : scaled)
    if (candidate.format == format)
      return candidate.name;
  return {};
}

std::string RegistryEntries::nameOf(const Format &format) const {
  for (const NamedFormat &candidate : named)
    if (candidate.format == format)
      return candidate.name;
  return format.getFamily().ruledName(format);
}

std::string RegistryEntries::nameOrSpelling(const Format &format) const {
  std::string name = nameOf(format);
  return name.empty() ? format.spelling() : name;
}

std::string RegistryEntries::nameOrSpelling(const ScaledFormat &format) const {
  std::string name = nameOf(format);
  return name.empty() ? format.spelling() : name;
}

const RegistryEntries::NamedFormat *
RegistryEntries::entryOf(const Format &format) const {
  auto found = llvm::find_if(named, [&](const NamedFormat &candidate) {
    return candidate.format == format;
  });
  return found == named.end() ? nullptr : &*found;
}

Format RegistryEntries::equivalentOf(const Format &format) const {
  if (format.getFamily().hasArithmetic())
    return format;
  const NamedFormat *entry = entryOf(format);
  return entry ? entry->equivalent : Format();
}

Format RegistryEntries::carrierOf(const Format &format) const {
  const NamedFormat *entry = entryOf(format);
  return entry ? entry->carrier : Format();
}

Format RegistryEntries::exactCarrierOf(const Format &format) const {
  const NamedFormat *entry = entryOf(format);
  return entry && entry->embedsInCarrier ? entry->carrier : Format();
}

const Lowering *RegistryEntries::findRoundTo(const Format &format,
                                             Target target) const {
  Lowering key{};
  key.operation = OpKind::RoundTo;
  key.target = target;
  key.operands = {carrierOf(format)};
  key.result = format;
  return key.operands.front() ? findLowering(key) : nullptr;
}

Format RegistryEntries::roundsAs(const Format &format, Target target) const {
  const Lowering *rounding = findRoundTo(format, target);
  return rounding ? rounding->equivalent : Format();
}

const Lowering *RegistryEntries::findPart(OpKind part, const Format &format,
                                          Target target) const {
  Lowering key{};
  key.operation = part;
  key.target = target;
  key.operands = {format};
  key.result = format;
  return findLowering(key);
}

const Library *RegistryEntries::findLibrary(StringRef name) const {
  auto found = llvm::find_if(
      libs, [&](const Library &library) { return library.name == name; });
  return found == libs.end() ? nullptr : &*found;
}

void RegistryEntries::keepBitcode(StringRef library,
                                  std::shared_ptr<const std::string> bitcode) {
  for (Library &each : libs)
    if (each.name == library)
      each.bitcode = bitcode;
}

std::optional<llvm::APInt> &Identities::of(OpKind identity) {
  switch (identity) {
  case OpKind::IdentityZero:
    return zero;
  case OpKind::IdentityOne:
    return one;
  case OpKind::IdentityLowest:
    return lowest;
  case OpKind::IdentityHighest:
    return highest;
  default:
    return nan;
  }
}

void RegistryEntries::keepIdentity(const Format &format, OpKind identity,
                                   const llvm::APInt &code) {
  for (NamedFormat &entry : named)
    if (entry.format == format)
      entry.identities.of(identity) = code;
}

RoundingMode Lowering::getOwnRoundingMode() const {
  if (!result)
    return Rounding::TowardZero; // to an integer
  const OperationChange *change = result.changeOf(operation);
  if (change && change->rounding)
    return {*change->rounding, change->randomBits};
  return result.getRoundingMode();
}

RoundingMode Lowering::getRoundingMode() const {
  RoundingMode own = getOwnRoundingMode();
  if (!rounding)
    return own;
  if (rounding != Rounding::Stochastic)
    return *rounding;
  int32_t usual = own.randomBits ? own.randomBits : defaultRandomBits;
  return {*rounding, randomBits ? randomBits : usual};
}

/// True if `entry` serves what `key` asks for.
static bool serves(const Lowering &entry, const Lowering &key) {
  bool hasInteger = key.fromInteger != 0 || key.toInteger != 0;
  return entry.operation == key.operation &&
         (entry.target == key.target || entry.target == Target::Any) &&
         entry.result == key.result && entry.operands == key.operands &&
         entry.fromInteger == key.fromInteger &&
         entry.toInteger == key.toInteger &&
         (!hasInteger || entry.integerIsSigned == key.integerIsSigned) &&
         entry.getRoundingMode().pack() == key.getRoundingMode().pack() &&
         (entry.predicate.empty() || entry.predicate == key.predicate);
}

const Lowering *RegistryEntries::findLowering(const Lowering &key) const {
  const Lowering *best = nullptr;
  auto rank = [](const Lowering &entry) {
    return std::tuple(entry.target != Target::Any, !entry.predicate.empty());
  };
  for (const Lowering &entry : registered)
    if (serves(entry, key) && (!best || rank(entry) >= rank(*best)))
      best = &entry;
  return best;
}

std::string RegistryEntries::symbolOf(const Lowering &lowering) const {
  bool isShared = llvm::any_of(registered, [&](const Lowering &other) {
    return other.symbol == lowering.symbol && other.library != lowering.library;
  });
  return isShared ? lowering.library + "::" + lowering.symbol : lowering.symbol;
}

std::string RegistryEntries::suggest(const Lowering &key) const {
  // Spellings have commas, which end a value in a YAML flow mapping.
  auto formatText = [&](const Format &format) {
    std::string name = nameOf(format);
    return name.empty() ? "'" + format.spelling() + "'" : name;
  };
  auto integerText = [&](unsigned bits) {
    return (key.integerIsSigned ? "i" : "u") + llvm::utostr(bits);
  };
  std::string text = "- {op: " + numera::nameOf(key.operation).str();
  if (key.operation == OpKind::Cast) {
    text += ", from: " + (key.fromInteger ? integerText(key.fromInteger)
                                          : formatText(key.operands[0]));
    text += ", to: " + (key.toInteger ? integerText(key.toInteger)
                                      : formatText(key.result));
  } else if (llvm::all_equal(key.operands) && key.operands[0] == key.result) {
    text += ", format: " + formatText(key.result);
  } else {
    std::vector<std::string> operands;
    for (const Format &operand : key.operands)
      operands.push_back(formatText(operand));
    text += ", operands: [" + llvm::join(operands, ", ") +
            "], result: " + formatText(key.result);
  }
  if (!key.predicate.empty())
    text += ", predicate: " + key.predicate;
  RoundingMode mode = key.getRoundingMode();
  if (mode.pack() != key.getOwnRoundingMode().pack())
    text += ", rounding: " + numera::nameOf(mode.rounding).str();
  text += ", target: ";
  text += key.target == Target::Any ? "\"*\"" : numera::nameOf(key.target);
  return text + ", call: SYMBOL}";
}
