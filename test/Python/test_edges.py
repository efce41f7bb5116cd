# SPDX-License-Identifier: MIT
"""Arrays of every kind, and arguments of the wrong one: right, or one clear error."""

import fractions
import math

import numera
import numpy as np
import pytest

PRODUCT = """
func.func @product(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %z = arith.mulf %x, %y : tensor<2x3xf32>
  return %z : tensor<2x3xf32>
}
"""
X = np.arange(6, dtype="f4").reshape(2, 3)
ROWS = [[0, 1, 2], [3, 4, 5]]


@pytest.fixture(scope="module")
def product():
    return numera.compile(PRODUCT)


def read_only():
    array = X.copy()
    array.flags.writeable = False
    return array


ARRAYS = {
    "read-only": read_only,
    "big-endian": lambda: X.astype(">f4"),
    "strided": lambda: np.repeat(np.repeat(X, 2, 0), 2, 1)[::2, ::2],
    "backwards": lambda: X[::-1, ::-1].copy()[::-1, ::-1],
    "Fortran": lambda: np.asfortranarray(X),
    "broadcast": lambda: np.broadcast_to(X[:1], (2, 3)),
    "matrix": lambda: np.matrix(X),
    "masked, nothing": lambda: np.ma.array(X),
    "f16": lambda: X.astype("f2"),
    "a list": X.tolist,
    "fractions": lambda: [[fractions.Fraction(n, 2) for n in row] for row in ROWS],
    "NaN": lambda: [[math.nan, 1, 2], [3, 4, 5]],
    "empty": lambda: np.empty((0, 3), "f4"),
    "0-d": lambda: np.array(2.1, "f4"),
    "a number": lambda: 2.1,
}


def plain(values):
    return np.asarray(values, "f4")


@pytest.mark.parametrize("kind", [name for name in ARRAYS if name[0] not in "e0"])
def test_programs_take_arrays_of_every_kind(product, kind):
    value = ARRAYS[kind]()
    if kind == "a number":
        with pytest.raises(numera.Error, match=r"input 0: rank 0; expected 2, shape"):
            product(value, X)
        return
    np.testing.assert_array_equal(product(value, X), plain(value) * X)
    np.testing.assert_array_equal(product(X, value), plain(value) * X)


@pytest.mark.parametrize("kind", ARRAYS)
def test_arrays_and_codes_of_every_kind(kind):
    """f16 has all of f16's numbers, and 2.1 rounded by NumPy."""
    value = ARRAYS[kind]()
    expected = np.asarray(value, "f8").astype("f2")
    np.testing.assert_array_equal(numera.array(value, "f16").values("f2"), expected)
    np.testing.assert_array_equal(numera.quantize(value, "f16"), expected)
    codes = np.asarray(numera.encode(value, "f16"))
    np.testing.assert_array_equal(codes.astype("u2").view("f2"), expected)


@pytest.mark.parametrize("format", ["bf16", "posit16"])
def test_arrays_of_formats_are_numbers_to_a_program(product, format):
    x = numera.array(X, format)
    np.testing.assert_array_equal(product(x, x), X * X)
    with pytest.raises(numera.Error, match="dtype float64, expected float32"):
        product(numera.array(X, "posit32"), X)


def test_arrays_of_formats_are_no_codes_to_encode():
    x = numera.array(X, "posit16")
    for function in (numera.encode, numera.quantize):
        with pytest.raises(numera.Error, match="found one of 'posit16'; cast it"):
            function(x, "bf16")


