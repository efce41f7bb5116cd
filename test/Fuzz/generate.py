# SPDX-License-Identifier: MIT
"""Random typed programs on tensors, each from a number: shapes, elementwise
operations, sums, contractions, casts, choices, loops, branches and calls.

A first size -1 is the batch, and no operation mixes its rows.
"""

import random
import re

UNARY = """arith.negf math.absf math.sqrt math.rsqrt math.cbrt math.exp math.exp2 math.expm1
    math.log math.log2 math.log10 math.log1p math.sin math.cos math.tan math.asin math.acos
    math.atan math.sinh math.cosh math.tanh math.asinh math.acosh math.atanh math.erf math.erfc
    math.floor math.ceil math.trunc math.round math.roundeven""".split()
# Often what a program is made of, seldom a function.
COMMON = "arith.addf arith.subf arith.mulf arith.addf arith.mulf arith.divf".split()
BINARY = COMMON + """arith.minimumf arith.maximumf arith.minnumf arith.maxnumf arith.remf
    math.powf math.atan2 math.copysign""".split()
PREDICATES = "oeq ogt oge olt ole one ord ueq ugt uge ult ule une uno".split()
SIZES = [1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 33]
STORED = ["posit<8,2>", "float<4,3,fn>", "float<5,10>", "posit<16,2>", "fixed<4,11>",
          "float<2,3,finite>", "takum<12>", "lns<4,8>"]


def tensor(shape, element="f32"):
    return f"tensor<{''.join('?x' if s < 0 else f'{s}x' for s in shape)}{element}>"


class Operation:
    """Text with `{r}` for the result and `{0}`, `{1}`… for what it uses."""

    def __init__(self, shape, text, uses):
        self.shape, self.text, self.uses = shape, text, list(uses)

    def filled(self, name):
        return re.sub(r"\{(r|\d+)\}", lambda m: name if m[1] == "r" else self.uses[int(m[1])], self.text)


class Function:
    def __init__(self, name, arguments):
        self.name = name
        self.arguments = dict(arguments)
        self.operations = {}  # by the names of results, in order
        self.outputs = []
        self.count = 0

    def shapes(self):
        found = dict(self.arguments)
        found.update({name: op.shape for name, op in self.operations.items()})
        return found

    def add(self, shape, text, uses):
        name = f"%v{self.count}"
        self.count += 1
        self.operations[name] = Operation(shape, text, uses)
        return name

    def print(self):
        shapes = self.shapes()
        inputs = ", ".join(
            f'{name}: {tensor(shape)}' + (f' {{numera.name = "{name[1:]}"}}' if self.name == "f" else "")
            for name, shape in self.arguments.items())
        types = ", ".join(tensor(shapes[name]) for name in self.outputs)
        lines = [f"func.func {'' if self.name == 'f' else 'private '}@{self.name}({inputs}) -> ({types}) {{",
                 "  %zero = arith.constant 0.0 : f32", "  %low = arith.constant 0xff800000 : f32"]
        lines += [f"  %c{i} = arith.constant {i} : index" for i in range(4)]
        batch = next(((n, s) for n, s in self.arguments.items() if s and s[0] < 0), None)
        if batch:
            lines.append(f"  %n = tensor.dim {batch[0]}, %c0 : {tensor(batch[1])}")
        for name, op in self.operations.items():
            lines += ["  " + line for line in op.filled(name).splitlines()]
        lines += [f"  return {', '.join(self.outputs)} : {types}", "}"]
        return "\n".join(lines) + "\n"


class Program:
    def __init__(self, functions):
        self.functions = functions

    @property
    def main(self):
        return self.functions[-1]

    def print(self):
        called = [f for f in self.functions[:-1]
                  if any(f"@{f.name}(" in op.text for op in self.main.operations.values())]
        return "\n".join(f.print() for f in [*called, self.main])


