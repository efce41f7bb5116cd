// SPDX-License-Identifier: MIT

#include "CheckReport.h"

#include "numera/Registry/Description/FormatFacts.h"
#include "numera/Registry/Description/HexFloat.h"
#include "numera/Registry/Formats/ExactValue.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include <cstring>

using namespace llvm;
using namespace numera;
using check::Example;
using check::Fault;
using check::Outcome;
using check::Result;

// ---- Words

std::string CheckReport::typeName(const CastType &type) const {
  if (!type.format)
    return (type.isSigned ? "i" : "u") + utostr(type.integer);
  if (type.format.isOpaque())
    return type.format.getOpaqueName().str();
  for (const AskedName &asked : names)
    if (asked.format == type.format)
      return asked.name;
  return registry.nameOrSpelling(type.format);
}

static std::string nameOfChecked(const check::Checked &checked) {
  return (isPartOfAccumulator(checked.operation) ? "accumulator " : "") +
         nameOf(checked.operation).str();
}

std::string CheckReport::title(const Result &result) const {
  if (!result.law.empty())
    return result.law;
  const check::Checked &checked = result.checked;
  std::string name = nameOfChecked(checked);
  if (checked.operation == OpKind::Cmp)
    return name + " " + checked.predicate;
  if (checked.operation == OpKind::IsNaN)
    return name;
  bool isUniform = all_of(checked.numbers(), [&](const CastType &operand) {
    return operand.format && operand.format == checked.result.format;
  });
  if (isUniform)
    return name;
  std::string types =
      join(map_range(checked.numbers(),
                     [&](const CastType &type) { return typeName(type); }),
           ", ");
  return name + " " + types + " -> " + typeName(checked.result);
}

static unsigned widthOf(const CastType &type) {
  return type.format ? type.format.width() : type.integer;
}

StringRef CheckReport::roundingOf(const check::Checked &checked) const {
  if (!isRounded(checked.operation))
    return "-";
  const Format &format = checked.result.format;
  if (!format)
    return nameOf(Rounding::TowardZero);
  // An opaque format rounds as the one it is equivalent to.
  bool isNamed = checked.lowering && checked.lowering->rounding;
  Format meaning = registry.equivalentOf(format);
  if (format.isOpaque() && meaning && !isNamed) {
    const OperationChange *change = meaning.changeOf(checked.operation);
    return nameOf(change && change->rounding ? *change->rounding
                                             : meaning.getRounding());
  }
  return nameOf(checked.rounding.rounding);
}

std::string CheckReport::code(const CastType &type, uint64_t bits) const {
  std::string digits = utohexstr(bits, /*LowerCase=*/true);
  size_t wanted = (widthOf(type) + 3) / 4;
  if (digits.size() < wanted)
    digits.insert(0, wanted - digits.size(), '0');
  return "0x" + digits;
}

std::string CheckReport::value(const CastType &type, uint64_t bits) const {
  if (!type.format) {
    unsigned unused = 64 - type.integer;
    return type.isSigned ? itostr(int64_t(bits << unused) >> unused)
                         : utostr(bits);
  }
  Format meaning = registry.equivalentOf(type.format);
  unsigned width = type.format.width();
  if (!meaning || (width < 64 && bits >> width != 0))
    return "";
  return printHexFloat(meaning.getFamily().decode(meaning, bits));
}

std::string CheckReport::operands(const Result &result,
                                  const Example &example) const {
  std::string text;
  for (auto [j, type] : enumerate(result.checked.operands)) {
    std::string known = value(type, example.operands[j]);
    text += (j ? ", " : "") + code(type, example.operands[j]);
    text += known.empty() ? "" : " = " + known;
  }
  return text;
}

