# SPDX-License-Identifier: MIT
"""Models of PyTorch in formats, against eager mode and an independent reference."""

import doctest
import math
import os
import subprocess
import sys

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_mlir")

import numera
import numera.torch
import torch.nn.functional as F
from numera.torch._backend import INFERENCE
from numera.torch._decompositions import table
from torch import fx, nn
from torch.fx.experimental.proxy_tensor import make_fx
from torch_models import MLP, NAMES, make

slow = pytest.mark.skipif(
    "NUMERA_SLOW_TESTS" not in os.environ, reason="NUMERA_SLOW_TESTS is not set"
)
long = pytest.mark.skipif(
    os.environ.get("NUMERA_TESTS") != "all" and "NUMERA_SLOW_TESTS" not in os.environ,
    reason="NUMERA_TESTS is not all",
)
aten = torch.ops.aten


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    with torch._dynamo.config.patch(allow_rnn=True):
        yield


def compiled(model, *args, **options):
    backend = numera.torch.backend(*args, **options)
    return torch.compile(model, backend=backend, dynamic=False), backend


def gradients(model):
    return [p.grad.clone() for p in model.parameters()]


def graph_of(function, *inputs):
    """A graph as AOTAutograd would hand it over."""
    return make_fx(function, decomposition_table=table(), tracing_mode="fake")(*inputs)


def call(function, *inputs, format="f32", **options):
    """What a function of tensors returns in a format."""
    graph = graph_of(lambda *args: (function(*args),), *inputs)
    backend = numera.torch.backend(format, **options)
    return backend._compile(graph, INFERENCE)(*inputs)[0]


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


def test_random_tensors_are_torchs():
    def noisy(x):
        return x + torch.randn_like(x) + torch.rand(3)

    x = torch.zeros(3)
    torch.manual_seed(7)
    wanted = noisy(x)
    torch.manual_seed(7)
    assert torch.equal(compiled(noisy)[0](x), wanted)


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


# ---- each operation against a reference -------------------------------------


class Reference(fx.Interpreter):
    """Each node in f64, rounded by `numera.quantize`. Sums, in f32, are in the
    order of the clauses C4 and C7 of docs/Semantics/Contractions.md; numbers that
    stand alone and means are in f32."""

    def __init__(self, module, format):
        super().__init__(module)
        self.format = format

    def rounded(self, value, format=None):
        if not value.is_floating_point():
            return value
        return numera.quantize(value.double(), format or self.format)

    def placeholder(self, target, args, kwargs):
        return self.rounded(super().placeholder(target, args, kwargs))

    def run_node(self, node):
        self.own = "f32" if self.is_wide(node) else self.format
        value = super().run_node(node)
        return self.rounded(value, self.own) if node.op == "call_function" else value

    @staticmethod
    def is_wide(node):
        def is_mean(node):
            return (
                node.target is aten.div.Tensor
                and node.args[0].target is aten.sum.dim_IntList
                and not isinstance(node.args[1], fx.Node)
            )

        if node.op != "call_function":
            return False
        users = [user for user in node.users if user.op == "call_function"]
        return node.meta["val"].dim() == 0 or any(map(is_mean, [node, *users]))

    def call_function(self, target, args, kwargs):
        if kwargs.get("dtype") is torch.float32:
            kwargs = {**kwargs, "dtype": torch.float64}
        if target is aten.mm.default:
            return torch.from_numpy(self.product(*(each.numpy() for each in args)))
        if target is aten.sum.dim_IntList:
            return torch.from_numpy(self.sum(args[0].numpy(), *args[1:]))
        args = fx.node.map_aggregate(args, self.constant)
        return super().call_function(target, args, kwargs)

    def constant(self, value):
        """Python's numbers are rounded to the format first."""
        if not isinstance(value, float):
            return value
        return self.rounded(torch.tensor(value).double(), self.own).item()

    @staticmethod
    def product(left, right):
        total = np.zeros((left.shape[0], right.shape[1]))
        for k in range(left.shape[1]):
            total = np.float32(total + left[:, k : k + 1] * right[k : k + 1])
            total = total.astype(np.float64)
        return total

    @staticmethod
    def sum(values, axes, keepdim=False):
        axes = [axis % values.ndim for axis in axes] or list(range(values.ndim))
        rest = [axis for axis in range(values.ndim) if axis not in axes]
        terms = values.transpose([*rest, *axes])
        terms = terms.reshape([values.shape[axis] for axis in rest] + [-1])
        partial = [np.zeros(terms.shape[:-1]) for _ in range(32)]
        for i in range(terms.shape[-1]):
            added = np.float32(partial[i % 32] + terms[..., i])
            partial[i % 32] = added.astype(np.float64)
        while len(partial) > 1:
            partial = [
                np.float32(a + b).astype(np.float64)
                for a, b in zip(partial[::2], partial[1::2])
            ]
        shape = [1 if axis in axes else n for axis, n in enumerate(values.shape)]
        return np.asarray(partial[0].reshape(shape) if keepdim else partial[0])


