# SPDX-License-Identifier: MIT
"""Softplus and Mish, far below 0 as well, against their definitions: softplus.py FOLDER"""

import sys
from pathlib import Path

import numpy as np
from node_cases import check


def softplus(r, x):
    x = r(x)
    return r(np.maximum(x, 0) + r(np.log1p(r(np.exp(-np.abs(x))))))


def mish(r, x):
    return r(r(x) * r(np.tanh(softplus(r, x))))


def main(folder):
    x = np.array([-80, -50, -20, -17, -15, -12, -8, -1, -0.5, 0, 0.5, 1, 8, 17, 80])
    assert abs(softplus(np.asarray, x)[2] / 2.0611536e-9 - 1) < 1e-6
    cases = [
        ("Softplus", {}, [x], lambda r: [softplus(r, x)]),
        ("Mish", {}, [x], lambda r: [mish(r, x)]),
    ]
    check(folder, cases, 18)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
