# SPDX-License-Identifier: MIT
"""Formats as objects."""

import copy
import math
import pickle
import threading

import ml_dtypes
import numera
import numpy as np
import pytest

# Names of ml_dtypes, and Numera's.
SHARED = {
    "bfloat16": "bf16",
    "float8_e3m4": "f8E3M4",
    "float8_e4m3": "f8E4M3",
    "float8_e4m3fn": "f8E4M3FN",
    "float8_e4m3fnuz": "f8E4M3FNUZ",
    "float8_e5m2": "f8E5M2",
    "float8_e5m2fnuz": "f8E5M2FNUZ",
    "float8_e4m3b11fnuz": "float<4,3,fnuz,bias=11>",
    "float8_e8m0fnu": "f8E8M0FNU",
    "float6_e2m3fn": "f6E2M3FN",
    "float6_e3m2fn": "f6E3M2FN",
    "float4_e2m1fn": "f4E2M1FN",
}


def test_a_name_and_a_spelling_are_one_format():
    assert numera.format("posit16") == numera.format("posit<16,2>")
    assert hash(numera.format("posit16")) == hash(numera.format("posit<16,2>"))
    assert numera.format("posit16") != numera.format("posit<16,1>")
    assert numera.format("posit16") != "posit16"


@pytest.mark.parametrize(
    ("made", "spelling"),
    [
        (numera.float(5, 7), "float<5,7>"),
        (
            numera.float(5, 7, bias=9, rounding="stochastic"),
            "float<5,7,bias=9,stochastic>",
        ),
        (
            numera.float(4, 3, specials="fn", subnormals="flush", overflow="saturate"),
            "float<4,3,fn,flush>",
        ),
        (numera.float(4, 4, signed=False), "float<4,4,unsigned>"),
        (
            numera.float(5, 7, rounding="stochastic", random_bits=8),
            "float<5,7,stochastic,random-bits=8>",
        ),
        (
            numera.float(8, 7, operations={"mul": {"truncate_operands": 3}}),
            "float<8,7,mul.truncate-operands=3>",
        ),
        (numera.posit(12, 1), "posit<12,1>"),
        (numera.fixed(4, 11, overflow="wrap"), "fixed<4,11,wrap>"),
        (numera.takum(12), "takum<12>"),
        (numera.lns(4, 3, rounding="up"), "lns<4,3,up>"),
        (numera.block(numera.posit(8, 1), 16), "block<posit<8,1>,16>"),
        (
            numera.scaled("i8", scale="power-of-two"),
            "scaled<fixed<7,0>,scale=power-of-two>",
        ),
    ],
)
def test_parameters_make_the_format_of_a_spelling(made, spelling):
    assert made.spelling == numera.format(spelling).spelling == spelling


def test_rounding_and_overflow_are_taken_in_place_of_the_formats_own():
    drawn = numera.format("bf16", rounding="stochastic")
    assert (drawn.spelling, drawn.rounding) == ("float<8,7,stochastic>", "stochastic")
    assert numera.format(drawn, rounding="nearest-even") == numera.format("bf16")
    assert numera.format("f8E5M2", overflow="saturate").overflow == "saturate"
    with pytest.raises(numera.Error, match="'wrap' does not go with posit<16,2>"):
        numera.format("posit16", overflow="wrap")
    with pytest.raises(numera.Error, match="as its spelling .* leave out rounding, or"):
        numera.format("mxfp8", rounding="up")


@pytest.mark.parametrize("name", ["bf16", "float<5,7,up>", "mxfp8", "p3109_k8p3se"])
def test_a_pickled_or_copied_format_is_the_same(name):
    found = numera.format(name)
    assert pickle.loads(pickle.dumps(found)) == found
    assert copy.deepcopy(found) == found
    assert type(copy.copy(found)) is type(found)


def test_a_repr_has_the_spelling():
    assert repr(numera.format("posit16")) == "<numera.Format posit16: posit<16,2>>"
    assert repr(numera.format("posit<16,1>")) == "<numera.Format posit<16,1>>"
    assert str(numera.format("posit16")) == "posit16"


