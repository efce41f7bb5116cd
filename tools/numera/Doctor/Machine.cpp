// SPDX-License-Identifier: MIT

#include "Doctor.h"
#include "numera/Target/NVPTX/LocalGPU.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/TargetParser/Host.h"

using namespace llvm;
using namespace numera;

// ---- The CPU

namespace {
/// Instructions under a name for people, by LLVM's names of the features.
struct Instructions {
  StringLiteral name;
  std::vector<StringRef> features;
  StringLiteral needed;
};
} // namespace

static void examineCPU(std::vector<Finding> &findings) {
  findings.push_back({"CPU", true, sys::getHostCPUName().str(), "", "", false});
  if (!StringRef(sys::getProcessTriple()).starts_with("x86_64"))
    return;
  StringMap<bool> features = sys::getHostCPUFeatures();
  const Instructions all[] = {
      {"AVX2 and FMA", {"avx2", "fma", "f16c"}, "vectors of 256 bits"},
      {"AVX-512",
       {"avx512f", "avx512bw", "avx512dq", "avx512vl"},
       "vectors of 512 bits"},
      {"AVX-512 BF16",
       {"avx512bf16"},
       "conversions to bf16 in one instruction"},
      {"AVX-512 FP16", {"avx512fp16"}, "arithmetic of f16 and narrower floats"},
      {"AVX-512 VBMI", {"avx512vbmi"}, "table lookups on bytes"},
  };
  for (const Instructions &each : all) {
    bool isFound = all_of(each.features, [&](StringRef feature) {
      return features.lookup(feature);
    });
    findings.push_back(
        {each.name.str(), isFound,
         isFound ? "this CPU has it" : "not in this CPU", each.needed.str(),
         "without it results have the same bits, and take longer", false});
  }
}

// ---- The GPU

static void examineGPU(std::vector<Finding> &findings) {
  LocalGPU gpu = findLocalGPU(/*startsDriver=*/true);
  Finding driver = {"GPU driver",
                    gpu.isFound(),
                    "no libcuda.so.1",
                    "--target nvptx, where programs run",
                    "install NVIDIA's driver; compiling needs none",
                    false};
  if (gpu.status) {
    driver.found =
        "the driver finds no GPU (error " + std::to_string(*gpu.status) + ")";
    driver.advice = "see what nvidia-smi says";
  } else if (gpu.isFound()) {
    driver.found = gpu.name.empty() ? "finds a GPU" : gpu.name;
    if (gpu.version)
      driver.found += ", --gpu sm_" + std::to_string(gpu.version);
    if (gpu.processors)
      driver.found += ", " + std::to_string(gpu.processors) + " processors";
  }
  findings.push_back(driver);
}

// ---- Python

/// Finds modules and their versions without importing them. The folder that
/// numera was started in is not looked at.
static constexpr StringLiteral script = R"(
import importlib.metadata, importlib.util, sys
sys.path[:] = [path for path in sys.path if path]
for module, package in (("numera", "numera-mlir"), ("torch", "torch"), ("torch_mlir", "torch-mlir"), ("jax", "jax"), ("matplotlib", "matplotlib")):
    if importlib.util.find_spec(module) is None:
        continue
    try:
        print(module, importlib.metadata.version(package))
    except importlib.metadata.PackageNotFoundError:
        print(module, "of an unknown version")
)";

/// What the script prints; empty if Python does not run.
static std::string runPython(StringRef python) {
  SmallString<128> output;
  if (sys::fs::createTemporaryFile("numera", "log", output))
    return "";
  std::optional<StringRef> redirects[] = {StringRef(""), StringRef(output),
                                          StringRef("")};
  int status = sys::ExecuteAndWait(python, {python, "-c", script}, std::nullopt,
                                   redirects, /*SecondsToWait=*/30);
  auto text = MemoryBuffer::getFile(output);
  sys::fs::remove(output);
  return status == 0 && text ? (*text)->getBuffer().str() : "";
}

static void examinePython(std::vector<Finding> &findings) {
  const char *named = std::getenv("NUMERA_PYTHON");
  ErrorOr<std::string> python =
      sys::findProgramByName(named && *named ? named : "python3");
  Finding package = {"Python package",
                     false,
                     python ? "not installed for " + *python : "no python3",
                     "import numera, reports and sweeps",
                     "pip install the wheel of ./dev wheel",
                     false};
  std::string found = python ? runPython(*python) : "";
  StringMap<std::string> versions;
  for (StringRef line : split(found, '\n'))
    if (auto [module, version] = line.split(' '); !module.empty())
      versions[module] = version.str();
  auto has = [&](StringRef module) { return versions.contains(module); };
  if (has("numera")) {
    package.isFound = true;
    package.found = versions["numera"] + ", for " + *python;
  }
  findings.push_back(package);
  if (!package.isFound)
    return;
  bool hasTorch = has("torch") && has("torch_mlir");
  findings.push_back(
      {"numera.torch", hasTorch, hasTorch ? "PyTorch " + versions["torch"] : "",
       "models of PyTorch", "pip install 'numera-mlir[torch]'", false});
  bool hasJAX = has("jax") && has("torch_mlir");
  findings.push_back(
      {"numera.jax", hasJAX, hasJAX ? "JAX " + versions["jax"] : "",
       "functions of JAX", "pip install 'numera-mlir[jax]'", false});
  findings.push_back(
      {"plots in Python", has("matplotlib"),
       has("matplotlib") ? "matplotlib " + versions["matplotlib"] : "",
       "plot()", "pip install matplotlib", false});
}

void numera::examineMachine(std::vector<Finding> &findings) {
  examineCPU(findings);
  examineGPU(findings);
  examinePython(findings);
}
