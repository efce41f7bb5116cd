# SPDX-License-Identifier: MIT
"""Hold `numera eval` against Python: f64 is Python's own arithmetic.

eval.py [stochastic]
"""

import json
import random
import subprocess
import sys


def evaluate(*arguments):
    done = subprocess.run(
        ["numera", "eval", "--json", *arguments], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def check_f64():
    """Random expressions, and every value printed so that Python reads it back."""
    numbers = random.Random(1)
    for _ in range(60):
        text = repr(numbers.uniform(-8, 8))
        for _ in range(numbers.randrange(1, 6)):
            operator = numbers.choice("+-*/")
            number = repr(numbers.uniform(0.1, 1e3) ** numbers.randrange(1, 9))
            text = f"({text}) {operator} {number}"
        found, expected = evaluate(f"f64: {text}"), eval(text)
        values = (float.fromhex(found["value"]), float(found["shortest"]), float(found["decimal"]))
        if any(value != expected for value in values):
            sys.exit(f"{text}: {found}, expected {expected!r}")
        if len(found["shortest"].replace("e", "")) > len(repr(expected)) + 4:
            sys.exit(f"{text}: {found['shortest']} is longer than {expected!r}")


def check_stochastic():
    """One of the two neighbours, and each of them for some seed."""
    found = {
        evaluate("f8E4M3FN: 1/3", "--rounding", "stochastic", "--seed", str(seed))["decimal"]
        for seed in range(30)
    }
    if found != {"0.3125", "0.34375"}:
        sys.exit(f"1/3 became {sorted(found)}")


check_stochastic() if sys.argv[1:] else check_f64()