std::string CheckReport::describe(const Result &result, const Example &example,
                                  Fault fault) const {
  auto side = [&](uint64_t bits) {
    std::string known = value(result.checked.result, bits);
    return code(result.checked.result, bits) +
           (known.empty() ? "" : " = " + known);
  };
  std::string with = "(" + operands(result, example) + ")";
  switch (fault) {
  case Fault::Law:
    return with + " gives " + side(example.got) + " and " +
           side(example.expected);
  case Fault::Unsteady:
    return nameOfChecked(result.checked) + with + " is " + side(example.got) +
           ", before " + side(example.expected);
  default:
    return nameOfChecked(result.checked) + with + " is " + side(example.got) +
           ", expected " + side(example.expected);
  }
}

std::string CheckReport::ending(const Result &result) const {
  std::string text;
  switch (result.outcome) {
  case Outcome::Finished:
    return "";
  case Outcome::NotRun:
    return "could not be run";
  case Outcome::Crashed: {
    const char *name = sigabbrev_np(result.signal);
    text = std::string("crashed (SIG") + (name ? name : "NAL") + ")";
    break;
  }
  case Outcome::Exited:
    text = "ended the process";
    break;
  case Outcome::TimedOut:
    text = formatv("did not return within {0} s", timeLimit);
    break;
  }
  if (!result.place.empty())
    return result.place + ": " + text;
  std::string name = result.law.empty() ? nameOfChecked(result.checked)
                                        : std::string("a function");
  if (result.isLocated)
    return name + "(" + operands(result, result.culprit) + "): " + text;
  return name + ": " + text + ", not with any of its operands alone";
}

std::string CheckReport::summary(uint64_t operations, uint64_t inputs,
                                 uint64_t bad) {
  auto count = [](uint64_t number, StringRef word) {
    return utostr(number) + " " + word.str() + (number == 1 ? "" : "s");
  };
  return count(operations, "operation") + ", " + count(inputs, "input") + ": " +
         (bad ? utostr(bad) + " not as expected" : "no mismatch");
}

/// Machine code that clang has compiled from `int16_t f(int16_t)` goes wrong
/// where codes have the top bit and it gets them as `uint16_t`.
std::string CheckReport::hint(const Result &result) const {
  auto hasTopBit = [&](const Example &example) {
    return any_of(enumerate(result.checked.operands), [&](auto operand) {
      const Format &format = operand.value().format;
      return format && format.isOpaque() && format.storageBits() < 32 &&
             example.operands[operand.index()] >> (format.storageBits() - 1);
    });
  };
  bool isLikely = result.checked.takesUnsignedCodes && result.mismatches() &&
                  all_of(result.faults, [&](const check::Tally &tally) {
                    return !tally.count || hasTopBit(tally.first);
                  });
  if (!isLikely)
    return "";
  return "if its codes are signed in C, int8_t or int16_t, its library's entry "
         "wants 'codes: signed'";
}

// ---- Text

void CheckReport::printFindings(const Result &result, raw_ostream &out) const {
  std::string how = ending(result);
  if (!how.empty())
    out << "    " << how << '\n';
  for (const Example &exception : result.exceptions)
    out << "    but for " << describe(result, exception, Fault::OtherCode)
        << '\n';
  if (result.isEqualButNaNs)
    out << "    equal, NaNs apart: 'proofs: any-nan' in the format's entry "
           "makes use of it\n";
  if (!result.finding.empty())
    out << "    " << result.finding << '\n';
  for (size_t i = 0; i < check::faultCount && result.finding.empty(); ++i)
    if (const check::Tally &tally = result.faults[i]; tally.count)
      out << "    " << nameOf(Fault(i)) << ", " << tally.count << ": "
          << describe(result, tally.first, Fault(i)) << '\n';
  if (std::string text = hint(result); !text.empty())
    out << "    remark: " << text << '\n';
  if (result.otherNaN.count)
    out << "    remark: a NaN that is not the canonical one, "
        << result.otherNaN.count << ": "
        << describe(result, result.otherNaN.first, Fault::OtherCode) << '\n';
}

