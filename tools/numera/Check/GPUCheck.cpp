// SPDX-License-Identifier: MIT
//
// Every operation is a function of tensors of codes, `@add`, of one module that
// is compiled twice. Where a format lacks operations, those that there are have
// modules of their own.

#include "GPUCheck.h"
#include "CheckReport.h"

#include "numera/Registry/Formats/Words.h"
#include "numera/Target/Driver/InMemory.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include <random>

using namespace llvm;
using namespace numera;

uint64_t GPUReport::tried() const {
  uint64_t sum = 0;
  for (const GPUComparison &each : operations)
    sum += each.tried;
  return sum;
}
uint64_t GPUReport::bad() const {
  return uint64_t(count_if(
      operations, [](const GPUComparison &each) { return !each.isGood(); }));
}

namespace {

/// An operation as a function of a module.
struct Subject {
  std::string name; ///< `add`, `cmp_olt`, `from_f32`
  std::string text; ///< `numera.add`, and what stands before the operands
  std::vector<Format> operands;
  Format result; ///< null: i1
  /// Of a cast, whose types the operation names.
  bool isCast = false;
};

/// A module for both machines.
struct Programs {
  std::unique_ptr<Program> cpu, gpu;
};

class GPUCheck {
public:
  GPUCheck(const Registry &registry, const Format &format,
           const GPUCheckOptions &options)
      : registry(registry), format(format), options(options),
        random(options.seed) {}

  Error run(GPUReport &report);

private:
  std::vector<Subject> subjects() const;
  Expected<std::vector<Subject>> choose(std::vector<Subject> all) const;
  std::string typeOf(const Format &format) const;
  std::string moduleOf(ArrayRef<Subject> subjects) const;
  Expected<std::unique_ptr<Program>> compile(const std::string &text,
                                             bool isForGPU) const;
  Expected<std::vector<host::Array>> drawOperands(const Subject &subject);
  Error compare(const Programs &programs, const Subject &subject,
                GPUComparison &found);

  const Registry &registry;
  const Format &format;
  const GPUCheckOptions &options;
  std::mt19937_64 random;
};

} // namespace

std::vector<Subject> GPUCheck::subjects() const {
  std::vector<Subject> list;
#define NUMERA_OPERATION(enumerator, opName, count, form, cost, onnx, mlir)    \
  if (StringRef kind = #form;                                                  \
      kind != "Cast" && kind != "Step" && kind != "Test")                      \
    list.push_back({.name = #opName,                                           \
                    .text = "numera." #opName " ",                             \
                    .operands = std::vector<Format>(count, format),            \
                    .result = format});
#include "numera/Numerics/Core/Operations.def"
  for (const char *predicate : {"oeq", "olt", "ole", "one", "uno"})
    list.push_back({.name = std::string("cmp_") + predicate,
                    .text = std::string("numera.cmp ") + predicate + ", ",
                    .operands = {format, format},
                    .result = {}});
  list.push_back({.name = "isnan",
                  .text = "numera.isnan ",
                  .operands = {format},
                  .result = {}});
  for (const Format &other : {formatF32(), formatF64()})
    if (other != format) {
      std::string name = registry.nameOrSpelling(other);
      list.push_back({"to_" + name, "numera.cast ", {format}, other, true});
      list.push_back({"from_" + name, "numera.cast ", {other}, format, true});
    }
  return list;
}

std::string GPUCheck::typeOf(const Format &of) const {
  return "tensor<?x!numera.num<" + of.spelling() + ">>";
}

std::string GPUCheck::moduleOf(ArrayRef<Subject> subjects) const {
  std::string text;
  raw_string_ostream stream(text);
  for (const Subject &subject : subjects) {
    std::string result =
        subject.result ? typeOf(subject.result) : "tensor<?xi1>";
    stream << "func.func @" << subject.name << '(';
    ListSeparator parameters;
    for (auto [i, operand] : enumerate(subject.operands))
      stream << parameters << "%x" << i << ": " << typeOf(operand);
    stream << ") -> " << result << " {\n  %y = " << subject.text;
    ListSeparator arguments;
    for (size_t i = 0; i < subject.operands.size(); ++i)
      stream << arguments << "%x" << i;
    stream << " : " << typeOf(subject.operands[0]);
    if (subject.isCast)
      stream << " to " << result;
    stream << "\n  return %y : " << result << "\n}\n";
  }
  return text;
}

Expected<std::unique_ptr<Program>> GPUCheck::compile(const std::string &text,
                                                     bool isForGPU) const {
  Compiler compiler(registry);
  CompileOptions compile;
  compile.target = isForGPU ? "nvptx" : "cpu";
  compile.gpu = options.gpu;
  // Codes and nothing else.
  compile.outputAs = "storage";
  return compileInMemory(compiler, registry, text, "check", compile);
}

/// All combinations of codes if these are few, else random ones.
Expected<std::vector<host::Array>>
GPUCheck::drawOperands(const Subject &subject) {
  unsigned bits = 0;
  for (const Format &operand : subject.operands)
    bits += operand.width();
  bool isWhole = bits < 40 && (uint64_t(1) << bits) <= options.draws;
  uint64_t count = isWhole ? uint64_t(1) << bits : options.draws;
  std::vector<host::Array> operands;
  unsigned shift = 0;
  for (const Format &operand : subject.operands) {
    std::string error;
    auto array =
        host::makeArray({int64_t(count)}, dtypeOfCodes(operand), error);
    if (!array)
      return createStringError(error);
    for (uint64_t i = 0; i < count; ++i)
      setBits(*array, i,
              (isWhole ? i >> shift : random()) &
                  maskTrailingOnes<uint64_t>(operand.width()));
    shift += operand.width();
    operands.push_back(std::move(*array));
  }
  return operands;
}

