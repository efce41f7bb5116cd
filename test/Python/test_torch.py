# SPDX-License-Identifier: MIT
"""Models of PyTorch in formats, against eager mode and an independent reference."""

import copy
import doctest
import os
import pickle
import re
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_mlir")

import numera
import numera.torch
import torch.nn.functional as F
from marks import slow
from numera.torch._decompositions import table
from numera.torch._passes import INFERENCE
from torch import nn
from torch_calls import call, compiled, gradients, graph_of, normal
from torch_models import MLP, NAMES, make

pytestmark = pytest.mark.usefixtures("fresh_dynamo")


# ---- eager mode is the oracle of f32 ----------------------------------------


def step(model, x, y, loss):
    """The loss and gradients of a call, with the model's dropout as seeded."""
    model.zero_grad()
    torch.manual_seed(3)
    value = loss(model(x), y)
    value.backward()
    return value.detach()


@pytest.mark.parametrize(
    "name", [n if n in ("mlp", "gru") else pytest.param(n, marks=slow) for n in NAMES]
)
def test_gradients_in_f32_are_those_of_eager_mode(name):
    model, x, y, loss = make(name)
    state = {key: value.clone() for key, value in model.state_dict().items()}
    expected = step(model, x, y, loss)
    grads = gradients(model)
    buffers = {key: value.clone() for key, value in model.named_buffers()}
    model.load_state_dict(state)
    net, _ = compiled(model)
    model.zero_grad()
    torch.manual_seed(3)
    value = loss(net(x), y)
    value.backward()
    assert torch.allclose(value, expected, rtol=1e-6)
    # A bias before a norm has no gradient but rounding errors, in either.
    scale = max(float(g.norm()) for g in grads)
    for found, wanted in zip(gradients(model), grads):
        error = float((found - wanted).norm())
        assert error <= 1e-5 * (float(wanted.norm()) + 0.01 * scale)
    for key, wanted in buffers.items():
        found = dict(model.named_buffers())[key]
        assert torch.allclose(found, wanted, rtol=1e-5, atol=1e-6), key


def test_a_loss_falls_and_buffers_count():
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 1)
    )
    net, backend = compiled(model, "bf16")
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    x = torch.randn(32, 4)
    losses = []
    for _ in range(20):
        optimizer.zero_grad()
        loss = F.mse_loss(net(x), x[:, :1])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.2 * losses[0]
    assert int(model[1].num_batches_tracked) == 20
    assert backend.step == 20
    assert len(backend.programs) == 2


def test_dropout_has_the_bits_of_torchs_generator():
    model = nn.Dropout(0.3)
    x = torch.randn(100)
    torch.manual_seed(7)
    wanted = model(x)
    net, _ = compiled(model)
    torch.manual_seed(7)
    assert torch.equal(net(x), wanted)


def test_a_backward_pass_may_be_called_again():
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
    for again in range(2):  # from the code cache the second time
        net, _ = compiled(model)
        model.zero_grad()
        loss = net(normal(3, 4)).square().sum()
        loss.backward(retain_graph=True)
        once = gradients(model)
        loss.backward()
        for found, wanted in zip(gradients(model), once):
            assert torch.equal(found, 2 * wanted)
        torch._dynamo.reset()


def test_gradients_of_gradients_are_refused():
    net, _ = compiled(nn.Sequential(nn.Linear(1, 4), nn.Tanh(), nn.Linear(4, 1)))
    x = normal(3, 1).requires_grad_()
    (slope,) = torch.autograd.grad(net(x).sum(), x, create_graph=True)
    with pytest.raises(
        RuntimeError, match="does not currently support double backward"
    ):
        slope.sum().backward()


def test_copies_of_a_compiled_model_share_its_backend():
    net, backend = compiled(nn.Linear(4, 3), "posit16")
    x = normal(2, 4)
    net(x).sum().backward()
    again = copy.deepcopy(net)
    with torch.no_grad():
        net.weight.zero_()
    again(x).sum().backward()
    assert not torch.equal(net.weight, again.weight)
    assert backend.step == 2