class Maker:
    def __init__(self, function, random_, others=()):
        self.f, self.random, self.others = function, random_, others

    def pick(self, wanted=lambda shape: True):
        """A value, late ones more often; None if there is none."""
        found = [name for name, shape in self.f.shapes().items() if wanted(shape)]
        if not found:
            return None
        return found[max(self.random.randrange(len(found)), self.random.randrange(len(found)))]

    def like(self, shape):
        return self.pick(lambda other: other == shape)

    def empty(self, shape, start):
        """The lines of `{r}_s`, a tensor full of `start`."""
        size = "%n" if shape and shape[0] < 0 else ""
        t = tensor(shape)
        return (f"{{r}}_e = tensor.empty({size}) : {t}\n{{r}}_s = linalg.fill ins({start} : f32) "
                f"outs({{r}}_e : {t}) -> {t}\n")

    # ---- Elementwise

    def elementwise(self, x, shape, r="{r}", place="{0}", more=()):
        """One operation on a place, and other values of its shape behind it."""
        t = tensor(shape)
        uses = [x, *more]
        kind = self.random.randrange(10)
        other = self.like(shape)
        n = len(uses)
        if kind < 3:
            return f"{r} = {self.random.choice(UNARY)} {place} : {t}", uses
        uses.append(other)
        pair = [place, f"{{{n}}}"]
        self.random.shuffle(pair)
        if kind < 8:
            return f"{r} = {self.random.choice(BINARY)} {pair[0]}, {pair[1]} : {t}", uses
        if kind == 8:
            uses.append(self.like(shape))
            return f"{r} = math.fma {pair[0]}, {pair[1]}, {{{n + 1}}} : {t}", uses
        b = tensor(shape, "i1")
        text = (f"{r}_c = arith.cmpf {self.random.choice(PREDICATES)}, {pair[0]}, {pair[1]} : {t}\n"
                f"{r} = arith.select {r}_c, {pair[1]}, {pair[0]} : {b}, {t}")
        return text, uses

    def make_elementwise(self):
        x = self.pick()
        shape = self.f.shapes()[x]
        self.f.add(shape, *self.elementwise(x, shape))

    def make_cast(self):
        x = self.pick()
        shape = self.f.shapes()[x]
        t = tensor(shape)
        if self.random.random() < 0.3:
            narrow = tensor(shape, self.random.choice(["f16", "bf16"]))
            text = (f"{{r}}_n = arith.truncf {{0}} : {t} to {narrow}\n"
                    f"{{r}} = arith.extf {{r}}_n : {narrow} to {t}")
        else:
            stored = tensor(shape, f"!numera.num<{self.random.choice(STORED)}>")
            text = (f"{{r}}_n = numera.cast {{0}} : {t} to {stored}\n"
                    f"{{r}} = numera.cast {{r}}_n : {stored} to {t}")
        self.f.add(shape, text, [x])

    def make_constant(self):
        shape = self.random.choice([s for s in self.f.shapes().values()])
        if -1 in shape:
            return
        self.f.add(shape, f"{{r}} = arith.constant dense<{self.random.choice([0.5, -1.0, 3.25, 1e-3])}> : {tensor(shape)}", [])

    # ---- Shapes

    def make_transpose(self):
        x = self.pick(lambda shape: len(shape) == 2 and -1 not in shape)
        if x is None:
            return
        shape = self.f.shapes()[x]
        turned = shape[::-1]
        self.f.add(turned, f"{{r}}_e = tensor.empty() : {tensor(turned)}\n"
                   f"{{r}} = linalg.transpose ins({{0}} : {tensor(shape)}) outs({{r}}_e : {tensor(turned)}) permutation = [1, 0]", [x])

    def make_broadcast(self):
        wide = self.pick(lambda shape: len(shape) == 2)
        if wide is None:
            return
        shape = self.f.shapes()[wide]
        kept = self.random.randrange(2)
        x = self.pick(lambda other: other == (shape[kept],))
        if x is None:
            return
        size = "%n" if shape[0] < 0 else ""
        self.f.add(shape, f"{{r}}_e = tensor.empty({size}) : {tensor(shape)}\n"
                   f"{{r}} = linalg.broadcast ins({{0}} : {tensor((shape[kept],))}) "
                   f"outs({{r}}_e : {tensor(shape)}) dimensions = [{1 - kept}]", [x])

    def make_slice(self):
        x = self.pick(lambda shape: len(shape) == 2 and shape[1] > 2)
        if x is None:
            return
        shape = self.f.shapes()[x]
        width = self.random.randrange(1, shape[1] - 1)
        rows = "%n" if shape[0] < 0 else shape[0]
        cut = (shape[0], width)
        self.f.add(cut, f"{{r}} = tensor.extract_slice {{0}}[0, 1] [{rows}, {width}] [1, 1] : {tensor(shape)} to {tensor(cut)}", [x])

    # ---- Sums and contractions

    def make_reduction(self):
        x = self.pick(lambda shape: len(shape) == 2)
        if x is None:
            return
        shape = self.f.shapes()[x]
        along = 1 if shape[0] < 0 else self.random.randrange(2)
        left = (shape[1 - along],)
        step, start = self.random.choice([("addf", "%zero"), ("addf", "%zero"), ("maximumf", "%low")])
        self.f.add(left, self.empty(left, start) +
                   f"{{r}} = linalg.reduce ins({{0}} : {tensor(shape)}) outs({{r}}_s : {tensor(left)}) dimensions = [{along}]\n"
                   f"  (%a: f32, %b: f32) {{\n    %s = arith.{step} %a, %b : f32\n    linalg.yield %s : f32\n  }}", [x])

    def make_product(self):
        x = self.pick(lambda shape: len(shape) == 2)
        if x is None:
            return
        rows, inner = self.f.shapes()[x]
        y = self.pick(lambda shape: len(shape) == 2 and shape[0] == inner and shape[0] > 0)
        if y is None:
            return
        columns = self.f.shapes()[y][1]
        result = (rows, columns)
        self.f.add(result, self.empty(result, "%zero") +
                   f"{{r}} = linalg.matmul ins({{0}}, {{1}} : {tensor((rows, inner))}, {tensor((inner, columns))}) "
                   f"outs({{r}}_s : {tensor(result)}) -> {tensor(result)}", [x, y])

    # ---- Control flow

    def body(self, x, shape, first, last):
        """Operations in a row, the first on `first`, the last's result `last`."""
        lines, uses, place = [], [x], first
        count = self.random.randrange(1, 4)
        for i in range(count):
            r = last if i == count - 1 else f"{last}{i}"
            text, uses = self.elementwise(uses[0], shape, r, place, uses[1:])
            lines += text.splitlines()
            place = r
        return "".join(f"  {line}\n" for line in lines), uses

    def make_loop(self):
        x = self.pick()
        shape = self.f.shapes()[x]
        t = tensor(shape)
        text, uses = self.body(x, shape, "%t", "%last")
        self.f.add(shape, f"{{r}} = scf.for %i = %c0 to %c3 step %c1 iter_args(%t = {{0}}) -> ({t}) {{\n{text}"
                   f"  scf.yield %last : {t}\n}}", uses)

    def make_branch(self):
        x = self.pick()
        shape = self.f.shapes()[x]
        by = self.pick(lambda other: other and -1 not in other)
        if by is None:
            return
        t, places = tensor(shape), ", ".join(["%c0"] * len(self.f.shapes()[by]))
        text, uses = self.body(x, shape, "{0}", "%last")
        self.f.add(shape, f"{{r}}_x = tensor.extract {{{len(uses)}}}[{places}] : {tensor(self.f.shapes()[by])}\n"
                   f"{{r}}_c = arith.cmpf {self.random.choice(PREDICATES)}, {{r}}_x, %zero : f32\n"
                   f"{{r}} = scf.if {{r}}_c -> ({t}) {{\n{text}  scf.yield %last : {t}\n}} else {{\n  scf.yield {{0}} : {t}\n}}",
                   [*uses, by])

    def make_call(self):
        if not self.others:
            return
        other = self.random.choice(self.others)
        uses = [self.like(shape) for shape in other.arguments.values()]
        if None in uses:
            return
        shape = other.shapes()[other.outputs[0]]
        types = ", ".join(map(tensor, other.arguments.values()))
        places = ", ".join(f"{{{i}}}" for i in range(len(uses)))
        self.f.add(shape, f"{{r}} = func.call @{other.name}({places}) : ({types}) -> {tensor(shape)}", uses)

    def fill(self, count):
        kinds = [self.make_elementwise] * 8 + [
            self.make_cast, self.make_constant, self.make_transpose, self.make_broadcast,
            self.make_broadcast, self.make_slice, self.make_reduction, self.make_reduction,
            self.make_product, self.make_product, self.make_product, self.make_loop,
            self.make_branch, self.make_call, self.make_call]
        for _ in range(8 * count):
            if len(self.f.operations) >= count:
                break
            self.random.choice(kinds)()
        names = list(self.f.operations)
        used = {use for op in self.f.operations.values() for use in op.uses}
        self.f.outputs = [name for name in names if name not in used][-4:]


