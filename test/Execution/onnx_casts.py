#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Casts ONNX's own test vectors with `numera run`: onnx_casts.py NODE-TESTS OUT

NODE-TESTS is the `node` folder of ONNX's backend tests. Every test_cast* and
test_castlike* there whose element types are both floating-point is one
numera.cast in a module written to OUT, with the format, rounding and overflow
the ONNX standard asks for; the models of Cast that Numera imports are run as
they are, too. Exits 1 naming each code that is not the published
one, with two exceptions. Where a NaN is published, with whatever sign, the
format's one NaN is expected. A NaN cast to float4e2m1, which has none, is
counted and not compared: ONNX's text says 6, its vectors -0, numera.cast 0.
"""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
from onnx import helper

Codes = npt.NDArray[np.uint64]

# By TensorProto.DataType, as numbers: older onnx packages lack the names.
FLOAT16, DOUBLE, BFLOAT16, FLOAT4E2M1, FLOAT8E8M0 = 10, 11, 16, 23, 24
FORMATS = {
    1: "f32",
    FLOAT16: "!numera.num<float<5, 10>>",
    DOUBLE: "f64",
    BFLOAT16: "!numera.num<float<8, 7>>",
    17: "!numera.num<float<4, 3, fn>>",
    18: "!numera.num<float<4, 3, fnuz>>",
    19: "!numera.num<float<5, 2>>",
    20: "!numera.num<float<5, 2, fnuz>>",
    FLOAT4E2M1: "!numera.num<float<2, 1, finite>>",
    FLOAT8E8M0: "!numera.num<float<8, 0, fnu>>",
}
# By format: the bits of a magnitude, and the least, the greatest and Numera's own
# NaN among them. The FNUZ formats count the sign in.
NANS = {
    1: (0x7FFFFFFF, 0x7F800001, 0x7FFFFFFF, 0x7FC00000),
    FLOAT16: (0x7FFF, 0x7C01, 0x7FFF, 0x7E00),
    DOUBLE: (2**63 - 1, 0x7FF << 52 | 1, 2**63 - 1, 0xFFF << 51),
    BFLOAT16: (0x7FFF, 0x7F81, 0x7FFF, 0x7FC0),
    17: (0x7F, 0x7F, 0x7F, 0x7F),
    18: (0xFF, 0x80, 0x80, 0x80),
    19: (0x7F, 0x7D, 0x7F, 0x7E),
    20: (0xFF, 0x80, 0x80, 0x80),
    FLOAT8E8M0: (0xFF, 0xFF, 0xFF, 0xFF),
}
ARRAYS = {FLOAT16: np.float16, BFLOAT16: "V2"}
BYTES = {1: 4, FLOAT16: 2, DOUBLE: 8, BFLOAT16: 2}
ROUND_MODES = {"up": "up", "down": "down", "nearest": "nearest-away"}


@dataclass(frozen=True)
class Tensor:
    element: int
    codes: Codes

    @property
    def type(self) -> str:
        return f"tensor<{self.codes.size}x{FORMATS[self.element]}>"

    @property
    def is_nan(self) -> npt.NDArray[np.bool_]:
        if self.element not in NANS:
            return np.zeros(self.codes.shape, np.bool_)
        mask, least, greatest, _ = (np.uint64(number) for number in NANS[self.element])
        magnitudes = self.codes & mask
        return (magnitudes >= least) & (magnitudes <= greatest)

    def as_input(self) -> npt.NDArray[np.generic]:
        """The array `numera run` takes: f32 and f64 as such, else codes."""
        if self.element in (1, DOUBLE):
            size = BYTES[self.element]
            return self.codes.astype(f"<u{size}").view(f"<f{size}")
        return self.codes.astype(f"<u{BYTES.get(self.element, 1)}")


@dataclass(frozen=True)
class Vector:
    name: str
    source: Tensor
    expected: Tensor
    attributes: str
    model: Path
    shape: tuple[int, ...]
    imports: bool

    @property
    def is_nan_lost(self) -> npt.NDArray[np.bool_]:
        """The elements whose result is not compared: NaN where there is none."""
        return self.source.is_nan & (self.expected.element == FLOAT4E2M1)

    @property
    def wanted(self) -> Codes:
        if self.expected.element not in NANS:
            return self.expected.codes
        nan = np.uint64(NANS[self.expected.element][3])
        return np.where(self.expected.is_nan, nan, self.expected.codes)


def read_proto(path: Path) -> onnx.TensorProto:
    proto = onnx.TensorProto()
    proto.ParseFromString(path.read_bytes())
    return proto


def read_tensor(proto: onnx.TensorProto) -> Tensor:
    count = int(np.prod(proto.dims))
    raw = np.frombuffer(proto.raw_data, f"<u{BYTES.get(proto.data_type, 1)}")
    if proto.data_type == FLOAT4E2M1:
        # Two codes in a byte, the first in the low half.
        raw = np.stack([raw & 15, raw >> 4], axis=-1).reshape(-1)[:count]
    if raw.size != count:
        raise ValueError(f"{proto.name}: {raw.size} elements; expected {count}")
    return Tensor(proto.data_type, raw.astype(np.uint64))


def attributes_of(node: onnx.NodeProto, target: int) -> str:
    """What the standard says of this cast, as attributes of numera.cast."""
    given = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    rounding = "nearest-even"
    if target == FLOAT8E8M0:
        rounding = ROUND_MODES[given.get("round_mode", b"up").decode()]
    # `saturate` is about the formats of 8 bits; f4 has no other way, and f32,
    # f16 and bfloat16 overflow as IEEE 754 says.
    saturates = target == FLOAT4E2M1 or (target not in BYTES and given.get("saturate", 1))
    overflow = "saturate" if saturates else "infinity"
    return f'{{rounding = #numera.rounding<"{rounding}">, overflow = #numera.overflow<{overflow}>}}'


def find_vectors(folder: Path) -> list[Vector]:
    vectors = []
    for test in sorted(folder.glob("test_cast*")):
        model = test / "model.onnx"
        node = onnx.load(str(model)).graph.node[0]
        data = test / "test_data_set_0"
        protos = [read_proto(data / name) for name in ("input_0.pb", "output_0.pb")]
        if all(proto.data_type in FORMATS for proto in protos):
            source, expected = (read_tensor(proto) for proto in protos)
            attributes = attributes_of(node, expected.element)
            # CastLike is not imported, nor are its inputs, and DOUBLE is not.
            imports = node.op_type == "Cast" and not test.name.startswith("test_castlike")
            imports &= DOUBLE not in (source.element, expected.element)
            shape = tuple(protos[0].dims)
            vectors.append(
                Vector(test.name, source, expected, attributes, model, shape, imports)
            )
    return vectors


def write_module(vectors: list[Vector]) -> str:
    """One function of all the casts: a run has a price, a cast has none."""
    arguments = ", ".join(f"%x{i}: {v.source.type}" for i, v in enumerate(vectors))
    results = ", ".join(v.expected.type for v in vectors)
    lines = [f"func.func @casts({arguments}) -> ({results}) {{"]
    for i, v in enumerate(vectors):
        lines.append(
            f"  %y{i} = numera.cast %x{i} {v.attributes} : {v.source.type} to {v.expected.type}"
        )
    values = ", ".join(f"%y{i}" for i in range(len(vectors)))
    return "\n".join([*lines, f"  return {values} : {results}", "}", ""])


def run(program: Path, inputs: list[npt.NDArray[np.generic]], out: Path) -> list[Codes]:
    """The results of a program whose outputs are named output…, in order."""
    out.mkdir(exist_ok=True)
    command = ["numera", "run", str(program), "--output-as", "storage"]
    for i, array in enumerate(inputs):
        np.save(out / f"x{i}.npy", array)
        command += ["--input", str(out / f"x{i}.npy")]
    results = out / "results"
    command += ["--output-dir", str(results)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    names = sorted(results.glob("output*.npy"), key=lambda path: (len(path.name), path.name))
    arrays = [np.load(name).reshape(-1) for name in names]
    return [array.view(f"<u{array.itemsize}").astype(np.uint64) for array in arrays]


def report(how: str, vector: Vector, codes: Codes) -> int:
    """How many codes are not the published ones; prints each."""
    differing = np.flatnonzero((codes != vector.wanted) & ~vector.is_nan_lost)
    for i in differing:
        print(
            f"{vector.name} {how}: [{i}] {int(vector.source.codes[i]):#x} became "
            f"{int(codes[i]):#x}; published is {int(vector.expected.codes[i]):#x}"
        )
    return len(differing)


def main() -> int:
    folder, out = (Path(argument) for argument in sys.argv[1:])
    vectors = find_vectors(folder)
    if not vectors:
        print(f"onnx_casts.py: {folder}: no test_cast*", file=sys.stderr)
        return 1
    module = out / "casts.mlir"
    module.write_text(write_module(vectors))
    results = run(module, [v.source.as_input() for v in vectors], out / "casts")
    differing = sum(
        report("as numera.cast", v, codes) for v, codes in zip(vectors, results, strict=True)
    )
    models = [v for v in vectors if v.imports]
    for v in models:
        array = v.source.as_input().reshape(v.shape)
        # What a model has as f16 or bf16 are arrays of these types.
        if v.source.element in ARRAYS:
            array = array.view(ARRAYS[v.source.element])
        (codes,) = run(v.model, [array], out / v.name)
        differing += report("as a model", v, codes)
    lost = sum(int(v.is_nan_lost.sum()) for v in vectors)
    compared = sum(v.expected.codes.size for v in vectors) - lost
    nans = sum(int(v.expected.is_nan.sum()) for v in vectors)
    print(
        f"{len(vectors)} vectors: {compared} elements compared, {nans} of them NaN, "
        f"{lost} NaN to f4 left out; {len(models)} run as models; {differing} differ"
    )
    return int(differing != 0)


if __name__ == "__main__":
    sys.exit(main())
