# SPDX-License-Identifier: MIT
"""Run a program with each example of YAML in a page: snippets.py PAGE SOURCE FOLDER.

An example that is part of a file completes the first one of the page, whose
library is SOURCE.
"""

import os
import re
import subprocess
import sys

import numpy as np

MODEL = """
func.func @f(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x4xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %p = linalg.matmul ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>)
      outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %p : tensor<4x4xf32>
}
"""
FORMAT = "  mybf16:  {family: opaque, bits: 16}\n"
# Of an example that begins so: what `accumulate` computes what it shows.
OPTIONS = {
    "formats:": "f32",
    "policy:": None,
    "  - {op: round_to": "same",
    "  mybf16:": "quire",
    "  - {op: matmul": "same",
}


def main(page, source, folder):
    os.makedirs(folder, exist_ok=True)
    with open(page) as file:
        blocks = re.findall(
            r"^```yaml\n(.*?)^```", file.read(), re.MULTILINE | re.DOTALL
        )
    first = blocks[0].replace("mybf16.c", source)
    assert FORMAT in first, first
    arrays = [
        np.arange(32, dtype="f4").reshape(shape) / 16 for shape in ((4, 8), (8, 4))
    ]
    command = ["numera", "run", f"{folder}/model.mlir", "--output-dir", folder]
    with open(command[2], "w") as file:
        file.write(MODEL)
    for name, array in zip("ab", arrays):
        np.save(f"{folder}/{name}.npy", array)
        command += ["--input", f"{folder}/{name}.npy"]
    tried = 0
    for block in blocks:
        begin = next((each for each in OPTIONS if block.startswith(each)), None)
        if block.startswith("# yaml-language-server") or "softfloat" in block:
            continue  # a comment; libraries.test has it
        if begin is None:
            sys.exit(f"{page}: what is this example a part of?\n{block}")
        if begin == "  mybf16:":
            text = first.replace(FORMAT, block)
        elif begin == "policy:":
            text = first[: first.index("policy:")] + block
        elif begin == "formats:":
            text = first
        else:
            place = first.index("\npolicy:")
            text = (first[:place] + block + first[place:]).replace(
                FORMAT, "  mybf16: {family: opaque, bits: 16, carrier: f32}\n"
            )
        with open(f"{folder}/formats.yaml", "w") as file:
            file.write(text)
        accumulate = OPTIONS[begin]
        more = ["--formats", f"{folder}/formats.yaml"]
        more += ["--accumulate", accumulate] if accumulate else []
        done = subprocess.run(
            command + more, capture_output=True, text=True, check=False
        )
        if done.returncode:
            sys.exit(f"{page}: {done.stderr}of the example\n{block}")
        found = np.load(f"{folder}/output_0.npy")
        exact = arrays[0] @ arrays[1]
        if not np.allclose(found, exact, rtol=0.1):
            sys.exit(f"{page}: {found}, expected {exact}, from\n{block}")
        tried += 1
    print(f"{tried} examples")


main(*sys.argv[1:])
