# SPDX-License-Identifier: MIT
"""Compiled programs: what is compiled, saved, opened and told."""

import os
import pathlib
import pickle
import subprocess
import sys

import numera
import numpy as np
import pytest
from products import product

AXPY = """
func.func @axpy(%a: tensor<?xf32>, %x: tensor<?xf32>, %y: tensor<?xf32>)
    -> tensor<?xf32> {
  %p = arith.mulf %a, %x : tensor<?xf32>
  %s = arith.addf %p, %y : tensor<?xf32>
  return %s : tensor<?xf32>
}
"""

MATMUL = """
func.func @product(%a: tensor<?x64xf32>, %b: tensor<64x8xf32>) -> tensor<?x8xf32> {
  %zero = arith.constant 0.0 : f32
  %i = arith.constant 0 : index
  %rows = tensor.dim %a, %i : tensor<?x64xf32>
  %empty = tensor.empty(%rows) : tensor<?x8xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x8xf32>)
      -> tensor<?x8xf32>
  %c = linalg.matmul ins(%a, %b : tensor<?x64xf32>, tensor<64x8xf32>)
      outs(%init : tensor<?x8xf32>) -> tensor<?x8xf32> loc("product")
  return %c : tensor<?x8xf32>
}
"""


def arrays(*columns):
    return [np.array(column, "f4") for column in columns]


def test_a_program_computes_in_its_format():
    axpy = numera.compile(AXPY, format="bf16")
    # 1/10 is 0.10009765625, times 3 0.30078125, and 3/10 is 0.30078125.
    assert axpy(*arrays([0.1, 2], [3, 2], [0.3, 2])).tolist() == [0.6015625, 6.0]


def test_a_program_describes_itself():
    axpy = numera.compile(AXPY, format=numera.posit(16, 1), seed=5)
    assert str(axpy.functions["axpy"]) == (
        "axpy(arg0: float32[?], arg1: float32[?], arg2: float32[?])"
        " -> (result0: float32[?])"
    )
    assert axpy.inputs[0].shape == (None,)
    assert axpy.outputs[0].dtype == np.float32
    assert axpy.policy["format"] == "posit<16,1>"
    assert (axpy.seed, axpy.policy["rounding"]) == (5, "nearest-even")
    assert axpy.target.startswith("cpu ")


def test_sums_are_kept_in_what_accumulate_names():
    # 2^12 + 1 - 2^12, 16 times: bf16 loses the ones, a quire does not.
    a = np.tile(np.array([4096, 1, -4096, 0], "f4"), 16)[None]
    b = np.ones((64, 8), "f4")
    results = {
        accumulate: numera.compile(MATMUL, format="bf16", accumulate=accumulate)(a, b)
        for accumulate in ("same", "quire", numera.format("f32"))
    }
    assert [result[0, 0] for result in results.values()] == [0, 16, 16]


def test_a_format_may_be_an_integer():
    x, w = np.zeros((2, 64), "f4"), np.full((64, 8), 3, "f4")
    x[0, :3] = 3.4, -100, 40
    x[1, :2] = 300, -20.5
    program = numera.compile(MATMUL, format="i8", accumulate="i32")
    assert program.policy["format"] == "fixed<7,0>"
    assert program.policy["accumulate"] == "fixed<31,0>"
    # (3 - 100 + 40) 3 is below the least, (127 - 20) 3 above the greatest.
    np.testing.assert_array_equal(program(x, w)[:, 0], [-128, 127])
    np.testing.assert_array_equal(program(x / 8, w / 3)[:, 0], [-7, 35])


def test_results_are_codes_if_wanted():
    codes = numera.compile(AXPY, format="posit8", output_as="storage")
    (result,) = codes(*arrays([1], [1], [0]))
    assert (result, result.dtype) == (0x40, np.uint8)