@pytest.mark.parametrize("stats", [False, 3])
def test_a_compiled_model_is_saved_with_settings_and_state(stats, tmp_path):
    rules = {"0": {"format": "bf16", "rounding": "stochastic"}}
    model = nn.Sequential(nn.Linear(4, 3), nn.Tanh())
    net, backend = compiled(model, "posit16", policy=rules, seed=3, stats=stats)
    x = normal(2, 4)
    net(x).sum().backward()
    torch.save(net, tmp_path / "net.pt")
    again = torch.load(tmp_path / "net.pt", weights_only=False)
    assert torch.equal(again(x), net(x))
    kept = pickle.loads(pickle.dumps(backend))
    state = {"seed": 3, "step": 2, "calls": 1}
    assert kept.state_dict() == backend.state_dict() == state
    assert repr(kept) == repr(backend)


@pytest.mark.parametrize(
    "drawn",
    [
        lambda x: x + torch.randn_like(x) + torch.rand(5),
        lambda x: x + torch.normal(1.0, 2.0, (5,)) + torch.empty(5).log_normal_(0, 0.1),
        lambda x: x + torch.empty(5).cauchy_() + torch.empty(5).geometric_(0.5),
        lambda x: torch.multinomial(x.exp(), 3),
        lambda x: torch.distributions.Categorical(logits=x).sample((4,)[:0]),
        lambda x: torch.distributions.Categorical(logits=x.expand(9, 5)).sample(),
    ],
)
def test_random_tensors_are_torchs(drawn):
    x = torch.arange(5.0)
    torch.manual_seed(7)
    wanted = drawn(x)
    torch.manual_seed(7)
    assert torch.equal(compiled(drawn)[0](x), wanted)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.std(1) + x.var(1) + x.mean(1),
        lambda x: F.avg_pool2d(x.view(1, 1, 8, 8), 3, 2, 1),
        lambda x: F.interpolate(x.view(1, 1, 8, 8), size=5, mode="bilinear"),
        lambda x: F.hardswish(x) + F.softplus(x) + F.relu6(x) + F.gelu(x) + x**3,
        lambda x: x[:, torch.tensor([1, 1, 0])],
        lambda x: x.scatter_add(1, torch.arange(8).view(1, 8) % 3, x),
        lambda x: x.argmax(1),
        lambda x: torch.where(x > 0.5, x, -1.0).masked_fill(x < 0, 2.0),
    ],
)
def test_operators_agree_with_eager_mode(function):
    x = torch.randn(8, 8)
    assert torch.allclose(call(function, x), function(x), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("groups", [1, 2, 4])
@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("transposed", [False, True])
def test_gradients_of_convolutions(groups, stride, transposed):
    torch.manual_seed(0)
    kind = nn.ConvTranspose2d if transposed else nn.Conv2d
    layer = kind(4, 8, 3, stride, 1, groups=groups)
    x = torch.randn(2, 4, 7, 7)

    def grads(x, weight, bias):
        leaves = [each.detach().requires_grad_() for each in (x, weight, bias)]
        y = torch.func.functional_call(
            layer, {"weight": leaves[1], "bias": leaves[2]}, (leaves[0],)
        )
        return torch.autograd.grad(y.square().sum(), leaves)

    inputs = (x, layer.weight.detach(), layer.bias.detach())
    found = numera.torch.backend()._compile(graph_of(grads, *inputs), INFERENCE)(
        *inputs
    )
    for mine, wanted in zip(found, grads(*inputs)):
        assert torch.allclose(mine, wanted, rtol=1e-4, atol=1e-4)


# ---- formats by pass, role and module ---------------------------------------


def test_formats_by_pass_and_module():
    model, x, y, loss = make("lenet")
    net, backend = compiled(
        model,
        "f8E4M3FN",
        backward="f8E5M2",
        gradients="bf16",
        policy={"c1": "f16", "f*": {"format": "posit16", "accumulate": "same"}},
    )
    loss(net(x), y).backward()
    forward, backward = (program.policy for program in backend.programs)
    assert forward["format"] == "f8E4M3FN" and backward["format"] == "f8E5M2"
    rules = {
        tuple(rule["operations"]): (rule["format"], rule["accumulate"])
        for rule in forward["rules"]
    }
    assert rules[("c1#1",)] == ("f16", "f32")
    assert rules[("f1#2", "f2#2", "f3#2")] == ("posit16", "same")
    by_format = {
        rule["format"]: {name.split("#")[0] for name in rule["operations"]}
        for rule in backward["rules"]
    }
    assert by_format["posit16"] == {"f1", "f2", "f3"}
    assert by_format["bf16"] == {"c2"}  # the gradients of its weights and bias
    assert by_format["f16"] == {"c1"}


def test_rules_for_operators():
    net, backend = compiled(
        lambda x: (x @ x).softmax(1), "bf16", policy={"op:softmax": "f32"}
    )
    x = torch.randn(4, 4)
    product = numera.quantize(x, "bf16") @ numera.quantize(x, "bf16")
    wanted = numera.quantize(product, "bf16").softmax(1)
    assert torch.allclose(net(x), wanted, rtol=1e-6)
    (rule,) = backend.programs[0].policy["rules"]
    assert rule["format"] == "f32"


def test_weights_and_errors_are_stored_in_formats_of_their_own():
    layer = nn.Linear(8, 4, bias=False)
    net, _ = compiled(layer, weights="f4E2M1FN", activations="bf16", errors="f8E5M2")
    x = torch.randn(3, 8).requires_grad_()
    y = net(x)
    weight = numera.quantize(layer.weight.detach(), "f4E2M1FN")
    stored = numera.quantize(x.detach(), "bf16")
    assert torch.allclose(y, stored @ weight.t(), rtol=1e-6)
    y.backward(torch.full((3, 4), 0.3))
    errors = numera.quantize(torch.full((3, 4), 0.3), "f8E5M2")
    assert torch.allclose(x.grad, errors @ weight, rtol=1e-6)
    assert torch.allclose(layer.weight.grad, errors.t() @ stored, rtol=1e-6)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"fallback": "numpy"}, "fallback is 'numpy', expected None or 'torch'"),
        ({"backward": {"formt": "bf16"}}, "the backend: backward has 'formt'"),
        ({"policy": {"c1": {"form": "bf16"}}}, "rule 'c1' has 'form', expected one of"),
        ({"policy": [{"format": "bf16"}]}, "a rule without 'match'"),
        ({"policy": {"c1": "posit61"}}, "unknown format 'posit61'"),
    ],
)
def test_what_a_backend_refuses(options, message):
    with pytest.raises(numera.Error, match=message):
        numera.torch.backend("f32", **options)


