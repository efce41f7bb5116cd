# SPDX-License-Identifier: MIT
"""Gradients that are added up in quires: the bits do not hang on how a batch is split,
in calls or among processes."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_mlir")

import numera
import numera.torch
import torch_models
from marks import long
from torch.nn import functional as F
from torch_calls import run_in_processes

pytestmark = pytest.mark.usefixtures("fresh_dynamo")


def make(name, batch=8):
    """A model, a batch, and a loss that adds up."""
    torch.manual_seed(0)

    def classes(output, target):
        return F.cross_entropy(output, target.flatten(), reduction="sum")

    tokens = name in ("gpt", "lstm", "gru")
    model = {
        "mlp": torch_models.MLP,
        "lenet": torch_models.LeNet,
        "gpt": torch_models.GPT,
        "lstm": lambda: torch_models.Recurrent(torch.nn.LSTM),
        "mobilenet": lambda: torch_models.MobileNetV2().eval(),
        "vit": torch_models.ViT,
    }[name]()
    if tokens:
        words, length = (65, 8) if name == "gpt" else (20, 3)
        x, y = torch.randint(0, words, (2, batch, length))
        return model, x, y, classes
    shape = {"mlp": (12,), "lenet": (1, 28, 28)}.get(name, (3, 16, 16))
    return model, torch.randn(batch, *shape), torch.randint(0, 4, (batch,)), classes


def in_quires(fmt, **more):
    gradients = {"format": fmt, "accumulate": "quire", **more}
    return numera.torch.backend(fmt, accumulate="f32", gradients=gradients)


def gradients(model):
    return {
        name: each.grad.clone()
        for name, each in model.named_parameters()
        if each.grad is not None
    }


def in_parts(backend, model, net, loss, x, y, parts):
    model.zero_grad()
    with backend.accumulate(model):
        for some, wanted in zip(x.chunk(parts), y.chunk(parts)):
            loss(net(some), wanted).backward()
    return gradients(model)


MODELS = [
    ("mlp", "posit16"),
    ("mlp", "f8E4M3FN"),
    ("mlp", "f32"),
    ("lstm", "bf16"),  # an embedding; weights of every step
    pytest.param("lenet", "bf16", marks=long),
    pytest.param("gpt", "bf16", marks=long),
    pytest.param("mobilenet", "posit16", marks=long),
    pytest.param("vit", "bf16", marks=long),
]


@pytest.mark.parametrize(("name", "fmt"), MODELS)
@pytest.mark.filterwarnings("error:gradients that are not one sum")
def test_parts_of_a_batch_have_the_bits_of_the_whole(name, fmt):
    model, x, y, loss = make(name)
    backend = in_quires(fmt)
    net = torch.compile(model, backend=backend, dynamic=False)
    whole = in_parts(backend, model, net, loss, x, y, 1)
    assert set(whole) == {name for name, _ in model.named_parameters()}
    for parts in (2, 4):
        split = in_parts(backend, model, net, loss, x, y, parts)
        for key, value in whole.items():
            assert torch.equal(value, split[key]), (key, parts)
    # Without the block each part is rounded, and what is rounded is added.
    model.zero_grad()
    loss(net(x), y).backward()
    plain = gradients(model)
    if name not in ("lstm", "gpt"):  # of a weight that is used once the block's is the usual one
        assert all(torch.equal(value, plain[key]) for key, value in whole.items())
    model.zero_grad()
    for some, wanted in zip(x.chunk(2), y.chunk(2)):
        loss(net(some), wanted).backward()
    assert any(
        not torch.equal(value, whole[key]) for key, value in gradients(model).items()
    )


def test_what_was_there_is_added():
    model, x, y, loss = make("mlp")
    backend = in_quires("bf16")
    net = torch.compile(model, backend=backend)
    whole = in_parts(backend, model, net, loss, x, y, 1)
    with backend.accumulate(model.parameters()):
        loss(net(x), y).backward()
    for key, value in gradients(model).items():
        assert torch.equal(value, whole[key] + whole[key]), key
    # A block that fails leaves all as it was.
    with pytest.raises(ZeroDivisionError), backend.accumulate(model):
        loss(net(x), y).backward()
        1 / 0
    for key, value in gradients(model).items():
        assert torch.equal(value, 2 * whole[key]), key
    assert backend.state_dict()["sums"] == 2


def test_a_block_may_be_entered_again():
    model, x, y, loss = make("mlp")
    backend = in_quires("bf16")
    net = torch.compile(model, backend=backend)
    block = backend.accumulate([*model.parameters(), *model.parameters()])
    seen = []
    for _ in range(2):
        model.zero_grad()
        with block:
            loss(net(x), y).backward()
            # What asks for gradients alone adds nothing.
            torch.autograd.grad(loss(net(x), y), list(model.parameters()))
        seen.append(gradients(model))
    for key, value in seen[0].items():
        assert torch.equal(value, seen[1][key]), key
    assert not block._given and not block._reached
    # Of a part of the parameters.
    model.zero_grad()
    with backend.accumulate(model.last) as block:
        for _ in range(3):
            loss(net(x), y).backward()
            assert len(block._given) <= 2
    for key, value in gradients(model).items():
        whole = 3 * seen[0][key]
        close = torch.allclose(value, whole, rtol=2e-2, atol=1e-3)
        assert close if key.startswith("last") else torch.equal(value, whole), key


def test_f64_keeps_its_bits():
    torch.manual_seed(0)
    model = torch.nn.Linear(4, 4).double()
    exact = {"format": "f64", "accumulate": "quire"}
    backend = numera.torch.backend("f64", replace="f64", gradients=exact)
    net = torch.compile(model, backend=backend)
    x = torch.randn(5, 4, dtype=torch.float64)
    net(x).square().sum().backward()
    plain = gradients(model)
    model.zero_grad()
    with backend.accumulate(model):
        net(x).square().sum().backward()
    for key, value in gradients(model).items():
        assert value.dtype == torch.float64 and torch.equal(value, plain[key]), key


def test_a_failure_at_the_end_leaves_all_as_it_was(monkeypatch):
    model, x, y, loss = make("mlp")
    backend = in_quires("bf16")
    net = torch.compile(model, backend=backend)
    for parameter in model.parameters():
        parameter.grad = torch.full_like(parameter, 3)
    calls = []

    def fails(*given):
        calls.append(given)
        if len(calls) == 2:
            raise numera.Error("no room")
        return round_quires(*given)

    round_quires = numera.round_quires
    monkeypatch.setattr(numera, "round_quires", fails)
    with pytest.raises(numera.Error, match="no room"), backend.accumulate(model):
        loss(net(x), y).backward()
    assert all((parameter.grad == 3).all() for parameter in model.parameters())


def test_stochastic_sums_draw_once():
    model, x, y, classes = make("mlp")
    x = numera.quantize(x, "bf16")  # no more to draw where it is read
    backend = in_quires("bf16", rounding="stochastic")
    net = torch.compile(lambda x, y: classes(model(x), y), backend=backend)

    def sums(parts):
        model.zero_grad()
        with backend.accumulate(model):
            for some, wanted in zip(x.chunk(parts), y.chunk(parts)):
                net(some, wanted).backward()
        return gradients(model)

    whole, other = sums(1), sums(1)
    assert any(not torch.equal(value, other[key]) for key, value in whole.items())
    backend.load_state_dict({"seed": 0, "step": 0})
    split = sums(4)
    for key, value in whole.items():
        assert torch.equal(value, split[key]), key


def test_a_gradient_that_is_no_sum_is_named():
    class Scale(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = torch.nn.Parameter(torch.ones(4))

        def forward(self, x):
            return (x * self.scale.exp()).sum()

    model = Scale()
    backend = in_quires("bf16")
    net = torch.compile(model, backend=backend)
    with pytest.warns(UserWarning, match="not one sum .* then added: .*scale"):
        with backend.accumulate(model):
            net(torch.ones(3, 4)).backward()
    # 3 exp(1), of which exp(1) is rounded first.
    assert model.scale.grad.tolist() == [8.125] * 4


def test_refusals():
    model, x, y, loss = make("mlp")
    backend = in_quires("bf16")
    net = torch.compile(model, backend=backend)
    with pytest.raises(numera.Error, match="expected a module or its parameters"):
        backend.accumulate(3)
    with backend.accumulate(model), pytest.raises(numera.Error, match="another"):
        backend.accumulate(model).__enter__()
    twice = "used in several graphs or calls, or outside"
    with pytest.raises(numera.Error, match=twice), backend.accumulate(model):
        (loss(net(x), y) + next(model.parameters()).sum()).backward()
    with pytest.raises(numera.Error, match=twice), backend.accumulate(model):
        loss(model(x), y).backward()
    with pytest.raises(numera.Error, match=twice), backend.accumulate(model):
        (loss(net(x), y) + loss(net(x), y)).backward()


@pytest.mark.parametrize(
    "hook",
    [lambda slope: slope * 0, lambda slope: slope.mul_(0)],
    ids=["new", "in place"],
)
def test_a_hook_that_changes_a_gradient_is_refused(hook):
    model, x, y, loss = make("mlp")
    backend = in_quires("bf16")
    net = torch.compile(model, backend=backend)
    next(model.parameters()).register_hook(hook)
    changed = "a hook changes it, or the parameter is used"
    with pytest.raises(numera.Error, match=changed), backend.accumulate(model):
        loss(net(x), y).backward()
    fallback = numera.torch.backend("bf16", fallback="torch")
    with pytest.raises(numera.Error, match="accumulate goes without fallback"):
        fallback.accumulate(model)
    quantized = torch.nn.Sequential(model, numera.torch.Quantizer("f8E4M3FN", "f8E5M2"))
    net = torch.compile(quantized, backend=backend)
    with pytest.raises(numera.Error, match="accumulate goes without Quantizer"):
        with backend.accumulate(model):
            net(x).sum().backward()
    measured = numera.torch.backend("bf16", stats=True)
    with pytest.raises(numera.Error, match="accumulate goes without stats"):
        measured.accumulate(model)


PARALLEL = """
import os, sys, torch, torch.distributed as dist, torch.multiprocessing as mp