def test_each_result_is_codes_or_numbers():
    text = """
    func.func @pair(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
      %y = arith.addf %x, %x : tensor<?xf32>
      return %x, %y, %y : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
    }"""
    pair = numera.compile(text, format="posit8", output_as=["storage", None, "f64"])
    kinds = [tensor.dtype for tensor in pair.outputs]
    assert kinds == [np.uint8, np.float32, np.float64]
    codes, single, double = pair([1])
    assert (codes[0], single[0], double[0]) == (0x40, 2, 2)
    with pytest.raises(numera.Error, match="has 3 results, output-as names 2"):
        numera.compile(text, format="posit8", output_as=["storage", None])
    with pytest.raises(numera.Error, match="output_as is .3., expected 'f32'"):
        numera.compile(text, format="posit8", output_as=[3])
    with pytest.raises(numera.Error, match="output_as is 3, expected 'f32'"):
        numera.compile(text, format="posit8", output_as=3)


def test_a_policy_has_formats_for_parts_of_a_model():
    policy = {
        "default": numera.format("f8E4M3FN"),
        "rules": [{"match": "product", "format": "bf16", "accumulate": "f32"}],
    }
    product = numera.compile(MATMUL, policy=policy)
    assert product.policy["rules"] == [
        {
            "match": "product",
            "format": "bf16",
            "accumulate": "f32",
            "operations": ["product"],
        }
    ]
    assert product.policy["format"] == "f8E4M3FN"
    assert "float<8, 7>" in product.mlir()
    # An argument goes before the default.
    both = numera.compile(MATMUL, format="posit16", policy={"default": "bf16"})
    assert both.policy["format"] == "posit16"
    product = numera.compile(MATMUL, format="posit16", policy={"accumulate": "quire"})
    assert product.policy["accumulate"] == "quire"
    assert product.policy["format"] == "posit16"


def test_a_policy_may_be_a_file(tmp_path):
    path = tmp_path / "policy.yaml"
    path.write_text(
        "formats: {of_a_policy: {family: float, exponent: 6, mantissa: 5}}\n"
        "policy: {default: of_a_policy, accumulate: same}\n"
    )
    for program in (
        numera.compile(MATMUL, policy=path),
        numera.compile(MATMUL, formats=[path]),
    ):
        assert program.policy["format"] == "of_a_policy"
        assert program.policy["accumulate"] == "same"
    # For that compilation alone.
    with pytest.raises(numera.Error, match="unknown format 'of_a_policy'"):
        numera.format("of_a_policy")
    named = numera.compile(MATMUL, formats=path, accumulate="f32", format="of_a_policy")
    assert named.policy["accumulate"] == "f32"


def test_the_bits_do_not_depend_on_optimization_or_what_is_kept(tmp_path):
    a, b = np.random.default_rng(3).normal(size=(2, 64, 64)).astype("f4")
    expected = numera.compile(MATMUL, format="posit16", code_cache="off")(a, b[:, :8])
    for level in (0, 3, 3):  # the last one is read
        program = numera.compile(
            MATMUL, format="posit16", optimization=level, code_cache=tmp_path
        )
        np.testing.assert_array_equal(program(a, b[:, :8]), expected)
    assert any(tmp_path.iterdir())
    with pytest.raises(numera.Error, match="option 'optimization' is '4'"):
        numera.compile(MATMUL, optimization=4)


def test_a_rule_that_matches_nothing_is_a_warning():
    policy = {"default": "bf16", "rules": [{"match": "conv9", "format": "f16"}]}
    with pytest.warns(UserWarning, match="conv9"):
        numera.compile(MATMUL, policy=policy)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ({"format": "posit61"}, "unknown format 'posit61', did you mean 'posit<61,2>'?"),
        ({"rounding": "odd"}, "'odd' does not go with float<8,23>: expected nearest"),
        ({"cpu": "z80"}, "z80"),
        ({"output_as": "f16"}, "option 'output-as' is 'f16', expected f32, f64, storage"),
        ({"policy": {"defualt": "bf16"}}, "did you mean 'default'"),
        ({"policy": "none.yaml"}, "cannot read none.yaml: No such file"),
        ({"function": "f"}, "f"),
    ],
)
def test_what_cannot_be_compiled_is_one_line(arguments, line):
    with pytest.raises(numera.Error) as error:
        numera.compile(AXPY, **arguments)
    assert line in str(error.value)
    assert "\n" not in str(error.value)
    assert not str(error.value).startswith("error:")


