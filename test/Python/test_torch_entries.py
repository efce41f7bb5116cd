# SPDX-License-Identifier: MIT
"""Graphs of PyTorch that were compiled before, in this process or another."""

import fcntl
import os
import signal
import threading

import pytest

torch = pytest.importorskip("torch")
numera_torch = pytest.importorskip("numera.torch")

import numera  # noqa: E402
from numera import _programs  # noqa: E402
from numera.torch import _cache, _entries, _keys, _linalg  # noqa: E402
from numera.torch._background import Begun  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

pytestmark = pytest.mark.usefixtures("fresh_dynamo")


@pytest.fixture(autouse=True)
def empty(monkeypatch, tmp_path):
    monkeypatch.setenv("NUMERA_CODE_CACHE", os.fspath(tmp_path))
    return tmp_path / "torch"


@pytest.fixture
def kept(monkeypatch):
    """The keys that were asked for."""
    keys = []

    def key_of(*args):
        keys.append(_keys.key_of(*args))
        return keys[-1]

    monkeypatch.setattr(_entries, "key_of", key_of)
    return keys


def never(*_, **__):
    raise AssertionError("it is made again")


class Net(nn.Module):
    """Dropout, buffers that change, a parameter that is used twice."""

    def __init__(self):
        super().__init__()
        self.first, self.norm = nn.Linear(6, 6), nn.BatchNorm1d(6)
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
        y = self.drop(torch.relu(self.norm(self.first(x))))
        return self.first(y), y.argmax(1), x


def step(model, x, **options):
    """What a step of training returns and leaves, and the backend."""
    torch._dynamo.reset()
    torch.manual_seed(3)
    backend = numera.torch.backend(**options)
    x = x.clone().requires_grad_()
    results = torch.compile(model, backend=backend, dynamic=False)(x)
    results = results if isinstance(results, tuple) else (results,)
    results[0].square().sum().backward()
    left = [x.grad, *(p.grad for p in model.parameters()), *model.buffers()]
    return [*results, *left], backend


def fresh(make):
    torch.manual_seed(0)
    return make()


def same(one, other):
    assert len(one) == len(other)
    for a, b in zip(one, other):
        assert a.dtype == b.dtype and a.stride() == b.stride()
        assert torch.equal(a, b)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"format": "bf16", "backward": "f8E5M2", "accumulate": "f32"},
        {"format": "posit16", "policy": {"first": "f32", "norm": {"weights": "bf16"}}},
        {"format": "f8E4M3FN", "rounding": "stochastic", "weights": "bf16"},
    ],
)
def test_a_step_has_the_same_bits_and_makes_no_graph(options, monkeypatch):
    x = torch.randn(8, 6)
    wanted, first = step(fresh(Net), x, **options)
    with monkeypatch.context() as patch:
        patch.setattr(_linalg, "to_linalg", never)
        patch.setattr("numera.torch._backend.prepare", never)
        found, second = step(fresh(Net), x, **options)
    same(wanted, found)
    assert [p.policy for p in first.programs] == [p.policy for p in second.programs]
    assert second.step == first.step == 1


def test_gradients_are_accumulated_exactly_as_before():
    x = torch.randn(4, 6)

    def run():
        torch._dynamo.reset()
        model = fresh(lambda: nn.Linear(6, 3))
        backend = numera.torch.backend("bf16", accumulate="quire")
        net = torch.compile(model, backend=backend)
        with backend.accumulate(model):
            for part in x.split(2):
                net(part).sum().backward()
        return [p.grad for p in model.parameters()]

    same(run(), run())


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.t(),
        lambda x: (x, x * 2, None, 3),
        lambda x: x.add_(1),
        lambda x: (x.view(-1)[2:], x.sum()),
        lambda x: x + torch.rand(3) + torch.randn_like(x).t().contiguous().t(),
        lambda x: x.detach(),
        lambda x: x.to(torch.bfloat16) * 3,
        lambda x: x * torch.tensor([1.0, 2.0, 3.0]),
    ],
)
def test_results_that_are_no_programs_results(function, kept):
    def run():
        torch._dynamo.reset()
        torch.manual_seed(1)
        x = torch.arange(9.0).reshape(3, 3)
        with torch.no_grad():
            return function_of(x), x

    function_of = torch.compile(
        function, backend=lambda *a: numera.torch.backend()(*a), dynamic=False
    )
    torch.manual_seed(1)
    x = torch.arange(9.0).reshape(3, 3)
    wanted = function(x)
    for _ in range(2):
        found, left = run()
        assert torch.equal(left, x)
        pair = [e if isinstance(e, tuple) else (e,) for e in (wanted, found)]
        for a, b in zip(*pair):
            assert torch.equal(a, b) if isinstance(a, torch.Tensor) else a == b
    assert kept[0] == kept[-1]


