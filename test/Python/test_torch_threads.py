# SPDX-License-Identifier: MIT
"""Compiled models that several threads call."""

import threading

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_mlir")

import numera.torch

pytestmark = pytest.mark.usefixtures("fresh_dynamo")


def model():
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 4)
    )


def together(*works):
    """Does each in a thread of its own, and raises what one of them raised."""
    errors = []

    def run(work):
        try:
            work()
        except Exception as error:  # noqa: BLE001 - in the thread that asks
            errors.append(error)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    if errors:
        raise errors[0]


def test_one_thread_calls_a_model_while_another_brings_new_sizes():
    eager = model().eval()
    net = torch.compile(eager, backend=numera.torch.backend("f32"), dynamic=True)
    ended = threading.Event()

    @torch.no_grad()
    def check(rows):
        x = torch.randn(rows, 8)
        torch.testing.assert_close(net(x), eager(x))

    def known():
        while not ended.is_set():
            check(3)

    def new():
        try:
            for rows in range(4, 12):
                check(rows)
        finally:
            ended.set()

    check(3)
    together(known, new)


@pytest.mark.parametrize("again", range(2))
def test_threads_compile_models_of_one_class(again):
    backend = numera.torch.backend("f32")
    nets = [torch.compile(model(), backend=backend) for _ in range(4)]

    def train(net, rows):
        x = torch.randn(rows, 8)
        for _ in range(3):
            net(x).square().sum().backward()

    together(*(lambda net=net, n=n: train(net, n) for n, net in enumerate(nets, 5)))
