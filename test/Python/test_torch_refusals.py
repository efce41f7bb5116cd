# SPDX-License-Identifier: MIT
"""What PyTorch's backend refuses, what it says, and what PyTorch runs instead."""

import math
import re

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_mlir")

import numera
import numera.torch
from torch import nn
from torch_calls import compiled


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()


def share(x):
    """Of a gamma distribution, up to some point."""
    return torch.igamma(torch.ones_like(x), x * 2) + 1


def test_what_cannot_be_compiled_names_the_operator_and_the_line():
    net, _ = compiled(share)
    with pytest.raises(Exception, match="cannot compile") as caught:
        net(torch.randn(2, 3))
    assert "'aten.igamma.default' at " in str(caught.value)
    assert "test_torch_refusals.py:" in str(caught.value)
    assert "return torch.igamma(torch.ones_like(x), x * 2) + 1" in str(caught.value)
    # torch-mlir's own words.
    assert "torch.operator" in caught.value.inner_exception.details


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"polcy": {}}, "the backend has no argument 'polcy', did you mean 'policy'?"),
        ({"accumulate": "f33"}, "unknown format 'f33'"),
        ({"threads": -1}, "threads is -1, expected a number from 0 on"),
        ({"seed": -1}, "seed is -1, expected a number from 0 on"),
        ({"seed": "a"}, "seed is 'a', expected a number from 0 on"),
        ({"format": "posit99"}, "posit99"),
        ({"stats": "yes"}, "stats is 'yes', expected True or a number of steps"),
        ({"policy": "bf16"}, "policy is 'bf16', expected a mapping or a list of rules"),
        ({"policy": 3}, "policy is 3, expected a mapping or a list of rules"),
        ({"policy": ["bf16"]}, "a rule without 'match': bf16"),
        (
            {"policy": [{"match": {"module": "0"}, "format": "bf16"}]},
            "rule '{'module': '0'}' matches by 'module', expected name or op",
        ),
        (
            {"policy": [{"match": None, "format": "bf16"}]},
            "rule 'None' matches None, expected a name such as 'layers.*'",
        ),
        (
            {"policy": [{"match": {"op": ["a"]}, "format": "bf16"}]},
            "rule '{'op': ['a']}' matches ['a'], expected a name such as 'layers.*'",
        ),
        ({"formats": 3}, "formats are YAML files, found int"),
        ({"formats": "none.yaml"}, "cannot read none.yaml: No such file"),
        ({"output_as": "storage"}, "the backend has no argument 'output_as', expected"),
    ],
)
def test_wrong_options_are_refused_when_the_backend_is_made(options, line):
    with pytest.raises(numera.Error, match=re.escape(line)):
        numera.torch.backend(**options)


@pytest.mark.parametrize(
    ("state", "line"),
    [
        ({"seed": 1}, "the backend's state has no 'seed' and 'step'"),
        (
            {"seed": 1, "step": -3},
            "the state's step is -3, expected a number from 0 on",
        ),
        ({"seed": "a", "step": 0}, "the state's seed is 'a', expected a number"),
        ({"seed": 1, "step": 0, "sums": 0.5}, "the state's sums is 0.5, expected a"),
        ({"seed": 1, "step": 0, "calls": -1}, "the state's calls is -1, expected a"),
    ],
)
def test_a_wrong_state_changes_nothing(state, line):
    backend = numera.torch.backend("bf16", seed=7)
    with pytest.raises(numera.Error, match=re.escape(line)):
        backend.load_state_dict(state)
    assert backend.state_dict() == {"seed": 7, "step": 0}


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (
            ((torch.ones(1, 2),), nn.Linear(2, 2)),
            (
                "model is of type tuple, expected a module or an exported program; "
                "example inputs come behind it"
            ),
        ),
        (
            (nn.Linear(2, 2), torch.ones(1, 2)),
            "example_inputs is of type Tensor, expected a tuple, as in (x,)",
        ),
    ],
)
def test_arguments_of_compile_in_another_order_are_one_line(arguments, line):
    with pytest.raises(numera.Error) as caught:
        numera.torch.compile(*arguments, format="bf16")
    assert str(caught.value) == line