@pytest.mark.parametrize(
    ("spec", "line"),
    [
        ("posit61", "unknown format 'posit61', did you mean 'posit<61,2>'?"),
        ("float<5>", "in 'float<5>': 'mantissa' is missing, family 'float' needs it"),
        (None, "a format is a name, a spelling, a Format or a dtype, found NoneType"),
    ],
)
def test_what_is_no_format_is_an_error(spec, line):
    with pytest.raises(numera.Error) as error:
        numera.format(spec)
    assert line in str(error.value)


@pytest.mark.parametrize(("theirs", "ours"), SHARED.items())
def test_finfo_is_that_of_ml_dtypes(theirs, ours):
    theirs = ml_dtypes.finfo(getattr(ml_dtypes, theirs))
    info = numera.format(ours).finfo
    assert info.bits == theirs.bits
    for key in ("max", "smallest_normal", "tiny", "smallest_subnormal"):
        assert getattr(info, key) == float(getattr(theirs, key)), key
    if ours != "f8E8M0FNU":  # where they take the lowest for the least, and eps is 1
        assert info.min == float(theirs.min)
        assert info.eps == float(theirs.eps)


@pytest.mark.parametrize("name", ["f16", "f32", "f64"])
def test_finfo_is_that_of_numpy(name):
    theirs = np.finfo(name.replace("f", "float"))
    info = numera.format(name).finfo
    for key in ("bits", "eps", "max", "min", "tiny", "smallest_normal"):
        assert getattr(info, key) == getattr(theirs, key), key
    assert info.smallest_subnormal == float(theirs.smallest_subnormal)
    assert info.precision == theirs.precision
    assert info.significant_bits == theirs.nmant + 1


def test_finfo_has_none_for_what_a_format_lacks():
    posit = numera.format("posit16").finfo
    assert posit.smallest_normal is None
    assert posit.max == 2.0**56
    assert not posit.has_infinity


def test_limits_beyond_floats_of_python_are_errors_that_have_them():
    info = numera.float(15, 48).finfo
    texts = {
        "max": ("0x1.ffffffffffffp+16383", math.inf),
        "min": ("-0x1.ffffffffffffp+16383", -math.inf),
        "smallest_normal": ("0x1p-16382", 0.0),
        "tiny": ("0x1p-16382", 0.0),
        "smallest_subnormal": ("0x1p-16430", 0.0),
    }
    for key, (text, nearest) in texts.items():
        with pytest.raises(numera.Error) as error:
            getattr(info, key)
        assert str(error.value) == (
            f"{key} of 'float<15,48>' is {text}, out of the range of Python's floats; "
            f".nearest('{key}') is the nearest of them"
        )
        assert info.nearest(key) == nearest
        assert f"{key}={text}" in repr(info)
    assert info.eps == info.nearest("eps") == 2.0**-48
    assert repr(copy.copy(info)) == repr(pickle.loads(pickle.dumps(info))) == repr(info)
    assert not hasattr(info, "other")


def test_values_beyond_f64_are_in_the_table_alone():
    wide = numera.float(12, 1)
    with pytest.raises(numera.Error, match="values out of the range of f64; its .tab"):
        wide.values()
    table = wide.table()
    assert table[1].value == 0 and table[1].decimal.endswith("e-617")
    assert numera.float(11, 4).values()[1] == 2.0**-1026


@pytest.mark.parametrize(("theirs", "ours"), SHARED.items())
def test_values_are_those_of_ml_dtypes(theirs, ours):
    dtype = np.dtype(getattr(ml_dtypes, theirs))
    ours = numera.format(ours)
    codes = np.arange(2**ours.width).astype(ours.dtype)
    with np.errstate(invalid="ignore"):  # signalling NaNs
        theirs = codes.view(dtype).astype("f8")
    np.testing.assert_array_equal(ours.values(), theirs)


def test_a_table_has_what_the_values_are():
    table = numera.format("posit8").table()
    values = np.array([row.value for row in table])
    np.testing.assert_array_equal(values, numera.format("posit8").values())
    assert table[0x41] == (0x41, "0 10 00 001", 1.125, "1.125")
    assert str(table).splitlines()[0x41] == "0x41  0 10 00 001  1.125"


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("f32", "format 'f32' has 32 bits, values are listed for at most 16"),
        ("mxfp8", "'mxfp8' is a scaled format, whose codes mean something only"),
    ],
)
def test_what_has_no_values_says_why(name, line):
    with pytest.raises(numera.Error, match=line):
        numera.format(name).values()


