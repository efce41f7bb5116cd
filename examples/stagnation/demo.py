#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Where sums stop growing, and how often small formats are exact.

First the harmonic series in ten formats, until adding a term changes nothing;
then every pair of codes of two 8-bit formats, added and multiplied. Each row is
one `numera run`; known figures are checked, and the exit status is 1 where one
is not met.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from command import CommandFailed, run as command  # noqa: E402

ROOT = HERE.parents[1]
TERMS = 1100

# The sum that stays, and the first term that does not change it.
HARMONIC = {
    "f16": (7.0859375, 513),
    "bf16": (5.0625, 65),
    "float<6,9>": (6.40625, 257),
    "float<5,2>": (2.0, 5),
    "float<4,3>": (3.0, 9),
    "float<3,4>": (3.5, 16),
    "posit<8,0>": (3.5, 16),
    "posit<8,2>": (3.0, 9),
    "posit<16,1>": (7.77734375, 1024),
    "posit<16,2>": (7.78125, 1025),
}
# Shares of all pairs of codes in percent: exact, NaN. Infinity plus a number is
# exactly infinity; an overflow is not exact.
CLOSURE = {
    ("posit<8,1>", "add"): (24.226, 0.780),
    ("posit<8,1>", "mul"): (17.226, 0.780),
    ("float<4,3>", "add"): (18.533, 10.641),
    ("float<4,3>", "mul"): (22.272, 10.651),
}


def spelling(numera: str, name: str) -> str:
    """What the format's type is spelled as in MLIR."""
    return json.loads(command([numera, "formats", name, "--json"]))["spelling"]


def run(numera: str, program: str, name: str, inputs: list[np.ndarray]) -> list[np.ndarray]:
    """The results of a program of this folder in a format."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        text = (HERE / program).read_text(encoding="utf-8")
        (work / program).write_text(
            text.replace("<FORMAT>", f"<{spelling(numera, name)}>"), encoding="utf-8"
        )
        arguments = [numera, "run", str(work / program), "--output-dir", folder, "--json"]
        for index, array in enumerate(inputs):
            np.save(work / f"input_{index}.npy", array)
            arguments += ["--input", str(work / f"input_{index}.npy")]
        outputs = json.loads(command(arguments))["outputs"]
        return [np.load(work / f"output_{index}.npy") for index in range(len(outputs))]


def harmonic(numera: str, name: str) -> tuple[float, int]:
    """The sum that stays, and the term that did not change it."""
    numbers = np.arange(1, TERMS + 1, dtype=np.float32)
    (sums,) = run(numera, "harmonic.mlir", name, [numbers])
    same = np.flatnonzero(sums[1:] == sums[:-1])
    if len(same) == 0:
        return float(sums[-1]), 0
    return float(sums[same[0]]), int(same[0]) + 2  # terms count from 1


def values(numera: str, name: str) -> np.ndarray:
    """The values of all codes."""
    table = json.loads(command([numera, "formats", name, "--table", "--json"]))
    return np.array([float.fromhex(entry["value"]) for entry in table])


def closure(numera: str, name: str) -> dict[str, tuple[float, float]]:
    """The shares of exact results and of NaN over all pairs of codes."""
    codes = values(numera, name)
    x, y = np.repeat(codes, len(codes)), np.tile(codes, len(codes))
    results = run(numera, "closure.mlir", name, [x.astype(np.float32), y.astype(np.float32)])
    with np.errstate(all="ignore"):
        true = {"add": x + y, "mul": x * y}  # doubles hold these exactly
    shares = {}
    for (operation, expected), found in zip(true.items(), results):
        shares[operation] = (100 * np.mean(found == expected), 100 * np.mean(np.isnan(found)))
    return shares


def check_harmonic(numera: str) -> bool:
    """Print the first table; true if it is as known."""
    print("1 + 1/2 + 1/3 + … until the sum stays\n")
    print(f"{'format':<12}{'stays at':>12}{'at term':>9}")
    good = True
    for name, known in HARMONIC.items():
        found = harmonic(numera, name)
        print(f"{name:<12}{found[0]:>12.9g}{found[1]:>9}", end="")
        good &= found == known
        print("" if found == known else f"   expected {known[0]} at {known[1]}", flush=True)
    return good


def check_closure(numera: str) -> bool:
    """Print the second table; true if it is as known."""
    print("\nall pairs of codes\n")
    print(f"{'format':<12}{'':<5}{'exact':>10}{'NaN':>10}")
    good = True
    for name in dict.fromkeys(name for name, _ in CLOSURE):
        for operation, found in closure(numera, name).items():
            known = CLOSURE[name, operation]
            same = all(abs(f - k) < 0.00051 for f, k in zip(found, known))
            print(f"{name:<12}{operation:<5}{found[0]:>8.3f} %{found[1]:>8.3f} %", end="")
            good &= same
            print("" if same else f"   expected {known[0]} % and {known[1]} %", flush=True)
    return good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--numera", default=str(ROOT / "build/release/bin/numera"))
    args = parser.parse_args()
    try:
        good = check_harmonic(args.numera)
        good &= check_closure(args.numera)
    except (CommandFailed, OSError) as error:
        print(f"demo.py: {error}", file=sys.stderr)
        return 1
    except (KeyError, ValueError) as error:
        print(f"demo.py: numera's output is not as expected: {error!r}", file=sys.stderr)
        return 1
    if not good:
        print("demo.py: a figure is not the known one", file=sys.stderr)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