REFUSALS = {
    "eig": (lambda x: torch.linalg.eig(x)[0].real, "aten.linalg_eig.default"),
    "complex": (lambda x: torch.complex(x, x).cumprod(0).real, "aten.cumprod.default"),
    "ldl": (
        lambda x: torch.linalg.ldl_factor_ex(x)[0],
        "aten.linalg_ldl_factor_ex.default",
    ),
    "airy": (torch.special.airy_ai, "aten.special_airy_ai.default"),
    "cond": (
        lambda x: torch.cond(x.sum() > 0, lambda x: x * 2, lambda x: x - 1, (x,)),
        "cond",
    ),
}
"""What is refused, each in another stage, and the operator that is named."""


@pytest.mark.parametrize("name", REFUSALS)
def test_refusals_name_operator_line_and_remedy_without_mlir(name):
    function, operator = REFUSALS[name]
    net, _ = compiled(lambda x: function(x))
    with pytest.raises(Exception, match="cannot compile") as caught:
        net(torch.ones(3, 3))
    (line,) = re.findall(r"cannot compile .*", str(caught.value))
    assert line.startswith(f"cannot compile '{operator}' at ")
    assert "test_torch_refusals.py:" in line
    assert line.endswith('; fallback="torch" has PyTorch run it')
    reason = line.rpartition(": ")[2]
    assert not re.search(r"legalize|vtensor|tm_tensor|torch\.(operator|aten)", reason)


class Chosen(nn.Module):
    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda x: x.exp(), lambda x: x.sin(), (x,))


def test_code_that_dynamo_made_is_no_line_of_the_model():
    with pytest.raises(numera.Error) as caught:
        numera.torch.compile(Chosen(), (torch.ones(3),), format="bf16")
    assert "cannot compile 'cond' at " in str(caught.value)
    assert "eval_with_key" not in str(caught.value)


def test_refusals_in_the_backward_pass_name_the_line_of_the_forward_pass():
    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, gradient):
            return torch.igamma(torch.ones_like(gradient), gradient)

    def doubled(x):
        return Doubled.apply(x) + 1

    net, _ = compiled(doubled)
    y = net(torch.ones(4, requires_grad=True))
    with pytest.raises(numera.Error, match="aten.igamma.default") as caught:
        y.sum().backward()
    assert "test_torch_refusals.py:" in str(caught.value)
    net, backend = compiled(doubled, fallback="torch")
    x = torch.ones(4, requires_grad=True)
    slopes = torch.tensor([1.0, 3, 2, 4])
    (net(x) * slopes).sum().backward()
    torch.testing.assert_close(x.grad, 1 - torch.exp(-slopes))
    assert [each.operator for each in backend.fallbacks] == ["aten.igamma.default"]


def test_models_that_export_refuses_are_one_line_with_the_place():
    class Chooses(nn.Module):
        def forward(self, x):
            return x if x.sum() > 0 else -x

    with pytest.raises(numera.Error) as caught:
        numera.torch.compile(Chooses(), (torch.ones(2),))
    assert "return x if x.sum() > 0 else -x" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_fallbacks_run_in_torch_and_are_listed():
    net, backend = compiled(share, fallback="torch")
    x = torch.rand(2, 3, requires_grad=True)
    y = net(x)
    assert torch.allclose(y, share(x))
    y.square().sum().backward()
    wanted = torch.autograd.grad(share(x).square().sum(), x)[0]
    assert torch.allclose(x.grad, wanted)
    assert [each.operator for each in backend.fallbacks] == ["aten.igamma.default"]
    assert "torch.igamma(torch.ones_like(x), x * 2)" in backend.fallbacks[0].place


@pytest.mark.parametrize(
    ("function", "operator"),
    [
        (lambda x: x * 3, "aten.mul.Tensor"),
        (lambda x: x + 1.5, "aten.add.Tensor"),
        (lambda x: x.sum(), "aten.sum.default"),
    ],
)
def test_arithmetic_of_bytes_is_refused(function, operator):
    net, _ = compiled(function)
    with pytest.raises(Exception, match="cannot compile") as caught:
        net(torch.tensor([3, 200], dtype=torch.uint8))
    assert f"'{operator}'" in str(caught.value)
    assert "it computes with torch.uint8" in str(caught.value)