def test_a_scaled_format_shows_its_parts():
    mx = numera.format("nvfp4")
    assert mx.element == numera.format("f4E2M1FN")
    assert mx.scale == numera.format("f8E4M3FN")
    assert (mx.block, mx.rule, mx.width, mx.bits_per_element) == (16, "absmax", 4, 4.5)
    assert numera.scaled("i8").block is None


def test_a_plot_has_the_precision_of_a_format():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("agg")
    axes = numera.format("posit8").plot()
    numera.format("bf16").plot(axes, color="k")
    tapered, flat = (axes.get_lines()[i].get_ydata() for i in (0, 2))
    assert (tapered.min(), tapered.max()) == (0, 4)
    assert flat.max() == 8
    pyplot.close("all")


def test_a_file_brings_names(tmp_path):
    path = tmp_path / "formats.yaml"
    path.write_text("formats: {from_a_file: {family: posit, bits: 12, es: 1}}")
    loaded = numera.load(path)
    assert loaded == {"from_a_file": numera.posit(12, 1)}
    assert numera.format("from_a_file").name == "from_a_file"
    assert numera.formats()["from_a_file"] == "posit<12,1>"
    # Read again, it is what it says now; what came from it stays.
    path.write_text("formats: {from_a_file: {family: posit, bits: 13, es: 1}}")
    numera.load(path)
    assert numera.format("from_a_file").width == 13
    assert pickle.loads(pickle.dumps(loaded["from_a_file"])).width == 12


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("formats: {x: {family: floot}}", "formats.yaml:1:23: error: "),
        ("#\n \xff", r"formats\.yaml:2:2: error: found a byte that is no text, expected a"),
        (None, "cannot read .*formats.yaml: No such file or directory"),
    ],
)
def test_a_wrong_file_is_one_line(tmp_path, text, line):
    path = tmp_path / "formats.yaml"
    if text is not None:
        path.write_bytes(text.encode("latin-1"))
    with pytest.raises(numera.Error, match=line) as error:
        numera.load(path)
    assert "\n" not in str(error.value)


def test_threads_find_formats_at_the_same_time():
    found = []
    threads = [
        threading.Thread(
            target=lambda: found.append(
                [numera.posit(bits, 1).finfo.max for bits in range(8, 40)]
            )
        )
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [found[0]] * 8


def test_dtypes_are_formats_wherever_a_format_is():
    bfloat16 = pytest.importorskip("ml_dtypes").bfloat16
    assert numera.format(np.float16) == numera.format("f16")
    assert numera.format(np.dtype("f4")) == numera.format("f32")
    assert numera.format(bfloat16) == numera.format("bf16")
    x = np.float32([0.1, 3.3, -1e-3])
    wanted = x.astype(bfloat16).astype(np.float32)
    assert (numera.quantize(x, bfloat16) == wanted).all()
    assert (numera.array(x, bfloat16).values() == wanted).all()
    with pytest.raises(numera.Error, match="no dtype of a format's numbers"):
        numera.format(np.int8)


def test_dtypes_of_torch_are_formats():
    torch = pytest.importorskip("torch")
    assert numera.format(torch.bfloat16) == numera.format("bf16")
    assert numera.format(torch.float8_e4m3fn) == numera.format("f8E4M3FN")
    with pytest.raises(numera.Error, match="torch.int8 is no dtype"):
        numera.format(torch.int8)


def test_what_was_compiled_is_forgotten_in_the_end():
    from numera import _bounded, _casts

    few = _bounded.Bounded(2)
    for i in range(5):
        few[i] = -i
    assert few == {3: -3, 4: -4}
    kept = _casts._compiled
    assert kept.most == _bounded.PROGRAMS
    before, kept.most = kept.most, 3
    try:
        formats = [numera.float(5, 4 + i, bias=9 + i) for i in range(6)]
        for fmt in formats + formats[:1]:
            assert numera.array([1.5], fmt).values()[0] == 1.5
            assert len(kept) <= 3
    finally:
        kept.most = before
