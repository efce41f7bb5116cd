# SPDX-License-Identifier: MIT
"""Operations that Numera has not, as compositions of those that it has.

In a format each step is rounded. `TABLE` has, for each operation, what makes a function
of its attributes (as MLIR prints them) and operands; docs/JAX.md says what they are.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from numera import _bessel, _gammas, _quantiles
from numera.jax import _matrices

__all__ = ["TABLE"]

Make = Callable[..., Callable[..., Any]]


def _always(function: Callable[..., Any]) -> Make:
    return lambda options, *avals: function


def _option(options: dict[str, str], name: str) -> str:
    """The value of an attribute: `2` of `2 : i64`."""
    return options.get(name, "").split(" :")[0]


# ---- order ------------------------------------------------------------------


def _top_k(options: dict[str, str], x: jax.ShapeDtypeStruct) -> Callable[..., Any]:
    """The end of a sort in reverse, so that the first of equal elements comes first.
    The negative zero is below the other one."""
    k = int(_option(options, "k"))

    def top_k(x: jax.Array) -> tuple[jax.Array, jax.Array]:
        last = x.ndim - 1
        places = lax.rev(lax.broadcasted_iota(jnp.int32, x.shape, last), (last,))
        x = lax.rev(x, (last,))
        found = (x, places)
        if jnp.issubdtype(x.dtype, jnp.floating):
            found = (x, jnp.where(x == 0, ~jnp.signbit(x), True), places)
        found = lax.sort(found, num_keys=len(found) - 1)
        return tuple(
            lax.slice_in_dim(lax.rev(each, (last,)), 0, k, axis=last)
            for each in (found[0], found[-1])
        )

    return top_k


# ---- elementary functions ---------------------------------------------------


def is_finite(x: jax.Array) -> jax.Array:
    """Of infinities, NaN and NaR the difference is none."""
    return x - x == 0


def next_after(x: jax.Array, y: jax.Array) -> jax.Array:
    """The neighbour of a number of f32 or f64, which is then rounded to the format."""
    integer = jnp.int64 if x.dtype == jnp.float64 else jnp.int32
    bits = lax.bitcast_convert_type(x, integer)
    one = jnp.where((x < y) == (x > 0), bits + 1, bits - 1)
    least = jnp.where(y > 0, 1, -(2 ** (8 * x.dtype.itemsize - 1)) + 1).astype(integer)
    one = jnp.where(x == y, bits, jnp.where(x == 0, least, one))
    found = jnp.where(x == y, y, lax.bitcast_convert_type(one, x.dtype))
    return jnp.where(jnp.isnan(x) | jnp.isnan(y), jnp.nan, found)


TABLE: dict[str, Make] = {
    "top_k": _top_k,
    "erf_inv": _always(functools.partial(_quantiles.erf_inv, jnp, lax.erf)),
    "stablehlo.is_finite": _always(is_finite),
    "next_after": _always(next_after),
    "lgamma": _always(functools.partial(_gammas.lgamma, jnp)),
    "digamma": _always(functools.partial(_gammas.digamma, jnp)),
    "polygamma": _always(functools.partial(_gammas.polygamma, jnp)),
    "bessel_i1e": _always(functools.partial(_bessel.i1e, jnp)),
    "zeta": _always(functools.partial(_gammas.zeta, jnp)),
    "stablehlo.cholesky": _matrices.cholesky,
    "stablehlo.triangular_solve": _matrices.triangular_solve,
    "Qr": _always(_matrices.qr),
    "ProductOfElementaryHouseholderReflectors": _always(_matrices.reflections),
}
"""By name; of chlo without that, of a custom call its target."""
