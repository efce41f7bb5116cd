# SPDX-License-Identifier: MIT
"""Models of PyTorch: the same bits again, in threads, processes and after a stop."""

import pickle

import numera
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_mlir")

from marks import long, slow
from torch_calls import compiled, run_in_processes
from torch_models import MLP

pytestmark = pytest.mark.usefixtures("fresh_dynamo")


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
    with pytest.raises(numera.Error, match="the backend's state has no 'seed'"):
        backend.load_state_dict({})
    assert torch.equal(net(x), first)


def test_what_is_evaluated_goes_on_with_the_same_bits():
    net, backend = compiled(
        torch.nn.Linear(8, 4), "bf16", rounding="stochastic", seed=3
    )
    x = torch.randn(16, 8)
    net(x).sum().backward()
    with torch.no_grad():
        net(x)
        state, copied = backend.state_dict(), pickle.loads(pickle.dumps(backend))
        first, second = net(x), net(x)
        assert not torch.equal(first, second)
        backend.load_state_dict(state)
        assert torch.equal(net(x), first)
        assert torch.equal(net(x), second)
    assert copied.state_dict() == state == {"seed": 3, "step": 1, "calls": 3}


PARALLEL = """
import os, sys, torch, torch.distributed as dist, torch.multiprocessing as mp
import torch.nn.functional as F

def run(rank, port):
    import numera.torch
    from torch_calls import leave_group
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
    leave_group()

if __name__ == "__main__":
    mp.spawn(run, (sys.argv[1],), nprocs=2)
"""


@long
def test_two_processes_have_the_same_gradients(tmp_path):
    run_in_processes(PARALLEL, tmp_path)


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