@pytest.mark.parametrize("format", ["bf16", "posit16"])
def test_each_operation_of_a_training_step_is_rounded_once(format):
    torch.manual_seed(1)
    x, y = torch.randn(6, 40), torch.randn(6, 3)
    weights = torch.randn(5, 40) * 0.2, torch.randn(5), torch.randn(3, 5)

    def training_step(x, y, *weights):
        leaves = [each.detach().requires_grad_() for each in weights]
        hidden = F.relu(F.linear(x, leaves[0], leaves[1]))
        loss = F.mse_loss(F.linear(hidden, leaves[2]), y)
        return [loss.detach(), *torch.autograd.grad(loss, leaves)]

    graph = graph_of(training_step, x, y, *weights)
    found = numera.torch.backend(format)._compile(graph, INFERENCE)(x, y, *weights)
    wanted = Reference(graph, format).run(x, y, *weights)
    for mine, reference in zip(found, wanted):
        assert torch.equal(mine, reference.float())


@pytest.mark.parametrize("format", ["bf16", "posit16"])
def test_gradients_of_an_embedding_add_up_in_f32(format):
    tokens = torch.tensor([[3, 1, 3], [3, 0, 1]])
    grad = torch.randn(2, 3, 5)

    def backward(grad, tokens):
        return aten.embedding_dense_backward(grad, tokens, 6, 0, False)

    rows = numera.quantize(grad, format).reshape(6, 5)
    total = torch.zeros(6, 5)
    for token, row in zip(tokens.reshape(-1), rows):
        if token != 0:  # the padding
            total[token] += row
    assert torch.equal(
        call(backward, grad, tokens, format=format), numera.quantize(total, format)
    )
    rounded = torch.zeros(6, 5)
    for token, row in zip(tokens.reshape(-1), rows):
        if token != 0:
            rounded[token] = numera.quantize(rounded[token] + row, format)
    assert torch.equal(
        call(backward, grad, tokens, format=format, accumulate="same"), rounded
    )


def test_an_embedding_costs_what_its_batch_has():
    tokens, grad = torch.zeros(4, dtype=torch.long), torch.ones(4, 2)
    graph = graph_of(
        lambda g, t: (aten.embedding_dense_backward(g, t, 50000, -1, False),),
        grad,
        tokens,
    )
    text = numera.torch.to_linalg(graph)
    assert "scf.for" in text
    assert "tensor<50000x4" not in text and "tensor<4x50000" not in text


def test_attention_is_masked_in_formats_without_infinities():
    torch.manual_seed(0)
    query, key, value = torch.randn(3, 1, 2, 6, 8)

    def attention(query, key, value):
        return F.scaled_dot_product_attention(query, key, value, is_causal=True)

    net, _ = compiled(attention, "posit16")
    found = net(query, key, value)
    assert torch.allclose(found, attention(query, key, value), atol=0.01)
    mask = torch.full((6, 6), -math.inf).triu(1)
    scores = query @ key.transpose(-2, -1)
    wanted = (scores + mask).softmax(-1)
    found = call(
        lambda s: (s + torch.full((6, 6), -math.inf).triu(1)).softmax(-1),
        scores,
        format="f8E4M3FN",
    )
    assert torch.isfinite(found).all()
    assert (found - wanted).abs().max() < 0.1


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


