// SPDX-License-Identifier: MIT

#include "Vectors.h"

#include "numera/Dialect/Numera/IR/Numera.h"
#include "numera/Registry/Description/Decimal.h"
#include "numera/Target/Driver/InMemory.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/LineIterator.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;
using namespace numera;

/// Mismatches that are printed.
static constexpr size_t mostExamples = 10;
/// Lines that a call of the program takes.
static constexpr size_t batch = 65536;

// ---- The file

namespace {
class VectorFile {
public:
  VectorFile(const VectorOperation &operation, StringRef path)
      : operation(operation), path(path) {}

  Error open();
  /// The next lines, none at the end.
  Expected<std::vector<TestVector>> read(size_t most);

private:
  Error parse(StringRef text, TestVector &vector) const;
  Error failed(size_t line, const Twine &message) const {
    return createStringError(path + ":" + Twine(line) + ": error: " + message);
  }

  const VectorOperation &operation;
  std::string path;
  std::unique_ptr<MemoryBuffer> buffer;
  std::optional<line_iterator> lines;
};

/// Runs the operation on codes, as a program does.
class VectorProgram {
public:
  VectorProgram(const Registry &registry, const VectorOperation &operation)
      : registry(registry), operation(operation), compiler(registry) {}

  Error compile();
  Expected<std::vector<uint64_t>> run(ArrayRef<TestVector> vectors) const;

private:
  const Registry &registry;
  const VectorOperation &operation;
  Compiler compiler;
  std::unique_ptr<Program> program;
};
} // namespace

Error VectorFile::open() {
  auto opened = MemoryBuffer::getFileOrSTDIN(path, /*IsText=*/true);
  if (!opened)
    return failed(1, "the file cannot be read: " + opened.getError().message());
  buffer = std::move(*opened);
  lines.emplace(*buffer, /*SkipBlanks=*/true);
  return Error::success();
}

Error VectorFile::parse(StringRef text, TestVector &vector) const {
  SmallVector<StringRef, 5> words;
  SplitString(text, words);
  size_t count = operation.count();
  if (words.size() != count + 1 && words.size() != count + 2)
    return failed(vector.line, "found " + Twine(words.size()) +
                                   " words, expected " + Twine(count) +
                                   (count == 1 ? " operand" : " operands") +
                                   ", the result and, perhaps, flags");
  for (auto [index, word] : enumerate(words)) {
    bool isResult = index == count, isFlags = index > count;
    unsigned width = isFlags    ? 8
                     : isResult ? operation.resultWidth()
                                : operation.operands.width();
    uint64_t code = 0;
    if (word.getAsInteger(16, code))
      return failed(vector.line,
                    "'" + word +
                        "' is not a hexadecimal number of up to 64 "
                        "bits");
    if (width < 64 && code >> width != 0)
      return failed(vector.line, "'" + word + "' has more than " +
                                     Twine(width) +
                                     (width == 1 ? " bit" : " bits"));
    if (isFlags)
      vector.flags = unsigned(code);
    else if (isResult)
      vector.result = code;
    else
      vector.operands.push_back(code);
  }
  return Error::success();
}

Expected<std::vector<TestVector>> VectorFile::read(size_t most) {
  std::vector<TestVector> vectors;
  for (; !lines->is_at_eof() && vectors.size() < most; ++*lines) {
    StringRef text = (*lines)->trim();
    if (text.empty())
      continue;
    TestVector vector = {size_t(lines->line_number()), {}, 0, std::nullopt};
    if (Error error = parse(text, vector))
      return std::move(error);
    vectors.push_back(std::move(vector));
  }
  return vectors;
}

// ---- The program

/// `tensor<?x…>` as MLIR spells it.
static std::string typeOf(const Format &format, mlir::MLIRContext *context) {
  std::string text;
  raw_string_ostream(text) << mlir::RankedTensorType::get(
      {mlir::ShapedType::kDynamic}, NumType::get(context, format));
  return text;
}

