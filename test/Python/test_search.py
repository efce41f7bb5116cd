# SPDX-License-Identifier: MIT
"""Searches: a format for each layer, against every choice that there is."""

import itertools
import json
import pathlib
import subprocess
import sys
import warnings

import numera
import numpy as np
import pytest
from numera.study._command import main
from numera.study._guess import Guess
from studies import TABLE, UNNAMED, W, X, perceptron

pytest.importorskip("optuna")

NAMES = ["float<4,1>", "float<4,2>", "float<4,3>", "f16"]
# The first one overflows.
NARROW = ["float<2,3>", "float<3,3>", "float<5,2>", "bf16"]
# Their exponent and fraction bits.
FORMATS = {
    **{f"float<{e},{m}>": (e, m) for e in range(2, 6) for m in range(1, 4)},
    "f16": (5, 10),
    "bf16": (8, 7),
}


def rounded(x, exponent, fraction):
    """To the nearest number of a float of IEEE 754, ties to even."""
    bias = 2 ** (exponent - 1) - 1
    with np.errstate(divide="ignore", invalid="ignore"):
        binade = np.maximum(np.floor(np.log2(np.abs(x))), 1 - bias)
        ulp = np.exp2(binade - fraction)
        found = np.rint(x / ulp) * ulp
    most = (2 - 2.0**-fraction) * 2.0**bias
    over = (np.abs(found) > most) | np.isinf(x)
    return np.where(over, np.copysign(np.inf, x), found)


def network(seed, sizes=(8, 16, 12, 10, 4)):
    """Weights of layers, rows of data, and what is expected of them."""
    random = np.random.default_rng(seed)
    weights = [
        (random.normal(size=pair) * random.uniform(0.5, 2) / np.sqrt(pair[0]))
        for pair in itertools.pairwise(sizes)
    ]
    weights = [each.astype("f4") for each in weights]
    x = random.normal(size=(200, sizes[0])).astype("f4")
    return weights, x, computed(weights, x, None)


def computed(weights, x, choice):
    """The outputs, with each layer in the format that is chosen for it."""
    values = x.astype("f8")
    for n, weight in enumerate(weights):
        own = weight.astype("f8")
        if choice is None:
            values = values @ own
        else:
            form = FORMATS[choice[n]]
            with np.errstate(invalid="ignore"):
                values = rounded(values, *form) @ rounded(own, *form)
            values = rounded(values, *form)
        if n < len(weights) - 1:
            values = np.maximum(values, 0)
    return values


def score(metric, found, expected):
    """Less is better."""
    if metric == "rmse":
        return np.sqrt(np.mean((found - expected) ** 2))
    return -np.mean(found.argmax(1) == expected.argmax(1))


def mean_bits(weights, choice):
    bits = [1 + sum(FORMATS[name]) for name in choice]
    sizes = [each.size for each in weights]
    return np.dot(bits, sizes) / sum(sizes)


def exhaustive(metric, weights, x, expected, budget, names=NAMES):
    """The score of every choice within the budget, least first."""
    scores = {
        choice: score(metric, computed(weights, x, choice), expected)
        for choice in itertools.product(names, repeat=len(weights))
        if mean_bits(weights, choice) <= budget
    }
    valid = {each: value for each, value in scores.items() if np.isfinite(value)}
    return sorted((value, choice) for choice, value in valid.items())


def hunted(metric, weights, x, expected, /, **given):
    labels = {} if metric == "rmse" else {"labels": expected.argmax(1)}
    return numera.search(
        perceptron(*weights),
        **{
            "formats": NAMES,
            "inputs": x,
            "metric": metric,
            "batch": 200,
            "optimization": 0,
            **labels,
            **given,
        },
    )


def chosen(trial):
    return tuple(candidate[0].name for candidate in trial.formats)