def run(rank, port):
    import test_torch_accumulate as t
    from torch_calls import leave_group
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=port)
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=2)
    for name, fmt in (("mlp", "bf16"), ("mlp", "posit16")):
        torch._dynamo.reset()
        model, x, y, loss = t.make(name)
        backend = t.in_quires(fmt)
        net = torch.compile(model, backend=backend, dynamic=False)
        whole = t.in_parts(backend, model, net, loss, x, y, 1)
        for mine in ((slice(0, 4), slice(4, 8))[rank], (slice(0, 2), slice(2, 8))[rank]):
            model.zero_grad()
            with backend.accumulate(model, group=True):
                loss(net(x[mine]), y[mine]).backward()
            for key, value in t.gradients(model).items():
                assert torch.equal(value, whole[key]), key
    # One that has nothing to add.
    model.zero_grad()
    with backend.accumulate(model, group=dist.group.WORLD):
        if rank == 1:
            loss(net(x), y).backward()
    for key, value in t.gradients(model).items():
        assert torch.equal(value, whole[key]), key
    leave_group()

if __name__ == "__main__":
    mp.spawn(run, (sys.argv[1],), nprocs=2)
"""


@long
def test_processes_have_the_bits_of_one(tmp_path):
    run_in_processes(PARALLEL, tmp_path)
