# SPDX-License-Identifier: MIT
"""Methods of arrays of codes that are functions of NumPy on them."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["Methods"]


class Methods:
    """What :class:`numera.Array` has of NumPy's arrays."""

    __slots__ = ()

    def __round__(self: Any, digits: int | None = None) -> Any:
        # Like NumPy's, which rounds numbers alone.
        return round(self.item()) if digits is None else self.round(digits)

    def sum(
        self: Any, axis: Any = None, dtype: Any = None, out: Any = None, **options: Any
    ) -> Any:
        """See :func:`numera.sum`."""
        from numera import _functions

        reduce = _functions.reduction(_functions.sum)
        return reduce(self, axis, dtype, out, **options)

    def mean(
        self: Any, axis: Any = None, dtype: Any = None, out: Any = None, **options: Any
    ) -> Any:
        """See :func:`numera.mean`."""
        from numera import _functions

        reduce = _functions.reduction(_functions.mean)
        return reduce(self, axis, dtype, out, **options)

    def dot(self: Any, other: Any, out: Any = None, *, accumulate: Any = None) -> Any:
        """See :func:`numera.dot`."""
        from numera import _products

        return _products.dot(self, other, out, accumulate=accumulate)

    def min(self: Any, axis: Any = None, **options: Any) -> Any:
        """As NumPy's: NaN if there is one."""
        return np.min(self, axis, **options)

    def max(self: Any, axis: Any = None, **options: Any) -> Any:
        """As NumPy's: NaN if there is one."""
        return np.max(self, axis, **options)

    def prod(self: Any, axis: Any = None, **options: Any) -> Any:
        """The product, each step rounded."""
        return np.prod(self, axis, **options)

    def cumsum(self: Any, axis: int | None = None, **options: Any) -> Any:
        """Running sums, each step rounded."""
        return np.cumsum(self, axis, **options)

    def cumprod(self: Any, axis: int | None = None, **options: Any) -> Any:
        """Running products, each step rounded."""
        return np.cumprod(self, axis, **options)

    def var(self: Any, axis: Any = None, *, ddof: int = 0, **options: Any) -> Any:
        """The variance, each operation rounded."""
        return np.var(self, axis, ddof=ddof, **options)

    def std(self: Any, axis: Any = None, *, ddof: int = 0, **options: Any) -> Any:
        """The square root of the variance."""
        return np.std(self, axis, ddof=ddof, **options)

    def clip(self: Any, min: Any = None, max: Any = None, out: Any = None) -> Any:
        """As NumPy's, between numbers that are rounded to the format."""
        return np.clip(self, min, max, out)

    def round(self: Any, decimals: int = 0, out: Any = None) -> Any:
        """To whole numbers, ties to even."""
        return np.round(self, decimals, out)

    def take(
        self: Any, indices: Any, axis: Any = None, out: Any = None, mode: Any = "raise"
    ) -> Any:
        """As NumPy's."""
        return np.take(self, indices, axis, out, mode)

    def any(self: Any, axis: Any = None, out: Any = None, **options: Any) -> Any:
        """Whether an element is not zero, as NumPy's."""
        return np.any(self, axis, out, **options)

    def all(self: Any, axis: Any = None, out: Any = None, **options: Any) -> Any:
        """Whether no element is zero, as NumPy's."""
        return np.all(self, axis, out, **options)

    def nonzero(self: Any) -> Any:
        """Places of elements that are not zero, as NumPy's."""
        return np.nonzero(self)

    def argmax(self: Any, axis: Any = None, out: Any = None, **options: Any) -> Any:
        """As NumPy's."""
        return np.argmax(self, axis, out, **options)

    def argmin(self: Any, axis: Any = None, out: Any = None, **options: Any) -> Any:
        """As NumPy's."""
        return np.argmin(self, axis, out, **options)

    def argsort(self: Any, axis: int | None = -1, kind: Any = None) -> Any:
        """As NumPy's: NaN and NaR last."""
        return np.argsort(self, axis, kind=kind)

    def sort(self: Any, axis: int = -1) -> None:
        """As NumPy's, in place: NaN and NaR last."""
        in_order: Any = np.sort(self, axis)
        self._codes[...] = in_order._codes

    def partition(self: Any, kth: Any, axis: int = -1) -> None:
        """As NumPy's, in place: NaN and NaR last."""
        in_order: Any = np.partition(self, kth, axis)
        self._codes[...] = in_order._codes

    def argpartition(self: Any, kth: Any, axis: int | None = -1) -> Any:
        """As NumPy's: NaN and NaR last."""
        return np.argpartition(self, kth, axis)

    def searchsorted(self: Any, v: Any, side: Any = "left", sorter: Any = None) -> Any:
        """As NumPy's, of elements or numbers."""
        return np.searchsorted(self, v, side, sorter)