@pytest.mark.parametrize(
    "backend, options, message",
    [
        (
            numera.torch.backend,
            None,
            "takes what numera.torch.backend('posit16') returns",
        ),
        (
            numera.torch.backend("bf16"),
            {"accumulate": "f32"},
            "options of torch.compile are not for this backend, found 'accumulate'",
        ),
    ],
)
def test_what_a_backend_refuses_of_torch_compile(backend, options, message):
    net = torch.compile(nn.Linear(2, 2), backend=backend, options=options)
    with pytest.raises(Exception, match=re.escape(message)):
        net(torch.ones(1, 2))


def test_what_a_backend_takes_without_a_name():
    message = "the backend takes one argument without a name, found 'f32'"
    with pytest.raises(numera.Error, match=message):
        numera.torch.backend("posit16", "f32")


# ---- sizes, exports, what cannot be compiled --------------------------------


def test_sizes_that_calls_decide():
    model = MLP()
    backend = numera.torch.backend()
    net = torch.compile(model, backend=backend)
    for batch in (3, 5, 7, 5):
        x = torch.randn(batch, 12)
        model.zero_grad()
        y = net(x)
        y.sum().backward()
        assert torch.allclose(y, model(x), rtol=1e-5, atol=1e-6)
    assert len(backend.programs) == 6


def test_strides_make_no_programs():
    model = nn.Linear(8, 4)
    backend = numera.torch.backend()
    net = torch.compile(model, backend=backend)
    with torch.no_grad():
        for count in range(4):
            x = torch.randn(2, 8 + count)[:, -8:]
            torch.testing.assert_close(net(x), model(x))
    assert len(backend.programs) == 2  # the first one is traced for its strides