Error GPUCheck::compare(const Programs &programs, const Subject &subject,
                        GPUComparison &found) {
  Expected<std::vector<host::Array>> operands = drawOperands(subject);
  if (!operands)
    return operands.takeError();
  std::vector<const host::Array *> inputs;
  for (const host::Array &operand : *operands)
    inputs.push_back(&operand);
  std::vector<host::Array> cpu, gpu;
  numera_options call = NUMERA_OPTIONS;
  for (auto [program, outputs] :
       {std::pair(&programs.cpu, &cpu), std::pair(&programs.gpu, &gpu)})
    if (Error error = (*program)->call(subject.name, inputs, *outputs, call))
      return error;
  found.tried = operands->front().size();
  for (uint64_t i = 0; i < found.tried; ++i) {
    uint64_t expected = bitsOf(cpu[0], i), got = bitsOf(gpu[0], i);
    if (got == expected || found.mismatches++)
      continue;
    for (const host::Array &operand : *operands)
      found.finding += formatv("{0:x} ", bitsOf(operand, i));
    found.finding += formatv("gives {0:x}, on the CPU {1:x}", got, expected);
  }
  return Error::success();
}

/// Those that the options name.
Expected<std::vector<Subject>>
GPUCheck::choose(std::vector<Subject> all) const {
  for (const std::string &name : options.operations) {
    std::vector<StringRef> names;
    for (const Subject &subject : all)
      names.push_back(subject.name);
    if (!is_contained(names, name))
      return createStringError("unknown operation '" + name + "'" +
                               expectation(name, names));
  }
  if (!options.operations.empty())
    erase_if(all, [&](const Subject &subject) {
      return !is_contained(options.operations, subject.name);
    });
  return all;
}

Error GPUCheck::run(GPUReport &report) {
  Expected<std::vector<Subject>> chosen = choose(subjects());
  if (!chosen)
    return chosen.takeError();
  ArrayRef<Subject> list = *chosen;
  Programs whole;
  Expected<std::unique_ptr<Program>> all = compile(moduleOf(list), false);
  if (all) {
    whole.cpu = std::move(*all);
    if (!(all = compile(moduleOf(list), true)))
      return all.takeError();
    whole.gpu = std::move(*all);
  } else {
    consumeError(all.takeError()); // some operation is not there
  }
  for (const Subject &subject : list) {
    GPUComparison found = {.operation = subject.name};
    Programs own;
    if (!whole.cpu) {
      Expected<std::unique_ptr<Program>> made =
          compile(moduleOf(subject), false);
      if (!made) {
        consumeError(made.takeError());
        continue; // the format has no such operation
      }
      own.cpu = std::move(*made);
      if (!(made = compile(moduleOf(subject), true))) {
        found.finding = toString(made.takeError());
        report.operations.push_back(std::move(found));
        continue;
      }
      own.gpu = std::move(*made);
    }
    if (Error error = compare(whole.cpu ? whole : own, subject, found))
      return error;
    report.operations.push_back(std::move(found));
  }
  return Error::success();
}

Expected<GPUReport> numera::checkGPU(const Registry &registry,
                                     const Format &format,
                                     const GPUCheckOptions &options) {
  GPUReport report;
  report.name = registry.nameOrSpelling(format);
  report.format = format;
  if (format.getRounding() == Rounding::Stochastic)
    return createStringError(
        "'" + report.name +
        "' rounds stochastically; choose a --rounding that "
        "is not stochastic");
  if (Error error = GPUCheck(registry, format, options).run(report))
    return std::move(error);
  return report;
}

void numera::printText(const GPUReport &report, raw_ostream &out) {
  out << report.name << ' ' << report.format.spelling()
      << ", the GPU against the CPU\n";
  for (const GPUComparison &each : report.operations) {
    out << "  " << left_justify(each.operation, 16)
        << right_justify(utostr(each.tried), 12)
        << right_justify(utostr(each.mismatches), 12) << '\n';
    if (!each.finding.empty())
      out << "    " << each.finding << '\n';
  }
  out << report.name << ": "
      << CheckReport::summary(report.operations.size(), report.tried(),
                              report.bad())
      << '\n';
}

void numera::printJSON(const GPUReport &report, json::OStream &json) {
  json.object([&] {
    json.attribute("name", report.name);
    json.attribute("spelling", report.format.spelling());
    json.attributeArray("operations", [&] {
      for (const GPUComparison &each : report.operations)
        json.object([&] {
          json.attribute("operation", each.operation);
          json.attribute("inputs", int64_t(each.tried));
          json.attribute("mismatches", int64_t(each.mismatches));
          json.attribute("finding", each.finding.empty()
                                        ? json::Value(nullptr)
                                        : json::Value(each.finding));
        });
    });
    json.attribute("inputs", int64_t(report.tried()));
    json.attribute("not_as_expected", int64_t(report.bad()));
  });
}
