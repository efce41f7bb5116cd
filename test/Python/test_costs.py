# SPDX-License-Identifier: MIT
"""Costs of operations by a table."""

import json

import numera
import numpy as np
import pytest
from numera.study import HOROWITZ_2014, JOUPPI_2021
from numera.study._command import main
from numera.study._yaml import parse
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


def test_terms_of_exact_sums_cost_products_and_additions():
    sums = {"add": 7, "*": 100}
    table = {**TABLE, "quire": sums}
    exact = {"default": "f16", "accumulate": "quire"}
    rounded = total(
        exact, {"f16": {"mul": 0, "*": 0}, "quire": {"add": 0}, "f32": {"*": 0}}
    )
    assert rounded == 0
    price = table["f16"]["mul"] + 7
    found = numera.cost(numera.compile(MODEL, policy=exact), X, table=table)
    terms = [row for row in found.rows if row["operation"] == "quire_mac"]
    assert [row["count"] for row in terms] == [ROWS * 30, ROWS * 20]
    assert sum(row["cost"] for row in terms) == ROWS * 50 * price
    # Fixed point, whose sums are exact by default, in integers of 32 bits.
    integers = numera.compile(MODEL, format="fixed<7,0>")
    each = HOROWITZ_2014["fixed<7,0>"]["mul"]["energy"] + 0.1
    found = numera.cost(integers, X, table="horowitz2014")
    products = [row["cost"] for row in found.rows if row["operation"] == "quire_mac"]
    assert sum(products) == pytest.approx(ROWS * 50 * each)
    with pytest.raises(
        numera.Error, match="no 'quire_mac' of format 'bf16', nor a 'mul'"
    ):
        total({"default": "bf16", "accumulate": "quire"}, {"bf16": {"mul": 1}})


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


def test_a_subtraction_is_an_addition():
    model = """func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
      %s = arith.subf %x, %y : tensor<4xf32>
      %a = arith.addf %s, %y : tensor<4xf32>
      return %a : tensor<4xf32>
    }"""
    program = numera.compile(model, format="f16")
    x = np.ones(4, "f4")
    add = {"energy": 0.5, "area": 10}
    found = numera.cost(program, x, x, table={"f16": {"add": add, "*": {"energy": 9}}})
    assert found.total == 8 * 0.5 and found.area == 10
    assert [row["operation"] for row in found.rows][-2:] == ["sub", "add"]
    own = numera.cost(program, x, x, table={"f16": {"add": 1, "sub": 2}})
    assert own.total == 4 * (1 + 2)


def test_rows_are_kinds_of_operations_of_a_name():
    model = """func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
      %a = arith.addf %x, %y : tensor<4xf32> loc("one")
      %b = arith.mulf %a, %y : tensor<4xf32>
      %c = arith.addf %b, %y : tensor<4xf32> loc("one")
      %d = arith.addf %c, %y : tensor<4xf32>
      return %d : tensor<4xf32>
    }"""
    x = np.ones(4, "f4")
    table = {"f32": {"add": 0.5, "mul": 3}}
    found = numera.cost(numera.compile(model, format="f32"), x, x, table=table)
    keys = ("name", "operation", "count", "cost")
    assert [tuple(row[key] for key in keys) for row in found.rows] == [
        ("one", "add", 8, 4),
        ("", "mul", 4, 12),
        ("", "add", 4, 2),
    ]
    assert found.total == 18


def test_quantizing_constant_weights_costs_nothing():
    weights, x = np.ones((32, 4), "f4"), np.ones((2, 32), "f4")
    program = numera.compile(perceptron(weights), format="mxfp4")
    names = {row["name"] for row in program.stats(x).operations}
    assert any(name.endswith(".lhs") for name in names)
    assert not any(name.endswith(".rhs") for name in names)