@pytest.mark.parametrize(("names", "seed"), [(NAMES, 0), (NARROW, 3)])
def test_a_search_finds_the_best_of_256_choices_in_a_20th_of_the_runs(names, seed):
    drawn = network(seed)
    weights = drawn[0]
    (best, choice), (second, _), *_ = exhaustive("rmse", *drawn, 9.5, names)
    found = hunted("rmse", *drawn, formats=names, budget=9.5, trials=7)
    # With the one in f32, 256 / 20.
    assert found.runs + 1 <= 256 // 20
    assert chosen(found.best) == choice
    assert found.best.cost == pytest.approx(mean_bits(weights, choice))
    # Sums in f64 there and in f32 here: nearly the same value.
    assert found.best.value == pytest.approx(best, rel=0.002)
    assert best * 1.005 < second


def test_of_what_keeps_a_floor_the_cheapest_is_found():
    weights, x, expected = network(3)
    every = exhaustive("rmse", weights, x, expected, 16)
    floor = every[60][0] * 1.001
    least = min(mean_bits(weights, choice) for value, choice in every if value < floor)
    found = hunted("rmse", weights, x, expected, floor=floor, trials=9)
    assert found.best.value <= floor
    assert found.best.cost == pytest.approx(least)
    power = np.sqrt(np.mean(expected**2))
    sqnr = 20 * np.log10(power / floor)
    found = hunted("rmse", weights, x, expected, sqnr=sqnr, trials=9)
    assert found.best.cost == pytest.approx(least)
    error = 20 * np.log10(power / found.best.value)
    assert found.best.sqnr == pytest.approx(error, abs=1e-3)


def sums(costs, choice):
    return sum(each[i] for each, i in zip(costs, choice))


def test_a_guess_is_the_best_sum_of_noises_within_a_budget():
    random = np.random.default_rng(4)
    noises = [np.sort(random.exponential(size=5))[::-1] for _ in range(5)]
    costs = [np.sort(random.uniform(1, 9, 5)) for _ in range(5)]
    every = sorted(
        (sums(noises, choice), choice)
        for choice in itertools.product(range(5), repeat=5)
        if sums(costs, choice) <= 20
    )
    guess = Guess(costs, noises)

    def best(guess, seen, near):
        return guess.next(seen, near, lambda c, _: c <= 20, "noise")

    assert best(guess, [], []) == every[0][1]
    assert best(guess, [every[0][1], every[1][1]], []) == every[2][1]
    assert sums(costs, guess.within((4, 4, 4, 4, 4), 20)) <= 20
    # The same without a list of all: what was found leads to what is better.
    guess._listed = None
    seen = []
    for _ in range(12):
        seen.sort(key=lambda choice: sums(noises, choice))
        seen.append(best(guess, seen, seen[:3]))
    assert every[0][1] in seen
    assert len(set(seen)) == 12


def test_gains_are_learned_from_what_was_tried():
    random = np.random.default_rng(6)
    noises = [np.exp(random.normal(size=4)) for _ in range(4)]
    gains = [9, 1, 0.2, 1]
    guess = Guess([np.ones(4)] * 4, noises)
    choices = list(itertools.product(range(4), repeat=4))

    def real(choice):
        return sum(gain * each[i] for gain, each, i in zip(gains, noises, choice))

    def off():
        errors = [np.log(guess.noise(each) / real(each)) for each in choices]
        return np.std(errors)

    before = off()
    guess.fit([(choice, real(choice)) for choice in choices[::13]])
    assert off() < before / 4


@pytest.mark.parametrize("metric", ["rmse", "top1"])
def test_a_search_goes_on_where_it_was(metric, tmp_path):
    weights, x, expected = network(1, (6, 5, 4))
    given = {"store": tmp_path / "s.sqlite", "budget": 8, "trials": 5}
    seen = []

    def stop(done, total, row):
        seen.append((done, total))
        if len(seen) == 7:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        hunted(metric, weights, x, expected, progress=stop, **given)
    assert seen[:5] == [(n, 9) for n in range(1, 6)]
    # Four runs for the formats and three policies were kept.
    found = hunted(metric, weights, x, expected, **given)
    again = hunted(metric, weights, x, expected, **given)
    assert again.runs == 0
    assert again.trials == found.trials
    given["store"] = None
    alone = hunted(metric, weights, x, expected, **given)
    assert alone.runs == 4 + len(alone)
    assert alone.stopped == found.stopped == again.stopped
    assert alone.stopped_runs == found.stopped_runs
    if metric == "rmse":
        assert (found.runs, len(found), found.stopped) == (2, 5, 0)
    else:
        assert found.runs < len(found)
        assert found.stopped > 0
    without = [trial._replace(seconds=0) for trial in alone]
    assert without == [trial._replace(seconds=0) for trial in found]


