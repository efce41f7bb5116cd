# SPDX-License-Identifier: MIT
"""A format that is given beside a policy: the default of a mapping or a file whose
rules hold, and instead of the policy that a file of formats has."""

import json
import subprocess
import sys

import numera
import numpy as np
import pytest
from test_programs import MATMUL

RULES = [{"match": "product", "format": "mine", "accumulate": "f32"}]
FORMATS = {"mine": {"family": "float", "exponent": 3, "mantissa": 2}}


@pytest.fixture
def path(tmp_path):
    """A file with a policy and its formats; JSON is YAML."""
    sections = {"formats": FORMATS, "policy": {"default": "bf16", "rules": RULES}}
    (tmp_path / "policy.yaml").write_text(json.dumps(sections))
    return tmp_path / "policy.yaml"


def chosen(**given):
    found = numera.compile(MATMUL, **given).policy
    return found["format"], [rule["format"] for rule in found.get("rules", [])]


def test_rules_hold_beside_a_format(path):
    assert chosen(policy=path) == ("bf16", ["mine"])
    assert chosen(policy=path, format="posit16") == ("posit16", ["mine"])
    assert chosen(policy=str(path), format="mine") == ("mine", ["mine"])
    posit = numera.format("posit8")
    assert chosen(policy=path, format=posit) == ("posit8", ["mine"])
    mapping = {"default": "bf16", "rules": RULES}
    beside = path.with_name("formats.yaml")
    beside.write_text(json.dumps({"formats": FORMATS}))
    given = {"policy": mapping, "formats": beside}
    assert chosen(**given) == ("bf16", ["mine"])
    assert chosen(**given, format="posit16") == ("posit16", ["mine"])


def test_roles_follow_another_default(path):
    policy = {"default": "f8E4M3FN", "scale": "per-tensor"}
    path.write_text(json.dumps({"policy": policy}))
    a, b = np.random.default_rng(3).normal(size=(2, 64, 64)).astype("f4")
    file, mapping = (
        numera.compile(MATMUL, policy=each, format="f8E5M2")(a, b[:, :8])
        for each in (path, policy)
    )
    np.testing.assert_array_equal(file, mapping)
    other = numera.compile(MATMUL, policy=path)(a, b[:, :8])
    assert np.any(file != other)


def test_scales_need_a_format_from_one_of_both(path):
    path.write_text(json.dumps({"policy": {"scale": "per-tensor"}}))
    assert chosen(policy=path, format="f8E4M3FN") == ("f32", [])
    assert numera.report(
        MATMUL, inputs=[np.ones((1, 64)), np.ones((64, 8))], policy=path, format="bf16"
    ).layers
    with pytest.raises(numera.Error, match=r"policy\.yaml:1:\d+: .* needs a format"):
        numera.compile(MATMUL, policy=path)


def test_a_format_goes_before_the_policy_of_formats(path):
    assert chosen(formats=path) == ("bf16", ["mine"])
    assert chosen(formats=path, format="posit16") == ("posit16", [])


def test_an_accumulator_goes_before_that_of_the_file(path):
    policy = {"default": "bf16", "accumulate": "f32"}
    path.write_text(json.dumps({"policy": policy}))
    for given in ({}, {"format": "f16"}):
        program = numera.compile(MATMUL, policy=path, accumulate="f64", **given)
        assert program.policy["accumulate"] == "f64"
        program = numera.compile(MATMUL, policy=path, **given)
        assert program.policy["accumulate"] == "f32"


def test_a_file_without_a_policy_is_an_error(path):
    path.write_text(json.dumps({"formats": FORMATS}))
    with pytest.raises(numera.Error, match=r"policy\.yaml has no section policy"):
        numera.compile(MATMUL, policy=path, format="bf16")


def test_commands_mean_the_same(path):
    model, a, b = (path.with_name(name) for name in ("net.mlir", "a.npy", "b.npy"))
    model.write_text(MATMUL)
    np.save(a, np.ones((1, 64), "f4"))
    np.save(b, np.ones((64, 8), "f4"))

    def formats(command, *words):
        words = [command, model, "--input", a, "--input", b, *words]
        done = subprocess.run(
            [sys.executable, "-m", "numera", *map(str, words)],
            check=True, capture_output=True, text=True,
        )  # fmt: skip
        return json.loads(done.stdout)

    asked = ("--policy", path, "--format", "posit16", "--json")
    report = formats("report", *asked)
    assert [layer["format"] for layer in report["layers"]] == ["mine"]
    table = path.with_name("table.json")
    table.write_text(
        json.dumps({name: {"*": 1} for name in ("mine", "posit16", "f32")})
    )
    cost = formats("cost", *asked, "--table", table)
    assert "mine" in json.dumps(cost["rows"]), cost


@pytest.mark.parametrize("call", [numera.compile, numera.report])
def test_errors_of_a_file_name_its_line(path, call):
    path.write_text(
        'policy:\n  default: f16\n  rules:\n    - {match: "*", formats: bf16}\n'
    )
    given = {} if call is numera.compile else {"inputs": []}
    with pytest.raises(numera.Error, match=r"policy\.yaml:4:20: error: unknown key"):
        call(MATMUL, policy=path, format="bf16", **given)
