# SPDX-License-Identifier: MIT
"""More seeds than the tree has, out of the tests' own files: seeds.py OUT [FOLDER…]
writes one folder a target. Of ONNX, the models of test/Import, and small ones in
the other folders."""

import importlib
import io
import pathlib
import sys

import numpy as np

here = pathlib.Path(__file__).resolve().parent
root = here.parents[1]


def put(folder, name, data):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)


def texts(suffix):
    for path in sorted(root.glob("test/**/*" + suffix)) + sorted(root.glob("examples/**/*" + suffix)):
        if here not in path.parents:
            yield path


def main(out, more):
    for number, path in enumerate(texts(".yaml")):
        text = path.read_bytes()
        if len(text) < 8192:
            put(out / "configuration", f"{number}.yaml", text)
            put(out / "policy", f"{number}", b";;\n" + text)
    number = 0
    for path in texts(".mlir"):
        for part in path.read_text().split("// -----"):
            lines = [line for line in part.splitlines() if not line.lstrip().startswith("//")]
            for function in "\n".join(lines).split("\n}\n"):
                aliases = [line for line in lines if line.startswith(("!", "#"))]
                text = "\n".join(aliases) + "\n" + function + "\n}\n"
                if len(text) < 2048:
                    put(out / "dialect", f"{number}.mlir", text.encode())
                    number += 1
    for dtype in ("f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1", "V2", "c8"):
        for shape in ((), (0,), (3,), (2, 3), (1,) * 32):
            file = io.BytesIO()
            np.save(file, np.zeros(shape, dtype))
            put(out / "array", f"{dtype}-{len(shape)}{shape[:1]}.npy", file.getvalue())
    sys.path.append(str(root / "test" / "Import"))
    make = importlib.import_module("make-model")
    (out / "model").mkdir(exist_ok=True)
    for name in make.MODELS:
        make.write(name, out / "model" / name)
    for folder in more:
        for path in sorted(pathlib.Path(folder).glob("**/*.onnx")):
            data = path.read_bytes()
            if len(data) < 4096:
                put(out / "model", path.parent.name + path.name, data)


main(pathlib.Path(sys.argv[1]), sys.argv[2:])