def test_weights_and_activations_are_searched_apart():
    weights, x, expected = network(2, (6, 5, 4))
    found = hunted(
        "rmse",
        weights,
        x,
        expected,
        formats="bf16",
        weights=["float<4,3>", "mxfp4"],
        activations=["float<4,3>", "float<5,2>"],
        accumulate=["f32", "same"],
        budget=6,
        trials=6,
    )
    head, *rules = found.policy["rules"]
    assert head.keys() == {"match", "format", "weights", "activations", "accumulate"}
    assert {rule["match"]: len(rule) for rule in rules} == {"relu1": 2, "fc2": 5}
    sizes = [each.size for each in weights]
    bits = {"float<4,3>": 8, "mxfp4": 4.25}
    rows = found.layers()
    cost = sum(bits[row["weights"]] * n for row, n in zip(rows, sizes)) / sum(sizes)
    assert found.best.cost == pytest.approx(cost)
    assert [row["constants"] for row in rows] == sizes
    program = numera.compile(perceptron(*weights), policy=found.policy)
    error = program(x).astype("f8") - expected
    assert np.sqrt(np.mean(error**2)) == pytest.approx(found.best.value, rel=1e-3)


def test_rules_of_the_users_stay_and_are_not_searched():
    weights, x, expected = network(1, (6, 5, 4))
    rule = {"match": "fc1", "format": "bf16"}
    policy = {"rules": [rule], "default": "f16"}
    found = hunted("rmse", weights, x, expected, budget=8, policy=policy, trials=3)
    assert found.policy["rules"][0] == rule
    assert found.policy["default"] == "f16"
    assert [row["name"] for row in found.layers()] == ["relu1", "fc2"]
    every = hunted("rmse", weights, x, expected, budget=8, every=True, trials=3)
    assert [row["name"] for row in every.layers()] == ["fc1", "relu1", "fc2"]


def test_what_has_no_name_is_known_by_its_operator():
    found = numera.search(
        UNNAMED,
        formats=NAMES,
        inputs=[X, W],
        metric="rmse",
        every=True,
        sqnr=9,
        trials=2,
    )
    assert [rule["match"] for rule in found.policy["rules"]] == [
        {"op": "matmul"},
        {"op": "mulf"},
    ]
    assert [row["constants"] for row in found.layers()] == [24, 0]


def test_energy_is_that_of_the_operations_by_a_table(tmp_path):
    weights, x, expected = network(1, (6, 5, 4))
    path = tmp_path / "table.yaml"
    path.write_text(
        "# pJ\n" + "\n".join(f"{key}: {json.dumps(TABLE[key])}" for key in TABLE)
    )
    given = {"formats": ["float<4,3>", "f16"], "budget": 6 * 5 * 4 + 5 * 4 * 7}
    for table in (TABLE, path):
        found = hunted("rmse", weights, x, expected, cost=table, trials=4, **given)
        # 30 products of 1 + 3 and 20 of 4 + 3: sums are kept in f32.
        assert found.best.cost == 30 * 4 + 20 * 7
        program = numera.compile(perceptron(*weights), policy=found.policy)
        cost = numera.cost(program, x[:1], table=table)
        assert cost.total == found.best.cost
    (row,) = (
        row
        for row in numera.cost(program, x, table=TABLE).rows
        if (row["name"], row["operation"]) == ("fc2", "mac")
    )
    assert (row["count"], row["cost"]) == (200 * 20, 200 * 20 * 7)