@pytest.mark.parametrize(
    "function, programs",
    [
        (lambda x, step: x * step / (step + 1) - (3 - step), 4),
        (lambda x, step: torch.sin(torch.full((4,), step) * 0.5) * x, 4),
        (lambda x, step: x * (torch.arange(4) < step) * step, 6),
        (lambda x, step: x[:, :step] * step, 8),
    ],
)
def test_numbers_in_arithmetic_make_no_programs(function, programs):
    backend = numera.torch.backend()
    net = torch.compile(function, backend=backend)
    for step in (2, 3, 4, 1000):
        x, y = (torch.ones(2, 4, requires_grad=True) for _ in range(2))
        torch.testing.assert_close(net(x, step), function(y, step))
        net(x, step).sum().backward()
        function(y, step).sum().backward()
        torch.testing.assert_close(x.grad, y.grad)
    assert len(backend.programs) == programs


def test_exported_programs():
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU()).eval()
    x = torch.randn(5, 3)
    net = numera.torch.compile(model, (x,), format="posit16")
    assert torch.allclose(net(x), model(x), atol=0.01)
    assert net.programs[0].policy["format"] == "posit16"
    sizes = {0: torch.export.Dim("batch")}
    exported = torch.export.export(model, (x,), dynamic_shapes=(sizes,))
    net = numera.torch.compile(exported)
    for batch in (2, 5):
        assert torch.allclose(net(x[:batch]), model(x[:batch]), rtol=1e-5, atol=1e-6)
    with pytest.raises(numera.Error, match="another structure than those of export"):
        net(x, x)


def texts_of(name):
    """The graphs of a model's training step in linalg."""
    from functorch.compile import make_boxed_func
    from numera.torch._graph import prepare
    from torch._dynamo.backends.common import aot_autograd

    model, x, y, loss = make(name)
    texts = []

    def compiler(module, inputs):
        texts.append(numera.torch.to_linalg(prepare(module).module))
        return make_boxed_func(module.forward)

    backend = aot_autograd(
        fw_compiler=compiler, bw_compiler=compiler, decompositions=table()
    )
    loss(torch.compile(model, backend=backend, dynamic=False)(x), y).backward()
    return texts


@pytest.mark.parametrize(
    "name",
    [
        n if n in ("mlp", "mobilenet", "unet", "gpt") else pytest.param(n, marks=slow)
        for n in NAMES
    ],
)
def test_no_graph_computes_in_f64_unasked(name):
    texts = texts_of(name)
    assert len(texts) == 2
    assert not any("xf64>" in text for text in texts)


def test_f64_that_a_model_asks_for_stays():
    graph = graph_of(lambda x: (x + 1,), torch.ones(2, dtype=torch.float64))
    assert "tensor<2xf64>" in numera.torch.to_linalg(graph)


def test_modules_name_operations():
    model, x, _, _ = make("lenet")
    net, backend = compiled(model)
    net(x)
    assert 'loc("c2#0"' in backend.programs[0]._model.text


GLOBAL = nn.Sequential(nn.Linear(2, 2))


def test_modules_have_their_names_wherever_the_model_comes_from():
    local = nn.Sequential(nn.Linear(2, 2))
    for function in (GLOBAL, lambda x: GLOBAL(x), lambda x: local(x)):
        torch._dynamo.reset()
        net, backend = compiled(function, policy={"0": "bf16"})
        net(torch.ones(1, 2))
        (rule,) = backend.programs[0].policy["rules"]
        assert rule["format"] == "bf16" and rule["operations"] == ["0#1"]


def test_versions_are_checked(monkeypatch):
    from importlib import metadata

    from numera.torch._linalg import check_version

    monkeypatch.setattr(metadata, "version", lambda name: "20200101")
    with pytest.raises(numera.Error, match="torch-mlir is 20200101, expected 2026"):
        check_version()


def test_numera_does_not_import_torch():
    code = "import numera, sys; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_page_about_pytorch():
    page = os.path.join(os.path.dirname(__file__), "..", "..", "docs", "PyTorch.md")
    found = doctest.testfile(page, module_relative=False)
    assert found.attempted > 20 and not found.failed
