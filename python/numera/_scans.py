# SPDX-License-Identifier: MIT
"""Running sums and products, and Einstein's sums, of arrays of codes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numera import _functions, _kernels, _products
from numera._array import Array, array
from numera._errors import Error
from numera._formats import Format
from numera._kernels import Draw, Kernel, constants, function, number, tensor_type
from numera._scaled import code_dtype

__all__ = ["einsum"]


# ---- running sums -----------------------------------------------------------


class _StepDraw(Draw):
    """The draws of a step, which is the middle one of three dimensions."""

    def _index(self) -> None:
        self.lines += [
            "%i = linalg.index 0 : index",
            "%k = linalg.index 1 : index",
            "%p0 = arith.muli %i, %n1 : index",
            "%p1 = arith.addi %p0, %j : index",
            "%p2 = arith.muli %p1, %n2 : index",
            "%p3 = arith.addi %p2, %k : index",
            "%index = arith.index_cast %p3 : index to i64",
        ]


def _scan(fmt: Format, operation: str) -> Kernel:
    """Along the middle one of three dimensions, which is not empty."""
    of = number(fmt)
    whole, row = tensor_type(3, of), tensor_type(2, of)
    draw = _StepDraw(2, "%n")
    random = draw.operand(fmt)
    one = "affine_map<(i, k) -> (i, k)>"

    def at(place: str) -> str:
        return f"[0, {place}, 0] [%n0, 1, %n2] [1, 1, 1]"

    text = function(
        [f"%a: {whole}"],
        whole,
        bool(draw.lines),
        [
            *constants(3),
            *(f"%n{d} = tensor.dim %a, %c{d} : {whole}" for d in range(3)),
            f"%empty = tensor.empty(%n0, %n1, %n2) : {whole}",
            f"%first = tensor.extract_slice %a{at('0')} : {whole} to {row}",
            f"%start = tensor.insert_slice %first into %empty{at('0')} : {row} into {whole}",
            f"%r = scf.for %j = %c1 to %n1 step %c1 iter_args(%t = %start) -> ({whole}) {{",
            "%before = arith.subi %j, %c1 : index",
            f"%sum = tensor.extract_slice %t{at('%before')} : {whole} to {row}",
            f"%term = tensor.extract_slice %a{at('%j')} : {whole} to {row}",
            f"%into = tensor.extract_slice %t{at('%j')} : {whole} to {row}",
            (
                f"%next = linalg.generic {{indexing_maps = [{one}, {one}, {one}], "
                f'iterator_types = ["parallel", "parallel"]}} '
                f"ins(%sum, %term : {row}, {row}) outs(%into : {row}) {{"
            ),
            f"^bb0(%x0: {of}, %x1: {of}, %old: {of}):",
            *draw.lines,
            f"%y = numera.{operation} %x0, %x1{random} : {of}",
            f"linalg.yield %y : {of}",
            f"}} -> {row}",
            f"%u = tensor.insert_slice %next into %t{at('%j')} : {row} into {whole}",
            f"scf.yield %u : {whole}",
            "}",
            f"return %r : {whole}",
        ],
    )
    return Kernel([fmt], text, [code_dtype(fmt)], [code_dtype(fmt)])


def scan(a: Array, axis: int | None, operation: str) -> Array:
    """``cumsum`` (add) and ``cumprod`` (mul): each step is rounded, in order."""
    _functions.formatted("np.cumsum" if operation == "add" else "np.cumprod", a)
    fmt, codes = a._format, a._codes
    axes = (0,) if axis is None else _functions.axes_of(axis, codes.ndim) or (0,)
    if len(axes) > 1:
        raise Error(f"axis is {axis}, expected an integer or None")
    if axis is None or codes.ndim == 0:
        codes = codes.ravel()
    axis = axes[0]
    shape = codes.shape
    folded = math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :])
    result = np.empty(folded, fmt.dtype)
    if result.size:
        kernel = _kernels.find(("scan", fmt, operation), lambda: _scan(fmt, operation))
        kernel.run([np.ascontiguousarray(codes).reshape(folded)], [result], result.size)
    return a._with(result.reshape(shape))


def _running(operation: str) -> Callable[..., Any]:
    def call(a: Array, axis: int | None = None, dtype: Any = None, out: Any = None):
        _functions.refused(dtype=dtype)
        return _functions.stored(scan(a, axis, operation), out)

    return call


# ---- Einstein's sums --------------------------------------------------------


def _parse(subscripts: str, count: int) -> tuple[list[str], str]:
    inputs, arrow, output = subscripts.replace(" ", "").partition("->")
    terms = inputs.split(",")
    if "." in subscripts:
        raise Error(f"'{subscripts}' has an ellipsis; name each dimension")
    if len(terms) != count:
        raise Error(f"'{subscripts}' is for {len(terms)} arrays, found {count}")
    if not arrow:
        output = "".join(
            sorted(name for name in set(inputs) - {","} if inputs.count(name) == 1)
        )
    for name in output:
        if name not in inputs or output.count(name) > 1:
            raise Error(f"'{subscripts}' has '{name}' in its result, expected it once")
    return terms, output


def _own(a: Array, names: str, kept: str, accumulate: Any) -> tuple[Array, str]:
    """With diagonals in place of repeated names, and summed over those that
    nobody else has."""
    if a.ndim != len(names):
        raise Error(f"'{names}' names {len(names)} dimensions of {a.ndim}")
    codes = a._codes
    for name in dict.fromkeys(names):
        while names.count(name) > 1:
            first = names.index(name)
            second = names.index(name, first + 1)
            if codes.shape[first] != codes.shape[second]:
                raise Error(
                    f"'{name}' is {codes.shape[first]} and {codes.shape[second]}"
                )
            codes = np.diagonal(codes, 0, first, second)
            names = (
                names[:first] + names[first + 1 : second] + names[second + 1 :] + name
            )
    a = a._with(codes)
    summed = tuple(d for d, name in enumerate(names) if name not in kept)
    if summed:
        a = _functions.sum(a, summed, accumulate=accumulate)
        names = "".join(name for name in names if name in kept)
    return a, names


def _ordered(a: Array, names: str, order: str) -> np.ndarray[Any, Any]:
    """The codes with the dimensions of `order`, those it lacks of size 1."""
    codes = a._codes.transpose([names.index(n) for n in order if n in names])
    places = tuple(slice(None) if n in names else None for n in order)
    return codes[places]


def _pair(
    a: tuple[Array, str], b: tuple[Array, str], kept: str, accumulate: Any
) -> tuple[Array, str]:
    """The product of two arrays, summed over what they share and nobody keeps."""
    (x, left), (y, right) = a, b
    sizes = dict(zip(left, x.shape))
    for name, size in zip(right, y.shape):
        if sizes.setdefault(name, size) != size:
            raise Error(f"'{name}' is {sizes[name]} and {size}")
    summed = "".join(n for n in left if n in right and n not in kept)
    both = "".join(n for n in left if n in right and n in kept)
    rows = "".join(n for n in left if n not in right)
    columns = "".join(n for n in right if n not in left)
    names = both + rows + columns
    if not summed:
        product: Any = np.multiply(
            x._with(_ordered(x, left, names)), y._with(_ordered(y, right, names))
        )
        return product, names

    def folded(z: Array, of: str, *groups: str) -> Array:
        shape = [math.prod(sizes[n] for n in group) for group in groups]
        return z._with(_ordered(z, of, "".join(groups)).reshape(shape))

    result = _products.matmul(
        folded(x, left, both, rows, summed),
        folded(y, right, both, summed, columns),
        accumulate=accumulate,
    )
    return result.reshape(tuple(sizes[n] for n in names)), names


def einsum(
    subscripts: str, *operands: Any, accumulate: Any = None, **others: Any
) -> Array:
    """As ``np.einsum``, which calls it, from left to right: the product of two
    arrays is that of matrices.

    accumulate  what sums add up in, as in :func:`numera.matmul`.

    >>> import numera
    >>> x = numera.array([[1.0, 1e4], [1e4, 1.0]], "posit16")
    >>> numera.einsum("ij,jk->ki", x, x, accumulate="quire").tolist()[0][1]
    19968.0
    """
    if others.get("out") is not None or not isinstance(subscripts, str):
        raise Error("np.einsum of codes takes subscripts as text, and no out=")
    fmt = _functions.formatted("numera.einsum", *operands)
    terms, output = _parse(subscripts, len(operands))
    arrays: Sequence[Array] = [
        x if isinstance(x, Array) else array(x, fmt) for x in operands
    ]
    found: tuple[Array, str] | None = None
    for place, (one, names) in enumerate(zip(arrays, terms)):
        later = output + "".join(terms[place + 1 :])
        before = found[1] if found else ""
        own = _own(one, names, later + before, accumulate)
        if found is None:
            found = own
        else:
            found = _own(*_pair(found, own, later, accumulate), later, accumulate)
    assert found is not None
    return found[0]._with(np.asarray(_ordered(*found, output), order="C"))


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.cumsum: _running("add"),
    np.cumprod: _running("mul"),
    np.einsum: einsum,
}
"""Ours, for NumPy's."""