NORMED = """
func.func @net(%x: tensor<?x6xf32>, %w: tensor<6x4xf32> {numera.weight})
    -> tensor<?x4xf32> {
  %zero = arith.constant 0.0 : f32
  %i = arith.constant 0 : index
  %rows = tensor.dim %x, %i : tensor<?x6xf32>
  %empty = tensor.empty(%rows) : tensor<?x4xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x4xf32>)
      -> tensor<?x4xf32>
  %y = linalg.matmul ins(%x, %w : tensor<?x6xf32>, tensor<6x4xf32>)
      outs(%init : tensor<?x4xf32>) -> tensor<?x4xf32> loc("product")
  %line = tensor.empty(%rows) : tensor<?xf32>
  %none = linalg.fill ins(%zero : f32) outs(%line : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.reduce ins(%y : tensor<?x4xf32>) outs(%none : tensor<?xf32>)
      dimensions = [1] (%a: f32, %b: f32) {
        %c = arith.addf %a, %b : f32
        linalg.yield %c : f32
      } loc("sum")
  %t = linalg.broadcast ins(%s : tensor<?xf32>) outs(%empty : tensor<?x4xf32>)
      dimensions = [1]
  %z = arith.mulf %y, %t : tensor<?x4xf32> loc("scaled")
  return %z : tensor<?x4xf32>
}
"""


@pytest.mark.parametrize("accumulate", [None, "same", "quire"])
def test_a_policy_costs_what_its_program_does(accumulate):
    """Sums of reductions, and the terms and roundings of quires, too."""
    formats = {
        "posit8": {"mul": 1, "add": 1, "quire_mac": 50, "quire_round": 7},
        "quire": {"add": 3},
        "f32": {"mul": 2, "add": 200},
    }
    x = np.random.default_rng(2).normal(size=(40, 6)).astype("f4")
    w = np.random.default_rng(3).normal(size=(6, 4)).astype("f4")
    found = numera.search(
        NORMED, formats=["posit8", "f32"], inputs=[x, w], metric="rmse", budget=1e9,
        cost=formats, accumulate=accumulate, trials=6, every=True,
    )  # fmt: skip
    assert len(found.trials) > 3
    for trial in found.trials:
        program = numera.compile(NORMED, policy=found.policy_of(trial))
        expected = numera.cost(program, x[:1], w, table=formats).total
        assert trial.cost == pytest.approx(expected)


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"budget": None}, "a search needs a budget, a floor or an SQNR"),
        ({"budget": 3}, "the budget is 3, the least cost is 6"),
        ({"budget": float("nan")}, "budget is nan, expected a finite number"),
        ({"cost": "bits"}, "cost is 'bits', expected weight-bits, element-bits, hor"),
        ({"cost": {"f16": 3}}, "the cost table: 'f16' is no mapping of operations"),
        ({"cost": {"f16": {"add": -1}}}, "'add' of 'f16' is -1, expected a number"),
        ({"cost": {"f16": {"add": 1}}}, "the cost table has no 'mul' of format"),
        ({"cost": "jouppi2021"}, "jouppi2021 has no 'mul' of format"),
        ({"cost": "bits"}, "jouppi2021 or a table's file"),
        ({"trials": 0}, "trials is 0, expected 1 or more"),
        ({"trials": 2.5}, "trials is 2.5, expected a whole number"),
        ({"rounding": "up"}, "rounding is part of each format, such as"),
        ({"policy": {"weights": "f16"}}, "policy has 'weights', which no layer"),
        (
            {"policy": {"rules": [{"match": "*", "format": "f32"}]}},
            "the rules of the policy match all layers: there is none to search",
        ),
        ({"formats": []}, "no formats, expected one or more"),
        (
            {"budget": None, "sqnr": 500},
            "no policy of 2 reaches an SQNR of 500 dB; the b",
        ),
        ({"metric": "top3"}, "unknown metric 'top3'"),
        ({"labels": None}, "metric 'top1' needs labels"),
    ],
)
def test_what_is_wrong_is_one_line(changes, line):
    weights, x, expected = network(1, (6, 4))
    given = {"budget": 8, "trials": 2}
    with pytest.raises(numera.Error) as error:
        hunted("top1", weights, x, expected, **{**given, **changes})
    assert line in str(error.value)
    assert "\n" not in str(error.value)


