#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Quantizes and dequantizes with `numera run`, against NumPy: scaled.py OUT

Every case is a scaled format, an axis and an array. One module, written to OUT,
has a function for each array, which returns the values of all its scaled
tensors; for some arrays also one that returns the tensors of blocks, as codes
and scales, and one that takes them. The reference computes scales by their definition, with frexp and f64,
and rounds elements with reference_formats.py. Bits have to agree.
"""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import reference_formats
from chosen import chosen

F32 = npt.NDArray[np.float32]

# Element, its largest number, the exponent of that and its significant bits.
ELEMENTS = {
    "float<4,3,fn>": (448.0, 8, 4),
    "float<4,3,fn,flush>": (448.0, 8, 4),
    "float<5,2>": (57344.0, 15, 3),
    "float<3,2,finite>": (28.0, 4, 3),
    "float<2,3,finite>": (7.5, 2, 4),
    "float<2,1,finite>": (6.0, 2, 2),
    "fixed<1,6>": (127 / 64, 0, 8),
    "fixed<7,0>": (127.0, 6, 8),
    "fixed<15,0>": (32767.0, 14, 16),
    "float<5,10>": (65504.0, 15, 11),
    "posit<8,2>": (1.0, 0, 4),
}
# Integers, their least and largest number.
INTEGERS = {"fixed<7,0>": (-128, 127), "fixed<8,0,unsigned>": (0, 255),
            "fixed<4,0,unsigned>": (0, 15), "fixed<15,0>": (-32768, 32767)}
E8M0 = "float<8,0,fnu>"
F32_NAME = "float<8,23>"


@dataclass(frozen=True)
class Case:
    element: str
    rule: str
    scale: str
    axis: int = -1
    block: int = 0
    tensor: bool = False

    def mlir(self) -> str:
        rule = f'"{self.rule}"' if "-" in self.rule else self.rule
        parts = [rule, self.scale]
        if self.axis >= 0:
            parts.append(f"axis = {self.axis}")
        if self.block:
            parts.append(f"block = {self.block}")
        if self.tensor:
            parts.append("tensor")
        return f"#numera.scaling<{', '.join(parts)}>"


def element_round(name: str, x: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Nearest, ties to even; beyond the largest number it is that."""
    if name.startswith("fixed"):
        fraction = int(name[6:-1].split(",")[1])
        bits = sum(int(p) for p in name[6:-1].split(","))
        code = np.rint(x * 2.0**fraction)
        return np.where(np.isnan(x), 0,
                        np.clip(code, -(2**bits), 2**bits - 1) + 0.0) / 2.0**fraction
    if name.startswith("posit"):
        return reference_formats.parse(name).round(x)
    largest = ELEMENTS[name][0]
    plain = name.replace(",flush", "")
    rounded = reference_formats.parse(plain).round(np.clip(x, -largest, largest))
    if plain != name:  # below the least normal number it or 0, a tie is 0
        least = 2.0**-6
        rounded = np.where(np.abs(x) >= least, rounded,
                           np.copysign(least * (np.abs(x) > least / 2), x))
    has_nan = "finite" not in name
    return np.where(np.isnan(x), np.nan if has_nan else 0, rounded)


def power(exponent: npt.NDArray[np.float64], emax: int) -> npt.NDArray[np.float64]:
    """2^(exponent - emax) within what E8M0 has; NaN stays."""
    return np.exp2(exponent - emax).clip(2.0**-127, 2.0**127)