/// Rows of one operation that differ in the rounding alone, and have nothing to
/// tell.
static bool canJoin(const Result &a, const Result &b) {
  auto isQuiet = [](const Result &result) {
    return result.isGood() && !result.otherNaN.count &&
           !result.checked.lowering && result.checked.origin.empty() &&
           result.law.empty();
  };
  return isQuiet(a) && isQuiet(b);
}

/// What a row says last: the function that was called.
static std::string functionOf(const Result &result) {
  if (!result.law.empty())
    return "";
  if (result.checked.lowering)
    return result.checked.lowering->symbol;
  return result.checked.origin.empty() ? "built in" : result.checked.origin;
}

void CheckReport::printRows(ArrayRef<Result> results, raw_ostream &out) const {
  while (!results.empty()) {
    const Result &first = results.front();
    std::string name = title(first);
    uint64_t tried = 0;
    size_t joined = 0;
    while (joined < results.size() &&
           (joined == 0 || (title(results[joined]) == name &&
                            canJoin(first, results[joined]))))
      tried += results[joined++].tried;
    std::string rounding = joined > 1 ? utostr(joined) + " roundings"
                                      : roundingOf(first.checked).str();
    if (!first.law.empty())
      rounding = "law";
    else if (first.isProof)
      rounding = !first.isGood()   ? "no proof"
                 : first.wasProven ? "proven before"
                                   : "proven";
    else if (!first.hasReference)
      rounding = "no reference";
    std::string function = functionOf(first);
    out << "  " << left_justify(name, 40) << left_justify(rounding, 14)
        << right_justify(utostr(tried), 12)
        << right_justify(utostr(first.mismatches()), 12);
    if (first.law.empty())
      out << right_justify(first.nanoseconds > 0
                               ? formatv("{0:f1}", first.nanoseconds).str()
                               : "",
                           8);
    out << (function.empty() ? "" : "  ") << function << '\n';
    for (const Result &result : results.take_front(joined))
      printFindings(result, out);
    results = results.drop_front(joined);
  }
}

/// The functions that loops call one by one, by why they do.
static void printSlow(ArrayRef<Result> results, raw_ostream &out) {
  MapVector<StringRef, SetVector<StringRef>> slow;
  for (const Result &result : results)
    if (!result.checked.slowness.empty())
      slow[result.checked.slowness].insert(result.checked.lowering->symbol);
  for (const auto &[reason, symbols] : slow)
    out << "  slow, " << reason << ": " << join(symbols, ", ") << '\n';
}

void CheckReport::printText(const check::Report &report,
                            raw_ostream &out) const {
  CastType own;
  own.format = report.format;
  std::string name = typeName(own);
  out << name << ' ' << report.format.spelling();
  if (!report.meaning)
    out << ", by laws, since it has no 'equivalent'";
  else if (report.meaning != report.format)
    out << ", as " << registry.nameOrSpelling(report.meaning);
  out << '\n';
  if (!report.results.empty())
    out << "  " << left_justify("operation", 40) << left_justify("rounding", 14)
        << right_justify("inputs", 12) << right_justify("mismatches", 12)
        << right_justify("ns", 8) << "  function\n";
  printRows(report.results, out);
  printRows(report.laws, out);
  printSlow(report.results, out);
  if (!report.missing.empty())
    out << "  missing, to be registered under 'lowerings:'\n";
  for (const std::string &line : report.missing)
    out << "    " << line << '\n';
  if (!report.untried.empty())
    out << "  too many operands to try: " << join(report.untried, "; ") << '\n';
  out << name << ": "
      << summary(report.results.size() + report.laws.size(), report.tried(),
                 report.bad())
      << '\n';
}

// ---- JSON