def test_bytes_are_moved_and_converted():
    image = torch.arange(256, dtype=torch.uint8).reshape(1, 8, 8, 4)

    def normalised(x):
        return (x.permute(0, 3, 1, 2)[:, 1:].float() / 255 - 0.5) / 0.25

    net, _ = compiled(normalised)
    torch.testing.assert_close(net(image), normalised(image))
    for function in (
        lambda x: x.int() + 1,
        lambda x: x.reshape(2, 128).t().flip(0).reshape(-1),
        lambda x: (x[:, 1:].clone(), torch.cat([x, x], 3).double() + 0),
        lambda x: [part.squeeze() for part in x.unbind(3)],
    ):
        net, _ = compiled(function)
        torch.testing.assert_close(net(image), function(image))


@pytest.mark.parametrize("fmt", ["f32", "bf16", "posit16", "f8E4M3FN"])
def test_numbers_become_bytes(fmt):
    x = torch.tensor([0.5, 1, 3.75, 127, 128, 208, 224]).float()
    x = numera.quantize(x, fmt)
    for given in (x, x.bfloat16(), x.int() - 9, x.long(), x.char(), x > 1):
        for function in (
            lambda x: x.byte(),
            lambda x: x.to(torch.uint8).int() + 1,
            lambda x: torch.cat([x.byte().flip(0), x.byte()]),
        ):
            torch._dynamo.reset()
            net, _ = compiled(function, fmt)
            torch.testing.assert_close(net(given), function(given), rtol=0, atol=0)


def test_floats_beyond_bytes_are_the_nearest_one():
    """255 is 256 in f8E4M3FN."""
    x = torch.tensor([-1.0, 255, 300, math.inf, -math.inf, math.nan])
    for fmt in ("f32", "f8E4M3FN"):
        torch._dynamo.reset()
        net, _ = compiled(lambda x: x.byte(), fmt)
        assert net(x)[:3].tolist() == [0, 255, 255]
    assert compiled(lambda x: x.byte(), "f32")[0](x)[3:].tolist() == [255, 0, 0]


def test_exported_models_convert_bytes(tmp_path):
    class Scaled(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("scale", torch.tensor([3, 200], dtype=torch.uint8))

        def forward(self, x):
            return x.float() / 2 * self.scale.float()

    image = torch.tensor([[7, 250]], dtype=torch.uint8)
    path = str(tmp_path / "scaled.pt2")
    torch.export.save(torch.export.export(Scaled().eval(), (image,)), path)
    text = str(tmp_path / "scaled.mlir")
    numera.import_model(path, text)
    program = numera.compile(text)
    torch.testing.assert_close(
        torch.from_numpy(program(image.numpy().view("i1"))), Scaled()(image)
    )


@pytest.mark.parametrize(
    "drawn", [torch.poisson, lambda x: torch.multinomial(x, 4, replacement=True)]
)
def test_draws_that_depend_on_operands(drawn):
    net, _ = compiled(lambda x: drawn(x * 2))
    wanted = "what it draws depends on its operands, and is no input; fallback="
    with pytest.raises(Exception, match=wanted):
        net(torch.ones(3))
    net, backend = compiled(lambda x: drawn(x * 2), fallback="torch")
    assert net(torch.ones(3)).shape in ((3,), (4,))
    assert len(backend.fallbacks) == 1


@pytest.mark.parametrize("fallback", [None, "torch"])
def test_sizes_that_depend_on_data(fallback):
    net = torch.compile(
        lambda x: x[torch.nonzero(x > 0)[:, 0]] + 1,
        backend=numera.torch.backend("bf16", fallback=fallback),
        fullgraph=True,
    )
    wanted = r"'aten.nonzero.default' at .*its result has a size that depends on data"
    with pytest.raises(Exception, match=wanted):
        net(torch.tensor([1.0, -1.0]))
