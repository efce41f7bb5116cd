# SPDX-License-Identifier: MIT
"""The CNN of examples/fashion in C datatypes and in the built-in formats that
have the same codes: datatypes.py EXAMPLES FOLDER, which has x.npy."""

import subprocess
import sys
from pathlib import Path

import numpy as np
from chosen import IS_LONG, chosen

PAIRS = {"posit16_1": "posit<16,1>", "logarithm": "lns<6,8>", "truncated": "datapath",
         "wide32": "float<15,16>", "float24": "float<7,16>"}


def main():
    examples, folder = map(Path, sys.argv[1:])
    model = str(examples / "fashion/model.onnx")
    formats = ["--formats", str(examples / "datatypes/formats.yaml")]

    def logits(name):
        subprocess.run(["numera", "run", model, *formats, "--format", name,
                        "--accumulate", "same", "--input", str(folder / "x.npy"),
                        "--output-dir", str(folder)], check=True, capture_output=True)
        return np.load(folder / "logits.npy")

    thirds = slice(None, None, 3)
    # Of the long suite all: the test names each.
    quick = slice(None) if IS_LONG else thirds
    for name, builtin in chosen(list(PAIRS.items()), mirrored=thirds, quick=quick):
        own, reference = logits(name), logits(builtin)
        assert not np.isnan(own).any(), name
        assert own.tobytes() == reference.tobytes(), (name, own, reference)
        subprocess.run(["numera", "compile", model, *formats, "--format", name,
                        "--target", "nvptx", "-o", str(folder / "model.ptx")], check=True)
        print(f"{name}: the bits of {builtin}", flush=True)


main()
