# SPDX-License-Identifier: MIT
"""Optimisers: what docs/Training.md says of an element, and torch.optim's ways."""

import copy
import io

import numera
import numpy as np
import pytest

torch = pytest.importorskip("torch")

from numera.torch import optim
from optimizers import Reference, r

SIZE, STEPS, SEED = 150, 4, 11


def normal(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype("f4")


def steps(make, gradients, start, dtype=torch.float32, **options):
    """The optimiser and its parameter after some gradients."""
    p = torch.tensor(start).to(dtype).requires_grad_()
    optimizer = make([p], **options)
    for g in gradients:
        p.grad = torch.tensor(g).to(dtype)
        optimizer.step()
    return optimizer, p


# ---- against NumPy and fractions --------------------------------------------


DRAWN = {"rounding": "stochastic"}
CASES = {
    "sgd": [
        {},
        {"weights": "bf16", "momentum": 0.9, "state": "posit16"},
        {"weights": "bf16", **DRAWN},
        {"weights": "f16", "momentum": 0.9, "dampening": 0.25, "nesterov": False,
         "weight_decay": 0.1, "maximize": True, "state": "bf16", **DRAWN},
        {"weights": "posit16", "momentum": 0.9, "nesterov": True, "random_bits": 8,
         **DRAWN},
        {"weights": "f8E4M3FN", "master": "bf16", **DRAWN},
        {"weights": "f8E4M3FN", "master": "f32", "momentum": 0.5, "state": "f16"},
        {"weights": "bf16", "compensated": True, "momentum": 0.9},
        {"weights": "bf16", "compensated": True, **DRAWN},
        {"weights": "bf16", "compute": "bf16", "momentum": 0.9, "state": "bf16"},
    ],
    "adam": [
        {"state": "posit16"},
        {"state": "bf16", "state_rounding": "stochastic", "weight_decay": 0.1},
        {"state": {"exp_avg": "bf16", "exp_avg_sq": "posit16"}, "weights": "bf16",
         **DRAWN},
        {"amsgrad": True, "maximize": True,
         "state": {"exp_avg": "f16", "exp_avg_sq": "f32", "max_exp_avg_sq": "bf16"}},
        {"compute": "posit16", "state": "posit16", "weights": "posit16"},
    ],
    "adamw": [
        {"weight_decay": 0.1, "state": "posit16", "betas": (0.8, 0.99)},
        {"weight_decay": 0.1, "weights": "bf16", "compensated": True,
         "state": "bf16", **DRAWN},
        {"weight_decay": 0.1, "weights": "bf16", "master": "posit16",
         "compensated": True},
    ],
}  # fmt: skip
MAKES = {"sgd": optim.SGD, "adam": optim.Adam, "adamw": optim.AdamW}


@pytest.mark.parametrize(
    "rule, options",
    [(rule, options) for rule, cases in CASES.items() for options in cases],
    ids=lambda x: x if isinstance(x, str) else " ".join(map(str, x.values())),
)
def test_every_bit_is_what_the_page_says(rule, options):
    options = {"lr": 0.01, **options}
    start = normal(SIZE)
    reference = Reference(rule, start, seed=SEED, **options)
    gradients = [normal(SIZE, seed=1 + t) for t in range(STEPS)]
    optimizer, p = steps(MAKES[rule], gradients, start, seed=SEED, **options)
    for g in gradients:
        reference.step(g)
    same(p.detach().numpy(), reference.parameter.astype("f4"))
    own = {
        "momentum_buffer": "b", "exp_avg": "m", "exp_avg_sq": "v",
        "max_exp_avg_sq": "most", "master": "w", "compensation": "k",
    }  # fmt: skip
    kept = options.get("master") or options.get("weights", "f32")
    state = options.get("state", "f32")
    for name, value in optimizer.state[p].items():
        if name == "step":
            assert value == STEPS
            continue
        fmt = state if isinstance(state, str) else state.get(name)
        fmt = kept if name in ("master", "compensation") else fmt
        expected = getattr(reference, own[name])
        if fmt == "f32":
            same(value.numpy(), expected.astype("f4"))
        else:
            codes = r.FORMATS[fmt]().codes(expected)
            assert value.numpy().dtype == codes.dtype
            unequal = value.numpy() != codes
            # A zero may have either sign.
            assert (expected[unequal] == 0).all()
            assert (numera.decode(value.numpy(), fmt)[unequal] == 0).all()


def same(a, b):
    assert a.dtype == b.dtype
    unequal = a != b
    assert not unequal.any(), (a[unequal][:4], b[unequal][:4], unequal.sum())


# ---- against torch.optim ----------------------------------------------------

PEERS = [
    (optim.SGD, torch.optim.SGD, {}),
    (optim.SGD, torch.optim.SGD, {"momentum": 0.9, "nesterov": True}),
    (optim.SGD, torch.optim.SGD, {"momentum": 0.9, "dampening": 0.2,
                                  "weight_decay": 0.1, "maximize": True}),
    (optim.Adam, torch.optim.Adam, {"weight_decay": 0.1}),
    (optim.Adam, torch.optim.Adam, {"amsgrad": True, "betas": (0.7, 0.95)}),
    (optim.AdamW, torch.optim.AdamW, {}),
]  # fmt: skip


@pytest.mark.parametrize("ours, theirs, options", PEERS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_without_formats_it_is_torch_optim(ours, theirs, options, dtype):
    gradients = [normal(3, 400, seed=1 + t) for t in range(20)]
    start = normal(3, 400)
    _, p = steps(ours, gradients, start, dtype, lr=0.01, **options)
    _, q = steps(theirs, gradients, start, dtype, lr=0.01, foreach=False, **options)
    # Not bit for bit: PyTorch's own bits differ from machine to machine. Ours are
    # compared with the reference above.
    step = torch.finfo(dtype).eps
    assert ((p - q).abs() <= 4 * step * q.abs().clamp_min(0.01)).all()


@pytest.mark.parametrize("compensated", [False, True])
def test_a_momentum_that_begins_later_is_the_gradient_at_first(compensated):
    # Powers of two: f32 is exact, and so every bit is PyTorch's.
    options = {"lr": 0.5, "momentum": 0.0, "dampening": 0.5}
    ours, theirs = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
    pair = [optim.SGD([ours], **options), torch.optim.SGD([theirs], **options)]
    for t, momentum in enumerate([0.0, 0.0, 0.5, 0.5, 0.0, 0.5]):
        for p, optimizer in zip((ours, theirs), pair):
            p.grad = torch.tensor([1.0, -2.0, 0.25]) * 2.0**-t
            optimizer.param_groups[0]["momentum"] = momentum
            if t == 3 and optimizer is pair[0]:
                optimizer.param_groups[0]["compensated"] = compensated
            optimizer.step()
        assert torch.equal(ours, theirs), t


def test_parameters_may_be_bf16_themselves():
    gradients = [normal(SIZE, seed=1 + t) for t in range(STEPS)]
    start = normal(SIZE)
    bits = torch.bfloat16
    options = {"lr": 0.01, "rounding": "stochastic", "seed": 3, "state": "bf16"}
    _, p = steps(optim.Adam, gradients, start, bits, **options)
    rounded = [torch.tensor(g).to(bits).float().numpy() for g in gradients]
    _, q = steps(optim.Adam, rounded, start, weights="bf16", **options)
    assert p.dtype == bits
    assert (p.float() == q).all()


def model():
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4)
    )


