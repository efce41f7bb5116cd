# SPDX-License-Identifier: MIT
"""Costs of operations by a table."""

import json

import numera
import numpy as np
import pytest
from numera.study import HOROWITZ_2014
from studies import TABLE, UNNAMED, W, X, perceptron

WEIGHTS = [np.ones(shape, "f4") for shape in ((6, 5), (5, 4))]
MODEL = perceptron(*WEIGHTS)
ROWS = len(X)


def total(policy, table=TABLE):
    program = numera.compile(MODEL, policy=policy, optimization=0)
    return numera.cost(program, X, table=table).total


def test_a_product_costs_by_its_operands_and_its_sum_by_the_accumulator():
    # 30 and 20 products a row; sums in f32 unless it is said.
    eight = {"match": "fc1", "format": "float<4,3>"}
    assert total({"default": "f16"}) == ROWS * 50 * (4 + 3)
    assert total({"default": "f16", "accumulate": "same"}) == ROWS * 50 * (4 + 2)
    mixed = {"default": "f16", "rules": [eight]}
    assert total(mixed) == ROWS * (30 * (1 + 3) + 20 * (4 + 3))
    # The dearer of two formats.
    mixed["rules"] = [{**eight, "weights": "f16"}]
    assert total(mixed) == ROWS * 50 * (4 + 3)
    mixed["rules"] = [{"match": "fc1", "weights": "float<4,3>"}]
    assert total(mixed) == ROWS * 50 * (4 + 3)
    # Without rules, too.
    roles = {"default": "float<4,3>", "activations": "f16", "accumulate": "f32"}
    assert total(roles) == ROWS * 50 * (4 + 3)
    roles = {"default": "float<4,3>", "weights": "f16", "rules": [eight]}
    assert total(roles) == ROWS * (30 * (1 + 3) + 20 * (4 + 3))
    # A scaled default: what is read is scaled, and the sums are scaled back in f32.
    table = {**TABLE, "float<4,3>": {"mac": 1, "*": 0}, "f32": {"mac": 9, "*": 0}}
    scaled = {"default": "float<4,3>", "scale": "per-tensor"}
    assert total(scaled, table) == ROWS * 50
    scaled["scale"] = {"weights": "per-channel"}
    assert total(scaled, table) == ROWS * 50 * 9
    blocks = {**table, "mxfp4": {"mac": 3}, "f8E8M0FNU": {"*": 0}}
    assert total({"default": "mxfp4"}, blocks) == ROWS * 50 * 3


def test_a_table_may_know_products_with_sums_and_casts():
    table = {"f16": {"mac": 5, "cast": 0.5}}
    program = numera.compile(MODEL, format="f16", accumulate="f32")
    rows = numera.cost(program, X, table=table).rows
    casts = sum(row["count"] for row in rows if row["operation"] == "cast")
    found = numera.cost(program, X, table=table)
    assert casts > 0
    assert found.total == ROWS * 50 * 5 + casts * 0.5
    assert found.total == sum(row["cost"] for row in found.rows)


def test_a_star_is_any_other_operation():
    program = numera.compile(UNNAMED, format="f16")
    with pytest.raises(numera.Error, match="the cost table has no 'mul' of format"):
        numera.cost(program, X, W, table={"f16": {"mac": 1}})
    found = numera.cost(program, X, W, table={"f16": {"mac": 1, "*": 10}})
    assert found.total == ROWS * 4 * (6 + 10)


def test_the_published_table_is_that_of_the_paper():
    # Horowitz, ISSCC 2014: pJ of additions and multiplications.
    for name, bits, add, mul in [
        ("fixed<7,0>", 8, 0.03, 0.2),
        ("fixed<31,0>", 32, 0.1, 3.1),
        ("f16", 16, 0.4, 1.1),
        ("f32", 32, 0.9, 3.7),
    ]:
        assert HOROWITZ_2014[name] == {"add": add, "mul": mul}
        assert numera.format(name).width == bits
    found = total({"default": "f16", "accumulate": "f32"}, HOROWITZ_2014)
    assert found == pytest.approx(ROWS * 50 * (1.1 + 0.9))


def test_a_layer_is_not_counted_under_the_wrong_format():
    rule = {"match": {"op": "matmul"}, "format": "float<4,3>"}
    program = numera.compile(UNNAMED, policy={"default": "f16", "rules": [rule]})
    with pytest.raises(numera.Error, match="without names cannot be told apart"):
        numera.cost(program, X, W, table=TABLE)
    plain = numera.compile(UNNAMED, format="f16")
    cost = numera.cost(plain, X, W, table=TABLE)
    assert cost.total == ROWS * 4 * (6 * (4 + 3) + 4)


def test_a_table_is_a_file_as_well(tmp_path):
    program = numera.compile(MODEL, format="f16")
    lines = (f"{key}: {json.dumps(value)}" for key, value in TABLE.items())
    (tmp_path / "t.yaml").write_text("# pJ\n" + "\n".join(lines))
    (tmp_path / "t.json").write_text(json.dumps(TABLE))
    wanted = numera.cost(program, X, table=TABLE)
    assert numera.cost(program, X, table=tmp_path / "t.json") == wanted
    pytest.importorskip("yaml")
    assert numera.cost(program, X, table=tmp_path / "t.yaml") == wanted


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("3", "expected a mapping of formats to their operations"),
        ('{"f16": 3}', "'f16' is no mapping of operations"),
        ('{"f16": {"add": -1}}', "'add' of 'f16' is -1, expected a number that"),
        ('{"f16": {"add": "1"}}', "'add' of 'f16' is 1, expected a number that"),
        ('{"f16": {"add": NaN}}', "'add' of 'f16' is nan, expected a number that"),
        ('{"f16": {"add": 1}}', "has no 'mul' of format 'f16'"),
        ("a: [", "t.yaml:2:1: "),
    ],
)
def test_a_wrong_table_is_one_line(tmp_path, text, line):
    if "[" in text:
        pytest.importorskip("yaml")
    (tmp_path / "t.yaml").write_text(text + "\n")
    program = numera.compile(MODEL, format="f16")
    with pytest.raises(numera.Error) as error:
        numera.cost(program, X, table=tmp_path / "t.yaml")
    assert line in str(error.value)
    assert "\n" not in str(error.value)
    with pytest.raises(numera.Error, match="cannot read .*none.yaml: No such file"):
        numera.cost(program, X, table=tmp_path / "none.yaml")