@pytest.mark.parametrize(
    ("model", "line"),
    [
        ("func.func @", "model.mlir:1:12: error: "),
        ("none.onnx", "none.onnx: error: "),
        ("func.func private @f()", "the model has no public function"),
    ],
)
def test_a_wrong_model_is_one_line(model, line):
    with pytest.raises(numera.Error) as error:
        numera.compile(model)
    assert line in str(error.value)
    assert "\n" not in str(error.value)


def test_a_model_is_read_from_a_file(tmp_path):
    path = tmp_path / "axpy.mlir"
    path.write_text(AXPY)
    axpy = numera.compile(path, format="posit8")
    assert axpy(*arrays([1], [1], [1])) == [2]


def test_a_model_is_shown_at_its_stages():
    axpy = numera.compile(AXPY, format="posit16")
    assert "arith.mulf" in axpy.mlir("import")
    assert "numera.mul" in axpy.mlir()
    assert "llvm.func" in axpy.mlir("lowered")
    with pytest.raises(numera.Error, match="expected import, retype or lowered"):
        axpy.mlir("last")


def test_a_saved_program_is_the_same(tmp_path):
    axpy = numera.compile(AXPY, format="bf16", rounding="stochastic", seed=3)
    path = tmp_path / "axpy.so"
    axpy.save(path)
    opened = numera.open(path)
    inputs = arrays(*np.random.default_rng(1).normal(size=(3, 1000)))
    np.testing.assert_array_equal(opened(*inputs), axpy(*inputs))
    assert opened.policy == axpy.policy
    assert path.with_suffix(".h").exists()
    with pytest.raises(numera.Error, match=r"has no model, which \.mlir needs"):
        opened.mlir()
    axpy.save(tmp_path / "axpy.ll")
    assert "define" in (tmp_path / "axpy.ll").read_text()
    with pytest.raises(numera.Error, match=r"expected an end of \.so, \.o, \.s, \.ll"):
        axpy.save(tmp_path / "axpy.dll")


def test_a_pickled_program_is_the_same(tmp_path):
    inputs = arrays(*np.random.default_rng(1).normal(size=(3, 100)))
    axpy = numera.compile(AXPY, format="bf16", policy={"accumulate": "same"}, seed=4)
    path = tmp_path / "axpy.so"
    axpy.save(path)
    for program in (axpy, numera.open(path)):
        copy = pickle.loads(pickle.dumps(program))
        np.testing.assert_array_equal(copy(*inputs), axpy(*inputs))
        assert (copy.policy, copy.seed) == (axpy.policy, 4)


def test_what_is_no_program_is_not_opened(tmp_path):
    with pytest.raises(numera.Error, match="not a shared object"):
        numera.open(tmp_path / "none.so")


TWO = """
func.func @first(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xi32>) {
  %y = arith.addf %x, %x : tensor<2xf32>
  %i = arith.fptosi %y : tensor<2xf32> to tensor<2xi32>
  return %y, %i : tensor<2xf32>, tensor<2xi32>
}
func.func @second(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
"""


def test_a_program_may_have_several_functions_and_results():
    two = numera.compile(TWO, format="bf16")
    doubled, whole = two.functions["first"](*arrays([1.5, 2.25]))
    assert (doubled.tolist(), whole.tolist()) == ([3, 4.5], [3, 4])
    assert whole.dtype == np.int32
    scalar = two.functions["second"](3.0)
    assert (scalar, scalar.shape) == (3, ())
    with pytest.raises(numera.Error, match="choose one of first, second"):
        two(1)
    only = numera.compile(TWO, function="second")
    assert only(2) == 2


