# SPDX-License-Identifier: MIT
"""The programs that optimisers run: what becomes of an element, as MLIR.

docs/Training.md says what each computes. A program serves tensors of any size and
is compiled when the first one of its kind comes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numera import _formats, _kernels, _scaled
from numera._formats import Format

IDS = {
    "weight": 1,
    "master": 2,
    "compensation": 3,
    "momentum_buffer": 4,
    "exp_avg": 5,
    "exp_avg_sq": 6,
    "max_exp_avg_sq": 7,
}
"""By which what is stored draws. Operations in a format that draws come behind."""


class Plan(NamedTuple):
    """All that a program depends on."""

    rule: str
    """``sgd`` or ``adam``."""
    flags: frozenset[str]
    """``momentum``, ``nesterov``, ``decay``, ``decoupled``, ``amsgrad``,
    ``maximize``, ``compensated``."""
    parameter: Format
    """What the tensor's elements are in."""
    gradient: Format
    compute: Format
    weight: Format
    """What weights are rounded to; all its values are values of ``parameter``."""
    master: Format | None
    state: tuple[tuple[str, Format], ...]
    """What else is kept of an element, by name."""

    @property
    def kept(self) -> tuple[tuple[str, Format], ...]:
        """What is read and written as codes, in the program's order."""
        own = () if self.master is None else (("master", self.master),)
        return own + self.state


class Update:
    """A compiled program.

    Inputs: the scalars (f64), the place of the first element (i64), the parameter,
    the gradient, what is kept. Outputs: the parameter, what is kept.
    """

    def __init__(self, plan: Plan) -> None:
        writer = _Writer(plan)
        text = writer.text()
        kept = [_scaled.code_dtype(fmt) for _, fmt in plan.kept]
        parameter, gradient = map(_scaled.code_dtype, (plan.parameter, plan.gradient))
        formats = [plan.parameter, plan.gradient, plan.compute, plan.weight]
        formats += [fmt for _, fmt in plan.kept]
        self.text = text
        self._native = _kernels.Kernel(
            formats,
            text,
            [_F64, _I64, parameter, gradient, *kept],
            [parameter, *kept],
        )._native

    def run(
        self,
        inputs: list[Any],
        outputs: list[Any],
        threads: int,
        seed: int,
        step: int,
        sample: int,
    ) -> None:
        """Fills outputs, whose memory is not that of inputs."""
        self._native.run(inputs, outputs, threads, seed, step, sample)


_F64, _I64 = 2, 6
_updates: dict[Plan, Update] = {}


def find(plan: Plan) -> Update:
    """The program of a plan, compiled when it is first asked for."""
    found = _updates.get(plan)
    if found is None:
        found = _updates[plan] = Update(plan)
    return found


SCALARS = {
    "sgd": ("-lr", "momentum", "1-dampening", "decay"),
    "adam": ("1-beta1", "beta2", "1-beta2", "root", "eps", "-size", "decay"),
}
"""What a rule takes beside tensors, in order. ``decay`` is what weights are
multiplied by: the weight decay, or with ``decoupled`` 1 - lr · decay (compensated:
-lr · decay)."""


