# SPDX-License-Identifier: MIT
"""Which policies a search tries, and which of them is the best."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from numera.study._found import Trial
from numera.study._guess import Choice, Guess
from numera.study._metrics import Metric
from numera.study._race import Stopped
from numera.study._space import Space

__all__ = ["Goal", "Hunt"]

_SLACK = 1 + 1e-9
"""Budgets are compared with sums of rounded terms."""
_OURS = 3
"""So many proposals are those of the guess, then one is Optuna's."""


class Goal(NamedTuple):
    """The best metric within a budget or, without one, the least cost; where the
    metric and the SQNR reach their floors."""

    metric: Metric
    budget: float | None
    floor: float | None
    sqnr: float | None

    @property
    def sign(self) -> int:
        """Of the metric, to make less be better."""
        return -1 if self.metric.better == "higher" else 1

    def meets(self, trial: Trial) -> bool:
        """Whether it reaches the floors."""
        if trial.value is None or math.isnan(trial.value):
            return False
        if self.floor is not None and self.sign * (trial.value - self.floor) > 0:
            return False
        return self.sqnr is None or (trial.sqnr or 0.0) >= self.sqnr

    def key(self, trial: Trial) -> tuple[float, ...]:
        """The least is the best. Of equal metrics, the higher SQNR, then the less
        cost; of equal costs, the better metric."""
        value = math.inf
        if trial.value is not None and not math.isnan(trial.value):
            value = self.sign * trial.value
        noise = math.inf if trial.sqnr is None else -trial.sqnr
        if self.budget is None:
            return (not self.meets(trial), trial.cost, value, noise)
        return (not self.meets(trial), value, noise, trial.cost)

    def best(self, trials: Sequence[Trial]) -> Trial | None:
        found = min(trials, key=self.key, default=None)
        return found if found is not None and self.meets(found) else None

    def missed(self, trials: Sequence[Trial]) -> str:
        """Why there is no best one."""
        values = [
            trial for trial in trials
            if trial.value is not None and not math.isnan(trial.value)
        ]  # fmt: skip
        if not values:
            error = next((t.error for t in trials if t.error), None)
            if error:
                return f"no policy takes the model: {error.removeprefix('error: ')}"
            return f"of {len(trials)} policies, none has a {self.metric.name}"
        wanted, found = [], []
        if self.floor is not None:
            wanted.append(f"{self.metric.name} {self.floor:g}")
            best = min(values, key=lambda t: self.sign * (t.value or 0.0))
            found.append(f"{self.metric.name} {best.value:.5g}")
        if self.sqnr is not None:
            wanted.append(f"an SQNR of {self.sqnr:g} dB")
            found.append(f"{max(t.sqnr or -math.inf for t in values):.4g} dB")
        return (
            f"no policy of {len(trials)} reaches {' and '.join(wanted)}; the best is "
            f"{' and '.join(found)}"
        )