def test_what_refuses_the_model_is_left_out():
    weights, x, expected = network(1, (6, 4))
    given = {"accumulate": "quire", "sqnr": 0, "trials": 1}
    with pytest.warns(UserWarning, match="'lns<4,3>' is left out: .* no quire"):
        found = hunted(
            "rmse", weights, x, expected, formats=["lns<4,3>", "posit8"], **given
        )
    assert found.layers()[0]["format"] == "posit8"
    with (
        pytest.warns(UserWarning, match="is left out"),
        pytest.raises(numera.Error, match="no candidate takes the model: .*no quire"),
    ):
        hunted("rmse", weights, x, expected, formats="lns<4,3>", **given)


def test_optuna_is_asked_for_by_name(monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(numera.Error, match="needs Optuna: pip install optuna"):
        numera.search("none.onnx", formats="f16", inputs=[], budget=8)


def test_the_command_writes_a_policy_that_numera_run_takes(
    tmp_path, capsys, monkeypatch
):
    weights, x, expected = network(1, (6, 5, 4))
    model, policy = tmp_path / "model.onnx", tmp_path / "policy.yaml"
    model.write_bytes(perceptron(*weights))
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "labels.npy", expected.argmax(1).astype("i4"))
    data = ["--input", tmp_path / "x.npy", "--labels", tmp_path / "labels.npy"]
    arguments = [model, *data, "--formats", "float<4,1..3>", "f16", "--budget", 7.5]
    arguments += ["--trials", 3, "--store", tmp_path / "s.sqlite"]
    wanted = ["-o", policy, "--json", "--plot", tmp_path / "p.png"]
    done = subprocess.run(
        [sys.executable, "-m", "numera", "search", *map(str, [*arguments, *wanted])],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")  # silent in a pipe
    found = json.loads(done.stdout)
    (best,) = (trial for trial in found["trials"] if trial["best"])
    assert best["weight-bits"] <= 7.5
    assert found["runs"] == 4 + len(found["trials"])
    assert len(found["trials"]) + found["stopped_runs"] <= 3
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    assert main(["search", *map(str, arguments)]) == 0
    assert capsys.readouterr().out.splitlines()[1].split()[:2] == [
        "fc1",
        best["layers"]["fc1"],
    ]
    # A disk may be full: what was found is said first.
    assert main(["search", *map(str, [*arguments, "-o", "/dev/full"])]) == 1
    said = capsys.readouterr()
    assert said.out.splitlines()[1].split()[:2] == ["fc1", best["layers"]["fc1"]]
    assert "cannot write /dev/full: No space left on device" in said.err
    program = numera.compile(model, policy=policy)
    assert np.mean(program(x).argmax(1) == expected.argmax(1)) == best["top1"]
    numera_run = pathlib.Path(numera.__file__).parents[2] / "bin" / "numera"
    if numera_run.exists():
        run = [numera_run, "run", model, "--formats", policy, "--json", *data]
        ran = subprocess.run(run, capture_output=True, text=True, check=True)
        said = json.loads(ran.stdout)
        assert said["top1"] == pytest.approx(best["top1"])
        rules = {rule["match"]: rule["format"] for rule in said["rules"]}
        assert rules["fc1"] == best["layers"]["fc1"]
        assert all(rule["operations"] for rule in said["rules"])
    for more, line in [
        (["--budget", "0"], "the budget is 0, the least cost is 6"),
        (["--floor", "2"], "floor is 2, and top1 is at most 1"),
        (["--cost", "none.yaml"], "cost is 'none.yaml', expected weight-bits"),
        (["-o", "/none/x.yaml"], "cannot write /none/x.yaml: no folder /none"),
        (["--policy", "none.yaml"], "cannot read none.yaml: No such file"),
        (["--budget", "much"], "option '--budget' is 'much', expected a number"),
    ]:
        assert main(["search", *map(str, [*arguments, *more])]) == 1
        said = capsys.readouterr().err
        assert said.startswith(f"numera: error: {line}")
        assert said.count("\n") == 1