def test_statistics_count_what_happened_to_operations():
    axpy = numera.compile(AXPY, format="f8E4M3FN")
    found = axpy.stats(*arrays([448, 2.0**-9], [448, 2.0**-9], [1, 1]))
    flags = {
        row["operation"]: (row["count"], row["overflow"], row["underflow"])
        for row in found.operations
        if row["operation"] in ("mul", "add")
    }
    # The product of the first saturates, of the second becomes zero.
    assert flags == {"mul": (2, 1, 1), "add": (2, 0, 0)}
    assert found.scaled == []
    scaled = numera.compile(MATMUL, format="mxfp8").stats(
        np.ones((3, 64), "f4"), np.ones((64, 8), "f4")
    )
    assert {row["format"] for row in scaled.scaled} == {"mxfp8e4m3"}
    with pytest.raises(numera.Error, match="no function 'f'"):
        axpy.stats(1, function="f")


def test_statistics_count_what_an_earlier_call_had_no_need_to():
    axpy = numera.compile(AXPY, format="bf16")

    def flags(*columns):
        rows = axpy.stats(*arrays(*columns)).operations
        return [(row["overflow"], row["underflow"]) for row in rows]

    nothing = [(0, 0)] * 3
    assert flags([1, 2], [3, 4], [5, 6]) == [*nothing, (0, 0), (0, 0)]
    assert flags([1, 2], [3, 4], [5e-41, 6]) == [(0, 0), (0, 0), (0, 1), (0, 0), (0, 0)]
    assert flags([3e38, 2], [1, 4], [3e38, 6]) == [*nothing, (0, 0), (1, 0)]
    assert flags([5e-41, 2], [1, 4], [5, 6]) == [(0, 1), *nothing, (0, 0)]
    assert flags([1, 2], [3, 4], [5, 6]) == [*nothing, (0, 0), (0, 0)]


FASHION = pathlib.Path(__file__).parents[2] / "examples/fashion/model.onnx"


def test_a_model_of_onnx_is_a_file_bytes_or_an_object():
    images = np.random.default_rng(2).random((5, 1, 28, 28), "f4")
    net = numera.compile(FASHION, format="bf16")
    expected = net(images)
    assert expected.shape == (5, 10)
    assert (net.inputs[0].shape, net.inputs[0].name) == ((None, 1, 28, 28), "image")
    saved = numera.compile(FASHION.read_bytes(), format="bf16")
    np.testing.assert_array_equal(saved(images), expected)
    assert "linalg.conv" in saved.mlir("import")
    with pytest.raises(numera.Error, match="found int"):
        numera.compile(3)
    with pytest.raises(numera.Error, match=r"^model\.onnx: error: "):
        numera.compile(FASHION.read_bytes()[:-100])

    class Proto:  # what the package onnx has
        def SerializeToString(self):
            return FASHION.read_bytes()

    np.testing.assert_array_equal(
        numera.compile(Proto(), format="bf16")(images), expected
    )
    onnx = pytest.importorskip("onnx")
    loaded = numera.compile(onnx.load(FASHION), format="bf16")
    np.testing.assert_array_equal(loaded(images), expected)


