#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Runs ONNX's node tests of quantization: onnx_quantize.py NODE-TESTS OUT

Tensors travel as codes. An f32 has to have the published bits, any other number
the published code. Exits 1 naming what differs.
"""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
from onnx import numpy_helper

# TensorProto.DataType as numbers: older onnx packages lack the names.
PLAIN = {1: np.float32, 2: np.uint8, 3: np.uint8, 4: np.uint16, 5: np.uint16}
PACKED = {21, 22, 23}


def load(path: Path) -> npt.NDArray[np.generic]:
    """Codes, unsigned, or f32."""
    proto = onnx.TensorProto()
    proto.ParseFromString(path.read_bytes())
    shape = tuple(proto.dims)
    count = int(np.prod(shape, dtype=np.int64))
    if proto.data_type in PLAIN:
        array = numpy_helper.to_array(proto)
        return np.ascontiguousarray(array).view(PLAIN[proto.data_type]).reshape(shape)
    raw = (np.frombuffer(proto.raw_data, np.uint8) if proto.raw_data
           else np.array(proto.int32_data, np.uint8))
    if proto.data_type in PACKED:
        raw = np.stack([raw & 15, raw >> 4], 1).reshape(-1)[:count]
    return raw.reshape(shape)


def main(tests: Path, out: Path) -> int:
    models = compared = wrong = 0
    for folder in sorted(tests.iterdir()):
        if not re.match(r"test_(de|dynamic)?quantizelinear(?!.*_expanded)", folder.name):
            continue
        data = folder / "test_data_set_0"
        work = out / folder.name
        work.mkdir()
        command = ["numera", "run", folder / "model.onnx", "--output-dir", work]
        for i in range(len(list(data.glob("input_*.pb")))):
            np.save(work / f"input_{i}.npy", load(data / f"input_{i}.pb"))
            command += ["--input", work / f"input_{i}.npy"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        names = [o.name for o in onnx.load(folder / "model.onnx").graph.output]
        models += 1
        for i, name in enumerate(names):
            want = load(data / f"output_{i}.pb")
            got = np.load(work / f"{name}.npy")
            same = got.shape == want.shape and got.dtype == want.dtype
            bad = int(not same or got.tobytes() != want.tobytes())
            compared += want.size
            wrong += bad
            if bad:
                print(f"{folder.name} {name}: {got} of {got.dtype}, expected "
                      f"{want} of {want.dtype}")
    print(f"{models} models, {compared} elements compared; {wrong} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
