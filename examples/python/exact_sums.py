# SPDX-License-Identifier: MIT
"""The same dot product in five accumulators, and what it is exactly.

A quire keeps every bit: its sum is the exact one, rounded once. What others lose
depends on the order and on the data.
"""

from fractions import Fraction

import numera
import numpy as np


def main() -> None:
    random = np.random.default_rng(0)
    terms = np.float64(10) ** random.uniform(-3, 3, 2000) * random.choice([-1, 1], 2000)
    # Every large term comes back with the other sign: they cancel.
    x = numera.array(np.concatenate([terms, -terms, random.normal(size=96)]), "posit16")
    y = numera.array(np.ones(x.size), "posit16")
    exact = sum(Fraction(a) * Fraction(b) for a, b in zip(x.tolist(), y.tolist()))
    print(f"{'exact':9} {float(exact):.10g}")
    rounded = numera.quantize(np.array([float(exact)]), "posit16").item()
    print(f"{'rounded':9} {rounded:.10g}")
    for accumulate in ("same", "bf16", "f32", "f64", "quire"):
        found = numera.dot(x, y, accumulate=accumulate).item()
        verdict = "exact, rounded once" if found == rounded else "off"
        print(f"{accumulate:9} {found:.10g}  {verdict}")


if __name__ == "__main__":
    main()