REFUSED = {
    "masked": (np.ma.array(X, mask=X > 3), "masked elements", "masked elements"),
    "object": (X.astype(object), "has dtype object", "found object"),
    "complex": (X.astype("c8"), "has dtype complex64", "found complex64"),
    "text": (X.astype("U"), "has dtype <U32", "found <U32"),
    "dates": (X.astype("M8[s]"), "has dtype datetime64", "found datetime64"),
    "None": (None, "is None", "found NoneType"),
    "None within": ([[1, None, 2]] * 2, "it has None", "it has None"),
    "complex list": ([[1j]], "no array of float32: ", "no array of float64: "),
    "ragged": ([[1], [1, 2]], "no array of float32: ", "no array of float64: "),
    "huge": ([[10**400]], "int too large", "int too large"),
    "a mapping": ({}, "no array of float32: ", "found dict"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_no_array_of_numbers(product, kind):
    value, by_program, by_array = REFUSED[kind]
    with pytest.raises(numera.Error, match=by_program):
        product(value, X)
    with pytest.raises(numera.Error, match=by_array):
        numera.array(value, "posit16")
    if kind != "masked":  # which stay masked
        with pytest.raises(numera.Error, match=by_array):
            numera.quantize(value, "posit16")


def test_wrong_shapes_and_numbers_of_inputs(product):
    for value, said in (
        (X.T, r"input 0: shape \(3, 2\); expected \(2, 3\)"),
        (X.ravel(), "input 0: rank 1; expected 2"),
        (np.empty((0, 3), "f4"), r"input 0: shape \(0, 3\); expected \(2, 3\)"),
    ):
        with pytest.raises(numera.Error, match=said):
            product(value, X)
    with pytest.raises(numera.Error, match="'product' takes 2 inputs, found 1"):
        product(X)
    with pytest.raises(TypeError, match="unexpected keyword argument 'y'"):
        product(X, y=X)


def test_fractions_are_no_integers():
    program = numera.compile(
        "func.func @f(%n: tensor<2xi64>) -> tensor<2xi64> { return %n : tensor<2xi64> }", format="bf16"
    )
    assert program([3, 4.0]).tolist() == [3, 4]
    for value in ([3, 3.99], [0, -0.5], [1, float("inf")]):
        with pytest.raises(numera.Error, match=f"input 'arg0' is no array of int64: .*({value[1]}|infinity)"):
            program(value)


@pytest.mark.parametrize(
    "name, value", [(n, v) for n in ("threads", "seed", "step") for v in (-1, 1.5, "x")]
)
def test_numbers_of_threads_seeds_and_steps(product, name, value):
    said = f"{name} is {value!r}, expected a whole number of "
    calls = [lambda **given: product(X, X, **given)]
    for function in (numera.quantize, numera.encode, numera.array):
        calls.append(lambda f=function, **given: f(X, "posit16", **given))
    for call in calls:
        call(**{name: np.int64(1)})
        for _ in range(2):  # the second call is another path
            with pytest.raises(numera.Error, match=said):
                call(**{name: value})
    if name in ("seed", "step"):
        seeds = numera.stochastic(**{"seed": 1, name: value})
        with pytest.raises(numera.Error, match=said), seeds:
            pass
    else:
        with pytest.raises(numera.Error, match=said):
            numera.quantize(X, "mxfp8", threads=value)


def test_arguments_that_go_for_nothing():
    with pytest.raises(numera.Error, match="seed goes with a format"):
        numera.array(X, seed=1)
    with pytest.raises(numera.Error, match="'mxfp8' is a scaled format"):
        numera.array(X, "mxfp8")
    with pytest.raises(numera.Error, match="axis is 'x', expected one of"):
        numera.quantize(X, "mxfp8", axis="x")


@pytest.mark.parametrize(
    "options, said",
    [
        ({"replace": 3}, "replace is 3, expected a float type or several"),
        ({"replace": ["f32", 3]}, r"replace is \['f32', 3\], expected a float type"),
        ({"policy": 3}, "policy is 3, expected a mapping or a path"),
        ({"policy": {"default": object}}, "no dtype of a format's numbers|found type"),
        ({"policy": {"default": {1}}}, "a format is a name, .* found set"),
        ({"formats": 3}, "formats are YAML files, found int"),
        ({"formats": [3]}, "formats is 3, expected a path"),
        ({"code_cache": 3}, "code_cache is 3, expected a path"),
        ({"safetensors": b"x"}, "safetensors is b'x', expected a path"),
        ({"seed": -1}, "option 'seed' is '-1', expected a whole number"),
        ({"optimization": 4}, "option 'optimization' is '4', expected 0, 1, 2 or 3"),
        ({"format": 3}, "a format is a name, .* found int"),
    ],
    ids=str,
)
def test_wrong_arguments_of_compile(options, said):
    with pytest.raises(numera.Error, match=said):
        numera.compile(PRODUCT, **options)


def test_dtypes_in_policies_are_formats():
    policy = {"default": np.float16, "rules": [{"match": "*", "format": np.float64}]}
    given = numera.compile(PRODUCT, policy=policy).policy
    assert given["format"] == "f16" and given["rules"][0]["format"] == "f64"


@pytest.mark.parametrize("model", ["net.pt2", "models/net", "my net.tflite"])
def test_a_path_that_is_no_model_is_not_read_as_mlir(model):
    with pytest.raises(numera.Error, match="neither MLIR nor a path that ends in"):
        numera.compile(model)


def test_a_folder_is_no_model(tmp_path):
    with pytest.raises(numera.Error) as error:
        numera.compile(str(tmp_path))
    assert str(error.value) == (
        f"{tmp_path} is a folder, expected a file that ends in .onnx, .mlir, .mlirbc"
    )


def test_a_module_of_pytorch_is_compiled_elsewhere():
    torch = pytest.importorskip("torch")
    with pytest.raises(numera.Error, match="found Linear; numera.torch.compile takes"):
        numera.compile(torch.nn.Linear(2, 2))
