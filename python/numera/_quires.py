# SPDX-License-Identifier: MIT
"""Arrays of quires: exact sums that programs return (``quires=``), added and rounded.

A quire is as many words of 64 bits as docs/Semantics/Quire.md says (Q2, Q4), the
least significant one first; an array of quires has them in a last dimension.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numera import _arrays, _casts
from numera._errors import Error
from numera._formats import Format, ScaledFormat
from numera._kernels import Draw, Kernel, constants, find, function, number
from numera._scaled import code_dtype
from numera._sums import accumulator

__all__ = ["merge_quires", "quire_words", "round_quires"]

_I64 = 6


def quire_words(format: Any) -> int:
    """How many words a quire of a format has.

    >>> import numera
    >>> numera.quire_words("posit16"), numera.quire_words("bf16")
    (4, 10)
    """
    format = _casts.chosen(format)
    if format.family == "opaque":
        raise Error(f"only the library of {format.name} knows its accumulator")
    bits = format.facts.get("quire_bits")
    if bits is None:
        raise Error(f"format {format.name} has no quire")
    return -(-bits // 64)


def merge_quires(a: Any, b: Any, format: Any) -> np.ndarray[Any, Any]:
    """The sums of two arrays of quires of a format, exactly.

    >>> import numera
    >>> dot = numera.compile('''
    ...   func.func @dot(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<f32> {
    ...     %z = arith.constant dense<0.0> : tensor<f32>
    ...     %s = linalg.dot ins(%x, %y : tensor<?xf32>, tensor<?xf32>)
    ...       outs(%z : tensor<f32>) -> tensor<f32>
    ...     return %s : tensor<f32>
    ...   }''', format="posit16", accumulate="quire", quires=[0])
    >>> first, a = dot([64, 1 / 64], [64, 1 / 64])
    >>> second, b = dot([-64, 0], [64, 0])
    >>> first.item() + second.item()
    0.0
    >>> total = numera.merge_quires(a, b, "posit16")
    >>> numera.round_quires(total, "posit16").item() == 2.0**-12
    True
    """
    format = _casts.chosen(format)
    count = quire_words(format)
    a, b = (_words(each, count, format) for each in (a, b))
    if a.shape != b.shape:
        raise Error(f"quires have shapes {a.shape} and {b.shape}, expected one shape")
    out = np.empty_like(a)
    kernel = find(("merge", format), lambda: _merge(format, count))
    flat = [each.reshape(-1, count) for each in (a, b, out)]
    kernel.run(flat[:2], flat[2:], out.size)
    return out


def round_quires(words: Any, format: Any, to: Any = None) -> np.ndarray[Any, Any]:
    """The numbers that quires of a format are rounded to, once.

    to  the format that they are rounded to, in its way; None: ``format``.
    """
    format = _casts.chosen(format)
    to = format if to is None else _casts.chosen(to)
    count = quire_words(format)
    if isinstance(to, ScaledFormat):
        raise Error(f"'{to.name}' is a scaled format, expected one of numbers")
    words = _words(words, count, format)
    dtype = np.dtype(f"u{to.storage_bits // 8}")
    if code_dtype(to) in (1, 2):
        dtype = np.dtype(f"f{to.storage_bits // 8}")
    codes = np.empty(words.shape[:-1], dtype)
    kernel = find(("round", format, to), lambda: _round(format, to, count))
    kernel.run([words.reshape(-1, count)], [codes.reshape(-1)], words.size)
    return codes if dtype.kind == "f" else _arrays.decode(codes, to)


def _words(array: Any, count: int, format: Format) -> np.ndarray[Any, Any]:
    words = np.ascontiguousarray(array)
    if words.dtype != np.int64 or words.ndim == 0 or words.shape[-1] != count:
        raise Error(
            f"quires of {format.name} are {words.dtype}{list(words.shape)}, expected "
            f"int64 with {count} words in the last dimension"
        )
    return words


def _read(name: str, count: int) -> list[str]:
    """Lines that make %name0, %name1 …, the words of an array of quires."""
    whole = f"tensor<?x{count}xi64>"
    return [
        f"%{name}{word} = tensor.extract_slice %{name}[0, {word}] [%n, 1] [1, 1] : "
        f"{whole} to tensor<?xi64>"
        for word in range(count)
    ]


def _listed(name: str, count: int) -> str:
    return ", ".join(f"%{name}{word}" for word in range(count))


def _size(count: int) -> list[str]:
    return [*constants(1), f"%n = tensor.dim %a, %c0 : tensor<?x{count}xi64>"]


def _merge(format: Format, count: int) -> Kernel:
    whole = f"tensor<?x{count}xi64>"
    quires = f"tensor<?x{accumulator(format, 'quire').type}>"
    body = [*_size(count)]
    for name in "ab":
        body += _read(name, count)
        listed = _listed(name, count)
        body.append(f"%q{name} = numera.quire_from_words {listed} : {quires}")
    body.append(f"%sum = numera.quire_merge %qa, %qb : {quires}")
    body.append(f"%out0 = tensor.empty(%n) : {whole}")
    for word in range(count):
        body.append(f"%w{word} = numera.quire_word %sum[{word}] : {quires}")
        body.append(
            f"%out{word + 1} = tensor.insert_slice %w{word} into "
            f"%out{word}[0, {word}] [%n, 1] [1, 1] : tensor<?xi64> into {whole}"
        )
    body.append(f"return %out{count} : {whole}")
    text = function([f"%a: {whole}", f"%b: {whole}"], whole, False, body)
    return Kernel([format], text, [_I64, _I64], [_I64])


def _round(format: Format, to: Format, count: int) -> Kernel:
    whole, out = f"tensor<?x{count}xi64>", number(to)
    quire = accumulator(format, "quire").type
    draw = Draw(1, "%n")
    random = draw.operand(to)
    maps = ", ".join(["affine_map<(d0) -> (d0)>"] * (count + 1))
    inputs = ", ".join(["tensor<?xi64>"] * count)
    words = "".join(f"%x{word}: i64, " for word in range(count))
    body = [
        *_size(count),
        *_read("a", count),
        f"%e = tensor.empty(%n) : tensor<?x{out}>",
        (
            f"%r = linalg.generic {{indexing_maps = [{maps}], iterator_types = "
            f'["parallel"]}} ins({_listed("a", count)} : {inputs}) '
            f"outs(%e : tensor<?x{out}>) {{"
        ),
        f"^bb0({words}%old: {out}):",
        *draw.lines,
        f"%q = numera.quire_from_words {_listed('x', count)} : {quire}",
        f"%v = numera.quire_round %q{random} : {quire} to {out}",
        f"linalg.yield %v : {out}",
        f"}} -> tensor<?x{out}>",
        f"return %r : tensor<?x{out}>",
    ]
    text = function([f"%a: {whole}"], f"tensor<?x{out}>", bool(random), body)
    return Kernel([format, to], text, [_I64], [code_dtype(to)])