def train(net, optimizer, scheduler, begin, end):
    for t in range(begin, end):
        x = torch.tensor(normal(16, 8, seed=t))
        optimizer.zero_grad()
        net(x).square().mean().backward()
        optimizer.step()
        scheduler.step()


@pytest.mark.parametrize(
    "make",
    [
        lambda p: optim.SGD(p, 0.1, 0.9, weights="bf16", rounding="stochastic", seed=5),
        lambda p: optim.Adam(
            p, 0.01, state="posit16", weights="f8E4M3FN", master="bf16",
            rounding="stochastic", compensated=True, seed=5,
        ),
    ],
)  # fmt: skip
def test_a_run_that_is_resumed_gives_the_same_bits(make):
    def fresh():
        net = model()
        optimizer = make(net.parameters())
        return net, optimizer, torch.optim.lr_scheduler.StepLR(optimizer, 3, 0.5)

    whole = fresh()
    train(*whole, 0, 10)
    first = fresh()
    train(*first, 0, 6)
    file = io.BytesIO()
    torch.save([x.state_dict() for x in first], file)
    file.seek(0)
    second = fresh()
    # In another order than they were made, without code in the file.
    for x, state in list(zip(second, torch.load(file, weights_only=True)))[::-1]:
        x.load_state_dict(state)
    train(*second, 6, 10)
    for p, q in zip(whole[0].parameters(), second[0].parameters()):
        assert torch.equal(p, q)
        for name, value in whole[1].state[p].items():
            other = second[1].state[q][name]
            assert np.array_equal(np.asarray(value), np.asarray(other))
    rates = [each[1].param_groups[0]["lr"] for each in (first, whole, second)]
    assert rates[0] / 2 == rates[1] == rates[2]