def scale_of(case: Case, amax: F32, tensor: np.float32 | None) -> npt.NDArray[np.float64]:
    largest, emax, precision = ELEMENTS[case.element]
    wide = amax.astype(np.float64)
    fraction, exponent = np.frexp(wide)  # 0.5 <= fraction < 1
    floor = np.where(wide == 0, -1000, exponent - 1).astype(np.float64)
    ceil = np.where(fraction == 0.5, floor, floor + 1)
    ceil = np.where(wide == 0, -1000, ceil)
    bad = ~np.isfinite(wide)
    if case.rule == "range":
        return np.where(wide == 0, 1, wide)
    quotient = (amax / np.float32(largest)).astype(np.float32)
    if case.rule == "floor":
        scale = power(floor, emax)
    elif case.rule == "ceil":
        scale = power(ceil, emax)
    elif case.rule == "even":
        rounded = np.floor(fraction * 2.0**precision + 0.5) / 2.0**precision
        scale = power(floor + (rounded >= 1), emax)
    elif case.rule == "round-up-ceil":
        f, e = np.frexp(quotient.astype(np.float64))
        up = np.where(f == 0.5, e - 1, e).astype(np.float64)
        scale = power(np.where(quotient == 0, -1000, up), 0)
    elif case.scale == F32_NAME:  # absmax
        scale = np.where(quotient == 0, 1, quotient).astype(np.float64)
    else:
        if tensor is not None:
            quotient = (quotient / tensor).astype(np.float32)
        scale = element_round(case.scale, quotient.astype(np.float64))
        scale = np.maximum(scale, 2.0**-9)
    return np.where(bad, np.nan if case.scale != F32_NAME else scale, scale)


def with_zero_points(case: Case, x: F32) -> F32:
    """Values after rule min-max, every step rounded to f32."""
    low, high = INTEGERS[case.element]
    result = np.empty_like(x)
    for part in ([np.s_[...]] if case.axis < 0 else
                 [(slice(None),) * case.axis + (i,) for i in range(x.shape[case.axis])]):
        values = x[part]
        least, most = np.minimum(values.min(), 0), np.maximum(values.max(), 0)
        scale = np.float32(np.float32(most - least) / np.float32(high - low))
        scale = scale if scale != 0 else np.float32(1)
        zero = np.clip(np.rint(np.float32(low) - np.float32(least / scale)), low, high)
        data = np.clip(np.rint(values / scale) + zero, low, high)
        result[part] = (data - zero) * scale
    return result


def quantized(case: Case, x: F32) -> tuple[F32, F32]:
    """Elements as numbers, and what each is divided by."""
    largest = ELEMENTS[case.element][0]
    groups = np.zeros(x.shape, np.int64)
    if case.axis >= 0:
        along = np.indices(x.shape)[case.axis]
        if case.block:
            index = np.indices(x.shape)
            index[case.axis] = along // case.block
            groups = np.ravel_multi_index(tuple(index), x.shape)
        else:
            groups = along
    groups = np.unique(groups, return_inverse=True)[1].reshape(x.shape)
    amax = np.zeros(groups.max() + 1, np.float32)
    for group in range(len(amax)):
        amax[group] = np.abs(x[groups == group]).max()
    tensor = None
    if case.tensor:
        tensor = np.float32(np.float32(amax.max()) / np.float32(largest * 448))
        tensor = tensor if tensor != 0 else np.float32(1)
    scale = scale_of(case, amax, tensor)[groups].astype(np.float32)
    if tensor is not None:
        scale = tensor * scale
    quotient = x / scale
    if case.rule == "range":
        quotient = quotient * np.float32(largest)
    data = element_round(case.element, quotient.astype(np.float64))
    return data.astype(np.float32), scale


def dequantized(case: Case, data: F32, scale: F32) -> F32:
    value = data * scale
    if case.rule == "range":
        value = value * np.float32(1 / ELEMENTS[case.element][0])
    return value.astype(np.float32)


