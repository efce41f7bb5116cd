// SPDX-License-Identifier: MIT
//
// The main of a compiled executable: arrays in from .npy files, through the
// program's function, and out to .npy files. An input whose first dimension is
// larger than the function's batch is a data set, fed slice by slice.

#include "DataSet.h"

#include "numera/Runtime/Convert.h"
#include "numera/Runtime/Entry.h"

#include <charconv>
#include <cstdio>
#include <cstring>
#include <sys/stat.h>

using namespace numera::host;

namespace {

struct Arguments {
  std::string outputDir = ".";
  numera_options options = NUMERA_OPTIONS;
  std::vector<std::string> files; ///< X.npy or NAME=X.npy
  bool help = false;
};

bool parseNumber(const char *flag, const char *text, uint64_t &value,
                 std::string &error) {
  const char *end = text + std::strlen(text);
  auto [stop, code] = std::from_chars(text, end, value);
  if (code == std::errc() && stop == end && stop != text)
    return true;
  error = std::string(flag) + " is '" + text + "'; expected a number";
  return false;
}

bool parseArguments(int count, char **words, Arguments &arguments,
                    std::string &error) {
  for (int i = 1; i < count; ++i) {
    std::string_view word = words[i];
    if (word == "--help") {
      arguments.help = true;
      return true;
    }
    if (!word.starts_with("--")) {
      arguments.files.emplace_back(word);
      continue;
    }
    if (++i == count) {
      error = std::string(word) + " needs a value";
      return false;
    }
    bool valid = true;
    if (word == "--input")
      arguments.files.emplace_back(words[i]);
    else if (word == "--output-dir")
      arguments.outputDir = words[i];
    else if (word == "--seed")
      valid = parseNumber("--seed", words[i], arguments.options.seed, error);
    else if (word == "--step")
      valid = parseNumber("--step", words[i], arguments.options.step, error);
    else if (word == "--threads") {
      uint64_t threads = 0;
      valid = parseNumber("--threads", words[i], threads, error);
      if (valid && threads > 65535) {
        error = "--threads is '" + std::string(words[i]) +
                "'; expected at most 65535";
        return false;
      }
      arguments.options.threads = uint32_t(threads);
    } else {
      error = "unknown flag " + std::string(word) +
              "; expected --input, --output-dir, --seed, --step or --threads";
      return false;
    }
    if (!valid)
      return false;
  }
  return true;
}

/// The index of the input that `file` is for: by name if it says `NAME=`, else
/// the next in order. Leaves the path in `file`.
bool findInput(const FunctionInfo &function, std::string &file, size_t &next,
               size_t &index, std::string &error) {
  size_t equals = file.find('=');
  for (size_t i = 0; equals != std::string::npos && i < function.inputCount;
       ++i)
    if (file.compare(0, equals, function.inputs[i].name) == 0) {
      file.erase(0, equals + 1);
      index = i;
      return true;
    }
  index = next++;
  if (index < function.inputCount)
    return true;
  error = std::string(function.name) + " takes " +
          std::to_string(function.inputCount) + " inputs; " + file +
          " is one more";
  return false;
}

/// Numbers for an input of f32 or f64. What else does not fit, the function
/// says.
bool convertInput(const TensorInfo &input, const std::string &file,
                  Array &array, std::string &error) {
  bool isFloat = input.dtype == NUMERA_F32 || input.dtype == NUMERA_F64;
  if (!isFloat ||
      convertNumbers(array, input.dtype == NUMERA_F32 ? DType::f4 : DType::f8,
                     error))
    return true;
  error = file + ": " + error;
  return false;
}

bool readInputs(const FunctionInfo &function, Arguments &arguments,
                std::vector<Array> &arrays, std::string &error) {
  arrays.resize(function.inputCount);
  size_t next = 0;
  for (std::string &file : arguments.files) {
    size_t index = 0;
    if (!findInput(function, file, next, index, error) ||
        !readNpy(file.c_str(), arrays[index], error) ||
        !convertInput(function.inputs[index], file, arrays[index], error))
      return false;
  }
  for (size_t i = 0; i < function.inputCount; ++i)
    if (!arrays[i].bytes) {
      std::string name = function.inputs[i].name;
      error = "input " + std::to_string(i) +
              (name.empty() ? "" : " '" + name + "'") + " is missing: give " +
              std::to_string(function.inputCount) + " .npy file" +
              (function.inputCount == 1 ? "" : "s");
      return false;
    }
  return true;
}

/// `<name>.npy` where the output's name is a file name, else `output_<i>.npy`.
std::string fileNameOf(const TensorInfo &output, size_t index) {
  std::string name = output.name;
  bool usable = !name.empty() && name[0] != '.' &&
                name.find('/') == std::string::npos && name.size() < 200;
  return (usable ? name : "output_" + std::to_string(index)) + ".npy";
}

bool runMain(Arguments &arguments, std::string &error) {
  const FunctionInfo &function = *numera_main_function;
  std::vector<Array> inputs, outputs;
  if (!readInputs(function, arguments, inputs, error) ||
      !runDataSet(function, inputs, arguments.options, outputs, error))
    return false;
  // One that exists is fine; any other trouble shows when a file is written.
  (void)mkdir(arguments.outputDir.c_str(), 0777);
  for (size_t i = 0; i < outputs.size(); ++i) {
    std::string path =
        arguments.outputDir + "/" + fileNameOf(function.outputs[i], i);
    if (!writeNpy(path.c_str(), outputs[i], error))
      return false;
  }
  return true;
}

} // namespace

int main(int count, char **words) {
  Arguments arguments;
  arguments.options.seed = numera_main_function->seed;
  std::string error;
  bool succeeded = parseArguments(count, words, arguments, error);
  if (succeeded && arguments.help) {
    std::printf("usage: %s [--input] [NAME=]X.npy ... [--output-dir DIR] "
                "[--seed N] [--step N] [--threads N]\n",
                words[0]);
    return 0;
  }
  if (succeeded && runMain(arguments, error))
    return 0;
  std::fprintf(stderr, "%s: error: %s\n", words[0], error.c_str());
  return 1;
}
