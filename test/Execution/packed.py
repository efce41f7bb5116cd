#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Codes without gaps against NumPy: packed.py OUT

Codes of every width, in tensors whose rows begin at bytes and in others, are
packed and unpacked by `numera run`; NumPy lays their bits one behind the other.
Then a product of matrices, with constant and with computed operands, in block
formats whose elements are packed, against the same formats without.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt
from chosen import chosen

FORMATS = {
    2: "fixed<1,0>", 3: "float<2,0,finite>", 4: "float<2,1,finite>", 5: "float<2,2,finite>",
    6: "float<3,2,finite>", 7: "posit<7,1>", 9: "posit<9,1>", 10: "float<4,5>",
    11: "float<5,5>", 12: "posit<12,1>", 13: "float<5,7>", 17: "posit<17,2>",
    24: "posit<24,2>", 25: "float<8,16>", 31: "posit<31,2>", 33: "posit<33,2>",
    48: "posit<48,2>", 63: "posit<63,2>",
}
SHAPES = [(1,), (3,), (200,), (5, 7), (4, 64), (3, 5, 16)]


def packed(codes: npt.NDArray[np.uint64], width: int) -> npt.NDArray[np.uint8]:
    """Bits of all codes in a row, the lowest first, eight to a byte."""
    places = np.arange(width, dtype=np.uint64)
    bits = (codes.reshape(-1, 1) >> places & np.uint64(1)).astype(np.uint8)
    return np.packbits(bits.reshape(-1), bitorder="little")


def storage(width: int) -> npt.DTypeLike:
    return next(np.dtype(f"u{size}") for size in (1, 2, 4, 8) if width <= 8 * size)


def run(*arguments: str | Path) -> None:
    subprocess.run(["numera", "run", *arguments], check=True, stdout=subprocess.DEVNULL)


def function(plain: list[str], dense: list[str]) -> str:
    """Packs its first arguments and unpacks the others."""
    sources, results = plain + dense, dense + plain
    arguments = ", ".join(f"%x{i}: {t}" for i, t in enumerate(sources))
    body = "".join(f"  %y{i} = numera.{'un' * (i >= len(plain))}pack %x{i} : {s} to {r}\n"
                   for i, (s, r) in enumerate(zip(sources, results)))
    values = ", ".join(f"%y{i}" for i in range(len(results)))
    return (f"func.func @codes({arguments}) -> ({', '.join(results)}) {{\n{body}"
            f"  return {values} : {', '.join(results)}\n}}\n")


def check_codes(out: Path) -> tuple[int, int]:
    rng = np.random.default_rng(5)
    compared = wrong = 0
    for width, spelling in chosen(list(FORMATS.items()), mirrored=slice(None, None, 3)):
        plain = [f"tensor<{'x'.join(map(str, s))}x!numera.num<{spelling}>>"
                 for s in SHAPES]
        dense = [t[:-1] + ", #numera.packed>" for t in plain]
        model = out / "codes.mlir"
        model.write_text(function(plain, dense))
        given = [rng.integers(0, 2**width, s, dtype=np.uint64).astype(storage(width))
                 for s in SHAPES]
        wanted = [packed(codes.astype(np.uint64), width) for codes in given]
        flags: list[str | Path] = []
        for i, array in enumerate(given + wanted):
            np.save(out / f"in{i}.npy", array)
            flags += ["--input", out / f"in{i}.npy"]
        run(model, *flags, "--output-as", "storage", "--output-dir", out / "codes")
        for i, want in enumerate(wanted + given):
            got = np.load(out / "codes" / f"output_{i}.npy")
            compared += want.size
            if got.dtype != want.dtype or not np.array_equal(got, want):
                wrong += 1
                print(f"{'un' * (i >= len(SHAPES))}pack {spelling} "
                      f"{SHAPES[i % len(SHAPES)]}: {got}, expected {want}")
    return compared, wrong


MODEL = """
func.func @main(%x: tensor<9x70xf32>) -> tensor<9x24xf32> {
  %w = arith.constant dense<"0xBYTES"> : tensor<70x24xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<9x24xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<9x24xf32>) -> tensor<9x24xf32>
  %y = linalg.matmul ins(%x, %w : tensor<9x70xf32>, tensor<70x24xf32>)
       outs(%i : tensor<9x24xf32>) -> tensor<9x24xf32>
  return %y : tensor<9x24xf32>
}
"""


def check_products(out: Path) -> tuple[int, int]:
    rng = np.random.default_rng(6)
    weights = rng.standard_normal((70, 24)).astype("<f4")
    (out / "product.mlir").write_text(
        MODEL.replace("BYTES", weights.tobytes().hex()))
    np.save(out / "x.npy", rng.standard_normal((9, 70)).astype(np.float32))
    compared = wrong = 0
    for plain in ("block<f4E2M1FN,32>", "block<f6E3M2FN,16>", "block<f6E2M3FN,10>",
                  "block<fixed<0,4>,8>", "block<posit<7,1>,35>", "scaled<i4>",
                  "scaled<float<4,5>,rule=absmax>"):
        dense = plain[:-1] + ",storage=packed>"
        results = []
        for name, spelling in (("plain", plain), ("dense", dense)):
            run(out / "product.mlir", "--format", spelling, "--input",
                out / "x.npy", "--output-dir", out / name)
            results.append(np.load(out / name / "output_0.npy").view(np.uint32))
        compared += results[0].size
        if not np.array_equal(*results):
            wrong += 1
            print(f"{dense}: other bits than {plain}")
    policy = out / "policy.yaml"
    for storage_of in ("packed", "{weights: packed}", "plain"):
        policy.write_text("policy: {default: f6E3M2FN, accumulate: f32, "
                          f"storage: {storage_of}}}\n")
        run(out / "product.mlir", "--formats", policy, "--input", out / "x.npy",
            "--output-dir", out / "policy")
        results.append(np.load(out / "policy" / "output_0.npy").view(np.uint32))
    compared += 2 * results[-1].size
    if not (np.array_equal(results[-1], results[-2]) and
            np.array_equal(results[-1], results[-3])):
        wrong += 1
        print("policy: other bits where codes are packed")
    return compared, wrong


def main(out: Path) -> int:
    compared, wrong = (a + b for a, b in zip(check_codes(out), check_products(out)))
    print(f"{compared} values compared; {wrong} arrays differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
