#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""OCP MX as other implementations have it: scaled_peers.py OUT

torchao's MXTensor, in every scale rule and element that it has, and gfloat's
quantize_block, against `numera run`: the values of 512 blocks of 32 have to
agree, bit for bit. What is not installed is left out.
"""

import importlib.util
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt

F32 = npt.NDArray[np.float32]
ROWS, COLUMNS, BLOCK = 256, 64, 32


def numbers() -> F32:
    rng = np.random.default_rng(9)
    shape = (ROWS, COLUMNS)
    x = rng.standard_normal(shape) * np.exp2(rng.integers(-10, 10, shape))
    x[0] = 0
    x[1] *= 1e-30
    x[2] *= 1e30
    x[3] = np.exp2(rng.integers(-4, 5, COLUMNS))
    x[4] = -1.75 * x[3]
    x[5] = 1.9375 * np.exp2(rng.integers(-3, 3, COLUMNS))
    x[6] = 0
    x[6, 3] = -1.99
    return x.astype(np.float32)


Case = tuple[str, str, Callable[[F32], F32]]  # element, rule, what a peer gives


def torchao_cases() -> list[Case]:
    import torch
    from torchao.prototype.mx_formats import mx_tensor
    from torchao.prototype.mx_formats.config import ScaleCalculationMode

    elements = {"float<4,3,fn>": torch.float8_e4m3fn, "float<5,2>": torch.float8_e5m2,
                "float<2,3,finite>": mx_tensor.DTYPE_FP6_E2M3,
                "float<3,2,finite>": mx_tensor.DTYPE_FP6_E3M2,
                "float<2,1,finite>": torch.float4_e2m1fn_x2}
    rules = {"floor": ScaleCalculationMode.FLOOR, "ceil": ScaleCalculationMode.CEIL,
             "even": ScaleCalculationMode.EVEN,
             '"round-up-ceil"': ScaleCalculationMode.RCEIL}

    def values(dtype: object, mode: object) -> Callable[[F32], F32]:
        return lambda x: mx_tensor.MXTensor.to_mx(
            torch.from_numpy(x), dtype, block_size=BLOCK,
            scaling_mode=mode).dequantize(torch.float32).numpy()

    return [(element, rule, values(dtype, mode)) for element, dtype in elements.items()
            for rule, mode in rules.items()]


def gfloat_cases() -> list[Case]:
    from gfloat import block, formats

    elements = {"float<4,3,fn>": formats.format_info_mxfp8_e4m3,
                "float<5,2>": formats.format_info_mxfp8_e5m2,
                "float<2,3,finite>": formats.format_info_mxfp6_e2m3,
                "float<3,2,finite>": formats.format_info_mxfp6_e3m2,
                "float<2,1,finite>": formats.format_info_mxfp4_e2m1,
                "fixed<1,6>": formats.format_info_mxint8}

    def values(info: object) -> Callable[[F32], F32]:
        return lambda x: np.array(
            [block.quantize_block(info, part.astype(float), block.compute_scale_amax)
             for part in x.reshape(-1, BLOCK)]).reshape(x.shape).astype(np.float32)

    return [(element, "floor", values(info)) for element, info in elements.items()]


def module(cases: list[Case]) -> str:
    plain = f"tensor<{ROWS}x{COLUMNS}xf32>"
    body, results = "", []
    for i, (element, rule, _) in enumerate(cases):
        scaled = (f"tensor<{ROWS}x{COLUMNS}x!numera.num<{element}>, #numera.scaling<"
                  f"{rule}, float<8,0,fnu>, axis = 1, block = {BLOCK}>>")
        body += (f"  %q{i} = numera.quantize %x : {plain} to {scaled}\n"
                 f"  %y{i} = numera.dequantize %q{i} : {scaled} to {plain}\n")
        results.append(f"%y{i}")
    types = ", ".join([plain] * len(results))
    return (f"func.func @main(%x: {plain}) -> ({types}) {{\n{body}"
            f"  return {', '.join(results)} : {types}\n}}\n")


def main(out: Path) -> int:
    x = numbers()
    np.save(out / "x.npy", x)
    wrong = 0
    for peer, cases_of in (("torchao", torchao_cases), ("gfloat", gfloat_cases)):
        if not importlib.util.find_spec(peer):
            print(f"{peer} is not installed")
            continue
        cases = cases_of()
        (out / f"{peer}.mlir").write_text(module(cases))
        subprocess.run(["numera", "run", out / f"{peer}.mlir", "--input", out / "x.npy",
                        "--output-dir", out / peer], check=True,
                       stdout=subprocess.DEVNULL)
        differ = 0
        for i, (element, rule, values) in enumerate(cases):
            got, want = np.load(out / peer / f"output_{i}.npy"), values(x)
            places = ~((got == want) | (np.isnan(got) & np.isnan(want)))
            differ += int(places.sum())
            if places.any():
                at = tuple(np.argwhere(places)[0])
                print(f"{peer} {element} {rule}: {x[at]!r} is {got[at]!r}, "
                      f"there {want[at]!r}")
        print(f"{peer}: {len(cases) * x.size} values compared; {differ} differ")
        wrong += differ
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