def test_a_model_in_memory_leaves_nothing_behind(tmp_path):
    """Neither files, nor a warning of what is left to the garbage collector; and a
    process that was forked takes nothing from the one that compiled."""
    script = f"""
import gc, os, numera
net = numera.compile(open({str(FASHION)!r}, "rb").read(), format="bf16")
if os.fork() == 0:
    raise SystemExit(0)  # with all that runs at an exit
os.wait()
assert len(os.listdir({str(tmp_path)!r})) == 1
assert "linalg" in net.mlir("import")
del net
gc.collect()
assert os.listdir({str(tmp_path)!r}) == []
last = numera.compile(open({str(FASHION)!r}, "rb").read(), format="bf16")
"""
    found = subprocess.run(
        [sys.executable, "-W", "always::ResourceWarning", "-c", script],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    assert found.returncode == 0, found.stderr
    assert "numera-" not in found.stderr and list(tmp_path.iterdir()) == []


def test_layers_of_functions_that_are_called():
    program = numera.compile(
        """
        func.func @inner(%x: tensor<3xf32>) -> tensor<3xf32> {
          %y = arith.addf %x, %x : tensor<3xf32>
          return %y : tensor<3xf32>
        }
        func.func @outer(%x: tensor<3xf32>) -> tensor<3xf32> {
          %y = call @inner(%x) : (tensor<3xf32>) -> tensor<3xf32>
          return %y : tensor<3xf32>
        }
        func.func @alone(%x: tensor<3xf32>) -> tensor<3xf32> {
          %y = arith.mulf %x, %x : tensor<3xf32>
          return %y : tensor<3xf32>
        }""",
        format="f8E4M3FN",
    )
    x = [1, 2, 3]
    assert program.layers(x, function="outer") == []
    assert program.layers(x, function="inner") == []
    assert [row["name"] for row in program.layers(x, function="alone")] == ["mulf"]
    rows = program.stats(x, function="outer").operations
    assert "add" in [row["operation"] for row in rows]


def test_layers_say_what_each_adds():
    program = numera.compile(
        """
        func.func @net(%x: tensor<?xf32>) -> tensor<?xf32> {
          %y = arith.mulf %x, %x : tensor<?xf32> loc("square")
          %z = arith.addf %y, %x : tensor<?xf32> loc("sum")
          return %z : tensor<?xf32>
        }""",
        format="f8E4M3FN",
    )
    x = np.random.default_rng(0).standard_normal(1000).astype("f4")
    square, total = program.layers(x)
    assert (square["name"], total["name"], total["inputs"]) == ("square", "sum", [0])
    assert square["sqnr_db"] == square["own_sqnr_db"] == total["input_sqnr_db"]
    assert total["own_sqnr_db"] > total["sqnr_db"] > 20
    q = numera.quantize(x, "f8E4M3FN")
    y = numera.quantize(q.astype("f8") ** 2, "f8E4M3FN")
    r = (x * x).astype("f8")
    expected = 10 * np.log10((r**2).sum() / ((y - r) ** 2).sum())
    assert abs(square["sqnr_db"] - expected) < 1e-9
    moves = (
        "func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }"
    )
    assert numera.compile(moves, format="bf16").layers([1, 2]) == []
    with pytest.raises(numera.Error, match="no function 'g'"):
        program.layers(x, function="g")


def test_an_attribute_of_the_models_own_hides_no_output():
    program = numera.compile(
        """
        func.func @f(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
            attributes {numera.layers = [{}]} {
          %y = arith.addf %x, %x : tensor<2xf32>
          return %x, %y, %y : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
        }""",
        format="bf16",
    )
    assert len(program([1, 2])) == 3
    with pytest.raises(numera.Error, match="threads is -1"):
        program.layers([1, 2], threads=-1)


@pytest.mark.parametrize("format", ["block<f32,2>", "block<f8E4M3FN,2>", "block<i8,3>", "mxfp8", "scaled<i8>"])
@pytest.mark.parametrize("values", [[1.0, 2.0, -3.0, 8.5], [2.0] * 4, [0.0] * 4])
def test_scaled_constants_are_those_of_inputs(format, values):
    """What is folded is what is computed, of equal elements too."""
    w = np.repeat(np.array(values, "f4")[:, None], 2, 1)
    x = np.array([[1, 2, 3, 4], [0.5, -7, 0, 1]], "f4")
    expected = numera.compile(product(2, 4, 2), format=format)(x, w)
    constant = numera.compile(product(2, 4, 2, w.tolist()), format=format)
    np.testing.assert_array_equal(constant(x), expected)