# ---- reproducible -----------------------------------------------------------


def train(steps, threads=0, seed=1, state=None):
    """The state after some steps with stochastic rounding."""
    torch._dynamo.reset()
    torch.manual_seed(0)
    model = MLP()
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
    net, backend = compiled(
        model, "bf16", rounding="stochastic", threads=threads, seed=seed
    )
    first = 0
    if state is not None:
        first = state["step"]
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        backend.load_state_dict(state["backend"])
    for i in range(first, steps):
        x = torch.randn(16, 12, generator=torch.Generator().manual_seed(i))
        optimizer.zero_grad()
        net(x).square().sum().backward()
        optimizer.step()
    return {
        "step": steps,
        "model": {key: value.clone() for key, value in model.state_dict().items()},
        "optimizer": optimizer.state_dict(),
        "backend": backend.state_dict(),
    }


def test_the_bits_are_those_of_the_seed():
    once = train(4, threads=1)
    for other in (train(4, threads=2), train(4, state=train(2))):
        for key, value in once["model"].items():
            assert torch.equal(value, other["model"][key]), key
    other = train(4, seed=2)
    assert any(
        not torch.equal(value, other["model"][key])
        for key, value in once["model"].items()
    )


def test_calls_draw_anew():
    net, backend = compiled(lambda x: x * 1.001, "bf16", rounding="stochastic")
    x = torch.randn(1000)
    first, second = net(x), net(x)
    assert not torch.equal(first, second)
    backend.load_state_dict({"seed": 0, "step": 0})
    assert torch.equal(net(x), first)


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


# ---- processes --------------------------------------------------------------

PARALLEL = """
import os, sys, torch, torch.distributed as dist, torch.multiprocessing as mp
import torch.nn.functional as F

def run(rank, port):
    import numera.torch
    from torch_models import LeNet
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=port)
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=2)
    torch.manual_seed(0)
    model, x = LeNet(), torch.randn(8, 1, 28, 28)
    y = torch.arange(8)
    F.cross_entropy(model(x), y).backward()
    wanted = torch.cat([p.grad.flatten() for p in model.parameters()])
    model.zero_grad()
    for format, bound in (("f32", 1e-5), ("bf16", 0.1)):
        torch._dynamo.reset()
        backend = numera.torch.backend(format)
        both = torch.nn.parallel.DistributedDataParallel(model)
        net = torch.compile(both, backend=backend, dynamic=False)
        mine = slice(4 * rank, 4 * rank + 4)
        both.zero_grad()
        F.cross_entropy(net(x[mine]), y[mine]).backward()
        grad = torch.cat([p.grad.flatten() for p in model.parameters()])
        every = [torch.zeros_like(grad) for _ in range(2)]
        dist.all_gather(every, grad)
        assert torch.equal(*every), format
        assert (grad - wanted).norm() <= bound * wanted.norm(), format
    dist.destroy_process_group()

if __name__ == "__main__":
    mp.spawn(run, (sys.argv[1],), nprocs=2)
"""


@long
def test_two_processes_have_the_same_gradients(tmp_path):
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    script = tmp_path / "parallel.py"
    script.write_text(PARALLEL)
    here = os.path.dirname(__file__)
    paths = os.pathsep.join([here, *filter(None, [os.environ.get("PYTHONPATH")])])
    subprocess.run(
        [sys.executable, script, str(port)],
        check=True,
        env={**os.environ, "PYTHONPATH": paths},
        timeout=600,
    )


@slow
def test_memory_is_flat():
    import resource

    net, _ = compiled(MLP(), "bf16")
    x = torch.randn(8, 12)
    for _ in range(500):
        net(x).sum().backward()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(10000):
        net(x).sum().backward()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 4096
