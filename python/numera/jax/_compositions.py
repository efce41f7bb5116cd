# SPDX-License-Identifier: MIT
"""Operations that Numera has not, as compositions of those that it has.

In a format each step is rounded. `TABLE` has, for each operation, what makes a function
of its attributes (as MLIR prints them) and operands; docs/JAX.md says what they are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from numera.jax import _bessel, _gammas, _matrices

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

_CENTRAL = (
    *(2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06),
    *(0.00021858087, -0.00125372503, -0.00417768164, 0.246640727, 1.50140941),
)
_TAIL = (
    *(-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844),
    *(0.00573950773, -0.0076224613, 0.00943887047, 1.00167406, 2.83297682),
)


def erf_inv(x: jax.Array) -> jax.Array:
    """Giles, Approximating the erfinv function (GPU Computing Gems, 2012), as XLA has
    it for f32; of f64 two steps of Newton's follow."""
    w = -jnp.log1p(-(x * x))
    central = w < 5
    w = jnp.where(central, w - 2.5, jnp.sqrt(w) - 3)
    p = jnp.where(central, _CENTRAL[0], _TAIL[0]).astype(x.dtype)
    for near, far in zip(_CENTRAL[1:], _TAIL[1:]):
        p = jnp.where(central, near, far).astype(x.dtype) + p * w
    y = p * x
    if x.dtype == jnp.float64:
        for _ in range(2):
            y = y - (lax.erf(y) - x) * (0.886226925452758 * jnp.exp(y * y))
    return jnp.where(abs(x) == 1, x * jnp.inf, y)


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
    "erf_inv": _always(erf_inv),
    "stablehlo.is_finite": _always(is_finite),
    "next_after": _always(next_after),
    "lgamma": _always(_gammas.lgamma),
    "digamma": _always(_gammas.digamma),
    "polygamma": _always(_gammas.polygamma),
    "bessel_i1e": _always(_bessel.i1e),
    "zeta": _always(_gammas.zeta),
    "stablehlo.cholesky": _matrices.cholesky,
    "stablehlo.triangular_solve": _matrices.triangular_solve,
    "Qr": _always(_matrices.qr),
    "ProductOfElementaryHouseholderReflectors": _always(_matrices.reflections),
}
"""By name; of chlo without that, of a custom call its target."""
