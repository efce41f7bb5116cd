# SPDX-License-Identifier: MIT
"""What the optimisers of numera.torch refuse: options, groups and state."""

import pathlib

import numera
import pytest

torch = pytest.importorskip("torch")

from numera.torch import optim

REFUSED = [
    (
        {"weights": "posit32"},
        (
            "torch.float32 has not all values of 'posit32'; parameters may be kept "
            "in it as master="
        ),
    ),
    ({"weights": "mxfp8"}, "'mxfp8' is a scaled format, expected one of numbers"),
    (
        {"state": {"momentum": "bf16"}},
        "state is of exp_avg and exp_avg_sq, found 'momentum'",
    ),
    ({"state": "posit61"}, "unknown format 'posit61', did you mean 'posit<61,2>'?"),
    (
        {"rounding": "dice"},
        (
            "'dice' does not go with float<8,23>: expected nearest-even, "
            "nearest-away, nearest-zero, toward-zero, up, down, to-odd or stochastic"
        ),
    ),
    ({"lr": -1}, "lr is -1, expected at least 0"),
    ({"betas": (1.0, 0.9)}, "beta is 1.0, expected one below 1"),
    ({"lr": "x"}, "lr is 'x', expected at least 0"),
    ({"betas": 0.9}, "betas are 0.9, expected two numbers"),
    ({"betas": ("a", 0.9)}, "beta is 'a', expected one below 1"),
    ({"random_bits": -1}, "random bits are -1, expected 1 to 32"),
    ({"random_bits": 1.5}, "random bits are 1.5, expected 1 to 32"),
    ({"compensated": "x"}, "compensated is 'x', expected True or False"),
    ({"seed": -1}, "seed is -1, expected a whole number of 64 bits from 0 on"),
    ({"seed": "x"}, "seed is 'x', expected a whole number of 64 bits from 0 on"),
    ({"fused": True}, "fused= is not for the optimisers of numera.torch"),
]


@pytest.mark.parametrize("options, message", REFUSED)
def test_what_is_refused(options, message):
    with pytest.raises(numera.Error) as caught:
        optim.Adam([torch.zeros(2, requires_grad=True)], **options)
    assert str(caught.value) == message


def test_arguments_of_other_optimisers_are_refused():
    p = torch.zeros(2, requires_grad=True)
    for kind, name in ((optim.Adam, "momentum"), (optim.AdamW, "wieghts")):
        said = f"{kind.__name__} has no argument '{name}'"
        with pytest.raises(TypeError, match=said):
            kind([p], **{name: 0.9})
    with pytest.raises(TypeError, match="SGD has no argument 'betas', expected "):
        optim.SGD([p], betas=(0.9, 0.99))
    optim.Adam([p], foreach=False, fused=None)  # as it is


def test_state_needs_a_zero():
    p = torch.zeros(2, requires_grad=True)
    p.grad = torch.zeros(2)
    with pytest.raises(numera.Error, match="format 'f8E8M0FNU' has no zero"):
        optim.Adam([p], state="f8E8M0FNU").step()


def test_parameters_of_8_bits_are_refused():
    p = torch.zeros(2).to(torch.float8_e4m3fn).requires_grad_()
    with pytest.raises(numera.Error) as error:
        optim.SGD([p])
    assert str(error.value) == (
        "a parameter or gradient of torch.float8_e4m3fn, expected one of floats of 16 "
        "bits or more, which weights= rounds"
    )


def test_what_a_library_lacks_is_said_of_its_source():
    mine = pathlib.Path(__file__).parent / "mine.c"
    numera.register("mine", bits=16, source=mine, carrier="f32")
    p = torch.zeros(2, dtype=torch.float64, requires_grad=True)
    p.grad = torch.zeros(2, dtype=torch.float64)
    with pytest.raises(numera.Error, match="^the source of format 'mine' has no func"):
        optim.SGD([p], master="mine").step()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_masters_of_libraries_follow_writes(dtype):
    mine = pathlib.Path(__file__).parent / "mine.c"
    numera.register("mine", bits=16, source=mine, carrier="f32")
    p = torch.ones(2, dtype=dtype, requires_grad=True)
    p.grad = torch.ones(2, dtype=dtype)
    optimizer = optim.SGD([p], 0.25, master="mine")
    p.data[0] = 3.0
    optimizer.step()
    assert p.tolist() == [2.75, 0.75]


def test_sparse_gradients_are_refused():
    table = torch.nn.Embedding(4, 2, sparse=True)
    table(torch.tensor([1])).sum().backward()
    with pytest.raises(numera.Error, match="layout torch.sparse_coo"):
        optim.SGD(table.parameters()).step()


def test_state_of_other_optimisers_is_refused():
    p = torch.ones(2, requires_grad=True)
    other = torch.optim.AdamW([p]).state_dict()
    with pytest.raises(numera.Error, match="group of the state dict has no 'weights'"):
        optim.AdamW([p], state="bf16").load_state_dict(other)
    other = optim.SGD([p]).state_dict()
    with pytest.raises(numera.Error, match=r"no 'betas'; .* of .*optim.Adam returned"):
        optim.Adam([p]).load_state_dict(other)


def test_a_group_that_is_refused_is_not_added():
    optimizer = optim.SGD([torch.ones(2, requires_grad=True)])
    with pytest.raises(numera.Error, match="nonsense"):
        optimizer.add_param_group(
            {"params": [torch.ones(2, requires_grad=True)], "weights": "nonsense"}
        )
    assert len(optimizer.param_groups) == 1


