// SPDX-License-Identifier: MIT

#include "Cases.h"
#include "Libraries/OpenLibraries.h"
#include "Vectorize/Specialize.h"

#include "numera/Registry/Formats/ExactValue.h"
#include "numera/Registry/Lowerings/Derivation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/LLVMContext.h"

using namespace llvm;

namespace numera::check {

Lowering keyOf(const Checked &checked) {
  Lowering key;
  key.operation = checked.operation;
  key.target = numera::Target::CPU;
  key.predicate = checked.predicate;
  key.rounding = checked.rounding.rounding;
  key.randomBits = checked.rounding.randomBits;
  for (const CastType &operand : checked.numbers())
    key.operands.push_back(operand.format);
  bool isTest =
      checked.operation == OpKind::Cmp || checked.operation == OpKind::IsNaN;
  if (isTest) {
    key.result = checked.operands.front().format;
    return key;
  }
  key.result = checked.rounded ? checked.rounded : checked.result.format;
  key.fromInteger = checked.operands.front().integer;
  key.toInteger = checked.result.integer;
  key.integerIsSigned =
      checked.operands.front().isSigned && checked.result.isSigned;
  return key;
}

Format meaningOf(const Registry &registry, const CastType &type) {
  return type.format ? registry.equivalentOf(type.format) : Format();
}

unsigned storageBits(const CastType &type) {
  return type.format ? type.format.storageBits() : type.integer;
}
unsigned widthOf(const CastType &type) {
  return type.format ? type.format.width() : type.integer;
}

namespace {

constexpr Rounding everyRounding[] = {
    Rounding::NearestEven, Rounding::NearestAway, Rounding::NearestZero,
    Rounding::TowardZero,  Rounding::Up,          Rounding::Down,
    Rounding::ToOdd,       Rounding::Stochastic};

/// What the libraries have for a lowering.
class Providers {
public:
  explicit Providers(const Registry &registry)
      : registry(registry), libraries(registry, context) {}

  Expected<bool> provides(StringRef library, const Lowering &lowering) {
    if (!lowering.library.empty())
      return lowering.library == library;
    if (registry.libraries().size() == 1)
      return true;
    Expected<LibraryFile &> file = libraries.find(lowering);
    if (!file)
      return file.takeError();
    return file->library().name == library;
  }

  /// Why a loop calls the function, element by element; empty if it does not.
  std::string slownessOf(const Lowering &lowering) {
    auto isSmall = [](const Format &format) {
      return format && format.storageBits() == 8;
    };
    // Programs read such functions from tables.
    if (all_of(lowering.operands, isSmall) && isSmall(lowering.result))
      return "";
    Expected<LibraryFile &> file = libraries.find(lowering);
    if (!file) {
      consumeError(file.takeError());
      return "";
    }
    const Function *definition = file->definition(lowering.symbol);
    if (!definition)
      return lowering.vector ? "" : "machine code without a vector variant";
    return isStraight(*definition)
               ? ""
               : "loops, calls or branches that keep loops from vectorising";
  }

  /// A .so does not tell whether its codes are signed in C.
  bool takesUnsignedCodes(const Lowering &lowering) {
    Expected<LibraryFile &> file = libraries.find(lowering);
    if (!file) {
      consumeError(file.takeError());
      return false;
    }
    auto isNarrow = [](const Format &format) {
      return format && format.isOpaque() && format.storageBits() < 32;
    };
    return !file->definition(lowering.symbol) &&
           !file->library().hasSignedCodes &&
           any_of(lowering.operands, isNarrow);
  }

private:
  const Registry &registry;
  LLVMContext context;
  OpenLibraries libraries;
};

class Finder {
public:
  Finder(const Registry &registry, const Format &format, const Options &options)
      : registry(registry), format(format), options(options),
        providers(registry) {}

  Expected<Cases> run() {
    addCasts();
    addOperations();
    addTests();
    addMixed();
    addRoundTo();
    addAccumulator();
    addProducts();
    if (error)
      return std::move(error);
    return std::move(cases);
  }

private:
  bool hasArithmetic() const { return format.getFamily().hasArithmetic(); }