void CheckReport::printExample(const Result &result, const Example &example,
                               json::OStream &json, bool hasResult) const {
  auto side = [&](const CastType &type, uint64_t bits) {
    std::string known = value(type, bits);
    json.attribute("code", code(type, bits));
    json.attribute("value",
                   known.empty() ? json::Value(nullptr) : json::Value(known));
  };
  json.attributeArray("operands", [&] {
    for (auto [j, type] : enumerate(result.checked.operands))
      json.object([&] { side(type, example.operands[j]); });
  });
  if (!hasResult)
    return;
  json.attributeObject("got",
                       [&] { side(result.checked.result, example.got); });
  json.attributeObject("expected",
                       [&] { side(result.checked.result, example.expected); });
}

void CheckReport::printResult(const Result &result, json::OStream &json) const {
  auto kind = [&](StringRef name, const check::Tally &tally) {
    json.object([&] {
      json.attribute("kind", name);
      json.attribute("count", int64_t(tally.count));
      json.attributeObject("example", [&] {
        printExample(result, tally.first, json, /*hasResult=*/true);
      });
    });
  };
  json.object([&] {
    json.attribute("operation", title(result));
    if (result.law.empty()) {
      StringRef rounding = roundingOf(result.checked);
      json.attribute("rounding", rounding == "-" ? json::Value(nullptr)
                                                 : json::Value(rounding));
      const Lowering *lowering = result.checked.lowering;
      json.attribute("function", lowering ? json::Value(lowering->symbol)
                                          : json::Value(nullptr));
      json.attribute("origin", result.checked.origin.empty()
                                   ? json::Value(nullptr)
                                   : json::Value(result.checked.origin));
      json.attribute("nanoseconds", result.nanoseconds > 0
                                        ? json::Value(result.nanoseconds)
                                        : json::Value(nullptr));
      json.attribute("slow", result.checked.slowness.empty()
                                 ? json::Value(nullptr)
                                 : json::Value(result.checked.slowness));
    }
    json.attribute("has_reference", result.hasReference);
    json.attribute("proven", result.isProof && result.isGood());
    if (result.isProof)
      json.attribute("equal_but_nans", result.isEqualButNaNs);
    json.attributeArray("exceptions", [&] {
      for (const Example &exception : result.exceptions)
        json.object(
            [&] { printExample(result, exception, json, /*hasResult=*/true); });
    });
    json.attribute("inputs", int64_t(result.tried));
    json.attribute("mismatches", int64_t(result.mismatches()));
    std::string how = ending(result);
    if (!result.finding.empty())
      how = result.finding;
    json.attribute("failure",
                   how.empty() ? json::Value(nullptr) : json::Value(how));
    std::string remark = hint(result);
    json.attribute("hint",
                   remark.empty() ? json::Value(nullptr) : json::Value(remark));
    json.attributeArray("kinds", [&] {
      for (size_t i = 0; i < check::faultCount && result.finding.empty(); ++i)
        if (result.faults[i].count)
          kind(nameOf(Fault(i)), result.faults[i]);
    });
    json.attributeArray("remarks", [&] {
      if (result.otherNaN.count)
        kind("a NaN that is not the canonical one", result.otherNaN);
    });
  });
}

void CheckReport::printJSON(const check::Report &report,
                            json::OStream &json) const {
  CastType own;
  own.format = report.format;
  json.object([&] {
    json.attribute("name", typeName(own));
    json.attribute("spelling", report.format.spelling());
    json.attribute("equivalent",
                   report.meaning
                       ? json::Value(registry.nameOrSpelling(report.meaning))
                       : json::Value(nullptr));
    json.attributeArray("operations", [&] {
      for (const Result &result : report.results)
        printResult(result, json);
    });
    json.attributeArray("laws", [&] {
      for (const Result &result : report.laws)
        printResult(result, json);
    });
    json.attributeArray("missing", [&] {
      for (const std::string &line : report.missing)
        json.value(line);
    });
    json.attributeArray("untried", [&] {
      for (const std::string &line : report.untried)
        json.value(line);
    });
    json.attribute("inputs", int64_t(report.tried()));
    json.attribute("not_as_expected", int64_t(report.bad()));
  });
}
