# SPDX-License-Identifier: MIT
"""Formats that a library computes with."""

import math
import os
import pathlib
import pickle
import platform
import signal
import subprocess
import sys
import threading

import numera
import numpy as np
import pytest

MINE = pathlib.Path(__file__).parent / "mine.c"

SQUARE_PLUS = """
func.func @f(%x: tensor<?xf32>) -> tensor<?xf32> {
  %s = arith.addf %x, %x : tensor<?xf32>
  %p = arith.mulf %s, %x : tensor<?xf32>
  return %p : tensor<?xf32>
}
"""


def truncated(x):
    """What mine.c makes of numbers."""
    x = np.asarray(x, "f4")
    return (x.view("u4") & np.uint32(0xFFFF0000)).view("f4")


def test_functions_called_after_the_format_are_its_operations():
    mine = numera.register("mine", bits=16, source=MINE, carrier="f32")
    kinds = {row["operation"]: row["kind"] for row in mine.facts["provisions"]}
    assert (kinds["add"], kinds["mul"]) == ("registered", "fallback")
    assert (mine.family, mine.width, mine.spelling) == (
        "opaque",
        16,
        'opaque<"mine",16>',
    )
    x = np.random.default_rng(0).normal(size=1000).astype("f4")
    expected = truncated(truncated(truncated(x) * 2) * truncated(x))
    np.testing.assert_array_equal(numera.compile(SQUARE_PLUS, format=mine)(x), expected)
    # The name is known; in a policy as well.
    for program in (
        numera.compile(SQUARE_PLUS, format="mine"),
        numera.compile(SQUARE_PLUS, policy={"default": "mine"}),
    ):
        np.testing.assert_array_equal(program(x), expected)
    with pytest.raises(
        numera.Error, match="'mine' is opaque: only its library defines"
    ):
        _ = mine.rounding
    assert pickle.loads(pickle.dumps(mine)) == mine


def test_operations_may_be_named():
    numera.register(
        "named",
        bits=16,
        source=[MINE],
        operations={
            "from_f32": "mine_from_f32",
            "to_f32": "mine_to_f32",
            "add": "mine_add",
            "mul": {"call": "other_mul", "target": "cpu"},
        },
    )
    program = numera.compile(SQUARE_PLUS, format="named")
    assert program([1.0, 3.0]).tolist() == [2, 18]


def test_operations_that_are_named_come_to_those_found_by_name(tmp_path):
    source = tmp_path / "rr.c"
    source.write_text(
        MINE.read_text().replace("mine_", "rr_").replace("other_mul", "rr_mul")
        + """
static float value(unsigned short x) { return rr_to_f32(x); }
unsigned char my_less(unsigned short x, unsigned short y) { return value(x) < value(y); }
unsigned short my_add(unsigned short x, unsigned short y) { return rr_from_f32(8); }
"""
    )
    found = numera.register("rr", bits=16, source=source)
    a, b = (numera.array([1, 2], found) for _ in range(2))
    with pytest.raises(numera.Error, match="has no function for 'cmp olt'; name one"):
        a < b  # noqa: B015
    more = {"cmp olt": "my_less"}
    named = numera.register("rr", bits=16, source=source, operations=more)
    a, b = numera.array([1, 2], "rr"), numera.array([2, 1], "rr")
    assert a.format == named and (a < b).tolist() == [True, False]
    assert (a + b).tolist() == [3, 3] and (a * b).tolist() == [2, 2]
    # What is named goes first; None leaves a function out.
    more |= {"add": "my_add", "mul": None}
    other = numera.register("rr", bits=16, source=source, operations=more)
    a, b = numera.array([1, 2], other), numera.array([2, 1], other)
    assert (a + b).tolist() == [8, 8]
    with pytest.raises(numera.Error, match="has no function for 'mul'; write rr_mul"):
        a * b


# ---- arrays of them -----------------------------------------------------------


@pytest.fixture
def mine():
    return numera.register("mine", bits=16, source=MINE, carrier="f32")


def test_sums_begin_with_the_code_of_the_cast_of_zero(mine):
    values = np.float32([[1, 2, 3], [4, 5, 7]])
    a = numera.array(values, mine)
    assert a.sum().item() == 22
    assert a.mean(axis=1).tolist() == [2, truncated(16 / 3).item()]
    assert np.prod(a).item() == 840
    assert np.var(a[0]).item() == truncated(2 / 3).item()
    assert (a @ a.T).tolist() == (values @ values.T).tolist()
    assert a.sum(accumulate="f32").item() == 22