def test_an_optimizer_is_copied_with_its_model():
    net = model()
    optimizer = optim.Adam(net.parameters(), state="posit16")
    pair = net, optimizer, torch.optim.lr_scheduler.ConstantLR(optimizer, 1.0)
    train(*pair, 0, 2)
    again = copy.deepcopy(pair)
    train(*pair, 2, 4)
    train(*again, 2, 4)
    for p, q in zip(net.parameters(), again[0].parameters()):
        assert torch.equal(p, q)


def test_state_takes_what_codes_take():
    p = torch.zeros(1000, requires_grad=True)
    for fmt, size in (("posit16", 2), ("f8E5M2", 1), ("f32", 4), ("takum<32>", 4)):
        optimizer = optim.Adam([p], state=fmt)
        p.grad = torch.ones(1000)
        optimizer.step()
        values = [x for x in optimizer.state[p].values() if torch.is_tensor(x)]
        assert [x.nbytes for x in values] == [1000 * size] * 2


def test_groups_have_formats_of_their_own():
    net = model()
    optimizer = optim.AdamW(
        [
            {"params": [net[0].weight], "weights": "f8E4M3FN", "lr": 0.1},
            {"params": [net[2].weight, net[2].bias], "state": "f32", "seed": 4},
        ],
        weights="bf16",
        state="posit16",
    )
    train(net, optimizer, torch.optim.lr_scheduler.ConstantLR(optimizer, 1.0), 0, 2)
    for p, fmt, state in (
        (net[0].weight, "f8E4M3FN", torch.uint16),
        (net[2].bias, "bf16", torch.float32),
    ):
        assert optimizer.state[p]["exp_avg"].dtype == state
        assert (numera.quantize(p.detach(), fmt) == p).all()
    assert net[0].bias not in optimizer.state
    optimizer.add_param_group({"params": [net[0].bias], "weights": "f16"})
    assert (numera.quantize(net[0].bias.detach(), "f16") == net[0].bias).all()


def test_tensors_draw_each_for_itself_whatever_the_threads(monkeypatch):
    start = torch.full((5, 13_000), 1.0)
    results = []
    for threads, chunk in ((1, 1 << 18), (2, 1 << 18), (2, 1 << 15), (1, 1000)):
        monkeypatch.setattr("numera.torch._optimizer._CHUNK", chunk)
        before = torch.get_num_threads()
        torch.set_num_threads(threads)
        ps = [start.clone().requires_grad_() for _ in range(2)]
        optimizer = optim.SGD(ps, 1e-3, weights="bf16", rounding="stochastic", seed=1)
        for p in ps:
            p.grad = torch.ones_like(p)
        optimizer.step()
        torch.set_num_threads(before)
        results.append(torch.stack([p.detach() for p in ps]))
    assert all(torch.equal(results[0], x) for x in results[1:])
    first, second = results[0]
    assert not torch.equal(first, second)
    # One in about four goes down by 2^-8, for 1e-3.
    share = (results[0] < 1).float().mean().item()
    assert abs(share - 1e-3 * 2**8) < 0.005


def test_layouts_do_not_matter():
    gradient = torch.tensor(normal(2, 3, 4, 5, seed=1))
    start = torch.tensor(normal(2, 3, 4, 5))
    expected = None
    for layout in (torch.contiguous_format, torch.channels_last):
        p = start.clone(memory_format=layout).requires_grad_()
        optimizer = optim.Adam([p], weights="bf16", rounding="stochastic", seed=9)
        p.grad = gradient.clone(memory_format=torch.channels_last)
        optimizer.step()
        expected = p.detach() if expected is None else expected
        assert (
            torch.equal(p, expected)
            and p.stride() == start.clone(memory_format=layout).stride()
        )
    empty = torch.zeros(0, requires_grad=True)
    number = torch.tensor(1.0, requires_grad=True)
    optimizer = optim.Adam([empty, number], lr=0.5)
    empty.grad, number.grad = torch.zeros(0), torch.tensor(2.0)
    optimizer.step()
    assert abs(number.item() - 0.5) < 1e-6