class Hunt:
    """Proposes choices: by the guess, which every trial refines, and by Optuna's
    TPE, whose choices are brought within the budget."""

    def __init__(
        self, optuna: Any, space: Space, guess: Guess, goal: Goal, seed: int
    ) -> None:
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self._optuna = optuna
        self._guess = guess
        self._goal = goal
        self._study = optuna.create_study(
            sampler=optuna.samplers.TPESampler(seed=seed, n_startup_trials=4)
        )
        self._distributions = {
            f"{n} {layer.name}": optuna.distributions.CategoricalDistribution(
                range(len(candidates))
            )
            for n, (layer, candidates) in enumerate(zip(space.layers, space.candidates))
        }
        self._tried: dict[Choice, Trial] = {}
        self._proposed: dict[Choice, None] = {}

    def choose(self, most: int) -> list[Choice]:
        """Choices that were not tried; none are left where the list is empty."""
        found: list[Choice] = []
        while len(found) < most:
            turn = len(self._proposed) % (_OURS + 1) == _OURS
            choice = (self._sampled() if turn else None) or self._guessed()
            if choice is None:
                break
            self._proposed[choice] = None
            found.append(choice)
        return found

    def enough(self, rows: int) -> int | None:
        """So many wrong ones of the rows stop a policy: those of the best one. Rows
        without a wrong one are run to the end, for what else tells equals apart.
        None: nothing stops one."""
        goal = self._goal
        best = goal.best(list(self._tried.values()))
        if goal.budget is None or best is None or best.value is None:
            return None
        return max(round((1 - best.value) * rows), 1)

    def stop(self, choice: Choice, stopped: Stopped, rows: int) -> None:
        """Learns that a choice is not the best."""
        value = 1 - stopped.wrong / rows  # or less
        self._add(choice, self._goal.sign * value)

    def tell(self, choice: Choice, trial: Trial) -> None:
        """Learns what a choice gives."""
        self._tried[choice] = trial
        unmet, *key = self._goal.key(trial)
        # Whatever misses a floor is worse than whatever does not.
        loss = key[0] if math.isfinite(key[0]) else 1e300
        if unmet:
            noise = trial.sqnr if trial.sqnr is not None else -1e9
            loss = 1e100 - max(-1e9, min(noise, 1e9)) * 1e88
        self._add(choice, loss)
        self._guess.fit(
            [
                (each, 10 ** (-trial.sqnr / 10))
                for each, trial in self._tried.items()
                if trial.sqnr is not None and math.isfinite(trial.sqnr)
            ]
        )

    def _add(self, choice: Choice, loss: float) -> None:
        """A trial, for Optuna."""
        self._study.add_trial(
            self._optuna.trial.create_trial(
                params=dict(zip(self._distributions, choice)),
                distributions=self._distributions,
                value=loss,
            )
        )

    def _sampled(self) -> Choice | None:
        """What Optuna proposes, if it is new."""
        trial = self._study.ask(self._distributions)
        choice = tuple(int(each) for each in trial.params.values())
        # Told of under the choice that is tried, not under this one.
        self._study.tell(trial, state=self._optuna.trial.TrialState.FAIL)
        if self._goal.budget is not None:
            choice = self._guess.within(choice, self._goal.budget * _SLACK)
        else:
            best = self._goal.best(list(self._tried.values()))
            if best is not None and self._guess.cost(choice) >= best.cost:
                return None
        return None if choice in self._proposed else choice

    def _guessed(self) -> Choice | None:
        ranked = sorted(self._tried, key=lambda c: self._goal.key(self._tried[c]))
        near = ranked[:3]
        budget = self._goal.budget
        if budget is not None:
            most = budget * _SLACK
            return self._guess.next(
                self._proposed, near, lambda c, _: c <= most, "noise"
            )
        if not self._proposed:
            return self._guess.finest  # does it reach the floor at all?
        best = self._goal.best(list(self._tried.values()))
        most = best.cost / _SLACK if best is not None else math.inf
        noise = self._bearable()
        return self._guess.next(
            self._proposed, near, lambda c, n: (c < most) & (n <= noise), "cost"
        ) or self._guess.next(self._proposed, near, lambda c, _: c < most, "noise")

    def _bearable(self) -> float:
        """The noise that is expected to be borne, without a budget."""
        found = math.inf
        if self._goal.sqnr is not None:
            found = 10 ** (-self._goal.sqnr / 10)
        if self._goal.floor is None:
            return found
        # Between what reaches the floor and what does not: where the metric, as a
        # line over the logarithm of noise, is at the floor.
        points = [
            (noise, trial)
            for choice, trial in self._tried.items()
            if (noise := self._noise(choice, trial)) > 0
        ]
        low = max(
            (point for point in points if self._goal.meets(point[1])),
            key=lambda point: point[0],
            default=None,
        )
        if low is None:
            return 0.0
        high = min(
            (p for p in points if p[0] > low[0] and not self._goal.meets(p[1])),
            key=lambda point: point[0],
            default=None,
        )
        if high is None:
            most = max(low[0], self._guess.noise(self._guess.cheapest))
            return min(found, math.sqrt(low[0] * most))
        share = 0.5
        if low[1].value is not None and high[1].value is not None:
            ways = high[1].value - low[1].value
            if math.isfinite(ways) and ways:
                share = (self._goal.floor - low[1].value) / ways
        share = min(max(share, 0.1), 0.9)
        return min(found, float(low[0] ** (1 - share) * high[0] ** share))

    def _noise(self, choice: Choice, trial: Trial) -> float:
        """As it was measured or, where that is no number, as it is expected."""
        if trial.sqnr is not None and math.isfinite(trial.sqnr):
            return float(10 ** (-trial.sqnr / 10))
        return self._guess.noise(choice)
