//===- Cells.h - The equations of LSTM, GRU and RNN ------------*- C++ -*-===//
// SPDX-License-Identifier: MIT
//===---------------------------------------------------------------------===//
//
// One step of a recurrent operator, written in operators of ONNX.
//
//===----------------------------------------------------------------------===//
#ifndef NUMERA_LIB_IMPORT_ONNX_CELLS_H
#define NUMERA_LIB_IMPORT_ONNX_CELLS_H

#include "Node.h"

namespace numera::importer {

/// An activation of a recurrent operator, by its name in lower case, with its
/// parameters.
struct Activation {
  llvm::StringRef name;
  float alpha = 0;
  float beta = 0;
};

/// The activations that a node names, or its operator's own: as many for each
/// direction as its equations have functions. Nothing after an error.
std::optional<llvm::SmallVector<Activation>>
readActivations(Node &node, int64_t directions);

/// The gates whose weights lie behind each other: 4 of LSTM, 3 of GRU, 1.
int64_t gatesOf(llvm::StringRef op);

/// What the equations of a node depend on.
struct Cell {
  llvm::StringRef op;
  int64_t hidden = 0;
  /// The type of all numbers.
  int64_t element = type::Float;
  bool hasBias = false;
  bool hasPeepholes = false;
  /// LSTM: the forget gate is what the input gate leaves.
  bool isCoupled = false;
  /// GRU: the state is multiplied with its weights before it is reset.
  bool isLinearBeforeReset = false;
  /// The bound of what activations of gates take.
  std::optional<float> clip;
  llvm::SmallVector<Activation, 3> activations;
};

/// A step's text (Text.h), which reads the constants and these tensors:
///
///     x       the step's products of the input and its weights: batch x gates
///     h, c    the states: batch x hidden
///     r       the weights of the state, transposed: hidden x gates
///     wb, rb  the biases: gates
///     p       the peepholes: 3 hidden
struct Step {
  std::string text;
  llvm::SmallVector<std::pair<std::string, Tensor>, 4> constants;
  /// The names of the states after the step: h and c.
  llvm::SmallVector<std::string, 2> states;
};

Step stepOf(const Cell &cell);

} // namespace numera::importer

#endif // NUMERA_LIB_IMPORT_ONNX_CELLS_H
