# SPDX-License-Identifier: MIT
"""Searches that stop policies after a part of the rows."""

import json

import numera
import numpy as np
import pytest
from numera.study._data import DataSet
from numera.study._metrics import metric
from numera.study._race import Race
from studies import perceptron
from test_search import NAMES, exhaustive, hunted, network

pytest.importorskip("optuna")


@pytest.mark.parametrize("seed", [11, 13])
def test_a_search_finds_the_best_share_of_right_rows(seed):
    """On nets where the noise of the outputs does not tell it."""
    drawn = network(seed)
    (best, _), *_ = exhaustive("top1", *drawn, 9.5)
    found = hunted("top1", *drawn, budget=9.5, trials=8)
    assert found.best.value == pytest.approx(-best)
    # Far more policies than runs of all rows.
    assert found.stopped > 10
    assert found.runs + found.stopped_runs <= 256 / 20
    assert json.loads(found.json())["stopped"] == found.stopped


def test_no_policy_is_stopped_where_its_rows_tell_nothing():
    weights, x, expected = network(1, (6, 5, 4))
    scaled = ["scaled<f4E2M1FN,rule=absmax>", *NAMES]
    given = [("float<4,1..3,stochastic>", 200), (scaled, 200), (NAMES, 200)]
    for names, batch in given:
        given = {"formats": names, "budget": 8, "trials": 5, "batch": batch}
        found = hunted("top1", weights, x, expected, **given)
        assert bool(found.stopped) == (names is NAMES)
        assert len(found) + found.stopped_runs <= 5


def test_rows_whose_scores_are_close_are_run_first():
    random = np.random.default_rng(3)
    scores = random.normal(size=(45, 4)).astype("f4")
    labels = random.integers(0, 4, 45)
    function = numera.compile(perceptron(np.eye(4, dtype="f4")))._only
    for name in ("top1", "top5"):
        kind = metric(name, None)
        data = DataSet(function, scores, None, 4)
        race = Race.of(data, kind, labels, (scores,))
        # A tenth is 5, in batches of 4.
        assert race.stops == [8, 16, 45]
        if name == "top1":
            other = [np.delete(row, at).max() for row, at in zip(scores, labels)]
            margin = np.abs(scores[range(45), labels] - other)
            assert (np.diff(margin[race.order]) >= 0).all()
        noisy = scores + random.normal(size=scores.shape).astype("f4")
        parts, wrong = [], 0
        for first, last in race.parts():
            parts.append((noisy[race.order[first:last]],))
            wrong += race.wrong(parts[-1], first, last)
        (back,) = race.whole(parts)
        assert (back == noisy).all()
        assert kind((noisy,), labels) == pytest.approx(1 - wrong / 45)
        (same,) = race.data.run(function, 1)
        assert (same == scores[race.order]).all()
