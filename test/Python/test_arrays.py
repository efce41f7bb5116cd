# SPDX-License-Identifier: MIT
"""What quantize, encode and decode take: layouts, types, arrays of other libraries."""

import array
import contextlib
import copy
import os
import resource
import sys
from pathlib import Path

import numera
import numpy as np
import oracle
import pytest

sys.path.append(str(Path(__file__).parents[1] / "Execution"))

# NumPy's own casts warn of what overflows.
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def normal(*shape, seed=0, dtype=np.float32):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


# ---- layouts ----------------------------------------------------------------


def layouts():
    x = normal(6, 8, 10)
    yield x
    yield x.T
    yield x[::-1, ::2, ::-3]
    yield np.asfortranarray(x)
    yield x[:, 3]
    yield x[:0]
    yield x[1, 2, 3:4]
    yield np.float32(0.3).reshape(())
    yield np.broadcast_to(x[0, 0], (5, 7, 10))
    yield np.broadcast_to(np.float32(0.1), (3, 0, 2))
    yield np.zeros((2,) * 20, np.float32) + 0.3
    yield normal(3000, 50)[:, :40]
    record = np.zeros(50, [("a", "u1"), ("x", "<f4"), ("b", "u1")])
    record["x"] = normal(50)
    yield record["x"]  # no element lies at a multiple of four bytes
    fixed = normal(30)
    fixed.flags.writeable = False
    yield fixed


@pytest.mark.parametrize("x", list(layouts()), ids=lambda x: str(x.shape))
def test_any_layout_has_the_values_of_a_dense_array(x):
    before = x.copy()
    expected = numera.quantize(np.ascontiguousarray(x).ravel(), "f8E4M3FN")
    y = numera.quantize(x, "f8E4M3FN")
    oracle.same_bits(np.ascontiguousarray(y).ravel(), expected)
    assert y.dtype == x.dtype and y.shape == x.shape
    codes = numera.encode(x, "posit16")
    assert codes.shape == x.shape
    oracle.same_bits(numera.decode(codes, "posit16"), numera.quantize(x, "posit16"))
    assert x.tobytes() == before.tobytes()
    # Into every layout, and onto itself.
    for out in (np.empty(x.shape, "f4"), np.empty(x.shape, "f4", order="F")):
        assert numera.quantize(x, "f8E4M3FN", out=out) is out
        oracle.same_bits(out, y)
    if x.flags.writeable and x.size:
        own = x.copy(order="K")
        assert numera.quantize(own, "f8E4M3FN", out=own) is own
        oracle.same_bits(own, y)


def test_an_array_of_the_other_byte_order_keeps_it():
    x = normal(7, dtype=">f4")
    y = numera.quantize(x, "bf16")
    assert y.dtype == x.dtype
    assert (y == numera.quantize(x.astype("f4"), "bf16")).all()
    out = np.empty(7, ">f4")
    assert (numera.quantize(x, "bf16", out=out) == y).all()


def test_subclasses_stay():
    masked = np.ma.array([0.1, 0.2], mask=[False, True], dtype="f4")
    y = numera.quantize(masked, "bf16")
    assert isinstance(y, np.ma.MaskedArray) and y.mask.tolist() == [False, True]
    matrix = numera.quantize(np.asmatrix(normal(2, 2)), "bf16")
    assert type(matrix) is np.matrix


def test_the_format_may_be_named():
    x = np.float32([0.1, 3.3])
    codes = numera.encode(x, format="posit16")
    assert (codes == numera.encode(x, "posit16")).all()
    values = numera.decode(codes, format="posit16")
    assert (values == numera.quantize(x, format="posit16")).all()
    assert (numera.array(x, format="posit16").codes == codes).all()


def test_numbers_and_lists_are_f64_where_they_are_no_integers():
    assert numera.quantize(0.1, "bf16") == 0.10009765625
    assert type(numera.quantize(np.float32(0.1), "bf16")) is np.float32
    assert numera.quantize([[0.1], [2]], "bf16").tolist() == [[0.10009765625], [2.0]]
    assert numera.encode(1, "bf16") == 0x3F80


def test_a_large_array_uses_threads():
    x = normal(1 << 20)
    expected = numera.quantize(x, "posit16", threads=1)
    for threads in (0, 2, 3):
        oracle.same_bits(numera.quantize(x, "posit16", threads=threads), expected)
        oracle.same_bits(
            numera.quantize(x[::-1], "posit16", threads=threads), expected[::-1]
        )


