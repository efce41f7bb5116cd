# SPDX-License-Identifier: MIT
"""einsum.py FOLDER: ONNX's Einsum.

Formats have the bits of clause C12's steps, and integers those of np.einsum.
Prints how many results were compared.
"""
import itertools
import pathlib
import subprocess
import sys

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from chosen import chosen
from reference_formats import parse, parse_accumulator
from reference_operators import Arithmetic

EQUATIONS = chosen([
    ("ij->ji", [3, 4]),
    ("ij", [3, 70]),
    ("ji", [3, 4]),
    ("ij->", [3, 40]),
    ("ij->i", [3, 40]),
    ("ii->i", [3, 3]),
    ("iji->ji", [3, 2, 3]),
    ("ii", [5, 5]),
    ("->", []),
    ("i,i", [40], [40]),
    ("i,j->ij", [3], [4]),
    ("i,->i", [3], []),
    ("ij,ij->ij", [3, 4], [3, 4]),
    ("ij,ij->", [3, 14], [3, 14]),
    ("ij,ji->", [3, 14], [14, 3]),
    ("ij,jk", [3, 40], [40, 2]),
    ("ik,jk->ji", [3, 40], [2, 40]),
    ("bij,bjk->bik", [2, 3, 5], [2, 5, 4]),
    ("nhqd,nhkd->nhqk", [2, 2, 3, 7], [2, 2, 4, 7]),
    ("nctv,vw->nctw", [2, 3, 4, 5], [5, 5]),
    ("nkctv,kvw->nctw", [2, 3, 2, 2, 4], [3, 4, 4]),
    ("ijk,kl->l", [3, 5, 4], [4, 2]),
    ("ij,kj->i", [3, 6], [4, 6]),
    ("...ij,...jk->...ik", [2, 1, 3, 5], [4, 5, 2]),
    ("b...,b...->...", [9, 2, 3], [9, 2, 3]),
    ("i...->...", [40, 2]),
    ("...,...", [3, 1], [2, 1, 4]),
    ("ij,ij", [1, 4], [3, 4]),
    ("ij,ij->j", [40, 4], [1, 4]),
    ("Ab,bA->bA", [2, 3], [3, 2]),
    (" i j , j k -> i k ", [2, 3], [3, 4]),
    ("ij,jk,kl->il", [2, 5], [5, 6], [6, 3]),
    ("bi,oij,bj->bo", [2, 5], [3, 5, 6], [2, 6]),
    ("ij,kl,ljik->", [2, 3], [4, 5], [5, 3, 2, 4]),
    ("i,j,k->kij", [2], [3], [4]),
    ("ij,jk,kl,lm->mi", [2, 3], [3, 4], [4, 3], [3, 2]),
], mirrored=slice(2, None, 5), quick=slice(None))
# Format and accumulator.
FORMATS = [("posit16", "same"), ("bf16", "f32"), ("f32", "f32"), ("f8E4M3FN", "same"),
           ("posit8", "quire"), ("f16", "f32")]


def parsed(equation, arrays):
    """The letters of each operand and of the result; 0 is the last dimension of
    the ellipsis, 1 the one before."""
    left, _, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    lists = []
    for term, array in zip(terms, arrays):
        rank = array.ndim - len(term.replace("...", ""))
        before, _, after = term.partition("...")
        lists.append([*before, *range(rank - 1, -1, -1), *after])
    dots = sorted({each for one in lists for each in one if isinstance(each, int)},
                  reverse=True)
    if "->" in equation:
        before, found, after = right.partition("...")
        return lists, [*before, *(dots if found else []), *after]
    every = [each for one in lists for each in one if isinstance(each, str)]
    return lists, dots + sorted(each for each in every if every.count(each) == 1)


def along(array, letters, wanted):
    """The array with an axis for each of the wanted letters."""
    order = [each for each in wanted if each in letters]
    moved = np.transpose(array, [letters.index(each) for each in order])
    sizes = iter(moved.shape)
    return moved.reshape([next(sizes) if each in order else 1 for each in wanted])


def combined(on, lhs, rhs, needed, appearance):
    (a, left), (b, right) = lhs, rhs
    inner = [each for each in appearance
             if each in left and each in right and each not in needed]
    outer = [each for each in appearance
             if each in left + right and each not in inner]
    a, b = (along(x, letters, inner + outer) for x, letters in (lhs, rhs))
    if not inner:
        return on.target.multiply(a, b), outer
    acc = on.start(np.broadcast_shapes(a.shape, b.shape)[len(inner):])
    for at in np.ndindex(*a.shape[:len(inner)]):
        acc = on.mac(acc, a[at], b[at])
    return on.finish(acc), outer


