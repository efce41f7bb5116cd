# SPDX-License-Identifier: MIT
"""Rounds numbers to four formats, and shows how large the errors are.

quantize.py [PICTURE]: with matplotlib the errors are drawn to that file.
"""

import sys

import numera
import numpy as np

FORMATS = ["f8E4M3FN", "posit8", "takum<8>", "mxfp8"]


def main() -> None:
    x = np.random.default_rng(0).normal(size=100_000).astype(np.float32)
    rounded = {name: numera.quantize(x, name) for name in FORMATS}
    print("format    bits  SQNR dB  largest error")
    for name, y in rounded.items():
        error = (y - x).astype(np.float64)
        sqnr = 10 * np.log10(np.sum(x.astype(np.float64) ** 2) / np.sum(error**2))
        format = numera.format(name)
        bits = getattr(format, "bits_per_element", format.width)
        print(f"{name:9} {bits:4g}  {sqnr:7.1f}  {np.abs(error).max():13.4f}")
    if len(sys.argv) > 1:
        draw(x, rounded, sys.argv[1])


def draw(x: np.ndarray, rounded: dict[str, np.ndarray], path: str) -> None:
    from matplotlib import pyplot

    figure, (precision, errors) = pyplot.subplots(2, figsize=(8, 8))
    for name, y in rounded.items():
        if name != "mxfp8":  # whose precision depends on its scales
            numera.format(name).plot(precision)
        order = np.argsort(np.abs(x))[::200]
        errors.plot(np.abs(x[order]), np.abs(y - x)[order], ".", label=name)
    precision.set_ylabel("significant bits")
    errors.set(xscale="log", yscale="log", xlabel="magnitude", ylabel="error")
    errors.legend()
    figure.savefig(path)


if __name__ == "__main__":
    main()