def test_a_forked_process_goes_on():
    x = normal(1 << 18)
    expected = numera.quantize(x, "posit16").sum()
    child = os.fork()
    if child == 0:
        same = numera.quantize(x, "posit16").sum() == expected
        new = numera.quantize(x[:3], "float<5,3>")[0] != x[0]
        os._exit(0 if same and new else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_many_calls_keep_no_memory():
    x, y = normal(1000), normal(30, 50)[::-1, ::2]
    c = numera.array(x, "bf16")

    def calls(count):
        for _ in range(count):
            numera.quantize(x, "bf16")
            numera.quantize(y, "bf16", rounding="stochastic")
            numera.encode(x, "posit16")
            c + c
            with contextlib.suppress(numera.Error):
                numera.quantize(x, "bf16", out=y)

    def resident():
        return (
            int(Path("/proc/self/statm").read_text().split()[1])
            * resource.getpagesize()
        )

    calls(200)
    before = resident()
    calls(2000)
    assert resident() - before < 1 << 20


def test_codes_may_be_integers_and_lists():
    values = numera.format("posit8").values()
    assert numera.decode([1, 255], "posit8").tolist() == values[[1, 255]].tolist()
    assert numera.decode([[1], [2]], "posit8").shape == (2, 1)
    assert numera.decode(5, "posit8") == values[5]
    assert numera.decode((0x3F80,), "bf16", "f8").dtype == np.float64


@pytest.mark.parametrize(
    "codes, message",
    [
        (256, "codes of 'posit8' are 0 to 255, found 256"),
        ([1, -1], "codes of 'posit8' are 0 to 255, found -1"),
        ([1.0, 2.0], "codes of 'posit8' are integers, found 1.0"),
        (np.arange(3), "codes of 'posit8' are integers of 8 bits, found int64"),
    ],
)
def test_what_is_no_code_is_one_error(codes, message):
    with pytest.raises(numera.Error) as error:
        numera.decode(codes, "posit8")
    assert str(error.value) == message


def test_nearest_of_qpytorch_is_nearest_away_without_infinities():
    # Its float_quantize adds half of the last place that stays to the bits of f32,
    # and drops the others.
    x = np.concatenate([np.arange(-4000, 4000) / 64, [1e30, -1e30]]).astype("f4")
    x = x[(abs(x) >= 2**-15) | (x == 0)]  # it rounds subnormals in another way
    half = np.uint32(1 << (23 - 2 - 1))
    theirs = ((x.view("u4") + half) & ~(2 * half - np.uint32(1))).view("f4")
    theirs = np.clip(theirs, -1.75 * 2**16, 1.75 * 2**16)
    ours = numera.quantize(x, "float<5,2,finite>", rounding="nearest-away")
    np.testing.assert_array_equal(ours, theirs)
    assert (numera.quantize(x, "float<5,2,finite>") != theirs).any()


# ---- what is refused --------------------------------------------------------


@pytest.mark.parametrize(
    "x, message",
    [
        (np.arange(3), "quantize takes floats (f16, bf16, f32, f64), found int64"),
        (np.zeros(2, complex), "quantize takes floats (f16, bf16, f32, f64), found complex128"),
        (np.array(["a"]), "quantize takes floats (f16, bf16, f32, f64), found <U1"),
        (np.array([None]), "quantize takes floats (f16, bf16, f32, f64), found object"),
        (np.zeros(2, bool), "quantize takes floats (f16, bf16, f32, f64), found bool"),
        (np.zeros(2, np.longdouble), "quantize takes floats (f16, bf16, f32, f64), found float128"),
        ([[1.0], [1.0, 2.0]], "a list is no array of float64: "),
        ("text", "expected an array, found str"),
        (None, "expected an array, found NoneType"),
    ],
)  # fmt: skip
def test_what_is_no_array_of_floats_is_one_error(x, message):
    with pytest.raises(numera.Error) as error:
        numera.quantize(x, "bf16")
    assert message in str(error.value) and "\n" not in str(error.value)


def test_arguments_that_do_not_go_together_are_errors():
    x = normal(4)
    with pytest.raises(numera.Error, match="did you mean"):
        numera.quantize(x, "posit61")
    with pytest.raises(numera.Error, match="'upp' does not go with float<8,7>"):
        numera.quantize(x, "bf16", rounding="upp")
    with pytest.raises(numera.Error, match="axis is for scaled formats, found 'bf16'"):
        numera.quantize(x, "bf16", axis=0)
    with pytest.raises(
        numera.Error,
        match=r"out is float64 of shape \(4,\), expected float32 of shape \(4,\)",
    ):
        numera.quantize(x, "bf16", out=np.empty(4))
    with pytest.raises(numera.Error, match=r"out is float32 of shape \(3,\)"):
        numera.quantize(x, "bf16", out=np.empty(3, "f4"))
    fixed = np.empty(4, "f4")
    fixed.flags.writeable = False
    with pytest.raises(numera.Error, match="out is read-only"):
        numera.quantize(x, "bf16", out=fixed)
    with pytest.raises(
        numera.Error, match="codes of 'bf16' are integers of 16 bits, found int64"
    ):
        numera.decode(np.arange(3), "bf16")
    with pytest.raises(
        numera.Error, match="dtype is int32, expected f16, bf16, f32 or f64"
    ):
        numera.decode(np.zeros(3, np.uint16), "bf16", np.int32)
    words = np.zeros(3, np.uint16)
    for name in ("f16", "f32", "f64", "bf16"):
        values = numera.decode(words, "bf16", name)
        assert numera.encode(values, "f64").tolist() == [0, 0, 0]
        assert numera.array(values).format == numera.format(name)
    for name in ("posit8", "posit<8,2>"):
        with pytest.raises(
            numera.Error, match=f"dtype is {name}, expected f16, bf16, f32 or f64"
        ):
            numera.decode(np.zeros(3, np.uint16), "bf16", name)
    with pytest.raises(numera.Error, match="the stride 0; expected elements"):
        numera.quantize(x, "bf16", out=np.lib.stride_tricks.as_strided(x, (4,), (0,)))


# ---- other libraries --------------------------------------------------------


def test_tensors_of_torch():
    torch = pytest.importorskip("torch")
    x = torch.from_numpy(normal(6, 8))
    y = numera.quantize(x, "posit8")
    assert isinstance(y, torch.Tensor) and y.dtype == torch.float32
    oracle.same_bits(y.numpy(), numera.quantize(x.numpy(), "posit8"))
    turned = numera.quantize(x.t()[::2], "posit8")
    oracle.same_bits(turned.numpy(), y.numpy().T[::2])
    brain = numera.quantize(x.bfloat16(), "posit8")
    assert brain.dtype == torch.bfloat16
    expected = numera.quantize(x.bfloat16().float(), "posit8").bfloat16()
    assert torch.equal(brain, expected)
    assert numera.quantize(x, "bf16", out=x) is x
    assert torch.equal(x, x.bfloat16().float())
    assert numera.quantize(brain, "f4E2M1FN", out=brain) is brain
    with pytest.raises(numera.Error, match="out is torch.uint16 of .*, expected bf16"):
        numera.quantize(brain, "posit8", out=brain.view(torch.uint16))
    codes = numera.encode(x, "f8E5M2")
    assert codes.dtype == torch.uint8
    assert torch.equal(
        codes.view(torch.float8_e5m2).float(), x.to(torch.float8_e5m2).float()
    )
    assert torch.equal(numera.decode(codes, "f8E5M2"), x.to(torch.float8_e5m2).float())
    with pytest.raises(numera.Error, match="requires a gradient"):
        numera.quantize(x.requires_grad_(), "bf16")
    with pytest.raises(numera.Error, match="lies on meta, expected cpu"):
        numera.quantize(torch.empty(3, device="meta"), "bf16")
    with pytest.raises(numera.Error, match="expected a dense one"):
        numera.quantize(torch.eye(3).to_sparse(), "bf16")
    with pytest.warns(UserWarning, match="deprecated"):
        quantized = torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.qint8)
    with pytest.raises(numera.Error, match="quantized, torch.qint8; use .dequantize"):
        numera.quantize(quantized, "bf16")
    with pytest.raises(numera.Error, match="found int64"):
        numera.quantize(torch.arange(3), "bf16")