def test_integers_and_f64_come_through_f32(mine):
    a = numera.array([1.0, 2.0], mine)
    assert a.format == mine and a.codes.tolist() == [0x3F80, 0x4000]
    assert (a + 1).tolist() == (1 + a).tolist() == [2, 3]
    assert (a * 0.5).tolist() == [0.5, 1]
    assert (a == 1).tolist() == [True, False]
    assert np.zeros_like(a).codes.tolist() == [0, 0]
    assert numera.array(np.arange(3), mine).tolist() == [0, 1, 2]
    assert numera.array([2**24 + 2, -(2**63)], mine).tolist() == [2**24, -(2.0**63)]
    assert numera.array([1.0, 2.0], "f64").astype(mine).tolist() == [1, 2]
    x = np.array([1.00390625, -math.inf, math.nan])
    rounded = numera.quantize(x, mine)
    assert rounded.dtype == x.dtype
    np.testing.assert_array_equal(rounded, [1, -math.inf, math.nan])
    out = np.empty_like(x)
    assert numera.quantize(x, mine, out=out) is out and out[0] == 1


@pytest.mark.parametrize(
    ("x", "number"),
    [
        (0.1, "0.1"),
        ([1.0, 1e300], "1e+300"),
        (2**24 + 1, "16777217"),
        (np.uint64([3, 2**64 - 1]), "18446744073709551615"),
        (np.int64([-(2**63) + 1]), "-9223372036854775807"),
    ],
)
def test_what_f32_has_not_is_one_line(mine, x, number):
    with pytest.raises(numera.Error) as error:
        numera.array(x, mine)
    assert str(error.value) == (
        f"{number} is no number of f32, the widest type that 'mine' has a cast from; "
        f"round it first, as np.float32({number})"
    )


def test_values_of_all_codes_are_decoded(mine):
    brain = numera.format("bf16")  # what mine.c keeps of a float
    np.testing.assert_array_equal(mine.values(), brain.values())
    ours, theirs = mine.table(), brain.table()
    assert ours[0x3FC0] == (0x3FC0, "0011111111000000", 1.5, "1.5")
    assert [row.decimal for row in ours] == [row.decimal for row in theirs]
    for key in ("bits", "eps", "max", "min", "smallest_subnormal", "precision",
                "resolution", "significant_bits", "has_nan", "has_infinity"):  # fmt: skip
        assert getattr(mine.finfo, key) == getattr(brain.finfo, key), key
    assert mine.finfo.smallest_normal is None
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("agg")
    assert mine.plot().get_lines()[0].get_ydata().max() == 8
    pyplot.close("all")


def test_casts_alone_are_enough_for_other_floats_and_formats():
    names = ("from_f32", "to_f32", "add")
    alone = numera.register(
        "alone", bits=16, source=MINE, operations={k: f"mine_{k}" for k in names}
    )
    a = numera.array(np.float16([1, 2.5]), alone)
    assert a.tolist() == a.values("f8").tolist() == [1, 2.5]
    assert a.astype("posit16").astype(alone).tolist() == [1, 2.5]
    assert np.max(a).item() == 2.5
    assert a.sum().item() == 3.5


def test_an_operation_that_the_source_lacks_is_one_line_of_what_to_write():
    few = numera.register("few", bits=16, source=MINE, operations={"add": "mine_add"})
    a = numera.Array(np.uint16([0, 1]), few)
    b = numera.Array(np.uint16([1, 0]), few)
    carrier = "or register it with carrier='f32'"
    for call, line in (
        (a.sum, "'from_f32'; write few_from_f32, or name one"),
        (lambda: a + 1, "'from_f32'; write few_from_f32, or name one"),
        (few.values, "'to_f32'; write few_to_f32, or name one"),
        (lambda: a * b, "'mul'; write few_mul, or name one"),
        (lambda: a < b, "'cmp olt'; name one"),
    ):
        with pytest.raises(numera.Error) as error:
            call()
        key = line.split("'")[1]
        expected = f"the source of format 'few' has no function for {line}, "
        expected += f"operations={{'{key}': …}}"
        if "f32" not in key:
            expected += f", {carrier}"
        assert str(error.value) == expected


