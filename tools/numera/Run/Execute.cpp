// SPDX-License-Identifier: MIT

#include "Execute.h"

#include "Support/Reproducer.h"

#include "numera/Runtime/Progress.h"
#include "llvm/ADT/StringExtras.h"
#include <chrono>

using namespace llvm;
using namespace numera;

const FunctionSignature *
numera::chooseFunction(ArrayRef<FunctionSignature> functions, StringRef name,
                       std::string &error) {
  std::vector<StringRef> names;
  for (const FunctionSignature &function : functions) {
    if (function.name == name)
      return &function;
    names.push_back(function.name);
  }
  if (name.empty() && functions.size() == 1)
    return functions.data();
  error = name.empty() ? "the model has functions "
                       : "no function '" + name.str() + "', the model has ";
  error += join(names, ", ");
  if (name.empty())
    error += ": choose one with --function";
  return nullptr;
}

Error numera::openShared(const std::string &path, StringRef name,
                         Executable &out) {
  Expected<std::unique_ptr<Program>> program = Program::open(path);
  if (!program)
    return program.takeError();
  out.program = std::move(*program);
  std::string error;
  const FunctionSignature *function =
      chooseFunction(out.program->functions(), name, error);
  if (!function)
    return createStringError(path + ": " + error);
  out.function = *function;
  return Error::success();
}

static Error pass(const Executable &executable, DataSet &data,
                  numera_options options, host::Progress &progress,
                  std::vector<host::Array> &outputs, double &seconds) {
  using Clock = std::chrono::steady_clock;
  Clock::duration total{};
  outputs.clear();
  for (size_t slice = 0; slice < data.slices(); ++slice) {
    std::vector<const host::Array *> inputs = data.slice(slice);
    std::vector<host::Array> results;
    options.sample = uint64_t(data.firstRow(slice));
    Clock::time_point begin = Clock::now();
    if (Error error = executable.program->call(executable.function.name, inputs,
                                               results, options))
      return error;
    total += Clock::now() - begin;
    std::string error;
    if (!data.append(slice, std::move(results), outputs, error))
      return createStringError(error);
    progress.advance();
  }
  seconds = std::chrono::duration<double>(total).count();
  return Error::success();
}

Error numera::execute(const Executable &executable, DataSet &data,
                      const numera_options &options, uint64_t count,
                      StringRef label, Measured &out) {
  ProgramRuns scope;
  host::Progress progress(std::string_view(label), count * data.slices());
  for (uint64_t i = 0; i < count; ++i)
    if (Error error = pass(executable, data, options, progress, out.outputs,
                           out.seconds.emplace_back()))
      return error;
  return Error::success();
}