def generate(seed):
    """A program and what it is computed in: options of `numera run`, and a
    configuration with a policy or None."""
    random_ = random.Random(seed)
    a, b, c = (random_.choice(SIZES) for _ in range(3))
    n = random_.choice([-1, -1, a])
    arguments = {"%x": (n, a), "%y": (n, a), "%w": (a, b), "%u": (b, c), "%v": (a,)}
    if random_.random() < 0.5:
        arguments["%z"] = (n, b)
    helpers = []
    for i in range(random_.randrange(3)):
        shape = random_.choice(list(arguments.values()))
        g = Function(f"g{i}", {"%p": shape, "%q": shape, "%r": (b, c)})
        Maker(g, random_).fill(random_.randrange(2, 5))
        g.outputs = g.outputs[:1]
        helpers.append(g)
    main = Function("f", arguments)
    Maker(main, random_, helpers).fill(random_.randrange(3, 14))
    return Program([*helpers, main]), *choose_format(random_)


FORMATS = """f32 bf16 bf16 f16 tf32 f64 f8E4M3FN f8E5M2 f8E5M2FNUZ f6E2M3FN posit8 posit16 posit16 posit32
    float<5,7> float<6,9,flush,saturate> float<3,4,bias=9> float<4,3,p3109> p3109_k8p3se takum<12>
    takum<16> takum<32> fixed<4,11> fixed<8,8,wrap> lns<5,10> lns<4,3> posit<12,1> float<8,15>""".split()


def choose_format(random_):
    if random_.random() < 0.15:
        default, weights, activations = (random_.choice(FORMATS) for _ in range(3))
        lines = [f"policy:\n  default: '{default}'"]
        if random_.random() < 0.6:
            lines.append(f"  accumulate: {random_.choice(['f32', 'same', 'f64'])}")
        if random_.random() < 0.6:
            lines.append(f"  weights: '{random_.choice([weights, 'mxfp8', 'mxfp4'])}'")
        if random_.random() < 0.6:
            lines.append(f"  activations: '{random_.choice([activations, 'mxfp8', 'mxint8'])}'")
        return [], "\n".join(lines) + "\n"
    options = ["--format", random_.choice(FORMATS)]
    if random_.random() < 0.6:
        options += ["--accumulate", random_.choice(["same", "quire", "f32", "f64", "posit32", "bf16"])]
    if random_.random() < 0.35:
        options += ["--rounding", random_.choice(["toward-zero", "up", "down", "to-odd", "nearest-away", "stochastic"])]
        if options[-1] == "stochastic":
            options += ["--seed", str(random_.randrange(99))]
    if random_.random() < 0.3:
        options += ["--output-as", random_.choice(["storage", "f64"])]
    return options, None
