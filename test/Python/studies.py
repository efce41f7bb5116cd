# SPDX-License-Identifier: MIT
"""A model and data that the tests of studies share."""

import numera
import numpy as np

# A layer of 4 classes: rows of 6 numbers, any number of them.
LAYER = """
func.func @layer(%x: tensor<?x6xf32>, %w: tensor<6x4xf32>) -> tensor<?x4xf32> {
  %zero = arith.constant 0.0 : f32
  %i = arith.constant 0 : index
  %rows = tensor.dim %x, %i : tensor<?x6xf32>
  %empty = tensor.empty(%rows) : tensor<?x4xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x4xf32>)
      -> tensor<?x4xf32>
  %y = linalg.matmul ins(%x, %w : tensor<?x6xf32>, tensor<6x4xf32>)
      outs(%init : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}
"""
SQUARE = """
func.func @square(%x: tensor<SIZE>) -> tensor<SIZE> {
  %y = arith.mulf %x, %x : tensor<SIZE>
  return %y : tensor<SIZE>
}
"""
RANDOM = np.random.default_rng(5)
X = RANDOM.standard_normal((150, 6)).astype("f4")
W = RANDOM.standard_normal((6, 4)).astype("f4")
LABELS = (X.astype("f8") @ W.astype("f8")).argmax(1)


def square(size):
    return SQUARE.replace("SIZE", f"{size}xf32")


def kept(store, progress=None, **changes):
    given = {"formats": "float<4..5,1..4>", "inputs": [X, W], "labels": LABELS}
    return numera.sweep(
        LAYER, store=store, progress=progress, **{"workers": 1, **given, **changes}
    )
