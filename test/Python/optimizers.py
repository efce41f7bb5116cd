# SPDX-License-Identifier: MIT
"""The optimisers' steps in NumPy, each operation rounded by fractions."""

import math

import numpy as np
import rounding as r

IDS = {
    "weight": 1, "master": 2, "compensation": 3, "momentum_buffer": 4,
    "exp_avg": 5, "exp_avg_sq": 6, "max_exp_avg_sq": 7,
}  # fmt: skip


class Reference:
    """What docs/Training.md says of an element, an array of f64 a quantity."""

    def __init__(
        self, rule, start, *, lr, weights="f32", master=None, state="f32",
        compute="f32", rounding=None, state_rounding=None, compensated=False,
        weight_decay=0, maximize=False, momentum=0, dampening=0, nesterov=False,
        betas=(0.9, 0.999), eps=1e-8, amsgrad=False, random_bits=32, seed=0,
    ):  # fmt: skip
        vars(self).update({k: v for k, v in locals().items() if k != "self"})
        self.c = r.Arithmetic(compute)
        self.t = 0
        start = start.astype("f8")
        if master:
            self.w = r.FORMATS[master]().nearest(start)
        else:
            self.w = r.FORMATS[weights]().nearest(start)
        self.k = np.zeros_like(start)
        self.b = self.m = self.v = self.most = np.zeros_like(start)

    def keep(self, name, x, fmt, mode):
        if mode != "stochastic" or fmt == self.compute:
            return r.FORMATS[fmt]().nearest(x)
        return r.stochastic(fmt, x, self.seed, self.t, 0, IDS[name], self.random_bits)

    def state_of(self, name, x):
        fmt = self.state if isinstance(self.state, str) else self.state[name]
        return self.keep(name, x, fmt, self.state_rounding or self.rounding)

    def step(self, gradient):
        c = self.c
        self.t += 1

        def number(x):
            return c.nearest(np.float64(x))

        g = c.nearest(gradient.astype("f8"))
        w = c.nearest(self.w)
        if self.maximize:
            g = -g
        decoupled = self.rule == "adamw" and self.weight_decay
        if self.weight_decay and not decoupled:
            g = c.fma(number(self.weight_decay), w, g)
        if self.rule == "sgd":
            factor, u = number(-self.lr), self._sgd(g, number)
        else:
            factor, u = None, self._adam(g, number)
        self._weights(w, factor, u, decoupled, number)

    def _sgd(self, g, number):
        if not self.momentum:
            return g
        c = self.c
        damped = number(1 - self.dampening if self.t > 1 else 1)
        b = c.fma(damped, g, c.mul(number(self.momentum), c.nearest(self.b)))
        self.b = self.state_of("momentum_buffer", b)
        return c.fma(number(self.momentum), b, g) if self.nesterov else b

    def _adam(self, g, number):
        c, (beta1, beta2), t = self.c, self.betas, self.t
        m, v = c.nearest(self.m), c.nearest(self.v)
        m = c.fma(number(1 - beta1), c.sub(g, m), m)
        v = c.fma(c.mul(number(1 - beta2), g), g, c.mul(number(beta2), v))
        self.m, self.v = self.state_of("exp_avg", m), self.state_of("exp_avg_sq", v)
        if self.amsgrad:
            v = np.maximum(c.nearest(self.most), v)
            self.most = self.state_of("max_exp_avg_sq", v)
        root = c.div(c.sqrt(v), number(math.sqrt(1 - beta2**t)))
        size = number(-(self.lr / (1 - beta1**t)))
        return c.div(c.mul(size, m), c.add(root, number(self.eps)))

    def _weights(self, w, factor, u, decoupled, number):
        c = self.c
        kept = self.master or self.weights
        name = "master" if self.master else "weight"
        decay = self.lr * self.weight_decay
        if not self.compensated:
            x = c.mul(w, number(1 - decay)) if decoupled else w
            z = c.add(x, u) if factor is None else c.fma(factor, u, x)
            self.w = self.keep(name, z, kept, self.rounding)
            return
        k = c.nearest(self.k)
        y = c.add(u, k) if factor is None else c.fma(factor, u, k)
        if decoupled:
            y = c.fma(number(-decay), w, y)
        self.w = self.keep(name, c.add(w, y), kept, self.rounding)
        rest = c.sub(y, c.sub(c.nearest(self.w), w))
        self.k = self.keep("compensation", rest, kept, self.rounding)

    @property
    def parameter(self):
        """What is read of a master is rounded to nearest."""
        return r.FORMATS[self.weights]().nearest(self.w)
