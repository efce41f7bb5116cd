# SPDX-License-Identifier: MIT
"""folded.py FOLDER SPELLING…: every operation of each format, twice: on constants,
which the compiler folds, and on arguments, of which the program makes vectors. Both
have the same codes. Prints how many were compared.
"""
import pathlib
import subprocess
import sys

import numpy as np

from operations import of_operands

INTEGERS = ["i1", "i8", "i16", "i32", "i64"]
COUNT = 96


def codes_of(width):
    """Random ones, the ends of the codes and their middle."""
    random = np.random.default_rng(width)
    codes = random.integers(0, 1 << width, COUNT, "u8", endpoint=False)
    middle = 1 << width - 1
    edges = [0, 1, middle - 1, middle, middle + 1, 2 * middle - 1, 2 * middle - 2]
    codes[:len(edges)] = edges
    codes[-7:] = edges[::-1]
    return codes


def layout(spelling):
    """Width and storage bits."""
    text = subprocess.run(["numera", "formats", spelling], capture_output=True,
                          text=True, check=True).stdout
    lines = dict(line.split(None, 1) for line in text.splitlines()
                 if line.startswith(("width", "storage")))
    return int(lines["width"]), int(lines["storage"].split()[-1])


def operations(spelling, bits):
    """Lines of IR on %a, %b and %c, and the results with their types."""
    shape = f"tensor<{COUNT}xi{bits}>"
    form = "{format = #numera.format<" + spelling + ">}"
    lines, results = [], []
    for count, operands in enumerate(["%a", "%a, %b", "%a, %b, %c"], start=1):
        for name, *_ in of_operands(count):
            lines.append(f"%{name} = numera.{name} {operands} {form} : {shape}")
            results.append((f"%{name}", shape))
    for i, predicate in enumerate(["olt", "ole", "oeq", "uno", "une"]):
        lines.append(f"%cmp{i} = numera.cmp {predicate}, %a, %b {form} : {shape}")
        results.append((f"%cmp{i}", f"tensor<{COUNT}xi1>"))
    for kind in INTEGERS:
        result = f"tensor<{COUNT}x{kind}>"
        lines.append(
            f"%{kind} = numera.cast %a {{format = {kind}, operand_formats = "
            f"[#numera.format<{spelling}>]}} : {shape} to {result}")
        results.append((f"%{kind}", result))
    return lines, results


def program(spelling, bits, codes):
    lines, results = operations(spelling, bits)
    shape = f"tensor<{COUNT}xi{bits}>"
    types = ", ".join(type for _, type in results)
    body = lines + [f"return {', '.join(name for name, _ in results)} : {types}"]
    constants = [
        f"%{name} = arith.constant dense<{[int(code) for code in codes[name]]}> : {shape}"
        for name in "abc"]
    arguments = ", ".join(f"%{name}: {shape}" for name in "abc")
    return (f"func.func @folded() -> ({types}) {{\n" + "\n".join(constants + body)
            + f"\n}}\nfunc.func @compiled({arguments}) -> ({types}) {{\n"
            + "\n".join(body) + "\n}\n", [name for name, _ in results])


def run(folder, function, inputs):
    arguments = [text for path in inputs for text in ("--input", path)]
    subprocess.run(["numera", "run", folder / "program.mlir", "--function", function,
                    *arguments, "--output-dir", folder / function], check=True,
                   stdout=subprocess.DEVNULL)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    compared = 0
    for spelling in sys.argv[2:]:
        width, bits = layout(spelling)
        a = codes_of(width)
        codes = {"a": a, "b": np.roll(a, 1), "c": np.roll(a, 7)}
        text, names = program(spelling, bits, codes)
        (folder / "program.mlir").write_text(text)
        inputs = []
        for name, array in codes.items():
            inputs.append(folder / f"{name}.npy")
            np.save(inputs[-1], array.astype(f"u{bits // 8}").view(f"i{bits // 8}"))
        run(folder, "folded", [])
        run(folder, "compiled", inputs)
        for i, name in enumerate(names):
            folded, compiled = (np.load(folder / function / f"output_{i}.npy")
                                for function in ("folded", "compiled"))
            for k in np.flatnonzero(folded != compiled)[:1]:
                sys.exit(f"{spelling}: {name} of {a[k]:#x}, {codes['b'][k]:#x} and "
                         f"{codes['c'][k]:#x} is folded to {folded[k]}, but "
                         f"compiled {compiled[k]}")
            compared += len(folded)
    print(f"{len(sys.argv) - 2} formats, {compared} results")


main()
