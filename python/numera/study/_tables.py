# SPDX-License-Identifier: MIT
"""Published costs of operations, as examples.

Integers are the formats with their bits and no fraction. Energies are picojoules,
areas square micrometres.
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["HOROWITZ_2014", "JOUPPI_2021", "TABLES"]

Prices = Mapping[str, Mapping[str, Mapping[str, float]]]

HOROWITZ_2014: Prices = {
    "fixed<7,0>": {
        "add": {"energy": 0.03, "area": 36},
        "mul": {"energy": 0.2, "area": 282},
    },
    "fixed<15,0>": {"add": {"energy": 0.05, "area": 67}},
    "fixed<31,0>": {
        "add": {"energy": 0.1, "area": 137},
        "mul": {"energy": 3.1, "area": 3495},
    },
    # Exact sums of products of integers of 8 bits.
    "quire": {"add": {"energy": 0.1, "area": 137}},
    "f16": {
        "add": {"energy": 0.4, "area": 1360},
        "mul": {"energy": 1.1, "area": 1640},
    },
    "f32": {
        "add": {"energy": 0.9, "area": 4184},
        "mul": {"energy": 3.7, "area": 7700},
    },
}
"""In 45 nm at 0.9 V.

M. Horowitz, "Computing's energy problem (and what we can do about it)", ISSCC 2014,
figure 1.1.9, for energies. W. Dally, "High-performance hardware for machine
learning", tutorial at NIPS 2015, has the areas beside them, of circuits that were
synthesised for TSMC's 45 nm, and additions of 16 bits.
"""

JOUPPI_2021: Prices = {
    "fixed<7,0>": {"add": {"energy": 0.007}, "mul": {"energy": 0.07}},
    "fixed<31,0>": {"add": {"energy": 0.03}, "mul": {"energy": 1.48}},
    "quire": {"add": {"energy": 0.03}},
    "bf16": {"add": {"energy": 0.11}, "mul": {"energy": 0.21}},
    "f16": {"add": {"energy": 0.16}, "mul": {"energy": 0.34}},
    "f32": {"add": {"energy": 0.38}, "mul": {"energy": 1.31}},
}
"""In 7 nm; it has no areas.

N. Jouppi and others, "Ten lessons from three generations shaped Google's TPUv4i",
ISCA 2021, table 2.
"""

TABLES = {"horowitz2014": HOROWITZ_2014, "jouppi2021": JOUPPI_2021}
"""By the names that a command takes."""
