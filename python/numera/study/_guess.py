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
        penalty = np.append(np.full(layers, _PENALTY), 1e-9)
        for _ in range(15):
            terms = parts * np.exp(theta[:-1])
            total = np.maximum(terms.sum(1), _LEAST)
            error = logs - np.log(total) - theta[-1]
            slope = np.hstack([terms / total[:, None], np.ones((len(known), 1))])
            step = np.linalg.solve(
                slope.T @ slope + np.diag(penalty), slope.T @ error - penalty * theta
            )
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
        fits: Callable[[Array, Array], Array],
        first: str,
    ) -> Choice | None:
        """The choice that was not seen, whose cost and noise fit, with the least
        ``cost`` or ``noise``. Where there are too many to list them all, from the
        front of cost and noise, and from what is near to others."""
        pool = self._pool(near)
        cost, noise = np.zeros(len(pool)), np.zeros(len(pool))
        for n, gain in enumerate(self._gains):
            cost += self._costs[n][pool[:, n]]
            noise += gain * self._noises[n][pool[:, n]]
        places = np.flatnonzero(fits(cost, noise))
        keys = (cost, noise) if first == "noise" else (noise, cost)
        known = set(seen)
        for place in places[np.lexsort([key[places] for key in keys])]:
            choice = tuple(map(int, pool[place]))
            if choice not in known:
                return choice
        return None

    def _pool(self, near: Sequence[Choice]) -> Array:
        if self._listed is not None:
            return self._listed
        found = [np.array([*near, *self._front()])]
        for layer, each in enumerate(self._costs):
            for i in range(len(each)):
                changed = found[0].copy()
                changed[:, layer] = i
                found.append(changed)
        # Two layers at once: one gives what the other takes.
        for choice in near[:2]:
            more, less = self._steps(choice, 1), self._steps(choice, -1)
            pairs = [(a, i, b, j) for a, i in more for b, j in less if a != b]
            if pairs:
                a, i, b, j = np.array(pairs).T
                both = np.tile(choice, (len(pairs), 1))
                rows = np.arange(len(pairs))
                both[rows, a], both[rows, b] = i, j
                found.append(both)
        return np.concatenate(found)

    def _steps(self, choice: Choice, sign: int) -> list[tuple[int, int]]:
        """Layers, and their next candidate by cost, up or down."""
        found = []
        for layer, now in enumerate(choice):
            costs = self._costs[layer] * sign
            order = np.lexsort((self._noises[layer], costs))
            more = order[costs[order] > costs[now]]
            if len(more):
                found.append((layer, int(more[0])))
        return found

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
