# SPDX-License-Identifier: MIT
"""Functions of JAX, computed in a number format.

>>> import jax, numera.jax
>>> import jax.numpy as jnp
>>> f = numera.jax.jit(lambda x: (x * x).sum(), format="posit8")
>>> f(jnp.arange(4.0)), jax.grad(f)(jnp.arange(4.0))
(Array(14., dtype=float32), Array([0., 2., 4., 6.], dtype=float32))
"""

from numera.jax._jit import Jitted, jit

__all__ = ["Jitted", "jit"]
