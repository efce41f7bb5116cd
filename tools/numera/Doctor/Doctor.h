// SPDX-License-Identifier: MIT
//
// What is there on this machine of all that Numera uses, and what is missing.

#ifndef NUMERA_TOOLS_DOCTOR_DOCTOR_H
#define NUMERA_TOOLS_DOCTOR_DOCTOR_H

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <string>
#include <vector>

namespace numera {

/// One thing that is there or not.
struct Finding {
  std::string name;
  bool isFound = true;
  std::string found;   ///< a path, a version, or what is wrong
  std::string needed;  ///< what for
  std::string advice;  ///< what to do if it is missing; empty: nothing can be
  bool isCore = false; ///< without it, nothing works
};

/// Whether a program can be compiled and run here, and files be written.
void examineCore(std::vector<Finding> &findings);
/// Compilers, linkers and CUDA's tools.
void examineTools(std::vector<Finding> &findings);
/// The CPU, the GPU and its driver, and Python.
void examineMachine(std::vector<Finding> &findings);

void printText(llvm::ArrayRef<Finding> findings, llvm::raw_ostream &stream);
void printJSON(llvm::ArrayRef<Finding> findings, llvm::json::OStream &json);

} // namespace numera

#endif // NUMERA_TOOLS_DOCTOR_DOCTOR_H