def key(function, *inputs, **options):
    """That of the function's graph."""
    torch._dynamo.reset()
    policy, keys = numera.torch.backend(**options)._policy, []

    def backend(graph, inputs):
        keys.append(_keys.key_of(graph, inputs, policy))
        return graph.forward

    torch.compile(function, backend=backend, dynamic=False)(*inputs)
    return keys[-1]


class Named(nn.Module):
    def __init__(self, name):
        super().__init__()
        self.add_module(name, nn.Linear(3, 3))
        self.name = name

    def forward(self, x):
        return getattr(self, self.name)(x)


def test_all_that_decides_on_a_program_is_in_the_key(monkeypatch):
    x = torch.ones(3, 3)

    def of(function=lambda x: x * 2.0, *inputs, **options):
        return key(function, *(inputs or (x,)), **options)

    def of_policy(**options):
        return of(fresh(lambda: Named("one")), **options)

    rule = {"one": {"format": "bf16"}}
    keys = [
        of(),
        of(lambda x: x * 3.0),  # numbers
        of(lambda x: x * -0.0),
        of(lambda x: x * 0.0),
        of(lambda x: x * 2),
        of(lambda x: x + 2.0),  # operators
        of(lambda x: x.mul(2.0)),
        of(lambda x: (x * 2.0, x + 1.0)),  # results
        of(lambda x: x * 2.0, torch.ones(3, 4)),  # inputs
        of(lambda x: x * 2.0, torch.ones(3, 3, dtype=torch.float64)),
        of(lambda x: x * 2.0, torch.ones(3, 6)[:, ::2]),
        of(lambda x: x * 2.0, torch.ones(3, 3).t()[:, :2]),
        of(lambda x: x * 2.0, torch.ones(3, 3).requires_grad_()),
        of(lambda x: x * torch.tensor(2.0)),  # constants
        of(lambda x: x * torch.tensor(3.0)),
        of(lambda x: x * torch.tensor(float("nan"))),
        of_policy(),
        of(fresh(lambda: Named("two"))),  # names of modules
        of_policy(policy=rule),  # the policy
        of_policy(policy={"one": {"format": "posit16"}}),
        of_policy(policy={"op:addmm": {"format": "bf16"}}),
        of_policy(policy={"one": {"format": "bf16", "weights": "f8E5M2"}}),
        of(format="bf16"),  # formats and roles
        of(format="posit16"),
        of(weights="bf16"),
        of(activations="bf16"),
        of(errors="bf16"),
        of(backward="bf16"),
        of(gradients="bf16"),
        of(accumulate="same"),
        of(format="bf16", rounding="stochastic"),
        of(format="bf16", rounding="stochastic", random_bits=3),
        of(format="f8E4M3FN"),
        of(format="f8E4M3FN", overflow="saturate"),
        of(format=numera.format("f8E4M3FN", rounding="toward-zero")),
    ]
    with torch.no_grad():  # modes
        keys.append(of())
    with torch.autocast("cpu"):
        keys.append(of())
    torch.set_default_dtype(torch.float64)
    try:
        keys.append(of())
    finally:
        torch.set_default_dtype(torch.float32)
    with torch._functorch.config.patch(treat_parameters_as_free_to_save=False):
        keys.append(of())
    torch.use_deterministic_algorithms(True)
    try:
        keys.append(of())
    finally:
        torch.use_deterministic_algorithms(False)
    assert None not in keys
    assert [keys.index(each) for each in keys] == list(range(len(keys)))
    assert of() == keys[0]
    monkeypatch.setattr(_keys, "versions", lambda: b"another")
    assert of() not in keys


@pytest.mark.parametrize("package", ["torch", "torch-mlir"])
def test_versions_are_in_the_key(package, monkeypatch):
    known = _keys.versions()
    version = _keys.metadata.version
    known_of = lambda name: "0" if name == package else version(name)  # noqa: E731
    monkeypatch.setattr(_keys.metadata, "version", known_of)
    _keys.versions.cache_clear()
    try:
        assert _keys.versions() != known
    finally:
        _keys.versions.cache_clear()


def test_numeras_version_is_in_the_key(monkeypatch):
    known = _keys.versions()
    monkeypatch.setattr(numera, "__version__", "0")
    _keys.versions.cache_clear()
    try:
        assert _keys.versions() != known
    finally:
        _keys.versions.cache_clear()


def own(x):
    return x + 1


def test_what_a_key_cannot_tell_has_none():
    from torch.utils.checkpoint import checkpoint

    x, w = torch.ones(3, 3), torch.ones(3, 3, requires_grad=True)
    torch._dynamo.allow_in_graph(own)
    assert key(lambda x: own(x) * 2, x) is None
    assert key(lambda x, y: x + y, x, x[:]) is None  # one memory
    again = lambda x: checkpoint(torch.sin, x, use_reentrant=False)  # noqa: E731
    assert key(again, w) is None
    assert key(lambda x: x * 2, x) is not None