Error VectorProgram::compile() {
  std::string text;
  raw_string_ostream stream(text);
  mlir::OwningOpRef<mlir::ModuleOp> module = compiler.emptyModule();
  mlir::MLIRContext *context = module->getContext();
  std::string type = typeOf(operation.operands, context);
  std::string result =
      operation.isTruth() ? "tensor<?xi8>"
      : operation.isInteger()
          ? "tensor<?xi" + std::to_string(operation.integer.integer) + ">"
          : typeOf(operation.result, context);
  stream << "func.func @f(";
  std::string operands;
  for (size_t i = 0; i < operation.count(); ++i) {
    stream << (i ? ", " : "") << "%x" << i << ": " << type;
    operands += (i ? ", %x" : "%x") + std::to_string(i);
  }
  stream << ") -> " << result << " {\n  ";
  if (operation.isTruth()) {
    StringRef predicate = operation.name == "eq"   ? "oeq"
                          : operation.name == "le" ? "ole"
                                                   : "olt";
    stream << "%t = numera.cmp " << predicate << ", " << operands << " : "
           << type << "\n  %y = arith.extui %t : tensor<?xi1> to " << result;
  } else if (operation.operation == OpKind::Cast) {
    stream << "%y = numera.cast "
           << (operation.isInteger() && !operation.integer.isSigned
                   ? "unsigned "
                   : "")
           << operands << " : " << type << " to " << result;
  } else {
    stream << "%y = numera." << nameOf(operation.operation) << ' ' << operands
           << " : " << type;
  }
  stream << "\n  return %y : " << result << "\n}\n";
  CompileOptions options;
  options.format = "f32";
  options.outputAs = "storage";
  Expected<std::unique_ptr<Program>> made =
      compileInMemory(compiler, registry, text, "check", options);
  if (!made)
    return made.takeError();
  program = std::move(*made);
  return Error::success();
}

Expected<std::vector<uint64_t>>
VectorProgram::run(ArrayRef<TestVector> vectors) const {
  std::vector<host::Array> arrays;
  std::vector<const host::Array *> inputs;
  for (size_t i = 0; i < operation.count(); ++i) {
    std::string error;
    std::optional<host::Array> array = host::makeArray(
        {int64_t(vectors.size())}, dtypeOfCodes(operation.operands), error);
    if (!array)
      return createStringError(error);
    for (size_t j = 0; j < vectors.size(); ++j)
      setBits(*array, j, vectors[j].operands[i]);
    arrays.push_back(std::move(*array));
  }
  for (const host::Array &array : arrays)
    inputs.push_back(&array);
  std::vector<host::Array> outputs;
  numera_options options = NUMERA_OPTIONS;
  if (Error failure = program->call("f", inputs, outputs, options))
    return std::move(failure);
  std::vector<uint64_t> codes(vectors.size());
  for (size_t j = 0; j < codes.size(); ++j)
    codes[j] = bitsOf(outputs.front(), j);
  return codes;
}

// ---- The comparison

Expected<VectorReport> numera::checkVectors(const Registry &registry,
                                            const VectorOperation &operation,
                                            StringRef path) {
  VectorReport report;
  report.operation = operation;
  report.path = path.str();
  if (Error error = checkRounding(operation))
    return std::move(error);
  VectorFile file(operation, path);
  if (Error error = file.open())
    return std::move(error);
  VectorProgram program(registry, operation);
  if (Error error = program.compile())
    return std::move(error);
  VectorOperation meaning = withMeaning(registry, operation);
  auto isNaN = [&](uint64_t code) {
    return meaning.operands && !operation.isTruth() && !operation.isInteger() &&
           meaning.result.getFamily().decode(meaning.result, code).isNaN();
  };
  for (;;) {
    Expected<std::vector<TestVector>> vectors = file.read(batch);
    if (!vectors)
      return vectors.takeError();
    if (vectors->empty() && report.lines == 0)
      return createStringError(path + ":1: error: there is no test vector");
    if (vectors->empty())
      return report;
    Expected<std::vector<uint64_t>> found = program.run(*vectors);
    if (!found)
      return found.takeError();
    report.lines += vectors->size();
    for (auto [vector, code] : zip_equal(*vectors, *found)) {
      if (vector.result != code && !(isNaN(vector.result) && isNaN(code)) &&
          report.mismatches++ < mostExamples)
        report.examples.push_back({vector, code});
      if (!vector.flags || !meaning.operands)
        continue;
      unsigned flags = referenceOf(meaning, vector.operands).second;
      if (flags == *vector.flags || report.otherFlags++ != 0)
        continue;
      report.firstOther = vector;
      report.firstOtherExpected = flags;
    }
  }
}