def test_autograd_sees_that_parameters_change():
    p = torch.ones(3, requires_grad=True)
    loss = (p * p).sum()
    p.grad = torch.ones(3)
    optim.SGD([p], 0.1).step()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_a_closure_is_called_with_gradients_on():
    p = torch.ones(3, requires_grad=True)
    optimizer = optim.SGD([p], 0.5)

    def closure():
        optimizer.zero_grad()
        loss = p.square().sum()
        loss.backward()
        return loss

    assert optimizer.step(closure).item() == 3
    assert p.tolist() == [0, 0, 0]


def test_a_master_follows_what_others_write():
    p = torch.tensor([1.0, 1.004], requires_grad=True)
    optimizer = optim.SGD([p], 0.0, weights="bf16", master="f32")
    p.grad = torch.zeros(2)
    optimizer.step()
    # Nobody wrote: it keeps what bf16 has not.
    assert optimizer.state[p]["master"][1].item() == np.float32(1.004)
    with torch.no_grad():
        p.copy_(torch.tensor([3.0, 1.0]))
    optimizer.step()
    assert optimizer.state[p]["master"].tolist() == p.tolist() == [3.0, 1.0]


WRITES = {
    "data": lambda p: p.data[1:].fill_(3.0),
    "copy": lambda p: p.data.copy_(torch.tensor([1.0, 3.0])),
    "another": lambda p: setattr(p, "data", torch.tensor([1.0, 3.0])),
    "init": lambda p: torch.nn.init.constant_(p, 3.0)[:1].data.fill_(1.0),
    "numpy": lambda p: p.detach().numpy().__setitem__(1, 3.0),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_a_master_follows_writes_that_pytorch_does_not_count(write):
    # 1.001 is 1 in bf16, which is what was written of it: its master remains.
    p = torch.tensor([1.001, 2.0], requires_grad=True)
    optimizer = optim.SGD([p], 0.5, weights="bf16", master="f32")
    p.grad = torch.zeros(2)
    optimizer.step()
    write(p)
    p.grad = torch.ones(2)
    optimizer.step()
    assert p.tolist() == [0.5, 2.5]
    master = optimizer.state[p]["master"]
    assert master.tolist() == (np.array([1.001, 3.0], "f4") - np.float32(0.5)).tolist()


def test_a_master_keeps_what_it_has_of_nans():
    p = torch.tensor([float("nan"), float("nan"), 1.0], requires_grad=True)
    optimizer = optim.SGD([p], 0.5, weights="bf16", master="posit16")
    p.grad = torch.zeros(3)
    p.data[1:] = torch.tensor([2.0, float("nan")])
    optimizer.step()
    assert numera.decode(optimizer.state[p]["master"], "posit16").isnan().tolist() == [
        True, False, True,
    ]  # fmt: skip
    assert p[1].item() == 2.0


def test_what_is_read_of_masters_is_to_nearest():
    fmt = numera.format("bf16", rounding="stochastic")
    p = torch.full((64,), 1.001, requires_grad=True)
    optimizer = optim.SGD([p], 0.5, weights=fmt, master="f32")
    p.grad = torch.zeros(64)
    optimizer.step()
    assert (p == 1).all() and (optimizer.state[p]["master"] == np.float32(1.001)).all()


def test_masters_may_be_wider_than_parameters():
    p = torch.tensor([1.0], requires_grad=True)
    optimizer = optim.SGD([p], 2.0**-26, master="f64", compute="f64")
    p.grad = torch.ones(1)
    for _ in range(4):
        optimizer.step()
    assert optimizer.state[p]["master"].item() == 1 - 2.0**-24
    assert p.item() == 1 - 2.0**-24


# ---- loss scaling -----------------------------------------------------------


def test_torch_scales_losses():
    net = model()
    optimizer = optim.SGD(net.parameters(), 0.1, weights="bf16")
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**10, growth_interval=2)
    before = [p.detach().clone() for p in net.parameters()]
    scales = []
    for loss in (1.0, float("inf"), 1.0, 1.0):
        optimizer.zero_grad()
        out = net(torch.ones(2, 8)).square().mean() * loss
        scaler.scale(out).backward()
        scaler.step(optimizer)
        scaler.update()
        scales.append(scaler.get_scale())
        assert all(p.isfinite().all() for p in net.parameters())
    assert scales == [1024, 512, 512, 1024]
    assert {optimizer.state[p]["step"] for p in net.parameters()} == {3}
    assert any((p != q).any() for p, q in zip(net.parameters(), before))