def test_arrays_of_jax():
    jax = pytest.importorskip("jax")
    for dtype in ("float16", "bfloat16", "float32"):
        x = jax.numpy.asarray(normal(6, 8)).astype(dtype)
        y = numera.quantize(x, "posit8")
        assert isinstance(y, jax.Array) and y.dtype == dtype
        expected = numera.quantize(np.asarray(x), "posit8")
        assert (np.asarray(y) == expected).all()
        assert isinstance(numera.encode(x, "posit8"), jax.Array)
    with pytest.raises(numera.Error, match="JAX has no uint64 unless jax_enable_x64"):
        numera.encode(x, "posit<64,2>")
    with pytest.raises(numera.Error, match="traced by jax.jit"):
        jax.jit(lambda x: numera.quantize(x, "bf16"))(x)
    with pytest.raises(numera.Error, match="out is read-only"):
        numera.quantize(np.asarray(x), "bf16", out=x)


def test_what_speaks_dlpack_alone():
    class Lender:
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **options):
            return self.array.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    class Distant(Lender):
        def __dlpack_device__(self):
            return (2, 0)

    x = normal(5)
    oracle.same_bits(numera.quantize(Lender(x), "bf16"), numera.quantize(x, "bf16"))
    with pytest.raises(numera.Error, match="the Distant does not lie in the memory"):
        numera.quantize(Distant(x), "bf16")


