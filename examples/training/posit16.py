# SPDX-License-Identifier: MIT
"""Training with every operation in posit16 equals training in f32.

Murillo, Del Barrio, Botella: Deep PeNSieve (2020), and others before, train networks
in posits of 16 bits, forward, backward and updates, to the accuracy of f32.

Here: Fashion-MNIST, LeNet's shape, SGD; each operation of a step is rounded, and sums
of products are kept in f32. float<5,10> (f16) and bf16 stand beside it, and an 8-bit
posit, which does not suffice.
"""

import functools

import jax
import jax.numpy as jnp
import numera.jax
import numpy as np
from common import Table, arguments, fashion
from jax import lax

RATE, BATCH = 0.1, 64


def layer(x, kernel, bias):
    names = ("NCHW", "OIHW", "NCHW")
    y = lax.conv_general_dilated(x, kernel, (1, 1), "VALID", dimension_numbers=names)
    y = jax.nn.relu(y + bias[:, None, None])
    return lax.reduce_window(y, -jnp.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")


def scores(p, x):
    x = x.reshape(-1, 1, 28, 28)
    for kernel, bias in p["convolutions"]:
        x = layer(x, kernel, bias)
    x = x.reshape(len(x), -1)
    for place, (kernel, bias) in enumerate(p["dense"]):
        x = (jax.nn.relu(x) if place else x) @ kernel + bias
    return x


def step(p, x, y):
    def loss(p):
        return -(jax.nn.log_softmax(scores(p, x)) * jax.nn.one_hot(y, 10)).sum(1).mean()

    value, gradient = jax.value_and_grad(loss)(p)
    return value, jax.tree.map(lambda w, g: w - RATE * g, p, gradient)


def parameters(seed):
    random = np.random.default_rng(seed)

    def part(*shape, inputs):
        scale = inputs**-0.5
        kernel = random.uniform(-scale, scale, shape).astype("f4")
        outputs = shape[0] if len(shape) == 4 else shape[1]
        return jnp.asarray(kernel), jnp.zeros(outputs)

    return {
        "convolutions": [
            part(6, 1, 5, 5, inputs=25),
            part(16, 6, 5, 5, inputs=150),
        ],
        "dense": [
            part(256, 120, inputs=256),
            part(120, 84, inputs=120),
            part(84, 10, inputs=84),
        ],
    }


def train(options, pictures, table, name, jit):
    x, y, test, labels = pictures
    random = np.random.default_rng(options.seed)
    p, run, losses = parameters(options.seed), jit(step), []
    for _ in range(options.steps):
        rows = random.integers(len(x), size=BATCH)
        value, p = run(p, x[rows], y[rows])
        losses.append(float(value))
    answer = jit(lambda p, x: jnp.argmax(scores(p, x), 1))
    found = [answer(p, test[i : i + 500]) for i in range(0, len(test), 500)]
    accuracy = (np.concatenate(found) == labels).mean()
    table.row(name, losses, f"{100 * accuracy:.2f} %")


def main() -> None:
    options = arguments(__doc__, steps=1000)
    x, y, test, labels = fashion(options.data)
    pictures = x, y.astype("i4"), test, labels
    table = Table(options)
    if table.wants("f32 (XLA)"):
        train(options, pictures, table, "f32 (XLA)", jax.jit)
    for fmt in ("f32", "posit16", "bf16", "float<5,10>", "posit8"):
        if table.wants(fmt):
            jit = functools.partial(numera.jax.jit, format=fmt)
            train(options, pictures, table, fmt, jit)
    table.close()


if __name__ == "__main__":
    main()
