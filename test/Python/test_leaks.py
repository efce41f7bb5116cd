# SPDX-License-Identifier: MIT
"""What calls keep, by the sanitizer for addresses: the preset `sanitize`."""

import os
import re
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(
    "asan" not in os.environ.get("LD_PRELOAD", ""), reason="for the preset sanitize"
)

ROUND = '''
import concurrent.futures
import sys

import numpy as np
import numera

x = np.random.default_rng(0).standard_normal(64).astype("f4")
program = """
func.func @f(%x: tensor<64xf32>) -> tensor<64xf32> {
  %c = arith.constant dense<NUMBER.5> : tensor<64xf32>
  %r = arith.addf %x, %c : tensor<64xf32>
  return %r : tensor<64xf32>
}
"""


def attempt(call, *given, **options):
    try:
        call(*given, **options)
    except numera.Error:
        return
    raise AssertionError(given)


def once(number):
    for name in ("posit16", "bf16", "float<5,7>", "mxfp8e4m3"):
        numera.quantize(x, name)
    for name in ("posit16", "bf16", "float<5,7>"):
        codes = numera.array(x, name)
        (codes * codes).sum()
        numera.dot(codes, codes)
    text = program.replace("NUMBER", str(number))
    compiled = numera.compile(text, format="posit16", seed=number)
    compiled(x)
    compiled.layers(x)
    attempt(numera.compile, text[:-3], format="posit16")
    attempt(numera.format, "posit<1>")


with concurrent.futures.ThreadPoolExecutor(4) as pool:
    list(pool.map(once, range(int(sys.argv[1]))))
'''


def leaks(rounds):
    environment = dict(os.environ)
    environment["ASAN_OPTIONS"] += ":detect_leaks=1"
    done = subprocess.run(
        [sys.executable, "-c", ROUND, str(rounds)],
        capture_output=True,
        text=True,
        env=environment,
    )
    found = re.search(
        r"SUMMARY: AddressSanitizer: (\d+) byte\(s\) leaked in (\d+)", done.stderr
    )
    assert found, done.stderr
    return found.groups()


def test_calls_and_compilations_leak_nothing():
    # What the module and Python keep to the end is the same for any number.
    assert leaks(4) == leaks(20)