class _Writer:
    """Writes a program, a value a line."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.lines: list[str] = []
        self.count = 0
        self.ids = max(IDS.values())
        self.draws = False
        self.kind = _kernels.number(plan.compute)

    # ---- values -------------------------------------------------------------

    def _value(self, operation: str) -> str:
        self.count += 1
        self.lines.append(f"%v{self.count} = {operation}")
        return f"%v{self.count}"

    def _random(self, fmt: Format, number: int | None = None) -> str:
        """`` random %draw`` of what is rounded to a format, where it draws."""
        if not _kernels.is_stochastic(fmt):
            return ""
        if number is None:
            self.ids += 1
            number = self.ids
        self.draws = True
        bits = _kernels._random_bits(fmt)
        draw = self._value(
            f"numera.random %seed, %step, %sample, %place id {number} bits {bits}"
        )
        return f" random {draw}"

    def op(self, name: str, *operands: str) -> str:
        """An operation in the format that is computed in."""
        exact = name in ("neg", "max")
        random = "" if exact else self._random(self.plan.compute)
        return self._value(f"numera.{name} {', '.join(operands)}{random} : {self.kind}")

    def cast(
        self, value: str, source: Format, target: Format, number: int | None = None
    ) -> str:
        """A value in another format."""
        kinds = _kernels.number(source), _kernels.number(target)
        if kinds[0] == kinds[1]:
            return value
        random = self._random(target, number)
        return self._value(f"numera.cast {value}{random} : {kinds[0]} to {kinds[1]}")

    def nearest(self, value: str, source: Format, target: Format) -> str:
        """A value in another format, to nearest where that one draws."""
        if not _kernels.is_stochastic(target):
            return self.cast(value, source, target)
        kinds = _kernels.number(source), _kernels.number(target)
        how = '{rounding = #numera.rounding<"nearest-even">}'
        return self._value(f"numera.cast {value} {how} : {kinds[0]} to {kinds[1]}")

    def followed(self, parameter: str, master: str) -> str:
        """A master, or the parameter, if that is not what is read of the master."""
        plan = self.plan
        assert plan.master is not None
        kind = _kernels.number(plan.parameter)
        read = self.nearest(master, plan.master, plan.weight)
        read = self.nearest(read, plan.weight, plan.parameter)
        same = self._value(f"numera.cmp oeq, {parameter}, {read} : {kind}")
        nans = [self._value(f"numera.isnan {x} : {kind}") for x in (parameter, read)]
        both = self._value(f"arith.andi {', '.join(nans)} : i1")
        same = self._value(f"arith.ori {same}, {both} : i1")
        if plan.master.family == "opaque":  # a library may cast f32 alone
            anew = self.cast(parameter, plan.parameter, plan.compute)
            anew = self.cast(anew, plan.compute, plan.master)
        else:
            anew = self.nearest(parameter, plan.parameter, plan.master)
        kind = _kernels.number(plan.master)
        return self._value(f"arith.select {same}, {master}, {anew} : {kind}")

    def store(self, name: str, value: str, fmt: Format) -> tuple[str, str]:
        """What is kept of a value, and that in the format that is computed in."""
        kept = self.cast(value, self.plan.compute, fmt, IDS[name])
        return kept, self.cast(kept, fmt, self.plan.compute)

    # ---- rules --------------------------------------------------------------

    def _sgd(self, w: str, g: str, s: dict[str, str], old: dict[str, str]) -> Any:
        """The direction, the factor that it is taken by, and the new state."""
        flags = self.plan.flags
        new: dict[str, str] = {}
        if "decay" in flags:
            g = self.op("fma", s["decay"], w, g)
        if "momentum" in flags:
            b = self.op("mul", s["momentum"], old["momentum_buffer"])
            b = self.op("fma", s["1-dampening"], g, b)
            new["momentum_buffer"] = b
            g = self.op("fma", s["momentum"], b, g) if "nesterov" in flags else b
        return s["-lr"], g, new

    def _adam(self, w: str, g: str, s: dict[str, str], old: dict[str, str]) -> Any:
        flags = self.plan.flags
        new: dict[str, str] = {}
        if "decay" in flags and "decoupled" not in flags:
            g = self.op("fma", s["decay"], w, g)
        m = self.op("sub", g, old["exp_avg"])
        m = self.op("fma", s["1-beta1"], m, old["exp_avg"])
        v = self.op("mul", s["beta2"], old["exp_avg_sq"])
        part = self.op("mul", s["1-beta2"], g)
        v = self.op("fma", part, g, v)
        new.update(exp_avg=m, exp_avg_sq=v)
        if "amsgrad" in flags:
            v = new["max_exp_avg_sq"] = self.op("max", old["max_exp_avg_sq"], v)
        d = self.op("div", self.op("sqrt", v), s["root"])
        d = self.op("add", d, s["eps"])
        return None, self.op("div", self.op("mul", s["-size"], m), d), new

    def _body(self, scalars: dict[str, str], old: dict[str, str]) -> list[str]:
        plan, flags = self.plan, self.plan.flags
        target = plan.master or plan.weight
        name = "weight" if plan.master is None else "master"
        if plan.master is None:
            w = self.cast("%p", plan.parameter, plan.compute)
        else:
            w = self.cast(self.followed("%p", "%k0"), plan.master, plan.compute)
        g = self.cast("%g", plan.gradient, plan.compute)
        if "maximize" in flags:
            g = self.op("neg", g)
        rule = {"sgd": self._sgd, "adam": self._adam}[plan.rule]
        factor, u, new = rule(w, g, scalars, old)
        results = {}
        if "compensated" in flags:
            c = old["compensation"]
            y = self.op("fma", factor, u, c) if factor else self.op("add", u, c)
            if "decoupled" in flags:
                y = self.op("fma", scalars["decay"], w, y)
            kept, z = self.store(name, self.op("add", w, y), target)
            moved = self.op("sub", z, w)
            new["compensation"] = self.op("sub", y, moved)
        else:
            x = self.op("mul", w, scalars["decay"]) if "decoupled" in flags else w
            z = self.op("fma", factor, u, x) if factor else self.op("add", x, u)
            kept = self.cast(z, plan.compute, target, IDS[name])
        if plan.master is None:
            weight = kept
        else:
            results["master"] = kept
            weight = self.nearest(kept, plan.master, plan.weight)
        for key, fmt in plan.state:
            results[key] = self.cast(new[key], plan.compute, fmt, IDS[key])
        out = self.cast(weight, plan.weight, plan.parameter)
        return [out, *(results[key] for key, _ in plan.kept)]

    # ---- the function -------------------------------------------------------

    def text(self) -> str:
        plan = self.plan
        kept = plan.kept
        number = _kernels.number
        scalars = {key: f"%s{i}" for i, key in enumerate(SCALARS[plan.rule])}
        old = {
            key: self.cast(f"%k{i}", fmt, plan.compute)
            for i, (key, fmt) in enumerate(kept)
            if key != "master"
        }
        results = self._body(scalars, old)
        inner = self.lines
        inputs = [number(plan.parameter), number(plan.gradient)]
        inputs += [number(fmt) for _, fmt in kept]
        outputs = [inputs[0], *inputs[2:]]
        names = ["p", "g", *(f"k{i}" for i in range(len(kept)))]
        outer = [*_kernels.constants(len(scalars)), *self._scalars(len(scalars))]
        outer.append("%first = tensor.extract %begin[] : tensor<i64>")
        outer.append(f"%n = tensor.dim %tp, %c0 : {_vector(inputs[0])}")
        for i, kind in enumerate(outputs):
            outer.append(f"%e{i} = tensor.empty(%n) : {_vector(kind)}")
        count = len(inputs) + len(outputs)
        types = ", ".join(map(_vector, outputs))
        several = f"({types})" if len(outputs) > 1 else types
        result = f"%r:{len(outputs)}" if len(outputs) > 1 else "%r"
        returned = ", ".join(
            f"%r#{i}" if len(outputs) > 1 else "%r" for i in range(len(outputs))
        )
        outer += [
            (
                f"{result} = linalg.generic {{indexing_maps = "
                f"[{', '.join(['affine_map<(i) -> (i)>'] * count)}], "
                f'iterator_types = ["parallel"]}} '
                f"ins({', '.join(f'%t{name}' for name in names)} : "
                f"{', '.join(map(_vector, inputs))}) "
                f"outs({', '.join(f'%e{i}' for i in range(len(outputs)))} : {types}) {{"
            ),
            "^bb0("
            + ", ".join(f"%{name}: {kind}" for name, kind in zip(names, inputs))
            + "".join(f", %o{i}: {kind}" for i, kind in enumerate(outputs))
            + "):",
            "%index = linalg.index 0 : index",
            "%near = arith.index_cast %index : index to i64",
            "%place = arith.addi %first, %near : i64",
            *inner,
            f"linalg.yield {', '.join(results)} : {', '.join(outputs)}",
            f"}} -> {several}",
            f"return {returned} : {types}",
        ]
        arguments = ["%scalars: tensor<?xf64>", "%begin: tensor<i64>"]
        arguments += [f"%t{name}: {_vector(k)}" for name, k in zip(names, inputs)]
        return _kernels.function(arguments, f"({types})", self.draws, outer)

    def _scalars(self, count: int) -> list[str]:
        """Scalars, rounded to nearest whatever the format's operations do."""
        lines = []
        wide = _kernels.number(_formats.format("f64"))
        for i in range(count):
            name = f"%s{i}" if self.kind == wide else f"%w{i}"
            lines.append(f"{name} = tensor.extract %scalars[%c{i}] : tensor<?xf64>")
            if self.kind != wide:
                nearest = (
                    ' {rounding = #numera.rounding<"nearest-even">}'
                    if _kernels.is_stochastic(self.plan.compute)
                    else ""
                )
                lines.append(
                    f"%s{i} = numera.cast {name}{nearest} : {wide} to {self.kind}"
                )
        return lines


def _vector(kind: str) -> str:
    return f"tensor<?x{kind}>"
