# SPDX-License-Identifier: MIT
"""A format of one's own in 20 lines of C: bf16 with an approximate product.

Mitchell's product adds codes as if they were logarithms, which takes an adder where
others take a multiplier. How much does a matrix product lose by it?
"""

import pathlib

import numera
import numpy as np

PRODUCT = """
func.func @product(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %c = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>)
      outs(%zero : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %c : tensor<64x64xf32>
}
"""


def main() -> None:
    source = pathlib.Path(__file__).with_name("mitchell.c")
    mitchell = numera.register("mitchell", bits=16, source=source, carrier="f32")
    print(f"{mitchell!r} from {source.name}")
    a, b = np.random.default_rng(0).normal(size=(2, 64, 64)).astype(np.float32)
    exact = a.astype(np.float64) @ b.astype(np.float64)
    for format in ("bf16", mitchell):
        product = numera.compile(PRODUCT, format=format, accumulate="same")(a, b)
        error = np.linalg.norm(product - exact) / np.linalg.norm(exact)
        print(f"{format!s:9} relative error {error:.4f}")


if __name__ == "__main__":
    main()
