# SPDX-License-Identifier: MIT
"""NumPy's ufuncs on arrays of codes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numera import _casts, _kernels
from numera._array import Array
from numera._bounded import PROGRAMS, Bounded
from numera._errors import Error
from numera._formats import Format
from numera._operands import apart, operand, truths

_UNARY = {
    "absolute": "abs", "fabs": "abs", "negative": "neg", "sqrt": "sqrt",
    "exp": "exp", "exp2": "exp2", "expm1": "expm1",
    "log": "log", "log2": "log2", "log1p": "log1p",
    "sin": "sin", "cos": "cos", "tan": "tan",
    "arcsin": "asin", "arccos": "acos", "arctan": "atan",
    "sinh": "sinh", "cosh": "cosh", "tanh": "tanh",
    "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh",
    "log10": "log10", "cbrt": "cbrt",
    "floor": "floor", "ceil": "ceil", "trunc": "trunc", "rint": "roundeven",
}  # fmt: skip
_BINARY = {
    "add": "add", "subtract": "sub", "multiply": "mul", "divide": "div",
    "true_divide": "div", "power": "pow", "float_power": "pow", "fmod": "rem",
    "minimum": "min", "maximum": "max", "fmin": "minnum", "fmax": "maxnum",
    "arctan2": "atan2", "hypot": "hypot", "copysign": "copysign",
}  # fmt: skip
_RELATIONS = {
    "less": "olt", "less_equal": "ole", "equal": "oeq", "not_equal": "une",
    "greater": "ogt", "greater_equal": "oge",
}  # fmt: skip
_CHOICES = {"abs", "neg", "min", "max", "minnum", "maxnum", "copysign"}
"""Those that round nothing."""
_VALUES = {"isfinite", "isinf", "signbit"}
"""Those that NumPy computes on the values."""
_TRUTHS = {"logical_and", "logical_or", "logical_xor", "logical_not"}
"""Those that NumPy computes on whether elements are zero."""


def _classified(name: str, x: Array) -> Any:
    """Which are infinite or finite, of a format with numbers that f64 has not."""
    infinite: Any = np.zeros(x.shape, bool)
    if x._format.facts["has_infinity"]:
        infinite = abs(x) == operand(np.inf, x._format, "with")
    return infinite if name == "isinf" else ~(infinite | np.isnan(x))


def call(
    ufunc: np.ufunc, method: str, inputs: Sequence[Any], options: dict[str, Any]
) -> Any:
    """What ``Array.__array_ufunc__`` does."""
    if not options and method == "__call__":
        result = call_again(ufunc, inputs)
        if result is not None:
            return result
    name = ufunc.__name__
    if "where" in options:
        options["where"] = truths(options["where"])
    fmt = _format_of(inputs)
    has_codes = fmt is not None
    if fmt is None:
        fmt = _format_of(options.get("out") or ())
    if fmt is None:  # where= alone was of codes
        return getattr(ufunc, method)(*inputs, **options)
    if name in _TRUTHS:
        return _truths(ufunc, method, inputs, options)
    if method == "reduce":
        return _reduce(name, inputs[0], options)
    if not has_codes:
        inputs = [operand(x, fmt, "with") for x in inputs]
    if method == "outer":
        inputs = _outer(inputs, fmt)
    elif method != "__call__":
        raise Error(f"np.{name}.{method} is not for arrays of codes")
    if name == "vecdot" and "axis" in options:
        axis = options.pop("axis")
        inputs = [np.moveaxis(x, axis, -1) for x in inputs]
    outs = options.pop("out", (None,) * ufunc.nout)
    where = options.pop("where", True)
    if options:
        raise Error(f"{next(iter(options))}= is not for arrays of codes")
    result = _call(name, inputs, fmt)
    _remember(ufunc, fmt)
    results = result if ufunc.nout > 1 else (result,)
    given = tuple(
        each if out is None else _copied(each, out, where)
        for each, out in zip(results, outs)
    )
    return given if ufunc.nout > 1 else given[0]


def _truths(
    ufunc: np.ufunc, method: str, inputs: Sequence[Any], options: dict[str, Any]
) -> Any:
    for out in options.get("out", ()):
        if isinstance(out, Array):
            raise Error(f"out is of '{out._format}', expected truth values")
    return getattr(ufunc, method)(*map(truths, inputs), **options)


def _format_of(arrays: Sequence[Any]) -> Format | None:
    """That of the first array of codes."""
    for x in arrays:
        if isinstance(x, Array):
            return x._format
    return None


def _outer(inputs: Sequence[Any], fmt: Format) -> list[Any]:
    """Operands whose dimensions follow one another, for each with each."""
    first, second = (operand(x, fmt, "with") for x in inputs)
    return [first.reshape(first.shape + (1,) * second.ndim), second]


_known: dict[tuple[np.ufunc, int], tuple[Format, _kernels.Kernel, np.dtype[Any]]] = (
    Bounded(PROGRAMS)
)
"""Operations on dense arrays of one shape, by a format's place in memory, which
stays its own as long as it stands here."""


def _remember(ufunc: np.ufunc, fmt: Format) -> None:
    name = ufunc.__name__
    operation = _UNARY.get(name) or _BINARY.get(name)
    tests = _RELATIONS.get(name) or ("isnan" if name == "isnan" else None)
    kernel = _kernels.known((operation or tests, fmt, ((True,) * ufunc.nin,)))
    if kernel is not None:
        dtype = fmt.dtype if operation else np.dtype(bool)
        _known[ufunc, id(fmt)] = fmt, kernel, dtype


def call_again(ufunc: np.ufunc, inputs: Sequence[Any]) -> Any:
    """The result of an operation that was done before; None where it is not so.

    What calls on few elements go through.
    """
    first = inputs[0]
    if type(first) is not Array:
        return None
    fmt = first._format
    known = _known.get((ufunc, id(fmt)))
    if known is None:
        return None
    for x in inputs:
        if type(x) is not Array or x._format is not fmt:
            return None
    _, kernel, dtype = known
    result = np.empty(first._codes.shape, dtype)
    if not kernel.run_each(tuple([x._codes for x in inputs]), result):
        return None
    return result if dtype == bool else first._with(result)


def _copied(result: Any, out: Any, where: Any) -> Any:
    """``out`` with the result, as far as ``where`` is true."""
    if isinstance(out, Array):
        if not isinstance(result, Array):
            raise Error(f"out is of '{out._format}', which the result is not")
        if out._format != result._format:
            _, found = apart(result._format, out._format)
            raise Error(f"out is of {found}, which the result is not")
        np.copyto(out._codes, result._codes, where=where)
    elif isinstance(result, Array):
        raise Error(f"out is an array of {out.dtype}, expected one of codes")
    else:
        np.copyto(out, result, where=where)
    return out


def _call(name: str, inputs: Sequence[Any], fmt: Format) -> Any:
    if name in ("matmul", "vecdot", "matvec", "vecmat"):
        from numera import _products

        return getattr(_products, name)(*inputs)
    arrays = [operand(x, fmt, "with") for x in inputs]
    if name == "positive":
        return arrays[0].copy()
    if name in _VALUES:
        if name != "signbit" and fmt.family != "opaque" and not _casts.carrier(fmt):
            return _classified(name, arrays[0])
        return getattr(np, name)(arrays[0].values())
    if name == "isnan":
        return _elementwise("isnan", arrays, None)
    if name in _RELATIONS:
        return _elementwise(_RELATIONS[name], arrays, None)
    if name in ("sign", "remainder", "floor_divide", "divmod"):
        from numera import _elements

        if name == "floor_divide":
            return _elements.divmod(*arrays)[0]
        return getattr(_elements, name)(*arrays)
    if name == "nextafter":
        from numera import _order

        return _order.nextafter(*arrays)
    if name == "square":
        return _elementwise("mul", [arrays[0], arrays[0]], fmt)
    if name == "reciprocal":
        return _elementwise("div", [operand(1, fmt, "with"), arrays[0]], fmt)
    operation = _UNARY.get(name) or _BINARY.get(name)
    if operation is None:
        raise Error(
            f"np.{name} is not for arrays of codes; it takes their .values(), "
            "and does not round to the format"
        )
    return _elementwise(operation, arrays, fmt)


def _reduce(name: str, x: Any, options: dict[str, Any]) -> Any:
    from numera import _functions, _order

    axis = options.pop("axis", 0)
    keepdims = options.pop("keepdims", False)
    (out,) = options.pop("out", (None,))
    kept = {n: options.pop(n) for n in ("initial", "where") if n in options}
    _functions.refused(**options)
    _functions.formatted(f"np.{name}.reduce", x)
    reductions: dict[str, Callable[..., Any]] = {
        "add": _functions.sum,
        "multiply": _functions.prod,
        "minimum": _order.amin,
        "maximum": _order.amax,
    }
    reduction = reductions.get(name)
    if reduction is None:
        raise Error(f"np.{name}.reduce is not for arrays of codes")
    return _functions.stored(reduction(x, axis, keepdims=keepdims, **kept), out)


# ---- one operation on each element ------------------------------------------


def _body(operation: str, fmt: Format, count: int, isbits: bool) -> _kernels.Body:
    names = ", ".join(f"%x{i}" for i in range(count))
    kind = _kernels.number(fmt)

    def write(random: Callable[[Format], str]) -> tuple[list[str], str]:
        if operation in _RELATIONS.values():
            return [f"%y = numera.cmp {operation}, {names} : {kind}"], "%y"
        draw = "" if isbits or operation in _CHOICES else random(fmt)
        return [f"%y = numera.{operation} {names}{draw} : {kind}"], "%y"

    return write


def _elementwise(operation: str, arrays: list[Array], fmt: Format | None) -> Any:
    of = arrays[0]._format
    codes = [x._codes for x in arrays]
    pattern, shape, dense = _broadcast(codes)
    kernel = _kernels.find(
        (operation, of, pattern),
        lambda: _kernels.elementwise(
            [of] * len(arrays),
            fmt,
            pattern,
            _body(operation, of, len(arrays), fmt is None),
        ),
    )
    folded = _folded_shape(pattern, dense)
    result = np.empty(folded, bool if fmt is None else fmt.dtype)
    if result.size:
        kernel.run(dense, [result], result.size)
    result = result.reshape(shape)
    return result if fmt is None else arrays[0]._with(result)


def _folded_shape(
    pattern: _kernels.Pattern, dense: Sequence[np.ndarray[Any, Any]]
) -> list[int]:
    sizes, places = [], [0] * len(dense)
    for has in pattern:
        for i, here in enumerate(has):
            if here:
                size = dense[i].shape[places[i]]
                places[i] += 1
        sizes.append(size)
    return sizes


def _broadcast(
    codes: Sequence[np.ndarray[Any, Any]],
) -> tuple[_kernels.Pattern, tuple[int, ...], list[np.ndarray[Any, Any]]]:
    """The loop of an operation: its pattern, the result's shape, and operands.

    Dimensions that all operands have, or lack, alike become one, so that few
    patterns are ever compiled.
    """
    first = codes[0]
    if all(x.shape == first.shape for x in codes[1:]):
        every = (True,) * len(codes)
        dense = [np.ascontiguousarray(x).reshape(-1) for x in codes]
        return (every,), first.shape, dense
    whole = max(codes, key=lambda x: x.ndim)
    if all(x is whole or x.ndim == 0 for x in codes) and whole.size > 1:
        # Numbers with an array.
        dense = [np.ascontiguousarray(x).reshape(-1) if x.ndim else x for x in codes]
        return (tuple(x is whole for x in codes),), whole.shape, dense
    try:
        shape = np.broadcast_shapes(*(x.shape for x in codes))
    except ValueError as error:
        raise Error(str(error)) from None
    pattern: list[tuple[bool, ...]] = []
    kept: list[list[int]] = [[] for _ in codes]
    for d, size in enumerate(shape):
        if size == 1:
            continue
        has = []
        for x in codes:
            place = d - len(shape) + x.ndim
            has.append(place >= 0 and x.shape[place] != 1)
        joins = bool(pattern) and pattern[-1] == tuple(has)
        if not joins:
            pattern.append(tuple(has))
        for i, here in enumerate(has):
            if here and joins:
                kept[i][-1] *= size
            elif here:
                kept[i].append(size)
    if not pattern:
        pattern = [(True,) * len(codes)]
        kept = [[1] for _ in codes]
    dense = [np.ascontiguousarray(x).reshape(sizes) for x, sizes in zip(codes, kept)]
    return tuple(pattern), shape, dense