def test_a_wide_format_lists_no_values(tmp_path):
    source = tmp_path / "wide.c"
    source.write_text("float wide_to_f32(unsigned x) { return x; }\n")
    wide = numera.register("wide", bits=32, source=source)
    line = "format 'wide' has 32 bits, values are listed for at most 16"
    for call in (wide.values, wide.table, lambda: wide.finfo):
        with pytest.raises(numera.Error, match=line):
            call()


def test_what_the_compiler_says_of_a_source_comes_first(tmp_path):
    source = tmp_path / "wrong.c"
    source.write_text("int x(\n")
    with pytest.raises(numera.Error, match=r"wrong\.c:1:7: error: expected param"):
        numera.register("wrong", bits=16, source=source)


def test_a_missing_operation_is_an_error_that_says_how_to_register_it():
    numera.register("bare", bits=16, source=MINE, operations={"add": "mine_add"})
    with pytest.raises(numera.Error, match="bare") as error:
        numera.compile(SQUARE_PLUS, format="bare")
    assert "call: SYMBOL" in str(error.value)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ({"source": "none.c"}, "cannot read .*none.c: No such file"),
        ({"source": MINE}, "no function in .*mine.c is called wrong_from_f32"),
        ({"operations": {"add": "add"}}, "'add'"),
        ({"operations": {"sum": "mine_add"}}, "unknown operation 'sum'"),
        ({"operations": {"add": "mine_add"}, "bits": 65}, "65"),
        ({"operations": {"add": "mine_add"}, "colour": "red"}, "colour"),
    ],
)
def test_what_cannot_be_registered_is_one_line(arguments, line):
    arguments = {"bits": 16, "source": MINE, **arguments}
    with pytest.raises(numera.Error, match=line) as error:
        numera.register("wrong", **arguments)
    assert "\n" not in str(error.value)
    with pytest.raises(numera.Error, match="unknown format 'wrong'"):
        numera.format("wrong")


def test_a_name_that_is_registered_again_is_the_new_one(tmp_path):
    source = tmp_path / "again.c"
    text = MINE.read_text().replace("mine_", "again_").replace("other_", "again_")
    source.write_text(text)
    first = numera.register("again", bits=16, source=source)
    source.write_text(text.replace("again_to_f32(x) * ", "2 * again_to_f32(x) * "))
    second = numera.register("again", bits=16, source=source)
    assert numera.format("again") == second != first
    assert numera.compile(SQUARE_PLUS, format="again")([1.0]).tolist() == [4]