@pytest.mark.parametrize(
    ("table", "line"),
    [
        ({"f16": {"ad": 1, "*": 2}}, "unknown operation 'ad' of 'f16', did you mean"),
        ({"f16": {"*": 2}, "float<5,10>": {"*": 3}}, "'f16' and 'float<5,10>' are one"),
        ("f16: {mul: 1, mul: 2}\n", ":1:15: 'mul' is there twice"),
        ('{"f16": {"*": 1}, "f16": {"*": 2}}', ": 'f16' is there twice"),
    ],
)
def test_what_a_table_does_not_mean_is_one_line(tmp_path, table, line):
    if isinstance(table, str):
        path = tmp_path / "table.yaml"
        path.write_text(table)
        table, line = path, f"{path}{line}"
    program = numera.compile(UNNAMED, format="f16")
    with pytest.raises(numera.Error) as error:
        numera.cost(program, X, W, table=table)
    assert line in str(error.value) and "\n" not in str(error.value)


def test_a_model_is_no_program():
    with pytest.raises(numera.Error, match=r"as numera.compile makes it; found str$"):
        numera.cost("model.onnx", X, table="horowitz2014")


def test_published_tables_are_those_of_the_papers():
    # Horowitz, ISSCC 2014, and Dally, NIPS 2015: pJ and square micrometres of
    # additions and multiplications.
    for name, bits, add, mul in [
        ("fixed<7,0>", 8, (0.03, 36), (0.2, 282)),
        ("fixed<15,0>", 16, (0.05, 67), None),
        ("fixed<31,0>", 32, (0.1, 137), (3.1, 3495)),
        ("f16", 16, (0.4, 1360), (1.1, 1640)),
        ("f32", 32, (0.9, 4184), (3.7, 7700)),
    ]:
        listed = {"add": add, "mul": mul}
        assert HOROWITZ_2014[name] == {
            key: dict(zip(("energy", "area"), each))
            for key, each in listed.items()
            if each
        }
        assert numera.format(name).width == bits
    # Jouppi and others, ISCA 2021, in 7 nm, with what they gain over 45 nm.
    for name, add, mul in [
        ("fixed<7,0>", 4.3, 2.9),
        ("fixed<31,0>", 3.3, 2.1),
        ("f16", 2.5, 3.2),
        ("f32", 2.4, 2.8),
    ]:
        for operation, gain in (("add", add), ("mul", mul)):
            old = HOROWITZ_2014[name][operation]["energy"]
            new = JOUPPI_2021[name][operation]["energy"]
            assert round(old / new, 1) == gain
    found = total({"default": "f16", "accumulate": "f32"}, HOROWITZ_2014)
    assert found == pytest.approx(ROWS * 50 * (1.1 + 0.9))
    assert total({"default": "f16", "accumulate": "f32"}, "horowitz2014") == found
    found = total({"default": "bf16", "accumulate": "f32"}, "jouppi2021")
    assert found == pytest.approx(ROWS * 50 * (0.21 + 0.38))


def test_joules_and_the_area_of_a_circuit_of_each_kind():
    rule = {"match": "fc2", "format": "f32"}
    for rules, area, joules in [
        # Both layers use one multiplier and one adder.
        ([], 1640 + 4184, ROWS * 50 * 2e-12),
        # fc2, of 20 products, has its own multiplier.
        ([rule], 1640 + 4184 + 7700 + 4184, ROWS * (30 * 2 + 20 * 4.6) * 1e-12),
    ]:
        policy = {"default": "f16", "accumulate": "f32", "rules": rules}
        program = numera.compile(MODEL, policy=policy, optimization=0)
        found = numera.cost(program, X, table=HOROWITZ_2014)
        assert found.area == area
        assert found.joules == pytest.approx(joules)
        assert f"area {area:g} µm²" in str(found)
    plain = numera.cost(numera.compile(MODEL, format="f16"), X, table=TABLE)
    assert (plain.joules, plain.area) == (None, None)
    energy = numera.cost(numera.compile(MODEL, format="bf16"), X, table="jouppi2021")
    assert energy.joules == pytest.approx(energy.total * 1e-12)
    assert energy.area is None


