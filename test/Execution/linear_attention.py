# SPDX-License-Identifier: MIT
"""LinearAttention's delta rule against its recurrence: linear_attention.py FOLDER"""

import itertools
import sys
from pathlib import Path

import numpy as np
from node_cases import check

BATCH, STEPS, HEADS, KEYS, VALUES = 2, 3, 2, 3, 2


def dot(x, y, r):
    total = 0.0
    for a, b in zip(x, y, strict=True):
        total = r(total + r(a * b))
    return total


def recur(q, k, v, beta, scale, r):
    y = np.zeros((BATCH, STEPS, HEADS * VALUES))
    states = np.zeros((BATCH, HEADS, KEYS, VALUES))
    for n, t, h in itertools.product(*map(range, (BATCH, STEPS, HEADS))):
        state = states[n, h]
        key, query = (x[n, t, h * KEYS : (h + 1) * KEYS] for x in (k, q))
        rate = beta[n, t, h % beta.shape[2]]
        read = np.array([dot(key, state[:, j], r) for j in range(VALUES)])
        error = r(v[n, t, h * VALUES : (h + 1) * VALUES] - read)
        state = r(state + r(np.outer(key, r(rate * error))))
        states[n, h] = state
        for j in range(VALUES):
            y[n, t, h * VALUES + j] = r(dot(query, state[:, j], r) * r(scale))
    return [y, states]


def main(folder):
    generator = np.random.default_rng(7)

    def numbers(count):
        return generator.integers(-8, 9, (BATCH, STEPS, count)) / 8

    cases = []
    for rates in (1, HEADS):
        given = [numbers(HEADS * KEYS), numbers(HEADS * KEYS), numbers(HEADS * VALUES)]
        beta = numbers(rates)
        attributes = {"update_rule": "delta", "scale": 0.5}
        attributes |= {"q_num_heads": HEADS, "kv_num_heads": HEADS}
        cases.append(
            (
                "LinearAttention",
                attributes,
                [*given, None, None, beta],
                lambda r, x=(*given, beta): recur(*x, 0.5, r),
            )
        )
    check(folder, cases, 27)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
