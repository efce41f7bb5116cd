# SPDX-License-Identifier: MIT
"""The scripts of examples/training, a few steps of each: what they claim shows."""

import pathlib
import subprocess
import sys

import pytest
from marks import long

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples/training"


@pytest.fixture(autouse=True)
def _needs():
    pytest.importorskip("torch")
    if not pathlib.Path("/usr/share/datasets/fashion-mnist").exists():
        pytest.skip("needs dataset-fashion-mnist")


def losses(script, steps, *only):
    """The losses of rows, by their names."""
    command = [sys.executable, EXAMPLES / script, "--steps", str(steps)]
    if only:
        command += ["--only", *only]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    head, *rows = done.stdout.splitlines()
    assert head.split() == ["loss", "accuracy", "seconds"]
    return {row[:32].strip(): float(row[32:].split()[0]) for row in rows}


def test_fixed_point_needs_stochastic_rounding():
    found = losses("fixed_point.py", 200, "f32", "fixed<7,8>")
    f32, nearest, stochastic = found.values()
    assert stochastic < f32 + 0.05
    assert nearest > f32 + 0.1


@long
def test_updates_stall_unless_something_keeps_them():
    found = losses("stalled_updates.py", 500, "bf16")
    f32 = found.pop("bf16 master f32")
    assert found.pop("bf16 nearest") > f32 + 0.1
    assert len(found) == 2
    assert all(abs(loss - f32) < 0.03 for loss in found.values())


@long
def test_errors_of_eight_bits_need_range_or_scaling():
    found = losses("eight_bits.py", 100, "E4M3, errors E4M3")
    scaled, plain = found.values()
    assert plain > 2.25 and plain > scaled + 0.1


@long
def test_scaled_blocks_of_eight_bits_suffice():
    f32, mxfp8, mxfp4 = losses("microscaling.py", 50, "f32", "mxfp8", "mxfp4").values()
    assert abs(mxfp8 - f32) < 0.1 < mxfp4 - f32


def test_posit16_is_as_good_as_f32():
    for package in ("jax", "torch_mlir"):
        pytest.importorskip(package)
    xla, f32, posit16 = losses("posit16.py", 20, "f32", "posit16").values()
    assert abs(f32 - xla) < 1e-3 and abs(posit16 - f32) < 0.01