def arrays() -> dict[str, F32]:
    rng = np.random.default_rng(7)

    def wide(*shape: int) -> F32:
        x = rng.standard_normal(shape) * np.exp2(rng.integers(-12, 12, shape))
        return x.astype(np.float32)

    special = wide(12, 64)
    special[0] = 0
    special[1, :40] = -0.0
    special[2] *= np.float32(1e-38)
    special[3] *= np.float32(2.0**100)
    special[4, 5] = np.float32(3.4e38)
    special[5] = np.exp2(rng.integers(-6, 7, 64))  # powers of two, and ties
    special[6] = np.float32(1.9375) * np.exp2(rng.integers(-3, 4, 64))
    special[7] = np.float32(1e-42)
    special[8, 3] = np.inf
    special[9, 40] = np.nan
    special[10] = np.float32(2.0**-127)
    special[11] = np.nextafter(np.float32(2.0**-119), np.float32(0))
    # Largest magnitudes with every exponent that f32 has, where what is done to
    # blocks ends: the numbers of a block down to 2^-18 of the largest, ties of
    # the elements among them.
    exponents = np.arange(-149, 128)[:, None]
    below = rng.integers(0, 19, (277, 32))
    below[:, 7] = 0
    significand = 1 + rng.integers(0, 32, (277, 32)) / 32
    edges = significand * np.exp2(exponents - below) * rng.choice([-1, 1], (277, 32))
    return {"dynamic": wide(3, 70), "edges": edges.astype(np.float32),
            "even": wide(4, 64), "tail": wide(3, 70), "rows": wide(40, 5),
            "image": wide(2, 33, 6, 5), "short": wide(2, 7),
            "positive": np.abs(wide(2, 7)), "zeros": np.zeros((2, 7), np.float32),
            "special": special}


def function(name: str) -> str:
    """What an array is given to: those of one shape share it."""
    return "short" if name in ("positive", "zeros") else name


def cases(name: str, x: F32) -> list[Case]:
    axis = 0 if name == "rows" else 1
    # What is about shapes is so in every element.
    parts = {"even": 0, "rows": 1, "image": 2, "short": 0}
    first = parts.get(function(name))
    elements = chosen(list(ELEMENTS), slice(first, None, first if first is None else 3))
    found = [Case(element, rule, E8M0, axis, 32)
             for element in elements for rule in
             ("floor", "ceil", "even", "round-up-ceil")]
    found.append(Case("float<2,1,finite>", "absmax", "float<4,3,fn>", axis, 16))
    if name in ("special", "edges"):
        # What 1 / full scale times an f32 near the edges gives is looked at in
        # the other arrays.
        return found
    found.append(Case("float<2,1,finite>", "absmax", "float<4,3,fn>", axis, 16, True))
    found.append(Case("float<4,3,fn>", "absmax", F32_NAME, axis, 8))
    for element in elements:
        for granularity in (-1, axis):
            found += [Case(element, "range", F32_NAME, granularity),
                      Case(element, "absmax", F32_NAME, granularity),
                      Case(element, "round-up-ceil", E8M0, granularity)]
    found += [Case(element, "min-max", F32_NAME, granularity)
              for element in INTEGERS for granularity in (-1, axis)]
    return found


def blocks(name: str, x: F32) -> list[Case]:
    return [case for case in cases(name, x) if case.block and not case.tensor]


def module(inputs: dict[str, F32]) -> str:
    text = ""
    for name, x in inputs.items():
        if name != function(name):
            continue
        shape = "?x?" if name == "dynamic" else "x".join(map(str, x.shape))
        plain = f"tensor<{shape}xf32>"
        body, results = "", []
        for i, case in enumerate(cases(name, x)):
            scaled = f"tensor<{shape}x!numera.num<{case.element}>, {case.mlir()}>"
            body += (f"  %q{i} = numera.quantize %x : {plain} to {scaled}\n"
                     f"  %y{i} = numera.dequantize %q{i} : {scaled} to {plain}\n")
            results.append(f"%y{i}")
        types = ", ".join([plain] * len(results))
        text += (f"func.func @{name}(%x: {plain}) -> ({types}) {{\n{body}"
                 f"  return {', '.join(results)} : {types}\n}}\n")
    return text