def expected(on, equation, arrays):
    lists, result = parsed(equation, arrays)
    sizes = {}
    for array, letters in zip(arrays, lists):
        for size, letter in zip(array.shape, letters):
            sizes[letter] = max(size, sizes.get(letter, 1))
    operands = []
    for array, letters in zip(arrays, lists):
        x = on.target.round(array.astype(np.float64))
        # Ones that stand for more, and then diagonals.
        kept = [i for i, each in enumerate(letters) if array.shape[i] == sizes[each]]
        x, letters = x.reshape([x.shape[i] for i in kept]), [letters[i] for i in kept]
        for letter in dict.fromkeys(letters):
            while letters.count(letter) > 1:
                first = letters.index(letter)
                second = letters.index(letter, first + 1)
                x = np.diagonal(x, axis1=first, axis2=second)
                letters = [each for i, each in enumerate(letters)
                           if i not in (first, second)] + [letter]
        order = list(dict.fromkeys(each for each in lists[len(operands)]
                                   if each in letters))
        operands.append((along(x, letters, order), order))
    appearance = list(dict.fromkeys(each for _, one in operands for each in one))
    current = None
    for i, (x, letters) in enumerate(operands):
        later = result + [each for _, one in operands[i + 1:] for each in one]
        needed = later + (current[1] if current else [])
        axes = [k for k, each in enumerate(letters) if each not in needed]
        if axes:
            x = np.squeeze(on.sum(x, axes), tuple(axes))
            letters = [each for each in letters if each in needed]
        current = (combined(on, current, (x, letters), later, appearance)
                   if current else (x, letters))
    return along(*current, result)


def write_model(path, arrays, element, batch):
    """All equations in one model; the last operand of every second is known."""
    nodes, inputs, outputs, constants = [], [], [], []
    for i, ((equation, *_), operands) in enumerate(zip(EQUATIONS, arrays)):
        names = [f"x{i}_{j}" for j in range(len(operands))]
        for j, (name, array) in enumerate(zip(names, operands)):
            if j > 0 and j == len(operands) - 1 and i % 2:
                constants.append(numpy_helper.from_array(array, name))
                continue
            shape = list(array.shape)
            if batch and "n" in equation and equation.split(",")[j][0] == "n":
                shape[0] = "N"
            inputs.append(helper.make_tensor_value_info(name, element, shape))
        nodes.append(helper.make_node("Einsum", names, [f"y{i}"], equation=equation))
        outputs.append(helper.make_tensor_value_info(f"y{i}", element, None))
    graph = helper.make_graph(nodes, "equations", inputs, outputs, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 12)])
    model.ir_version = 8
    path.write_bytes(model.SerializeToString())
    return [each.name for each in inputs]


def results(folder, arrays, element, batch, options):
    names = write_model(folder / "model.onnx", arrays, element, batch)
    arguments = []
    for name in names:
        i, j = map(int, name[1:].split("_"))
        np.save(folder / f"{name}.npy", arrays[i][j])
        arguments += ["--input", f"{name}={folder / name}.npy"]
    subprocess.run(["numera", "run", folder / "model.onnx", *options, *arguments,
                    "--output-dir", folder / "out"], check=True,
                   stdout=subprocess.DEVNULL)
    return [np.load(folder / "out" / f"y{i}.npy") for i in range(len(arrays))]


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True)
    random = np.random.default_rng(5)
    compared = 0
    arrays = [[random.standard_normal(shape).astype(np.float32) for shape in shapes]
              for _, *shapes in EQUATIONS]
    formats = chosen(FORMATS, mirrored=slice(1), quick=slice(2))
    for (spelling, accumulator), batch in zip(formats, itertools.cycle([False, True])):
        on = Arithmetic(parse(spelling), parse_accumulator(accumulator))
        found = results(folder, arrays, TensorProto.FLOAT, batch,
                        ["--format", spelling, "--accumulate", accumulator])
        for (equation, *_), operands, y in zip(EQUATIONS, arrays, found):
            z = parse("f32").round(expected(on, equation, operands)).astype("f4")
            assert y.shape == z.shape, f"{equation}: {y.shape}, not {z.shape}"
            same = np.array_equal(y.view("i4"), z.view("i4"))
            assert same, f"{equation} in {spelling}: {y.ravel()}, not {z.ravel()}"
            compared += y.size
    for element, numbers in [(TensorProto.INT32, np.int32), (TensorProto.UINT8, np.uint8)]:
        arrays = [[random.integers(0, 100, shape).astype(numbers) for shape in shapes]
                  for _, *shapes in EQUATIONS]
        found = results(folder, arrays, element, False, [])
        for (equation, *_), operands, y in zip(EQUATIONS, arrays, found):
            z = np.einsum(equation, *operands)
            assert y.dtype == z.dtype and np.array_equal(y, z), f"{equation}: {y}, not {z}"
            compared += y.size
    print(f"{len(EQUATIONS)} equations, {len(formats)} formats, {compared} results")


main()