  /// Adds the operation with each rounding it has, or says that it is missing.
  void add(Checked checked, bool isWanted = true) {
    bool isRounding = isRounded(checked.operation) && checked.result.format;
    RoundingMode usual = keyOf(checked).getOwnRoundingMode();
    bool isFound = false;
    for (Rounding rounding : everyRounding) {
      bool isUsual = rounding == usual.rounding;
      if (!isRounding && !isUsual)
        continue;
      checked.rounding = isUsual ? usual : RoundingMode(rounding);
      if (checked.drawsRandom() && !isUsual)
        checked.rounding.randomBits = defaultRandomBits;
      checked.lowering = registry.findLowering(keyOf(checked));
      isFound |= checked.lowering != nullptr;
      // A family draws where its format says so.
      bool isOwn = !checked.lowering && hasArithmetic() &&
                   options.library.empty() &&
                   (!checked.drawsRandom() || isUsual);
      if (!isRounding)
        checked.rounding = Rounding::NearestEven;
      if ((isOwn || (checked.lowering && isProvided(*checked.lowering))) &&
          isChosen(rounding, isRounding))
        push(checked);
    }
    if (isFound || hasArithmetic())
      return;
    checked.rounding = usual;
    if (addMade(checked) || !isWanted)
      return;
    cases.missing.push_back(registry.suggest(keyOf(checked)));
  }

  /// Adds what is derived from other functions; false where the operation is
  /// missing. A fallback rounds twice, and is not held against anything.
  bool addMade(Checked &checked) {
    Provision provision = provisionOf(registry, keyOf(checked));
    if (provision.kind == Provision::Kind::Fallback)
      return true;
    if (provision.kind != Provision::Kind::Derived)
      return false;
    bool isRounding = isRounded(checked.operation) && checked.result.format;
    checked.origin = "derived: " + provision.origin;
    if (!isRounding)
      checked.rounding = Rounding::NearestEven;
    if (options.library.empty() && options.misfits.empty() &&
        isChosen(checked.rounding.rounding, isRounding))
      push(checked);
    return true;
  }

  void push(Checked checked) {
    if (checked.lowering) {
      checked.slowness = providers.slownessOf(*checked.lowering);
      checked.takesUnsignedCodes =
          providers.takesUnsignedCodes(*checked.lowering);
    }
    if (checked.drawsRandom())
      checked.operands.push_back(*integerFromName("u32"));
    cases.operations.push_back(std::move(checked));
  }

  bool isChosen(Rounding rounding, bool isRounding) const {
    return !isRounding || !options.rounding || *options.rounding == rounding;
  }

  bool isProvided(const Lowering &lowering) {
    if (is_contained(options.misfits, lowering.location))
      return false;
    if (options.library.empty())
      return true;
    Expected<bool> provided = providers.provides(options.library, lowering);
    if (provided)
      return *provided;
    if (error)
      consumeError(provided.takeError());
    else
      error = provided.takeError();
    return false;
  }

  void addOperations() {
#define NUMERA_OPERATION(enumerator, name, operands, ...)                      \
  addUniform(OpKind::enumerator, operands);
#include "numera/Numerics/Core/Operations.def"
  }

  void addUniform(OpKind operation, unsigned count) {
    if (operation == OpKind::Cast || operation == OpKind::Cmp ||
        operation == OpKind::IsNaN)
      return;
    Checked checked;
    checked.operation = operation;
    checked.result.format = format;
    checked.operands.assign(count, checked.result);
    // A family's mac is its fma.
    if (operation == OpKind::Mac && !registry.findLowering(keyOf(checked)) &&
        hasArithmetic())
      return;
    add(checked);
  }

  void addCast(const CastType &from, const CastType &to, bool isWanted) {
    if (from.format == to.format)
      return;
    Checked checked;
    checked.operation = OpKind::Cast;
    checked.operands = {from};
    checked.result = to;
    add(checked, isWanted);
  }

  void addCasts() {
    CastType own, machine;
    own.format = format;
    for (const Format &number : {formatF32(), formatF64()}) {
      machine.format = number;
      addCast(machine, own, true);
      addCast(own, machine, true);
    }
    for (StringRef name :
         {"i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"}) {
      addCast(*integerFromName(name), own, false);
      addCast(own, *integerFromName(name), false);
    }
    // Casts between two formats exist where somebody registered them.
    for (const Lowering &entry : registry.lowerings()) {
      if (entry.operation != OpKind::Cast || entry.fromInteger ||
          entry.toInteger || entry.target == numera::Target::NVPTX)
        continue;
      CastType from, to;
      from.format = entry.operands[0];
      to.format = entry.result;
      auto isOther = [&](const Format &other) {
        return other != format && other != formatF32() && other != formatF64();
      };
      if ((from.format == format && isOther(to.format)) ||
          (to.format == format && isOther(from.format)))
        addCast(from, to, false);
    }
  }

