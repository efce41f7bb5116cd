# SPDX-License-Identifier: MIT
"""Calls of programs on arrays of every kind."""

import gc
import multiprocessing
import os
import resource
import signal
import threading
import time

import ml_dtypes
import numera
import numpy as np
import pytest

TWICE = """
func.func @twice(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %y = arith.addf %x, %x : tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
"""
BASE = np.arange(24, dtype="f4").reshape(4, 6)


@pytest.fixture(scope="module")
def twice():
    return numera.compile(TWICE, format="bf16")


def big_endian():
    return BASE.astype(">f4")


def read_only():
    array = BASE.copy()
    array.flags.writeable = False
    return array


def unaligned():
    raw = np.empty(BASE.nbytes + 1, "u1")
    array = raw[1:].view("f4").reshape(BASE.shape)
    array[...] = BASE
    return array


@pytest.mark.parametrize(
    "array",
    [
        BASE,
        BASE.T,
        BASE[::2, ::-1],
        np.asfortranarray(BASE),
        np.broadcast_to(BASE[:1], (3, 6)),
        BASE[:0],
        big_endian(),
        read_only(),
        unaligned(),
        BASE.astype("f2"),
        BASE.astype("i2"),
        BASE.astype(ml_dtypes.bfloat16),
        np.ma.masked_array(BASE),
        BASE.view(np.recarray),
        BASE.tolist(),
    ],
    ids=[
        "dense",
        "transposed",
        "strided",
        "fortran",
        "broadcast",
        "empty",
        "big-endian",
        "read-only",
        "unaligned",
        "f16",
        "i16",
        "bf16",
        "unmasked",
        "subclass",
        "list",
    ],
)
def test_an_array_is_read_as_it_is(twice, array):
    result = twice(array)
    assert type(result) is np.ndarray
    np.testing.assert_array_equal(result, 2 * np.asarray(array, "f4"))


@pytest.mark.parametrize(
    ("array", "line"),
    [
        (BASE.astype("f8"), "input 'arg0' has dtype float64, expected float32"),
        (BASE.astype("i8"), "input 'arg0' has dtype int64, expected float32"),
        (BASE.astype("c8"), "input 'arg0' has dtype complex64, expected float32"),
        (BASE[0], "rank"),
        (np.ma.masked_equal(BASE, 3), "input 'arg0' has masked elements"),
        ("text", "input 'arg0' is no array of float32"),
        (None, "input 'arg0' is None, expected an array of float32"),
        ([[1], [2, 3]], "input 'arg0' is no array of float32"),
    ],
)
def test_what_a_function_does_not_take_is_one_line(twice, array, line):
    with pytest.raises(numera.Error) as error:
        twice(array)
    assert line in str(error.value)
    assert "\n" not in str(error.value)


def test_the_number_of_inputs_is_checked(twice):
    with pytest.raises(numera.Error, match="'twice' takes 1 input, found 2"):
        twice(BASE, BASE)


def test_results_go_where_out_says(twice):
    out = np.empty_like(BASE)
    assert twice(BASE, out=out) is out
    np.testing.assert_array_equal(out, 2 * BASE)
    # In place.
    assert twice(out, out=out) is out
    np.testing.assert_array_equal(out, 4 * BASE)


@pytest.mark.parametrize(
    ("out", "line"),
    [
        (np.empty((4, 6)), "out 'result0' has dtype float64, expected float32"),
        (np.empty((6, 4), "f4").T, "out 'result0' is strided"),
        (read_only(), "out 'result0' is read-only"),
        (np.empty((4, 5), "f4"), "shape"),
        (np.empty((6, 4), "f4"), "shape"),
        ([], "'twice' has 1 output, found 0 in out"),
        ([1.0], "out 'result0' is no array, found float"),
    ],
)
def test_a_wrong_out_is_one_line(twice, out, line):
    with pytest.raises(numera.Error) as error:
        twice(BASE, out=out)
    assert line in str(error.value)


class Elsewhere:
    """An array in the memory of a GPU."""

    def __dlpack_device__(self):
        return (2, 0)

    def __dlpack__(self, **_):
        raise AssertionError("not to be read")


def test_an_array_on_a_device_is_refused(twice):
    with pytest.raises(numera.Error, match="input 'arg0' lies on a device"):
        twice(Elsewhere())


def test_tensors_of_pytorch_are_taken_and_given(twice):
    torch = pytest.importorskip("torch")
    tensor = torch.from_numpy(BASE.copy()).requires_grad_()
    result = twice(tensor)
    assert isinstance(result, torch.Tensor)
    np.testing.assert_array_equal(result.numpy(), 2 * BASE)


