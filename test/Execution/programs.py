# SPDX-License-Identifier: MIT
"""How scripts run the text of a model."""

import subprocess

import numpy as np


def run(folder, text, arrays, options):
    """The results of `numera run`, in their order. Files go to the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.mlir").write_text(text)
    inputs = []
    for i, array in enumerate(arrays):
        np.save(folder / f"{i}.npy", array)
        inputs += ["--input", str(folder / f"{i}.npy")]
    subprocess.run(["numera", "run", folder / "model.mlir", *options, *inputs,
                    "--output-dir", folder / "out"], check=True, stdout=subprocess.DEVNULL)
    return [np.load(path) for path in sorted((folder / "out").glob("*.npy"))]
