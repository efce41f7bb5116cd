# SPDX-License-Identifier: MIT
"""Operations of MLIR that are several of those that the compiler knows."""

import numera
import numpy as np
import pytest

FORMATS = ["f32", "f64", "posit16"]
X = np.arange(24, dtype="f4").reshape(4, 6)


def check(text, inputs, expected, format, rtol=0.0):
    results = numera.compile(text, format=format)(*inputs)
    if not isinstance(expected, tuple):
        results, expected = (results,), (expected,)
    for result, wanted in zip(results, expected, strict=True):
        np.testing.assert_allclose(np.asarray(result), wanted, rtol=rtol)


def function(body, result, arguments):
    return f"func.func @f({arguments}) -> {result} {{\n{body}\nreturn %r : {result} }}"


@pytest.mark.parametrize("format", FORMATS)
def test_packs(format):
    a = np.arange(40, dtype="f4").reshape(5, 8)
    packed = np.pad(a, ((0, 3), (0, 0))).reshape(2, 4, 2, 4).transpose(0, 2, 1, 3)
    body = """%c = arith.constant 0.0 : f32
    %c2 = arith.constant 2 : index
    %e = tensor.empty(%c2) : tensor<?x2x4x4xf32>
    %r = linalg.pack %a padding_value(%c : f32) inner_dims_pos = [0, 1] inner_tiles = [4, 4]
      into %e : tensor<?x8xf32> -> tensor<?x2x4x4xf32>"""
    check(
        function(body, "tensor<?x2x4x4xf32>", "%a: tensor<?x8xf32>"),
        [a],
        packed,
        format,
    )
    body = """%e = tensor.empty() : tensor<5x8xf32>
    %r = linalg.unpack %a inner_dims_pos = [0, 1] inner_tiles = [4, 4]
      into %e : tensor<2x2x4x4xf32> -> tensor<5x8xf32>"""
    check(
        function(body, "tensor<5x8xf32>", "%a: tensor<2x2x4x4xf32>"),
        [packed.copy()],
        a,
        format,
    )


@pytest.mark.parametrize("format", FORMATS)
def test_transforms_of_winograd(format):
    filters = np.arange(-4, 14, dtype="f4").reshape(2, 3, 3, 1)
    g = np.array([[-1, 0, 0], [0.5, -0.5, 0.5], [0.5, 0.5, 0.5], [0, 0, 1]])
    body = """%e = tensor.empty() : tensor<4x4x1x2xf32>
    %r = linalg.winograd_filter_transform fmr(F_2_3) ins(%a : tensor<2x3x3x1xf32>)
      outs(%e : tensor<4x4x1x2xf32>) -> tensor<4x4x1x2xf32>"""
    text = function(body, "tensor<4x4x1x2xf32>", "%a: tensor<2x3x3x1xf32>")
    check(text, [filters], np.einsum("ai,fijc,bj->abcf", g, filters, g), format)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(
    ("dims", "index", "result", "expected"),
    [
        ("0", [[2], [0], [3]], "3x1x6", X[[2, 0, 3]][:, None]),
        ("0", [[2], [0], [3]], "3x6", X[[2, 0, 3]]),
        ("1", [[5], [1]], "2x4", X[:, [5, 1]].T),
        ("0, 1", [[2, 5], [0, 1]], "2", X[[2, 0], [5, 1]]),
    ],
)
def test_gathers(dims, index, result, expected, format):
    indices = np.array(index, "i4")
    kind = f"tensor<{'x'.join(map(str, indices.shape))}xi32>"
    body = f"%r = tensor.gather %x[%i] gather_dims([{dims}]) : (tensor<4x6xf32>, {kind}) -> tensor<{result}xf32>"
    text = function(body, f"tensor<{result}xf32>", f"%x: tensor<4x6xf32>, %i: {kind}")
    check(text, [X, indices], expected, format)


