// SPDX-License-Identifier: MIT

#include "Arrays.h"
#include "Support/CommandLine.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace numera;

static std::string listNames(const FunctionSignature &function) {
  std::string text;
  for (auto [index, input] : enumerate(function.inputs)) {
    text += index ? ", " : "";
    text +=
        input.name.empty() ? "input " + utostr(index) : "'" + input.name + "'";
  }
  return text.empty() ? "none" : text;
}

static std::string countOf(size_t count, StringRef what) {
  return (Twine(count) + " " + what + (count == 1 ? "" : "s")).str();
}

/// The index of the input that `argument` names, and the rest of it.
static std::optional<size_t> findNamed(const FunctionSignature &function,
                                       StringRef argument, StringRef &path) {
  for (auto [index, input] : enumerate(function.inputs)) {
    StringRef rest = argument;
    // Names may hold '=' themselves.
    if (!input.name.empty() && rest.consume_front(input.name) &&
        rest.consume_front("=")) {
      path = rest;
      return index;
    }
  }
  return std::nullopt;
}

/// Which file goes to which input; empty paths are left for nobody.
static bool assignPaths(const FunctionSignature &function,
                        ArrayRef<std::string> arguments,
                        std::vector<std::string> &paths, std::string &error) {
  std::vector<StringRef> unnamed;
  for (StringRef argument : arguments) {
    StringRef path;
    std::optional<size_t> index = findNamed(function, argument, path);
    if (!index && argument.contains('=') && !sys::fs::exists(argument)) {
      error = ("no input is named '" + argument.split('=').first +
               "', the function takes " + listNames(function))
                  .str();
      return false;
    }
    if (!index) {
      unnamed.push_back(argument);
      continue;
    }
    if (!paths[*index].empty()) {
      error = "input '" + function.inputs[*index].name +
              "' is given twice: " + paths[*index] + " and " + path.str();
      return false;
    }
    paths[*index] = path.str();
  }
  for (std::string &path : paths)
    if (path.empty() && !unnamed.empty()) {
      path = unnamed.front().str();
      unnamed.erase(unnamed.begin());
    }
  if (unnamed.empty() && !is_contained(paths, ""))
    return true;
  error = "found " + countOf(arguments.size(), "array") + ", '" +
          function.name + "' takes " + utostr(function.inputs.size()) + " (" +
          listNames(function) + "): give each with --input [NAME=]FILE.npy";
  return false;
}

std::optional<DataSet> numera::readInputs(const FunctionSignature &function,
                                          ArrayRef<std::string> arguments,
                                          std::string &error,
                                          int64_t rowsOfSlice) {
  std::vector<std::string> paths(function.inputs.size());
  if (!assignPaths(function, arguments, paths, error))
    return std::nullopt;
  std::vector<DataSet::Input> inputs;
  for (const std::string &path : paths) {
    DataSet::Input input{{}, path};
    if (!host::readNpy(path.c_str(), input.array, error))
      return std::nullopt;
    inputs.push_back(std::move(input));
  }
  return DataSet::make(function, std::move(inputs), error, rowsOfSlice);
}

static bool isFileName(StringRef name) {
  // With its ending and that of the temporary file beside it, a name has to
  // stay below 256 bytes.
  return !name.empty() && name != "." && name != ".." && name.size() <= 200 &&
         !name.contains('/') && printable(name) == name;
}

std::vector<std::string>
numera::outputNames(ArrayRef<TensorSignature> outputs) {
  std::vector<std::string> names;
  for (auto [index, output] : enumerate(outputs)) {
    std::string name = output.name;
    if (!isFileName(name) || is_contained(names, name))
      name = "output_" + utostr(index);
    while (is_contained(names, name))
      name += '_';
    names.push_back(std::move(name));
  }
  return names;
}

static bool cannotWrite(const std::string &folder, std::error_code code,
                        std::string &error) {
  error = folder + ": cannot write arrays here: " + code.message() +
          "; name another folder with --output-dir";
  return false;
}

bool numera::checkOutputFolder(const std::string &folder, std::string &error) {
  // The folder, or the one that it will be made in.
  StringRef there = folder;
  while (!there.empty() && !sys::fs::exists(there))
    there = sys::path::parent_path(there);
  if (there.empty())
    there = ".";
  std::error_code code =
      sys::fs::is_directory(there)
          ? sys::fs::access(there, sys::fs::AccessMode::Write)
          : std::make_error_code(std::errc::not_a_directory);
  return !code || cannotWrite(folder, code, error);
}

bool numera::writeOutputs(const std::string &folder,
                          ArrayRef<std::string> names,
                          ArrayRef<host::Array> arrays, std::string &error) {
  if (std::error_code code = sys::fs::create_directories(folder))
    return cannotWrite(folder, code, error);
  for (auto [name, array] : zip_equal(names, arrays)) {
    SmallString<128> path(folder);
    sys::path::append(path, name + ".npy");
    if (!host::writeNpy(path.c_str(), array, error))
      return false;
  }
  return true;
}