  void addTests() {
    Checked checked;
    CastType own;
    own.format = format;
    checked.result.integer = 8;
    checked.result.isSigned = false;
    checked.operation = OpKind::Cmp;
    checked.operands = {own, own};
    bool hasAny = any_of(registry.lowerings(), [&](const Lowering &entry) {
      return entry.operation == OpKind::Cmp && entry.result == format;
    });
    for (StringRef predicate :
         {"oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge",
          "ult", "ule", "une", "uno"}) {
      checked.predicate = predicate;
      // One line stands for all of them where there is none, and those that
      // models have for the rest.
      bool isUsual =
          is_contained({"oeq", "ogt", "oge", "olt", "ole", "une"}, predicate);
      add(checked, hasAny ? isUsual : predicate == "olt");
    }
    checked.predicate.clear();
    checked.operation = OpKind::IsNaN;
    checked.operands = {own};
    add(checked);
  }

  void addRoundTo() {
    const Lowering *found = registry.findRoundTo(format, numera::Target::CPU);
    if (!found || !isProvided(*found))
      return;
    Checked checked;
    checked.operation = OpKind::RoundTo;
    checked.result.format = found->operands.front();
    checked.operands = {checked.result};
    checked.rounded = format;
    checked.rounding = found->getRoundingMode();
    checked.lowering = found;
    push(checked);
  }

  /// Sums of one product and of one value, with all parts of an accumulator.
  void addAccumulator() {
    for (OpKind part : {OpKind::AccumulatorInit, OpKind::AccumulatorRound}) {
      const Lowering *found =
          registry.findPart(part, format, numera::Target::CPU);
      if (found ? !isProvided(*found) : part == OpKind::AccumulatorRound)
        return;
    }
    for (OpKind part : {OpKind::AccumulatorMac, OpKind::AccumulatorAdd}) {
      const Lowering *found =
          registry.findPart(part, format, numera::Target::CPU);
      if (!found || !isProvided(*found))
        continue;
      Checked checked;
      checked.operation = part;
      checked.result.format = format;
      checked.operands.assign(operandCount(part), checked.result);
      checked.rounding = found->getRoundingMode();
      checked.lowering = found;
      cases.operations.push_back(std::move(checked));
    }
  }

  /// The operation on the formats that the entry names.
  static Checked asRegistered(const Lowering &entry) {
    Checked checked;
    checked.operation = entry.operation;
    checked.result.format = entry.result;
    for (const Format &operand : entry.operands)
      checked.operands.emplace_back().format = operand;
    checked.rounding = entry.getRoundingMode();
    return checked;
  }

  void addProducts() {
    for (const Lowering &entry : registry.lowerings()) {
      bool isOfFormat =
          entry.result == format || is_contained(entry.operands, format);
      if (!isProduct(entry.operation) || !isOfFormat || !isProvided(entry))
        continue;
      Checked checked = asRegistered(entry);
      checked.lowering = &entry;
      cases.operations.push_back(std::move(checked));
    }
  }

  /// `operands: [f8, f8, f32], result: f32`.
  void addMixed() {
    for (const Lowering &entry : registry.lowerings()) {
      bool isMixed =
          !all_equal(entry.operands) || entry.operands.front() != entry.result;
      if (!isMixed || entry.operation == OpKind::Cast ||
          entry.operation == OpKind::RoundTo || isProduct(entry.operation) ||
          isIdentity(entry.operation) || isPartOfAccumulator(entry.operation) ||
          entry.target == numera::Target::NVPTX ||
          (entry.result != format && !is_contained(entry.operands, format)))
        continue;
      Checked checked = asRegistered(entry);
      checked.lowering = registry.findLowering(keyOf(checked));
      if (checked.lowering == &entry && isProvided(entry) &&
          isChosen(checked.rounding, true))
        push(checked);
    }
  }

  const Registry &registry;
  const Format &format;
  const Options &options;
  Providers providers;
  Cases cases;
  Error error = Error::success();
};

} // namespace

Expected<Cases> findCases(const Registry &registry, const Format &format,
                          const Options &options) {
  return Finder(registry, format, options).run();
}

} // namespace numera::check
