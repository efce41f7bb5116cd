# SPDX-License-Identifier: MIT
"""Networks of convolutions whose values have their channels last in memory:
channels_last.py FOLDER

Where the number of filters is known, what is computed of their results is stored
that way; where it is dynamic, in the written order. Both give the same bits, in
several formats, and for small whole numbers those of NumPy.
"""

import itertools
import pathlib
import sys

import numpy as np
from programs import run

CONVOLUTION = """#image = affine_map<(n, f, y, x, c, i, j) -> (n, c, y * {stride} + i, x * {stride} + j)>
#image1 = affine_map<(n, f, y, x, c, i, j) -> (n, c, y + i, x + j)>
#filter = affine_map<(n, f, y, x, c, i, j) -> (f, c, i, j)>
#sum = affine_map<(n, f, y, x, c, i, j) -> (n, f, y, x)>
#each = affine_map<(n, f, y, x) -> (n, f, y, x)>
#channel = affine_map<(n, f, y, x) -> (f)>
#window = affine_map<(n, f, y, x, i, j) -> (n, f, y + i, x + j)>
#own = affine_map<(n, f, y, x, i, j) -> (f, i, j)>
#of = affine_map<(n, f, y, x, i, j) -> (n, f, y, x)>
#read = affine_map<(n, f, p) -> (n, f, p)>
#mean = affine_map<(n, f, p) -> (n, f)>
#turned = affine_map<(n, f, p) -> (n, p, f)>
"""
MORE = 5  # convolutions: two are needed for each image that is returned
HEAD = 'iterator_types = ["parallel", "parallel", "parallel", "parallel"'


class Network:
    """MLIR text; `count` is how types spell the number of filters."""

    def __init__(self, count, element, stride, batch):
        self.count, self.element, self.stride, self.batch = count, element, stride, batch
        self.lines, self.values = [], itertools.count()

    def add(self, text):
        name = f"%v{next(self.values)}"
        self.lines.append(f"  {name} = {text}")
        return name

    def type(self, *shape):
        return f"tensor<{'x'.join(map(str, shape))}x{self.element}>"

    def zeros(self, *shape):
        dynamic = "%count" if self.count == "?" else ""
        for_each = ", ".join([dynamic] * shape.count("?"))
        empty = self.add(f"tensor.empty({for_each}) : {self.type(*shape)}")
        return self.add(f"linalg.fill ins(%zero : {self.element}) outs({empty} : {self.type(*shape)}) "
                        f"-> {self.type(*shape)}")

    def generic(self, maps, kinds, inputs, types, init, result, body):
        """`body` of %a, %b… and of %out yields %r."""
        arguments = ", ".join(f"%{'abc'[i]}: {self.element}" for i in range(len(inputs)))
        return self.add(
            f"linalg.generic {{indexing_maps = [{maps}], {kinds}]}} "
            f"ins({', '.join(inputs)} : {', '.join(types)}) outs({init} : {result}) {{\n"
            f"  ^bb0({arguments}, %out: {self.element}):\n    {body}\n"
            f"    linalg.yield %r : {self.element}\n  }} -> {result}")

    def text(self, size):
        n, f, e = self.batch, self.count, self.element
        out = (size - 3) // self.stride + 1
        image, filters = self.type(n, 3, size, size), self.type(f, 3, 3, 3)
        whole, bias, own = self.type(n, f, out, out), self.type(f), self.type(f, 3, 3)
        sums = self.generic("#image, #filter, #sum", HEAD + ', "reduction", "reduction", "reduction"',
                            ["%image", "%filters"], [image, filters], self.zeros(n, f, out, out), whole,
                            f"%r = numera.mac %a, %b, %out : {e}")
        active = self.generic("#each, #channel, #each", HEAD, [sums, "%bias"], [whole, bias],
                              self.zeros(n, f, out, out), whole,
                              f"%s = numera.add %a, %b : {e}\n    %r = numera.max %s, %zero : {e}")
        edged = self.type(n, f, out + 2, out + 2)
        padded = self.add(f"tensor.pad {active} low[0, 0, 1, 1] high[0, 0, 1, 1] {{\n"
                          "  ^bb0(%i: index, %j: index, %k: index, %l: index):\n"
                          f"    tensor.yield %zero : {e}\n  }} : {whole} to {edged}")
        depth = self.generic("#window, #own, #of", HEAD + ', "reduction", "reduction"',
                             [padded, "%own"], [edged, own], self.zeros(n, f, out, out), whole,
                             f"%r = numera.mac %a, %b, %out : {e}")
        both = self.generic("#each, #each, #each", HEAD, [depth, active], [whole, whole],
                            self.zeros(n, f, out, out), whole, f"%r = numera.add %a, %b : {e}")
        for _ in range(MORE):
            both = self.generic("#image1, #filter, #sum", HEAD + ', "reduction", "reduction", "reduction"',
                                [both, "%square"], [whole, self.type(f, f, 1, 1)], self.zeros(n, f, out, out), whole,
                                f"%r = numera.mac %a, %b, %out : {e}")
        # Beside each other, and the upper half again.
        double = 2 * f if f != "?" else "?"
        twice = self.type(n, double, out, out)
        count = "%count" if f == "?" else f
        self.lines.append("  %two = arith.constant 2 : index\n  %twice = arith.muli %count, %two : index")
        dynamic = "%twice" if f == "?" else ""
        room = self.add(f"tensor.empty({dynamic}) : {twice}")
        first = self.add(f"tensor.insert_slice {both} into {room}[0, 0, 0, 0] [{n}, {count}, {out}, {out}] "
                         f"[1, 1, 1, 1] : {whole} into {twice}")
        joined = self.add(f"tensor.insert_slice {active} into {first}[0, {count}, 0, 0] "
                          f"[{n}, {count}, {out}, {out}] [1, 1, 1, 1] : {whole} into {twice}")
        upper = self.add(f"tensor.extract_slice {joined}[0, {count}, 0, 0] [{n}, {count}, {out}, {out}] "
                         f"[1, 1, 1, 1] : {twice} to {whole}")
        last = self.generic("#each, #each, #each", HEAD, [both, upper], [whole, whole],
                            self.zeros(n, f, out, out), whole, f"%r = numera.mul %a, %b : {e}")
        flat = self.type(n, f, out * out)
        row = self.add(f"tensor.collapse_shape {last} [[0], [1], [2, 3]] : {whole} into {flat}")
        total = self.generic("#read, #mean", 'iterator_types = ["parallel", "parallel", "reduction"',
                             [row], [flat], self.zeros(n, f), self.type(n, f),
                             f"%r = numera.add %out, %a : {e}")
        turned_type = self.type(n, out * out, f)
        turned = self.generic("#read, #turned", 'iterator_types = ["parallel", "parallel", "parallel"',
                              [row], [flat], self.zeros(n, out * out, f), turned_type,
                              f"%r = numera.neg %a : {e}")
        results = [(joined, twice), (last, whole), (total, self.type(n, f)), (turned, turned_type)]
        types = ", ".join(kind for _, kind in results)
        zero = (f"  %zero = arith.constant 0.0 : {e}" if e == "f32" else
                f"  %0 = arith.constant 0.0 : f32\n  %zero = numera.cast %0 : f32 to {e}")
        return (CONVOLUTION.format(stride=self.stride) +
                f"func.func @f(%image: {image}, %filters: {filters}, %bias: {bias}, %own: {own}, "
                f"%square: {self.type(f, f, 1, 1)}) -> ({types}) {{\n"
                f"  %c0 = arith.constant 0 : index\n  %count = tensor.dim %bias, %c0 : {bias}\n"
                + zero + "\n" + "\n".join(self.lines)
                + f"\n  return {', '.join(value for value, _ in results)} : {types}\n}}\n")


