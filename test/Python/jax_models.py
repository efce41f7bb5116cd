# SPDX-License-Identifier: MIT
"""A network in JAX that tests train."""

import jax
import jax.numpy as jnp
from jax import lax
from jax_calls import normal


def pool(x, size=2, stride=2, padding="VALID"):
    return lax.reduce_window(
        x, -jnp.inf, lax.max, (1, 1, size, size), (1, 1, stride, stride), padding
    )


def convolution(x, k, **options):
    names = ("NCHW", "OIHW", "NCHW")
    return lax.conv_general_dilated(x, k, (2, 2), "SAME", dimension_numbers=names)


def init(*shape, seed):
    return normal(*shape, seed=seed) * 0.2


def lenet(p, x):
    for k, b in p["convolutions"]:
        x = pool(jax.nn.relu(convolution(x, k) + b[:, None, None]))
    x = x.reshape(len(x), -1)
    for w, b in p["dense"][:-1]:
        x = jax.nn.relu(x @ w + b)
    w, b = p["dense"][-1]
    return x @ w + b


PARAMETERS = {
    "convolutions": [
        (init(6, 1, 5, 5, seed=1), jnp.zeros(6)),
        (init(8, 6, 3, 3, seed=2), jnp.zeros(8)),
    ],
    "dense": [
        (init(32, 16, seed=3), jnp.zeros(16)),
        (init(16, 10, seed=4), jnp.zeros(10)),
    ],
}


def train(p, x, y):
    def loss(p):
        scores = jax.nn.log_softmax(lenet(p, x))
        return -jnp.take_along_axis(scores, y[:, None], 1).mean()

    value, gradient = jax.value_and_grad(loss)(p)
    return value, jax.tree.map(lambda w, g: w - 0.1 * g, p, gradient)


BATCH = normal(8, 1, 28, 28, seed=5), jnp.arange(8) % 10