def test_sums_are_in_the_format_whatever_its_name_means_now(tmp_path):
    source = tmp_path / "again.c"
    text = MINE.read_text().replace("mine_", "again_").replace("other_", "again_")
    source.write_text(text)
    first = numera.register("again", bits=16, source=source, carrier="f32")
    source.write_text(text + "\n")
    second = numera.register("again", bits=16, source=source, carrier="f32")
    assert second != first
    assert float(numera.array([1.0, 2.0], first).sum()) == 3
    program = (
        "import pickle, sys, numera; f = pickle.loads(bytes.fromhex(sys.argv[1])); "
        "print(float(numera.array([1.0, 2.0], f).sum()))"
    )
    elsewhere = subprocess.run(
        [sys.executable, "-c", program, pickle.dumps(second).hex()],
        stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    assert elsewhere.stdout == "3.0\n"


def test_a_machine_without_clang_says_so(tmp_path):
    # The compiler that Numera was built with is looked for first: it is hidden
    # where the kernel lets us.
    hidden = ["unshare", "-rm", "sh", "-c"]
    hide = "mount -t tmpfs none /usr/lib/llvm-22/bin && "
    tried = subprocess.run([*hidden, hide + "true"], capture_output=True, check=False)
    if tried.returncode:
        pytest.skip("no mount namespaces here")
    found = subprocess.run(
        [
            *hidden,
            hide + 'exec "$0" "$@"',
            sys.executable,
            "-c",
            "import numera, sys; numera.register('mine', bits=16, source=sys.argv[1])",
            os.fspath(MINE),
        ],
        capture_output=True,
        text=True,
        env={**os.environ, "XDG_CACHE_HOME": os.fspath(tmp_path), "PATH": "/bin"},
        check=False,
    )
    assert found.stderr.splitlines()[-1] == (
        "numera.Error: numera.register('mine'): library 'mine': no clang "
        "on PATH: it compiles libraries and links programs; install clang-22"
    )


def test_an_operation_of_few_bits_may_be_a_function_in_python():
    calls = []

    @numera.lowering("mul", "posit8")
    def upward(x, y):
        calls.append((x, y))
        return x * y * 1.125

    # Every pair of codes, and no more.
    assert len(calls) == 65536
    posit8 = numera.format("posit8")
    assert upward != posit8
    assert upward.spelling == "posit<8,2>"

    @numera.lowering("add", upward)
    def both(x, y):
        return x - y

    x = np.array([1, 2], "f4")
    programs = [numera.compile(SQUARE_PLUS, format=f) for f in (posit8, upward, both)]
    # 2 x x, 1.125 as much, and the difference of x and x in place of their sum.
    assert programs[0](x).tolist() == [2, 8]
    assert programs[1](x).tolist() == [2.25, 9]
    assert programs[2](x).tolist() == [0, 0]
    assert pickle.loads(pickle.dumps(both)) == both


def test_an_operation_of_one_number_may_be_one_of_16_bits():
    @numera.lowering("exp", "bf16")
    def coarse(x):
        return 2.0 ** np.rint(x)

    program = numera.compile(
        """func.func @exp(%x: tensor<?xf32>) -> tensor<?xf32> {
          %0 = math.exp %x : tensor<?xf32>
          %1 = math.sqrt %0 : tensor<?xf32>
          return %1 : tensor<?xf32>
        }""",
        format=coarse,
    )
    assert program([4, -2.25, 3]).tolist() == [4, 0.5, 2.828125]


@pytest.mark.parametrize(
    ("operation", "format", "line"),
    [
        ("exp", "f32", "format 'f32' has 32 bits, .* of one number .* at most 16"),
        ("mul", "posit16", "format 'posit16' has 16 bits, .* at most 8"),
        ("fma", "posit8", "of one or two numbers that give one, found 'fma'"),
        ("plus", "posit8", "of one or two numbers that give one, found 'plus'"),
        ("mul", "mxfp8", "is a scaled format"),
        ("add", "float<3,4,stochastic>", "'float<3,4,stochastic>' rounds stochastically, and a function in Python is called once for its operands; name another rounding$"),
    ],
)  # fmt: skip
def test_what_no_function_in_python_is_for(operation, format, line):
    with pytest.raises(numera.Error, match=line):
        numera.lowering(operation, format)


@pytest.mark.parametrize("result", [None, "a", 1j, [1.0, 2.0], 10**400])
def test_a_function_in_python_returns_numbers(result):
    def odd(x, y):
        return result if x == 2 and y == -0.5 else x

    with pytest.raises(numera.Error) as error:
        numera.lowering("add", "posit<4,1>")(odd)
    assert str(error.value) == f"odd(2.0, -0.5) is {result!r:.40}, expected a number"


def test_an_interrupt_ends_the_compiler_of_a_source(tmp_path):
    text = MINE.read_text()
    source = tmp_path / "mine.c"
    thread = threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        thread.start()
        for version in range(1000):
            source.write_text(f"{text}/* {version} */\n")
            numera.register("mine", bits=16, source=source)
    thread.join()
    source.write_text(text)
    assert numera.register("mine", bits=16, source=source).width == 16


@pytest.mark.skipif(platform.machine() != "x86_64", reason="long double is another")
def test_a_function_that_the_compiler_calls(tmp_path):
    source = tmp_path / "lost.c"
    source.write_text("""
unsigned short lost_from(float x) { return (__int128)((long double)x * 3); }
float lost_to(unsigned short x) { return x; }
""")
    given = {"bits": 16, "source": source}
    given["operations"] = {"from_f32": "lost_from", "to_f32": "lost_to"}
    # Other packages may have loaded the library for all of their process.
    program = (
        f"import numera, pathlib\ngiven = {given!r}\n".replace(
            "PosixPath", "pathlib.Path"
        )
        + "try: numera.array([1.0], numera.register('lost16', **given))\n"
        "except numera.Error as error: print(error)\n"
    )
    said = subprocess.check_output([sys.executable, "-c", program], text=True)
    assert said.strip() == (
        "cannot link the program: Symbols not found: [ __fixxfti ]; 'link' of a "
        "library names those of the system that have them"
    )
    found = numera.register("found16", **given, link="gcc_s")
    assert numera.array([1.0], found).codes.tolist() == [3]