def test_an_entry_that_is_none_is_replaced(empty):
    x = torch.randn(8, 6)
    wanted, _ = step(fresh(lambda: nn.Linear(6, 6)), x)
    (path,) = empty.glob("*.entry")
    for content in (b"", b"\x80\x04K\x01.", path.read_bytes()[:100]):
        path.write_bytes(content)
        same(wanted, step(fresh(lambda: nn.Linear(6, 6)), x)[0])
        assert path.read_bytes() != content


def test_what_was_used_longest_ago_goes(monkeypatch, empty):
    monkeypatch.setenv("NUMERA_CODE_CACHE_SIZE", "1")
    empty.mkdir()
    others = {"weights.pt", "notes"}
    for name in others:
        (empty / name).write_bytes(bytes(2_000_000))
        os.utime(empty / name, (0, 0))
    for age, name in enumerate(("c.entry", "b.mlir", "a.entry", "00.lock")):
        (empty / name).write_bytes(bytes(400_000))
        os.utime(empty / name, (100 - age, 100 - age))
    assert _cache.read(empty / "a.entry") == bytes(400_000)  # used just now
    assert _cache.read(empty / "d.entry") is None
    _cache.write(empty / "new.entry", bytes(400_000))
    assert {each.name for each in empty.iterdir()} == {
        *("a.entry", "new.entry", "00.lock", "timestamp"),
        *others,
    }
    _cache.write(empty / "next.entry", bytes(400_000))  # looked at once a minute
    assert (empty / "a.entry").exists()
    os.utime(empty / "timestamp", (0, 0))
    _cache.write(empty / "last.entry", bytes(600_000))
    assert {each.name for each in empty.glob("*.entry")} == {"next.entry", "last.entry"}


def test_off_keeps_nothing(monkeypatch, empty):
    monkeypatch.setenv("NUMERA_CODE_CACHE", "off")
    step(nn.Linear(6, 6), torch.randn(8, 6))
    assert not empty.exists()


def test_a_refused_graph_leaves_no_entry(empty):
    with pytest.raises(Exception, match="cannot compile"):
        step(lambda x: torch.cumprod(x * 1j, 0), torch.ones(2, 6))
    assert not list(empty.glob("*.entry"))


def test_of_those_that_begin_together_one_compiles(monkeypatch):
    begun, made = threading.Event(), []

    def to_linalg(*_, **__):
        made.append("linalg")
        begun.set()
        return "text"

    def work(text):
        made.append(text)
        finished.wait(0.2)  # the other one waits meanwhile
        made.append("end")

    def compile(text):
        return Begun(lambda: work(text))

    finished = threading.Event()
    monkeypatch.setattr(_linalg, "to_linalg", to_linalg)
    monkeypatch.setattr(_cache, "_key", lambda *_: "0" * 40)
    call = lambda: _cache.made_of(None, None, compile)[1].result()  # noqa: E731
    threads = [threading.Thread(target=call) for _ in range(2)]
    threads[0].start()
    assert begun.wait(10)
    threads[1].start()
    for each in threads:
        each.join()
    assert made == ["linalg", "text", "end", "text", "end"]


def test_a_process_forked_meanwhile_does_not_keep_the_lock(tmp_path):
    with _cache._alone(tmp_path, "ab"):
        child = os.fork()
        if child == 0:  # a worker of a DataLoader
            signal.pause()
    try:
        with open(tmp_path / "ab.lock", "wb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


@pytest.mark.parametrize("again", [False, True])
def test_both_passes_are_compiled_at_once(monkeypatch, empty, again):
    if again:
        step(nn.Linear(6, 6), torch.randn(8, 6))
    met, compiled = threading.Barrier(2, timeout=60), _programs.compiled

    def compiling(*arguments):
        met.wait()  # for the other pass
        return compiled(*arguments)

    monkeypatch.setattr(_programs, "compiled", compiling)
    step(nn.Linear(6, 6), torch.randn(8, 6))
    assert len(list(empty.glob("*.entry"))) == 1


def test_numbers_that_decide_on_more_than_tensors_are_those_of_each_call(kept):
    x = torch.tensor([1.0, 2.2, -3.7, 5.0])
    net = torch.compile(
        lambda x, least: torch.where(x > least, x, least),
        backend=numera_torch.backend("f32"),
    )
    for least in (0.5, 0.25, 0.3, 0.5):
        wanted = torch.where(x > least, x, least)
        torch.testing.assert_close(net(x, least), wanted, rtol=0, atol=0)
    assert None in kept


@pytest.mark.parametrize("format", ["scaled<i8>", "posit32", "stochastic"])
def test_a_number_gives_the_same_before_and_after_others(format):
    options = {"rounding": "stochastic"} if format == "stochastic" else {}
    backend = numera_torch.backend("f8E4M3FN" if options else format, **options)
    net = torch.compile(lambda x, s: x + s / 7, backend=backend)
    x = torch.linspace(-1, 1, 12).reshape(3, 4)
    with torch.no_grad():
        first, _, last = (net(x, s) for s in (1000, 2, 1000))
    assert options or torch.equal(first, last)
    assert len(backend.programs) == 3  # a number is an argument elsewhere
