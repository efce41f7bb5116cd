# SPDX-License-Identifier: MIT
"""Policies: rules that match nothing are warnings, once; blocks of roles."""

import warnings

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_mlir")

import numera
import numera.torch
from torch import nn


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.query = nn.Linear(4, 4)
        self.out = nn.Linear(4, 4)

    def forward(self, x):
        return self.out(self.query(x).softmax(1))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = Block()
        self.second = Block()

    def forward(self, x):
        return self.second(self.first(x))


def said(policy, model, *, train=False):
    """What is said about a policy in three calls."""
    backend = numera.torch.backend("bf16", policy=policy)
    net = torch.compile(model, backend=backend, dynamic=False)
    with warnings.catch_warnings(record=True) as caught, torch.set_grad_enabled(train):
        warnings.simplefilter("always")
        for rows in (2, 2, 3):
            result = net(torch.ones(rows, 4))
            if train:
                result.sum().backward()
    return [str(each.message) for each in caught if "policy" in str(each.message)]


@pytest.mark.parametrize("train", [False, True])
@pytest.mark.parametrize(
    "rule, near",
    [
        ("first.qurey", ", did you mean 'first.query' or 'first.out' or 'first'?"),
        ("second.query.*", ", did you mean 'second.query' or "),
        ("op:sofmax", ", did you mean 'softmax'?"),
        ("op:zebra", ", whose operators with operations are 't', 'addmm', 'softmax'"),
        ("zebra*", ", whose modules with operations are 'first.query', 'first', "),
    ],
)
def test_a_rule_that_matches_nothing_is_one_warning(rule, near, train):
    (line,) = said({rule: "f32", "second.*": "f16"}, Net(), train=train)
    start = f"rule '{rule}' of the policy matches nothing in the model"
    assert line.startswith(start + near)


def test_a_module_without_operations_of_its_own_is_told_from_those_in_it():
    net = nn.Sequential(nn.Sequential(nn.Linear(4, 4), nn.ReLU()), nn.Linear(4, 4))
    (line,) = said({"0": "f32", "1": "f32"}, net)
    assert line.endswith("the model, did you mean '0.0' or '0.1'?")


def test_rules_that_match_are_silent():
    rules = {"first.query": "f32", "*.out": "f16", "op:softmax": "posit16"}
    assert said(rules, Net()) == said(rules, Net(), train=True) == []


def test_operators_of_the_backward_pass_alone_are_known():
    """The gradient of a bias is a sum, of which the forward pass has none."""
    assert said({"op:sum": "f32"}, Net(), train=True) == []
    assert len(said({"op:sum": "f32"}, Net())) == 1


def test_models_of_several_graphs_are_not_judged_by_the_first():
    net = Net()

    def broken(x):
        y = net.first(x)
        torch._dynamo.graph_break()
        return net.second(y)

    assert said({"second.query": "f32"}, broken) == []


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
def test_sums_that_fold_are_no_warning(dtype):
    """The accumulator has a rule, which no one wrote."""
    norm, rows = nn.BatchNorm1d(4).to(dtype), 5
    if dtype == torch.float32:
        norm, rows = norm.eval(), 0
    net = torch.compile(norm, backend=numera.torch.backend("bf16", code_cache="off"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        net(torch.ones(rows, 4, dtype=dtype)).sum().backward()


def test_exported_models_warn_as_well():
    with pytest.warns(UserWarning, match="rule 'frist' of the policy matches nothing"):
        numera.torch.compile(Net(), (torch.ones(2, 4),), policy={"frist": "f32"})


@pytest.mark.parametrize("fmt", ["mxfp8", "mxfp4", "nvfp4"])
@pytest.mark.parametrize("role", ["weights", "both", "all"])
def test_blocks_of_each_role_lie_along_what_is_added_up(fmt, role):
    """Forward, and backward where products add up other dimensions."""
    torch.manual_seed(2)
    x = torch.randn(64, 96, requires_grad=True)
    layer = torch.nn.Linear(96, 32, bias=False)
    errors = torch.randn(64, 32)
    given = {"format": "f32", "weights": fmt, "activations": fmt}
    if role == "weights":
        del given["activations"]
    if role == "all":
        given = {"format": fmt}
    y = torch.compile(layer, backend=numera.torch.backend(**given))(x)
    y.backward(errors)

    def along(tensor, axis, is_scaled=True):
        tensor = tensor.detach()
        return numera.quantize(tensor, fmt, axis=axis) if is_scaled else tensor

    acts, errs, w = role != "weights", role == "all", layer.weight
    for found, a, b in (
        (y, along(x, 1, acts), along(w, 1).T),
        (x.grad, along(errors, 1, errs), along(w, 0)),
        (w.grad, along(errors, 0, errs).T, along(x, 0, acts)),
    ):
        torch.testing.assert_close(found.detach(), a @ b, rtol=1e-6, atol=1e-5)


def test_names_of_a_file_are_known_to_roles_and_rules(tmp_path):
    (tmp_path / "formats.yaml").write_text(
        "formats:\n  short: {family: float, exponent: 5, mantissa: 2}\n"
        "  long: {family: float, exponent: 8, mantissa: 12}\n"
    )
    net = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 2))
    x = torch.randn(4, 8)

    def outputs(short, long, **options):
        torch._dynamo.reset()
        backend = numera.torch.backend(short, policy={"0": long}, **options)
        return torch.compile(net, backend=backend)(x)

    named = outputs("short", "long", formats=tmp_path / "formats.yaml")
    assert torch.equal(named, outputs("float<5,2>", "float<8,12>"))
    assert not torch.equal(named, outputs("float<8,12>", "float<8,12>"))


def test_names_of_modules_in_lists_may_be_numbers():
    net = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4))
    for rules in ({0: "posit16"}, [{"match": {"name": 0}, "format": "posit16"}]):
        compiled = numera.torch.compile(
            net, (torch.ones(1, 4),), format="bf16", policy=rules
        )
        compiled(torch.ones(1, 4))
        (rule,) = compiled.programs[0].policy["rules"]
        assert rule["format"] == "posit16"
        torch._dynamo.reset()