@pytest.mark.parametrize(
    "make", [memoryview, lambda x: array.array("d", x.ravel()), lambda x: x.tolist()]
)
def test_buffers_are_arrays(make):
    x = normal(2, 3).astype("f8")
    given = make(x)
    expected = numera.quantize(x.reshape(np.shape(given)), "bf16")
    assert numera.quantize(given, "bf16").tolist() == expected.tolist()
    assert numera.array(given, "bf16").tolist() == expected.tolist()
    assert numera.decode(bytearray(b"@A"), "posit8").tolist() == [1.0, 1.125]
    assert numera.encode(bytearray(b"ab"), "fixed<7,0>").tolist() == [97, 98]


def test_lists_that_print_alike_are_assigned_as_they_are():
    x = numera.array(np.zeros((1, 2000)), "f32")
    ramp = np.arange(2000.0)
    other = ramp.copy()
    other[500] = -7  # not among what NumPy prints
    for values in (ramp, other):
        x[:] = [values]
        np.testing.assert_array_equal(x.values()[0], values)


def test_copies_share_no_memory():
    x = numera.array([1.0, 2.0], "bf16")
    for made in (copy.copy(x), copy.deepcopy(x), x.clip(), np.clip(x, None, None)):
        made[0] = 5
        assert x.tolist() == [1, 2]
    assert 2.0 in x and 3 not in x


@pytest.mark.parametrize(
    ("name", "finite", "infinite"),
    [
        ("float<14,20>", [True, True, False, False], [False, False, True, False]),
        ("float<14,20,finite>", [True] * 4, [False] * 4),
        ("posit<64,4>", [True, True, False, False], [False] * 4),
        ("float<12,20,fnuz>", [True, True, True, False], [False] * 4),
    ],
)
def test_numbers_beyond_f64_are_finite(name, finite, infinite):
    x = numera.array([2.0**1000, 2.0**-1000, np.inf, np.nan], name)
    x[:2] *= x[:2]  # 2^2000 and 2^-2000
    np.testing.assert_array_equal(np.isfinite(x), finite)
    np.testing.assert_array_equal(np.isinf(x), infinite)
    assert bool(x[1]) and not bool(x[1] * 0)


def test_the_least_number_is_none_where_one_is_nan():
    fmt = numera.format("float<12,20,fnuz,saturate>")
    least = numera.array([-1.0, np.nan], fmt)
    least[0] *= 2.0**1023
    least[0] *= 2.0**1023  # the lowest of all
    for x in (least, -least, least[::-1]):
        assert np.isnan(np.min(x)) and np.isnan(np.max(x))
    assert np.min(least[:1]) == least[0]


def test_one_long_number_is_a_float_and_an_integer():
    x = numera.array([2**62 + 256], "takum<64>")
    assert int(x[0]) == 2**62 + 256 and int(-x[0]) == -(2**62) - 256
    least = numera.array([2.0**63], "takum<64>")
    after = numera.Array(least.codes + np.uint64(1), "takum<64>")
    assert int(after[0]) == 2**63 + int((after - least)[0])
    assert float(numera.array([2**53 + 1], "fixed<63,0>")[0]) == 2.0**53