// ---- Printing

static std::string printCodeOf(const Format &format, uint64_t code) {
  std::string text =
      utohexstr(code, /*LowerCase=*/false, (format.width() + 3) / 4);
  if (format.isOpaque())
    return text;
  return text + " = " + printShortest(format, code);
}

static std::string printResultOf(const VectorOperation &operation,
                                 uint64_t code) {
  if (operation.isTruth())
    return std::to_string(code);
  if (!operation.isInteger())
    return printCodeOf(operation.result, code);
  unsigned width = operation.integer.integer, unused = 64 - width;
  return utohexstr(code, /*LowerCase=*/false, width / 4) + " = " +
         (operation.integer.isSigned
              ? std::to_string(int64_t(code << unused) >> unused)
              : std::to_string(code));
}

/// `f.txt:12: add(3C00 = 1, 4000 = 2) is 4200 = 3, expected 4201 = 3.002`.
static std::string printExample(const VectorReport &report,
                                const TestVector &vector, uint64_t found) {
  const VectorOperation &operation = report.operation;
  std::string text =
      (report.path + ":" + Twine(vector.line) + ": " + operation.name + "(")
          .str();
  for (auto [index, code] : enumerate(vector.operands))
    text += (index ? ", " : "") + printCodeOf(operation.operands, code);
  return text + ") is " + printResultOf(operation, found) + ", expected " +
         printResultOf(operation, vector.result);
}

void numera::printText(const VectorReport &report, raw_ostream &stream) {
  for (const auto &[vector, found] : report.examples)
    stream << printExample(report, vector, found) << '\n';
  if (report.mismatches > report.examples.size())
    stream << "and " << report.mismatches - report.examples.size() << " more\n";
  if (report.firstOther)
    stream << report.path << ':' << report.firstOther->line
           << ": remark: flags "
           << utohexstr(*report.firstOther->flags, false, 2)
           << ", the rounding has "
           << utohexstr(report.firstOtherExpected, false, 2) << "; so in "
           << report.otherFlags << " lines\n";
  const Format &format = report.operation.operands;
  stream << (format.isOpaque() ? format.getOpaqueName().str()
                               : format.spelling())
         << ' ' << report.operation.name << ": " << report.lines << " lines, "
         << report.mismatches << " not as expected\n";
}

void numera::printJSON(const VectorReport &report, json::OStream &json) {
  auto hexadecimal = [](uint64_t code) {
    return "0x" + utohexstr(code, /*LowerCase=*/true);
  };
  json.object([&] {
    json.attribute("operation", report.operation.name);
    json.attribute("format", report.operation.operands.spelling());
    json.attribute("result", report.operation.resultName());
    json.attribute("lines", int64_t(report.lines));
    json.attribute("not_as_expected", int64_t(report.mismatches));
    json.attribute("other_flags", int64_t(report.otherFlags));
    json.attributeArray("examples", [&] {
      for (const auto &[vector, found] : report.examples)
        json.object([&] {
          json.attribute("line", int64_t(vector.line));
          json.attributeArray("operands", [&] {
            for (uint64_t code : vector.operands)
              json.value(hexadecimal(code));
          });
          json.attribute("got", hexadecimal(found));
          json.attribute("expected", hexadecimal(vector.result));
        });
    });
  });
}
