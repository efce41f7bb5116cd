# SPDX-License-Identifier: MIT
"""Rules of a policy for PyTorch's models that match nothing are warnings, once."""

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


def test_exported_models_warn_as_well():
    with pytest.warns(UserWarning, match="rule 'frist' of the policy matches nothing"):
        numera.torch.compile(Net(), (torch.ones(2, 4),), policy={"frist": "f32"})
