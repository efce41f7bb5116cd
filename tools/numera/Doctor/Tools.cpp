// SPDX-License-Identifier: MIT

#include "Doctor.h"

#include "numera/Target/Driver/InMemory.h"
#include "numera/Target/Driver/Tools.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

using namespace llvm;
using namespace numera;

/// An error as a finding's text, on one line.
static std::string textOf(Error error) {
  std::string text = toString(std::move(error));
  llvm::replace(text, '\n', ' ');
  return text;
}

// ---- The core

/// 1/3 in posit16, by a program that is compiled and run here. Its code is that
/// of the Posit Standard: 0x32ab.
static Error runProgram() {
  static constexpr StringLiteral text =
      "func.func @f(%x: tensor<1xf32>, %y: tensor<1xf32>) -> tensor<1xf32> {\n"
      "  %z = arith.divf %x, %y : tensor<1xf32>\n"
      "  return %z : tensor<1xf32>\n}\n";
  Registry registry;
  Compiler compiler(registry);
  CompileOptions options;
  options.format = "posit16";
  Expected<std::unique_ptr<Program>> program =
      compileInMemory(compiler, registry, text, "doctor", options);
  if (!program)
    return program.takeError();
  std::string error;
  std::optional<host::Array> x = host::makeArray({1}, host::DType::f4, error);
  std::optional<host::Array> y = host::makeArray({1}, host::DType::f4, error);
  if (!x || !y)
    return createStringError(error);
  *x->data<float>() = 1;
  *y->data<float>() = 3;
  std::vector<host::Array> outputs;
  numera_options none = NUMERA_OPTIONS;
  if (Error failure = (*program)->call("f", {&*x, &*y}, outputs, none))
    return failure;
  float result = *outputs.front().data<float>();
  if (result != 0.3333740234375f)
    return createStringError("1/3 in posit16 is " + std::to_string(result) +
                             ", expected 0.3333740234375");
  return Error::success();
}

/// A folder that may be none.
static Finding folderFinding(StringRef name, const std::string &folder,
                             StringRef needed) {
  Finding finding = {name.str(), true, folder, needed.str(), "", false};
  if (folder.empty()) {
    finding.isFound = false;
    finding.found = "off, or neither XDG_CACHE_HOME nor HOME is a path";
    finding.advice = "set one of them, or NUMERA_CODE_CACHE";
  } else if (Error error = tryFolder(folder)) {
    finding.isFound = false;
    finding.found = textOf(std::move(error));
    finding.advice = "make it writable, or set XDG_CACHE_HOME to a folder that "
                     "is";
  }
  return finding;
}

void numera::examineCore(std::vector<Finding> &findings) {
  Finding core = {"core",       true, "compiles and runs a program",
                  "everything", "",   true};
  if (Error error = runProgram()) {
    core.isFound = false;
    core.found = textOf(std::move(error));
    core.advice = "report this, with numera --version";
  }
  findings.push_back(core);
  Finding temporary = {"temporary files",
                       true,
                       "",
                       "libraries and linking",
                       "set TMPDIR to a folder that can be written",
                       false};
  SmallString<128> folder;
  sys::path::system_temp_directory(/*ErasedOnReboot=*/true, folder);
  temporary.found = folder.str().str();
  if (Error error = tryTemporaryFile()) {
    temporary.isFound = false;
    temporary.found += ": " + textOf(std::move(error));
  }
  findings.push_back(temporary);
  findings.push_back(
      folderFinding("code cache", codeCacheFolder(),
                    "compiling what has been compiled before in less time"));
  findings.push_back(folderFinding("proofs", proofFolder(),
                                   "keeping what numera check --prove finds"));
}

// ---- Tools

static std::string installsClang() {
  return "apt install clang-" + std::to_string(LLVM_VERSION_MAJOR) +
         ", or put that clang on PATH";
}

static void examineClang(std::vector<Finding> &findings) {
  Expected<std::string> path = clangPath();
  std::string found = path ? *path : textOf(path.takeError());
  for (bool cxx : {false, true}) {
    Finding finding = {cxx ? "C++ sources" : "C sources",
                       true,
                       found,
                       cxx ? "libraries: path: NAME.cpp"
                           : "libraries: path: NAME.c",
                       installsClang(),
                       false};
    if (Error error = tryCompiler(cxx)) {
      finding.isFound = false;
      finding.found = textOf(std::move(error));
      if (!path)
        finding.advice = installsClang();
      else if (StringRef(finding.found).contains("file not found"))
        finding.advice =
            cxx ? "apt install libstdc++-12-dev" : "apt install libc6-dev";
      else
        finding.advice = "";
    }
    findings.push_back(finding);
  }
  Finding linker = {"linker",
                    true,
                    found,
                    "numera compile to .so and programs",
                    path ? "apt install lld-" +
                               std::to_string(LLVM_VERSION_MAJOR) +
                               " libc6-dev libgcc-12-dev"
                         : installsClang(),
                    false};
  if (Error error = tryLinker()) {
    linker.isFound = false;
    linker.found = textOf(std::move(error));
  }
  findings.push_back(linker);
}

void numera::examineTools(std::vector<Finding> &findings) {
  examineClang(findings);
  for (StringRef name : {"ptxas", "fatbinary"}) {
    Expected<std::string> path = cudaToolPath(name);
    Finding finding = {name.str(), bool(path), path ? *path : "",
                       "",         "",         false};
    finding.needed = name == "ptxas"
                         ? "machine code for GPUs (PTX, which the driver "
                           "compiles, needs none)"
                         : "--emit fatbin";
    finding.advice =
        "install CUDA's tools, and put them on PATH or set CUDA_HOME";
    if (!path)
      consumeError(path.takeError());
    findings.push_back(finding);
  }
  for (StringRef name : {"numera-opt", "numera-lsp-server"}) {
    std::string self = sys::fs::getMainExecutable(nullptr, nullptr);
    ErrorOr<std::string> path =
        sys::findProgramByName(name, {sys::path::parent_path(self)});
    Finding finding = {name.str(), bool(path), path ? *path : "",
                       "",         "",         false};
    finding.needed =
        name == "numera-opt" ? "passes one by one" : "editors, on .mlir files";
    finding.advice = "install it beside numera: ./dev build makes both";
    findings.push_back(finding);
  }
}
