# SPDX-License-Identifier: MIT
"""What a search expects of choices that it did not try, and which to try next.

The noise of an output, its power over the signal's, is taken to be a sum: of what
each layer adds by itself, times a gain. Gains are 1 at first, and are fitted to the
noise of what was tried.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

__all__ = ["Choice", "Guess"]

Array = np.ndarray[Any, Any]
Choice = tuple[int, ...]
"""For each layer, which of its candidates."""

_ALL = 50_000
"""So many choices are listed, with what is expected of each."""
_PENALTY = 0.03
"""On the square of a gain's logarithm, beside squares of errors of logarithms."""
_LEAST = 1e-30


class Guess:
    """Costs and noises are an array for each layer, with an entry a candidate."""

    def __init__(self, costs: Sequence[Array], noises: Sequence[Array]) -> None:
        self._costs = costs
        self._noises = noises
        self._gains = np.ones(len(costs))
        sizes = [len(each) for each in costs]
        self._listed = None
        if math.prod(sizes) <= _ALL:
            self._listed = np.indices(sizes).reshape(len(sizes), -1).T

    def cost(self, choice: Choice) -> float:
        return math.fsum(each[i] for each, i in zip(self._costs, choice))

    def noise(self, choice: Choice) -> float:
        terms = (
            gain * each[i] for gain, each, i in zip(self._gains, self._noises, choice)
        )
        return max(math.fsum(terms), _LEAST)

    @property
    def cheapest(self) -> Choice:
        """Of equal cost, what adds the least noise."""
        return tuple(
            int(np.lexsort((noise, cost))[0])
            for cost, noise in zip(self._costs, self._noises)
        )

    @property
    def finest(self) -> Choice:
        """What adds the least noise."""
        return tuple(
            int(np.lexsort((cost, noise))[0])
            for cost, noise in zip(self._costs, self._noises)
        )

    def fit(self, tried: Sequence[tuple[Choice, float]]) -> None:
        """Gains that explain the noise of what was tried, near 1."""
        known = [(c, y) for c, y in tried if y > 0 and math.isfinite(y)]
        if not known:
            return
        parts = np.array(
            [[each[i] for each, i in zip(self._noises, c)] for c, _ in known]
        )
        logs = np.log([y for _, y in known])
        layers = parts.shape[1]
        theta = np.zeros(layers + 1)  # the last one is common to all
        penalty = np.sqrt(_PENALTY) * np.eye(layers, layers + 1)
        for _ in range(30):
            terms = parts * np.exp(theta[:-1])
            total = np.maximum(terms.sum(1), _LEAST)
            error = logs - np.log(total) - theta[-1]
            slope = np.hstack([terms / total[:, None], np.ones((len(known), 1))])
            step = np.linalg.lstsq(
                np.vstack([slope, penalty]),
                np.concatenate([error, -penalty @ theta]),
                rcond=None,
            )[0]
            theta += np.clip(step, -1, 1)
            if np.abs(step).max() < 1e-6:
                break
        self._gains = np.exp(np.clip(theta[:-1] + theta[-1], -50, 50))

    def within(self, choice: Choice, budget: float) -> Choice:
        """The choice with cheaper candidates, those that add the least noise for
        what they save, until its cost is within the budget."""
        now = list(choice)
        while self.cost(tuple(now)) > budget:
            best: tuple[float, int, int] | None = None
            for layer, (costs, noises) in enumerate(zip(self._costs, self._noises)):
                i = now[layer]
                for j in np.flatnonzero(costs < costs[i]):
                    more = self._gains[layer] * (noises[j] - noises[i])
                    rate = more / (costs[i] - costs[j])
                    if best is None or rate < best[0]:
                        best = rate, layer, int(j)
            if best is None:
                break
            now[best[1]] = best[2]
        return tuple(now)

    def next(
        self,
        seen: Iterable[Choice],
        near: Sequence[Choice],
        fits: Callable[[float, float], bool],
        key: Callable[[float, float], tuple[float, ...]],
    ) -> Choice | None:
        """The choice that was not seen, whose cost and noise fit, with the least
        key. Where there are too many to list them all, from the front of cost and
        noise, and from what is near to others."""
        pool = self._pool(near)
        cost = sum(each[pool[:, n]] for n, each in enumerate(self._costs))
        noise = sum(
            gain * each[pool[:, n]]
            for n, (gain, each) in enumerate(zip(self._gains, self._noises))
        )
        known = set(seen)
        best: tuple[tuple[float, ...], Choice] | None = None
        for place, (c, n) in enumerate(zip(np.asarray(cost), np.asarray(noise))):
            if not fits(c, n) or best is not None and key(c, n) >= best[0]:
                continue
            choice = tuple(map(int, pool[place]))
            if choice not in known:
                best = key(c, n), choice
        return best[1] if best else None

    def _pool(self, near: Sequence[Choice]) -> Array:
        if self._listed is not None:
            return self._listed
        found: dict[Choice, None] = {}
        front = self._front()
        for choice in [*near, *front]:
            found[choice] = None
            for layer, each in enumerate(self._costs):
                for i in range(len(each)):
                    changed = (*choice[:layer], i, *choice[layer + 1 :])
                    found[changed] = None
        # Two layers at once: one gives what the other takes.
        for choice in near[:2]:
            for a, b in np.ndindex(len(choice), len(choice)):
                if a == b:
                    continue
                for i in self._steps(a, choice[a], 1):
                    for j in self._steps(b, choice[b], -1):
                        both = list(choice)
                        both[a], both[b] = i, j
                        found[tuple(both)] = None
        return np.array(list(found))

    def _steps(self, layer: int, now: int, sign: int) -> list[int]:
        """The next candidate by cost, up or down."""
        costs = self._costs[layer] * sign
        more = [int(i) for i in np.flatnonzero(costs > costs[now])]
        return sorted(more, key=lambda i: (costs[i], self._noises[layer][i]))[:1]

    def _front(self) -> list[Choice]:
        """The least noise for prices of cost from low to high."""
        gains = self._gains
        noise = [gain * each for gain, each in zip(gains, self._noises)]
        rates = [
            (n.max() - n.min()) / (c.max() - c.min())
            for c, n in zip(self._costs, noise)
            if c.max() > c.min() and n.max() > n.min()
        ]
        if not rates:
            return [self.finest]
        low, high = math.log(min(rates) * 1e-6), math.log(max(rates) * 1e3)
        prices = np.exp(np.linspace(low, high, 200))
        found = (
            tuple(int(np.argmin(n + price * c)) for c, n in zip(self._costs, noise))
            for price in prices
        )
        return list(dict.fromkeys(found))
