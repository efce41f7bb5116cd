# SPDX-License-Identifier: MIT
"""Two matrices with numbers of every size, infinities and a NaN: matrices.py OUT"""

import sys
from pathlib import Path

import numpy as np

out = Path(sys.argv[1])
out.mkdir(parents=True, exist_ok=True)
generator = np.random.default_rng(7)
a = generator.normal(size=(37, 65)).astype("f4")
b = generator.normal(size=(65, 70)).astype("f4")
a[3] *= np.exp2(generator.integers(-30, 30, 65)).astype("f4")
b[:, 5] *= np.exp2(generator.integers(-30, 30, 65)).astype("f4")
a[7, 11], a[8, 2], b[4, 9], b[60, 64] = np.inf, np.nan, -np.inf, 0.0
np.save(out / "a.npy", a)
np.save(out / "b.npy", b)
