//===- Convolution.h - What Conv and ConvTranspose share -------*- C++ -*-===//
// SPDX-License-Identifier: MIT
//===---------------------------------------------------------------------===//
#ifndef NUMERA_LIB_IMPORT_ONNX_CONVOLUTION_H
#define NUMERA_LIB_IMPORT_ONNX_CONVOLUTION_H

#include "Window.h"

namespace numera::importer {

/// The convolution of an image that has its padding, by the strides and
/// dilations of `window`, from +0; `shape` is the result's. Weights are
/// (outputs, inputs / groups, kernel…).
Tensor convolve(Emitter &emit, const Window &window, const Tensor &padded,
                const Tensor &weights, const Shape &shape, int64_t groups);

/// Checks that the attribute kernel_shape, if there is one, is that of the
/// weights, which are input 1.
llvm::LogicalResult checkKernel(Node &node);

/// Checks that input 2, if there is one, is of the image's type and has a
/// number for each of the channels.
llvm::LogicalResult checkBias(Node &node, Dim channels);

/// One number for each channel, added to it.
Tensor addBias(Emitter &emit, const Tensor &sums, const Tensor &bias);

} // namespace numera::importer

#endif // NUMERA_LIB_IMPORT_ONNX_CONVOLUTION_H