GROUPS = [
    (optim.SGD, {"lr": -3}, "lr is -3, expected at least 0"),
    (optim.SGD, {"momentum": -0.5}, "momentum is -0.5, expected at least 0"),
    (optim.SGD, {"dampening": "x"}, "dampening is 'x', expected a number"),
    (optim.SGD, {"nesterov": True}, "nesterov needs a momentum, and no dampening"),
    (optim.AdamW, {"weight_decay": -1}, "weight decay is -1, expected at least 0"),
    (optim.Adam, {"betas": (0.9, 1)}, "beta is 1, expected one below 1"),
    (optim.Adam, {"eps": "x"}, "eps is 'x', expected at least 0"),
    (optim.Adam, {"fused": True}, "fused= is not for the optimisers of numera.torch"),
    (
        optim.SGD,
        {"wieghts": "bf16"},
        (
            "a group of SGD has no 'wieghts', expected 'weights'; what is yours "
            "takes a name that is less like it"
        ),
    ),
]


@pytest.mark.parametrize("kind, options, message", GROUPS)
def test_groups_are_checked_as_arguments_are(kind, options, message):
    p, q = (torch.ones(2, requires_grad=True) for _ in range(2))
    with pytest.raises(numera.Error) as caught:
        kind([{"params": [p], **options}])
    assert str(caught.value) == message
    own = {"name": "first", "fused": None, "lr_scale": 0.5, "weight_decay_mult": 2}
    optimizer = kind([{"params": [p], **own}])
    with pytest.raises(numera.Error) as caught:
        optimizer.add_param_group({"params": [q], **options})
    assert str(caught.value) == message


def test_values_that_change_are_checked_by_the_next_step():
    p = torch.ones(2, requires_grad=True)
    p.grad = torch.ones(2)
    optimizer = optim.Adam([p])
    optimizer.param_groups[0]["lr"] = 0.0  # as a schedule ends
    optimizer.step()
    assert p.tolist() == [1, 1]
    optimizer.param_groups[0]["betas"] = (1.0, 0.9)
    with pytest.raises(numera.Error, match="beta is 1.0, expected one below 1"):
        optimizer.step()
    schedule = optim.SGD([p], 0.1, 0.9)
    torch.optim.lr_scheduler.OneCycleLR(schedule, 1.0, total_steps=4)
    optim.SGD([p]).load_state_dict(schedule.state_dict())


def began(**options):
    p = torch.ones(2, 3, requires_grad=True)
    optimizer = optim.SGD([p], 0.1, 0.5, **options)
    p.grad = torch.ones(2, 3)
    optimizer.step()
    return p, optimizer


STATES = [
    (
        torch.zeros(2, 3),
        "torch.float32 of shape (2, 3), expected torch.uint16 of shape (2, 3): codes",
    ),
    (
        torch.zeros(3, dtype=torch.uint16),
        "torch.uint16 of shape (3,), expected torch.uint16 of shape (2, 3): codes",
    ),
    ([1], "list, expected torch.uint16 of shape (2, 3): codes"),
]


@pytest.mark.parametrize("value, message", STATES, ids=["dtype", "shape", "list"])
def test_state_that_is_no_codes_of_its_format_is_refused(value, message):
    message = f"state 'momentum_buffer' is {message} of 'posit16', as the group says"
    p, optimizer = began(state="posit16")
    saved = optimizer.state_dict()
    before = optimizer.state[p]["momentum_buffer"]
    saved["state"] = {0: {**saved["state"][0], "momentum_buffer": value}}
    saved["param_groups"][0]["lr"] = 7.0
    with pytest.raises(numera.Error) as caught:
        optimizer.load_state_dict(saved)
    assert str(caught.value) == message
    assert optimizer.state[p]["momentum_buffer"] is before
    assert optimizer.param_groups[0]["lr"] == 0.1
    optimizer.state[p]["momentum_buffer"] = value
    with pytest.raises(numera.Error) as caught:
        optimizer.step()
    assert str(caught.value) == message


CHANGES = [
    ({"state": "posit16"}, {"state": "bf16"}, "momentum_buffer", "posit16", "bf16"),
    (
        {"weights": "bf16", "master": "posit16", "state": "f32"},
        {"master": "f16"},
        *("master", "posit16", "f16"),
    ),
    (
        {"weights": "bf16", "master": "f32"},
        {"weights": "f8E4M3FN"},
        *("weights", "bf16", "f8E4M3FN"),
    ),
    (
        {"weights": "bf16", "compensated": True, "state": "f32"},
        {"weights": "f16"},
        *("compensation", "bf16", "f16"),
    ),
]


@pytest.mark.parametrize("options, change, name, old, new", CHANGES)
@pytest.mark.parametrize("loaded", [False, True])
def test_what_is_kept_does_not_change_its_format(
    options, change, name, old, new, loaded
):
    p, optimizer = began(**options)
    if loaded:
        saved = optimizer.state_dict()
        optimizer = optim.SGD([p])
        optimizer.load_state_dict(saved)
    optimizer.param_groups[0].update(change)
    with pytest.raises(numera.Error) as caught:
        optimizer.step()
    assert str(caught.value) == (
        f"{name} of a parameter is in '{old}', and its group says '{new}' now; "
        f"expected '{old}', or a new optimizer"
    )
    optimizer.state.clear()
    optimizer.step()


def test_what_is_kept_may_be_rounded_in_another_way():
    p, optimizer = began(weights="bf16", master="posit16", state="posit16")
    optimizer.param_groups[0].update(rounding="stochastic", state_rounding="up")
    optimizer.step()
    assert optimizer.state[p]["step"] == 2


def test_weights_without_masters_may_change_their_format():
    p, optimizer = began(weights="bf16", state="f32")
    optimizer.param_groups[0]["weights"] = "f8E4M3FN"
    optimizer.step()
    assert (numera.quantize(p.detach(), "f8E4M3FN") == p).all()