def reference(image, filters, bias, own, square, stride):
    """The results, of whole numbers."""
    def windows(values):
        return np.lib.stride_tricks.sliding_window_view(values, (3, 3), axis=(2, 3))

    sums = np.einsum("ncyxij,fcij->nfyx", windows(image)[:, :, ::stride, ::stride], filters)
    active = np.maximum(sums + bias[None, :, None, None], 0)
    padded = np.pad(active, ((0, 0), (0, 0), (1, 1), (1, 1)))
    both = np.einsum("nfyxij,fij->nfyx", windows(padded), own) + active
    for _ in range(MORE):
        both = np.einsum("ncyx,fc->nfyx", both, square[:, :, 0, 0])
    last = both * active
    flat = last.reshape(*last.shape[:2], -1)
    return [np.concatenate([both, active], axis=1), last, flat.sum(-1), -flat.transpose(0, 2, 1)]


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir()
    random = np.random.default_rng(5)
    count = 0
    for filters, size, stride, batch in [(16, 9, 1, 1), (24, 12, 2, 2), (40, 7, 1, 1)]:
        shapes = [(batch, 3, size, size), (filters, 3, 3, 3), (filters,), (filters, 3, 3),
                  (filters, filters, 1, 1)]
        whole = [random.integers(-1, 2, shape).astype("f4") for shape in shapes]
        # So that the numbers stay small.
        whole[4][:, :, 0, 0] = np.eye(filters)[random.permutation(filters)] * random.choice([-1, 1], filters)
        any_numbers = [random.standard_normal(shape).astype("f4") for shape in shapes]
        known = Network(filters, "f32", stride, batch).text(size)
        unknown = Network("?", "f32", stride, batch).text(size)
        results = run(folder, known, whole, [])
        for result, expected in zip(results, reference(*whole, stride), strict=True):
            assert (result == expected).all()
        formats = ["bf16", "posit16", "lns<4,6>"] if filters == 16 else ["f8E4M3FN"]
        for options in ([], ["--cpu", "x86-64"], *(["--format", name] for name in formats)):
            one, other = (run(folder, text, any_numbers, options) for text in (known, unknown))
            for x, y in zip(one, other, strict=True):
                assert x.shape == y.shape and x.tobytes() == y.tobytes(), (filters, options)
            count += 1
    print(count, "networks")


main()
