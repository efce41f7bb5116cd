# SPDX-License-Identifier: MIT
"""Compiled programs."""

import numera
import numpy as np

AXPY = """
func.func @axpy(%a: tensor<?xf32>, %x: tensor<?xf32>, %y: tensor<?xf32>)
    -> tensor<?xf32> {
  %p = arith.mulf %a, %x : tensor<?xf32>
  %s = arith.addf %p, %y : tensor<?xf32>
  return %s : tensor<?xf32>
}
"""


def test_a_program_runs_in_its_format():
    axpy = numera.compile(AXPY, format="bf16")
    a, x, y = (np.array([value, 2.0], "f4") for value in (0.1, 3, 0.3))
    # 1/10 is 0.10009765625, times 3 0.30078125, and 3/10 is 0.30078125.
    assert axpy(a, x, y).tolist() == [0.6015625, 6.0]