def module_of_parts(name: str, x: F32) -> str:
    """NAME_codes, whose results are scaled tensors q0, q1, …, and NAME_values,
    which takes them."""
    plain = f"tensor<{'x'.join(map(str, x.shape))}xf32>"
    found = blocks(name, x)
    types = [f"{plain[:-4]}!numera.num<{case.element}>, {case.mlir()}>" for case in found]
    named = ", ".join(f'{t} {{numera.name = "q{i}"}}' for i, t in enumerate(types))
    quantize = "".join(f"  %q{i} = numera.quantize %x : {plain} to {t}\n"
                       for i, t in enumerate(types))
    taken = ", ".join(f"%q{i}: {t}" for i, t in enumerate(types))
    dequantize = "".join(f"  %y{i} = numera.dequantize %q{i} : {t} to {plain}\n"
                         for i, t in enumerate(types))
    values = ", ".join([plain] * len(types))
    q, y = (", ".join(f"%{letter}{i}" for i in range(len(types))) for letter in "qy")
    return (f"func.func @{name}_codes(%x: {plain}) -> ({named}) {{\n{quantize}"
            f"  return {q} : {', '.join(types)}\n}}\n"
            f"func.func @{name}_values({taken}) -> ({values}) {{\n{dequantize}"
            f"  return {y} : {values}\n}}\n")


def run(model: Path, function: str, inputs: list[Path], out: Path) -> None:
    flags = [word for path in inputs for word in ("--input", path)]
    subprocess.run(["numera", "run", model, "--function", function, *flags,
                    "--output-dir", out], check=True, stdout=subprocess.DEVNULL)


def differing(name: str, x: F32, found: list[Case], folder: Path, first: int = 0) -> int:
    """How many values differ from the reference, in the outputs' rows from `first`
    on; prints the first of a case."""
    wrong = 0
    for i, case in enumerate(found):
        got = np.load(folder / f"output_{i}.npy")[first:first + len(x)]
        with np.errstate(all="ignore"):
            want = (with_zero_points(case, x) if case.rule == "min-max" else
                    dequantized(case, *quantized(case, x)))
        differ = ~((got == want) & (np.signbit(got) == np.signbit(want)) |
                   np.isnan(want) & (got.view(np.uint32) == 0x7fc00000))
        wrong += int(differ.sum())
        if differ.any():
            at = tuple(np.argwhere(differ)[0])
            print(f"{name} {case}: at {at} of {x[at]!r}: {got[at]!r}, "
                  f"expected {want[at]!r}; {int(differ.sum())} differ")
    return wrong


def main(out: Path) -> int:
    inputs = arrays()
    in_parts = ("edges", "special", "tail")
    model = out / "scaled.mlir"
    model.write_text(module(inputs) + "".join(module_of_parts(name, inputs[name])
                                              for name in in_parts))
    compared = wrong = 0
    for name, x in inputs.items():
        if name != function(name):
            continue
        # Rows of the other arrays are a data set, slice by slice.
        same = [other for other in inputs if function(other) == name]
        np.save(out / f"{name}.npy", np.concatenate([inputs[other] for other in same]))
        run(model, name, [out / f"{name}.npy"], out / name)
        for i, other in enumerate(same):
            found = cases(other, inputs[other])
            wrong += differing(other, inputs[other], found, out / name, i * len(x))
            compared += x.size * len(found)
    for name in in_parts:
        codes, values = out / f"{name}_codes", out / f"{name}_values"
        found = blocks(name, inputs[name])
        run(model, codes.name, [out / f"{name}.npy"], codes)
        run(model, values.name,
            [codes / f"q{i}{part}.npy" for i in range(len(found))
             for part in ("", ".scales")], values)
        wrong += differing(values.name, inputs[name], found, values)
        compared += inputs[name].size * len(found)
    print(f"{compared} values compared; {wrong} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
