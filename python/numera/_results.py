# SPDX-License-Identifier: MIT
"""Results of functions of several steps, rounded to the format at the end."""

from __future__ import annotations

from typing import Any

import numpy as np

from numera import _kernels
from numera._array import Array, array
from numera._formats import Format

__all__ = ["recast", "rounded"]


def rounded(x: Any, fmt: Format) -> Array:
    """Results in f64, rounded as those of an operation are, which may draw."""
    if _kernels.is_stochastic(fmt):
        return recast(array(x, "f64"), fmt)
    return array(x, fmt)


def recast(x: Array, fmt: Format) -> Array:
    """The same, of results in any format."""
    of = x._format
    if not _kernels.is_stochastic(fmt) or of == fmt:
        return x.astype(fmt, copy=False)  # type: ignore[no-any-return]
    kinds = f"{_kernels.number(of)} to {_kernels.number(fmt)}"
    kernel = _kernels.find(
        ("recast", of, fmt),
        lambda: _kernels.elementwise(
            [of],
            fmt,
            ((True,),),
            lambda draw: ([f"%y = numera.cast %x0{draw(fmt)} : {kinds}"], "%y"),
        ),
    )
    codes = np.empty(x.size, fmt.dtype)
    if x.size:
        kernel.run([np.ascontiguousarray(x._codes).reshape(-1)], [codes], x.size)
    return Array(codes.reshape(x.shape), fmt)