def scattered(place, values):
    result = X.copy()
    result[place] = values
    return result


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(
    ("dims", "index", "source", "expected"),
    [
        ("0", [[2], [0]], np.ones((2, 1, 6)), scattered([2, 0], 1)),
        (
            "1",
            [[4], [1]],
            np.arange(8).reshape(2, 4),
            scattered(np.s_[:, [4, 1]], np.arange(8).reshape(2, 4).T),
        ),
        (
            "0, 1",
            [[1, 4], [3, 2]],
            np.array([7, 8]),
            scattered(([1, 3], [4, 2]), [7, 8]),
        ),
    ],
)
def test_scatters(dims, index, source, expected, format):
    indices = np.array(index)
    of = f"tensor<{'x'.join(map(str, source.shape))}xf32>"
    at = f"tensor<{'x'.join(map(str, indices.shape))}xindex>"
    body = f"%r = tensor.scatter %s into %x[%i] scatter_dims([{dims}]) unique : ({of}, tensor<4x6xf32>, {at}) -> tensor<4x6xf32>"
    text = function(body, "tensor<4x6xf32>", f"%s: {of}, %x: tensor<4x6xf32>, %i: {at}")
    check(text, [source.astype("f4"), X, indices], expected, format)


@pytest.mark.parametrize("format", FORMATS)
def test_loops_of_affine(format):
    x = np.arange(-3, 5, dtype="f4")
    for kind, expected in (("addf", x.sum()), ("maximumf", x.max())):
        body = f"""%r = affine.parallel (%i) = (0) to (8) reduce ("{kind}") -> (f32) {{
          %e = tensor.extract %x[%i] : tensor<8xf32>
          affine.yield %e : f32 }}"""
        check(function(body, "f32", "%x: tensor<8xf32>"), [x], expected, format)
    body = """%c8 = arith.constant 8 : index
    %s = affine.for %i = 0 to 3 iter_args(%t = %x) -> tensor<8xf32> {
      %y = arith.addf %t, %x : tensor<8xf32>
      affine.yield %y : tensor<8xf32> }
    %r = affine.if affine_set<(d): (d - 5 >= 0)>(%c8) -> tensor<8xf32> {
      affine.yield %s : tensor<8xf32> } else { affine.yield %x : tensor<8xf32> }"""
    check(function(body, "tensor<8xf32>", "%x: tensor<8xf32>"), [x], 4 * x, format)
    body = """%r = memref.alloc() : memref<8xf32>
    affine.for %i = 0 to 8 {
      %y = affine.load %x[%i] : memref<8xf32>
      %z = arith.addf %y, %y : f32
      affine.store %z, %r[7 - %i] : memref<8xf32> }"""
    check(
        function(body, "memref<8xf32>", "%x: memref<8xf32>"), [x], 2 * x[::-1], format
    )


@pytest.mark.parametrize("format", FORMATS)
def test_loops_of_branches(format):
    text = """func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      cf.br ^head(%c0, %x : index, tensor<8xf32>)
    ^head(%i: index, %t: tensor<8xf32>):
      %0 = arith.cmpi slt, %i, %c2 : index
      cf.cond_br %0, ^body, ^exit
    ^body:
      %1 = arith.addf %t, %x : tensor<8xf32>
      %2 = arith.addi %i, %c1 : index
      cf.br ^head(%2, %1 : index, tensor<8xf32>)
    ^exit:
      return %t : tensor<8xf32> }"""
    x = np.arange(8, dtype="f4")
    check(text, [x], 3 * x, format)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        ("mul %c, %c", (0.5 + 0.25j) ** 2),
        ("div %c, %c", 1),
        ("exp %c", np.exp(0.5 + 0.25j)),
        ("sqrt %c", np.sqrt(0.5 + 0.25j)),
        ("conj %c", 0.5 - 0.25j),
        ("sign %c", (0.5 + 0.25j) / abs(0.5 + 0.25j)),
        ("tan %c", np.tan(0.5 + 0.25j)),
    ],
)
def test_complex_numbers(operation, expected, format):
    text = f"""func.func @f(%a: f32, %b: f32) -> (f32, f32) {{
      %c = complex.create %a, %b : complex<f32>
      %d = complex.{operation} : complex<f32>
      %e = complex.re %d : complex<f32>
      %g = complex.im %d : complex<f32>
      return %e, %g : f32, f32 }}"""
    expected = complex(expected)
    rtol = 2e-3 if format == "posit16" else 1e-6
    check(
        text,
        [np.float32(0.5), np.float32(0.25)],
        (expected.real, expected.imag),
        format,
        rtol,
    )