def test_the_command_prints_both(tmp_path, capsys):
    (tmp_path / "net.onnx").write_bytes(MODEL)
    np.save(tmp_path / "x.npy", X)

    def command(*words):
        given = ["--input", tmp_path / "x.npy", "--table", "horowitz2014", *words]
        status = main(["cost", str(tmp_path / "net.onnx"), *map(str, given)])
        return status, *capsys.readouterr()

    status, out, err = command("--format", "f16", "--accumulate", "f32")
    assert (status, err) == (0, "")
    assert out.splitlines()[0].split() == [
        "name", "operation", "format", "count", "cost", "area",
    ]  # fmt: skip
    assert out.endswith("energy 1e-10 J, area 5824 µm²\n")
    status, out, _ = command(
        "--format", "f16", "--accumulate", "f32", "--rows", 7, "--json"
    )
    found = json.loads(out)
    assert found["joules"] == pytest.approx(7 * 50 * 2e-12)
    assert (found["area"], found["data_rows"]) == (1640 + 4184, 7)
    # With more rows than one, and of a fixed batch, the text says how many.
    assert "rows of the data" not in command("--format", "f16")[1]
    assert command("--format", "f16", "--rows", 7)[1].endswith(
        "\nfor 7 rows of the data\n"
    )
    model = "func.func @f(%x: tensor<2x6xf32>) -> tensor<2x6xf32> {{ {} }}"
    body = "%y = arith.mulf %x, %x : tensor<2x6xf32> return %y : tensor<2x6xf32>"
    (tmp_path / "two.mlir").write_text(model.format(body))
    given = ["cost", tmp_path / "two.mlir", "--input", tmp_path / "x.npy"]
    assert main([*map(str, given), "--table", "horowitz2014"]) == 0
    assert capsys.readouterr().out.endswith(
        "energy 4.44e-11 J, area 7700 µm²\nfor 2 rows of the data\n"
    )
    for words, line in [
        (["--table", "none.yaml"], "cannot read none.yaml: No such file"),
        (
            ["--table", "horowitz"],
            "unknown table 'horowitz', expected horowitz2014, jouppi2021 or a file",
        ),
        (["--rows", 0], "--rows is 0, expected at least 1"),
        (["--format", "bf16"], "horowitz2014 has no 'mul' of format 'bf16'; a table"),
        (["--format", "bf16"], 'of yours may have it: {"bf16": {"mul": 1.5}}'),
    ]:
        status, out, err = command(*words)
        assert status == 1 and line in err and err.count("\n") == 1, err


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
    # Keys that a mapping takes over and says anew are not there twice.
    merged = "x: {y: &y {<<: &z {add: 9}, add: 1, mul: 1}}\nf16: {<<: *y, mul: 2}\n"
    assert parse(merged, "t.yaml")["f16"] == {"add": 1, "mul": 2}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("3", "expected a mapping of formats to their operations"),
        ('{"f16": 3}', "'f16' is no mapping of operations"),
        ('{"f16": {"add": -1}}', "'add' of 'f16' is -1, expected a number that"),
        ('{"f16": {"add": "1"}}', "'add' of 'f16' is 1, expected a number that"),
        ('{"f16": {"add": NaN}}', "'add' of 'f16' is nan, expected a number that"),
        ('{"f16": {"add": 1}}', "has no 'mul' of format 'f16'"),
        ('{"f16": {"add": {"area": 1}}}', "'add' of 'f16' has no energy"),
        ('{"f16": {"add": {"energie": 1}}}', "has 'energie', expected energy and area"),
        (
            '{"f16": {"add": {"energy": 1, "area": -1}}}',
            "the area of 'add' of 'f16' is -1, expected a number that is not negative",
        ),
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