def test_arrays_of_jax_are_taken(twice):
    numpy = pytest.importorskip("jax.numpy")
    np.testing.assert_array_equal(twice(numpy.asarray(BASE)), 2 * BASE)


def test_stochastic_bits_follow_from_seed_step_and_sample_alone():
    drawn = numera.compile(TWICE, format="bf16", rounding="stochastic", seed=7)
    array = np.full((64, 64), 1.001, "f4")
    first = drawn(array)
    assert len(np.unique(first)) == 2
    np.testing.assert_array_equal(drawn(array, seed=7, threads=2), first)
    np.testing.assert_array_equal(drawn(array[32:], sample=32), first[32:])
    for other in ({"seed": 8}, {"step": 1}, {"sample": 1}):
        assert (drawn(array, **other) != first).any()


def test_threads_call_a_program_at_the_same_time(twice):
    failures = []

    def work(number):
        array = np.full((50, 40), number, "f4")
        for _ in range(200):
            if (twice(array) != 2 * number).any():
                failures.append(number)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_threads_compile_at_the_same_time():
    results = {}

    def work(name):
        results[name] = numera.compile(TWICE, format=name)(BASE)

    threads = [
        threading.Thread(target=work, args=(name,))
        for name in ("bf16", "posit16", "f16", "float<8,8>")
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result in results.values():
        np.testing.assert_array_equal(result, 2 * BASE)
    assert len(results) == 4


def in_a_child(queue, program):
    queue.put(program(BASE).tolist())
    queue.put(numera.compile(TWICE, format="posit8")(BASE[:1, :2]).tolist())


def test_a_forked_process_calls_and_compiles(twice):
    twice(np.ones((400, 400), "f4"))  # its threads are there
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=in_a_child, args=(queue, twice))
    child.start()
    assert queue.get(timeout=60) == (2 * BASE).tolist()
    assert queue.get(timeout=60) == [[0, 2]]
    child.join(60)
    assert child.exitcode == 0


def test_an_interrupt_is_handled_when_the_call_is_over(twice):
    def interrupt():
        time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)

    array = np.ones((1000, 1000), "f4")
    thread = threading.Thread(target=interrupt)
    with pytest.raises(KeyboardInterrupt):
        thread.start()
        while True:
            twice(array)
    thread.join()
    np.testing.assert_array_equal(twice(BASE), 2 * BASE)


def interrupt_after(seconds):
    return threading.Timer(seconds, lambda: os.kill(os.getpid(), signal.SIGINT))


def test_an_interrupt_ends_a_long_call():
    steps = "".join(
        f"%{i + 1} = math.powf %{i}, %0 : tensor<?xf32>\n" for i in range(40)
    )
    slow = numera.compile(
        f"""func.func @slow(%0: tensor<?xf32>) -> tensor<?xf32> {{
        {steps} return %40 : tensor<?xf32> }}""",
        format="posit32",
    )
    array, result = np.ones(2_000_000, "f4"), np.zeros(2_000_000, "f4")
    start = time.perf_counter()
    slow(array, threads=4)
    whole = time.perf_counter() - start
    thread = interrupt_after(whole / 10)
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        thread.start()
        slow(array, out=result, threads=4)
    assert time.perf_counter() - start < 0.8 * whole
    thread.join()
    assert slow([1]) == 1


def test_an_interrupt_ends_a_long_operation_on_arrays():
    x = numera.array(np.full(1_000_000, 1.5), "posit32")
    start = time.perf_counter()
    y = np.power(x, x)
    whole = time.perf_counter() - start
    thread = interrupt_after(whole / 10)
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        thread.start()
        np.power(x, x)
    assert time.perf_counter() - start < 0.8 * whole
    thread.join()
    assert (np.power(x[:5], x[:5]) == y[:5]).all()


def test_an_interrupt_ends_the_conversion_of_an_array_with_gaps():
    x = np.broadcast_to(np.float32(0.3), (120_000, 1000))  # one number in memory
    result = np.ones(x.shape, np.uint16)
    numera.encode(x[:1], "lns<3,4>", out=result[:1])  # compiles
    start = time.perf_counter()
    numera.encode(x, "lns<3,4>", out=result, threads=4)
    whole = time.perf_counter() - start
    thread = interrupt_after(whole / 10)
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        thread.start()
        numera.encode(x, "lns<3,4>", out=result, threads=4)
    assert time.perf_counter() - start < 0.8 * whole
    thread.join()


