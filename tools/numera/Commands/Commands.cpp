// SPDX-License-Identifier: MIT

#include "Commands.h"

#include "llvm/Config/Targets.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"

using namespace llvm;
using namespace numera;

ArrayRef<Command> numera::commands() {
  static const Command all[] = {
      {"compile",
       "write a model as MLIR, LLVM IR, assembly, an object, a\n"
       "shared object or an executable, in the number format of choice",
       compileCommand},
      {"run", "run a model on NumPy arrays, and say what the format costs",
       runCommand},
      {"formats", "list the number formats, describe one, or draw several",
       formatsCommand},
      {"eval", "a calculator in any format", evalCommand},
      {"check", "certify formats and libraries against the exact reference",
       checkCommand},
      {"vectors", "write test vectors in the text form of TestFloat",
       vectorsCommand},
      {"calibrate", "run sample data, and write a policy with scales that fit",
       calibrateCommand},
      {"new", "write a folder with a number format of your own", newCommand},
      {"schema", "print the JSON Schema of configurations", schemaCommand},
      {"doctor", "say what is missing on this machine, and what to do",
       doctorCommand},
  };
  return all;
}

void numera::printVersion(StringRef version) {
  outs() << "numera " << version << "\nLLVM " << LLVM_VERSION_STRING << ", "
         << sys::getDefaultTargetTriple()
         << "\n--cpu native: " << sys::getHostCPUName() << "\ntargets: x86-64"
#if LLVM_HAS_AARCH64_TARGET
         << ", aarch64"
#endif
#if LLVM_HAS_NVPTX_TARGET
         << ", nvptx"
#endif
         << '\n';
}