def test_an_interrupt_ends_a_compilation(monkeypatch, tmp_path):
    functions = "".join(
        f"""func.func @f{i}(%x: tensor<?x{i + 1}xf32>) -> tensor<?x{i + 1}xf32> {{
        %y = math.tanh %x : tensor<?x{i + 1}xf32>
        %z = math.exp %y : tensor<?x{i + 1}xf32>
        return %z : tensor<?x{i + 1}xf32> }}"""
        for i in range(80)
    )

    def compile_it(folder):
        monkeypatch.setenv("NUMERA_CODE_CACHE", str(tmp_path / folder))
        return numera.compile(functions, format="takum<16>")

    start = time.perf_counter()
    compile_it("first")
    whole = time.perf_counter() - start
    thread = interrupt_after(whole / 10)
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        thread.start()
        compile_it("second")
    assert time.perf_counter() - start < 0.7 * whole
    thread.join()
    again = compile_it("second")
    assert again.functions["f3"](np.zeros((1, 4), "f4")).tolist() == [[1] * 4]


def test_other_threads_run_while_a_program_does():
    slow = numera.compile(TWICE, format="float<8,9,stochastic>")
    array = np.ones((2000, 2000), "f4")
    ticks = []
    done = threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    start = time.perf_counter()
    while time.perf_counter() < start + 0.3:
        slow(array)
    done.set()
    thread.join()
    assert len(ticks) > 20


def test_memory_does_not_grow(twice):
    array = np.ones((256, 256), "f4")

    def peak():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    for _ in range(200):
        twice(array)
    gc.collect()
    before = peak()
    for _ in range(4000):  # 1 GB of results
        twice(array)
    assert peak() - before < 20_000  # KB


# ---- models in other floats --------------------------------------------------

AXPY = """
func.func @axpy(%a: TYPE, %x: tensor<?x?xTYPE>, %y: tensor<?x?xTYPE>)
    -> (tensor<?x?xTYPE>, TYPE) {
  %z = linalg.map ins(%x, %y : tensor<?x?xTYPE>, tensor<?x?xTYPE>)
                  outs(%y : tensor<?x?xTYPE>) (%v: TYPE, %w: TYPE, %o: TYPE) {
    %p = arith.mulf %a, %v : TYPE
    %s = arith.addf %p, %w : TYPE
    linalg.yield %s : TYPE
  }
  return %z, %a : tensor<?x?xTYPE>, TYPE
}
"""
FLOATS = {"f16": "f2", "bf16": ml_dtypes.bfloat16, "f64": "f8"}


@pytest.mark.parametrize("name", FLOATS)
def test_a_model_in_another_float_takes_and_returns_it(name):
    dtype = np.dtype(FLOATS[name])
    axpy = numera.compile(AXPY.replace("TYPE", name))
    a, x, y = dtype.type(1.2), (BASE / 7).astype(dtype), (BASE.T / 3).astype(dtype)
    assert [tensor.dtype for tensor in axpy.inputs + axpy.outputs] == [dtype] * 5
    result, scalar = axpy(a, x, y.T.copy())
    assert result.dtype == scalar.dtype == dtype and scalar.shape == ()
    np.testing.assert_array_equal(result, a * x + y.T)
    strided, _ = axpy(1.2, x[:, ::2], y.T[:, ::2])
    np.testing.assert_array_equal(strided, (a * x + y.T)[:, ::2])
    out = np.empty_like(x), np.empty((), dtype)
    axpy(a, x, y.T, out=out)
    np.testing.assert_array_equal(out[0], result)
    # posit16 has the numbers of these, in the middle: one rounding each.
    posits = numera.compile(AXPY.replace("TYPE", name), format="posit16", replace=name)
    same = numera.compile(
        AXPY.replace("TYPE", "f64"), format="posit16", replace=["f64"]
    )
    np.testing.assert_array_equal(
        posits(a, x, y.T)[0], same(a, x.astype("f8"), y.T.astype("f8"))[0].astype(dtype)
    )


def test_pytorch_and_jax_have_bf16_and_get_it_back():
    torch = pytest.importorskip("torch")
    axpy = numera.compile(AXPY.replace("TYPE", "bf16"))
    x = torch.from_numpy(BASE / 7).bfloat16()
    result, _ = axpy(torch.tensor(2.0, dtype=torch.bfloat16), x, x)
    assert result.dtype == torch.bfloat16
    assert torch.equal(result, 2 * x + x)


def test_a_float_of_another_type_is_refused():
    axpy = numera.compile(AXPY.replace("TYPE", "bf16"))
    with pytest.raises(
        numera.Error, match="'arg1' has dtype float32, expected bfloat16"
    ):
        axpy(1, BASE, BASE)
    with pytest.raises(numera.Error, match="unknown float type 'bfloat16', expected"):
        numera.compile(AXPY.replace("TYPE", "bf16"), replace="bfloat16")
