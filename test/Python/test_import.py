# SPDX-License-Identifier: MIT
"""Models of PyTorch and of JAX, as files, against the frameworks themselves."""

import os
import subprocess
import sys
import warnings

import numera
import numpy as np
import pytest

warnings.filterwarnings("ignore", "`isinstance.treespec")
torch = pytest.importorskip("torch")
pytest.importorskip("torch_mlir")
pytest.importorskip("safetensors")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def imported(model, inputs, **options):
    """The program of a module, by way of files."""
    exported = torch.export.export(model.eval(), inputs, **options)
    torch.export.save(exported, "model.pt2")
    numera.import_model("model.pt2", "model.mlir")
    return numera.compile("model.mlir")


def agrees(program, model, *inputs):
    with torch.no_grad():
        expected = model(*inputs)
    found = program(*(x.numpy() for x in inputs))
    np.testing.assert_allclose(found, expected.numpy(), rtol=1e-5, atol=1e-5)


class Convolutions(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.convolution = torch.nn.Conv2d(1, 4, 3)
        self.norm = torch.nn.BatchNorm2d(4)
        self.linear = torch.nn.Linear(4 * 6 * 6, 10)

    def forward(self, x):
        x = torch.relu(self.norm(self.convolution(x)))
        return self.linear(x.flatten(1))


class Tokens(torch.nn.Module):
    """A decoder whose embedding is its last layer as well."""

    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(11, 8)
        self.layer = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        self.head = torch.nn.Linear(8, 11, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, tokens):
        mask = torch.nn.Transformer.generate_square_subsequent_mask(tokens.shape[1])
        return self.head(self.layer(self.embed(tokens), mask, is_causal=True))


def test_network_of_convolutions():
    torch.manual_seed(1)
    model, x = Convolutions(), torch.randn(2, 1, 8, 8)
    program = imported(model, (x,))
    assert repr(program) == (
        "<numera.Program in f32: main(x: float32[2, 1, 8, 8]) -> "
        "(result0: float32[2, 10])>"
    )
    agrees(program, model, x)


def test_batches_of_any_size():
    torch.manual_seed(2)
    model, x = Convolutions(), torch.randn(2, 1, 8, 8)
    sizes = {0: torch.export.Dim("batch")}
    program = imported(model, (x,), dynamic_shapes=(sizes,))
    for rows in (1, 2, 5):
        agrees(program, model, torch.randn(rows, 1, 8, 8))


class Heads(torch.nn.Module):
    """Attention, in whose views sizes are parted, joined and moved past ones."""

    def __init__(self):
        super().__init__()
        self.inner, self.outer = torch.nn.Linear(8, 24), torch.nn.Linear(8, 8)

    def forward(self, x):
        batch, length, _ = x.shape
        q, k, v = self.inner(x).view(batch, length, 3, 2, 4).permute(2, 0, 3, 1, 4)
        y = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        y = self.outer(y.transpose(1, 2).reshape(1, batch * length, 8))
        return y.view(batch, 1, length * 2, 4)


@pytest.mark.parametrize("axes", [(0,), (1,), (0, 1)])
def test_views_of_dimensions_of_any_size(axes):
    torch.manual_seed(8)
    model, x = Heads(), torch.randn(3, 5, 8)
    sizes = {axis: torch.export.Dim(("batch", "length")[axis]) for axis in axes}
    program = imported(model, (x,), dynamic_shapes=(sizes,))
    for rows, length in ((1, 1), (2, 7), (4, 4)):
        rows, length = rows if 0 in axes else 3, length if 1 in axes else 5
        agrees(program, model, torch.randn(rows, length, 8))


class Ordered(torch.nn.Module):
    def forward(self, x):
        places = torch.searchsorted(torch.linspace(-1.0, 1.0, 5), x)
        largest = x.sort(dim=1)[0], x.topk(3, dim=1)[0]
        return torch.cat([*largest, x.argsort(dim=0) + places])


def test_sorts_of_dimensions_of_any_size():
    torch.manual_seed(7)
    model, x = Ordered(), torch.randn(4, 3)
    sizes = {0: torch.export.Dim("batch")}
    program = imported(model, (x,), dynamic_shapes=(sizes,))
    for rows in (1, 2, 3, 8, 13):
        agrees(program, model, torch.randn(rows, 3))


class Sums(torch.nn.Module):
    def forward(self, x, places):
        sums = x.cumsum(0) + x.logcumsumexp(1)
        return x.cumsum(1) + torch.zeros_like(x).index_add(0, places, sums)


def test_sums_along_dimensions_of_any_size():
    torch.manual_seed(9)
    model, inputs = Sums(), (torch.randn(4, 3), torch.arange(4))
    batch = torch.export.Dim("batch")
    program = imported(model, inputs, dynamic_shapes=({0: batch}, {0: batch}))
    for rows in (1, 2, 7):
        agrees(program, model, torch.randn(rows, 3), torch.randint(rows, (rows,)))
    x, places = (each.numpy() for each in inputs)
    rounded = numera.compile("model.mlir", format="posit8", accumulate="f32")
    imported(model, inputs)
    same = numera.compile("model.mlir", format="posit8", accumulate="f32")
    np.testing.assert_array_equal(rounded(x, places), same(x, places))


class Largest(torch.nn.Module):
    def forward(self, x):
        return x.cummax(0)[0]


def test_sizes_that_an_operator_needs():
    x, sizes = torch.randn(4, 3), {0: torch.export.Dim("batch")}
    message = (
        r"^model\.pt2: dimension 0 of input 'x' is left open, and an operator needs "
        r"it to be 3 to 4$"
    )
    with pytest.raises(numera.Error, match=message):
        imported(Largest(), (x,), dynamic_shapes=(sizes,))


def test_weights_that_are_one_tensor():
    torch.manual_seed(3)
    model = Tokens()
    tokens = torch.randint(11, (2, 5))
    agrees(imported(model, (tokens,)), model, tokens)


def test_rules_match_the_names_of_modules():
    torch.manual_seed(4)
    model, x = Convolutions(), torch.randn(2, 1, 8, 8)
    imported(model, (x,))
    rules = [{"match": "convolution", "format": "posit8"}]
    mixed = numera.compile("model.mlir", policy={"rules": rules})
    whole = numera.compile("model.mlir")
    assert not np.array_equal(mixed(x.numpy()), whole(x.numpy()))
    other = {"rules": [{"match": "embed", "format": "posit8"}]}
    with pytest.warns(UserWarning, match="embed"):
        numera.compile("model.mlir", policy=other)


def test_weights_in_bfloat16():
    torch.manual_seed(5)
    model = torch.nn.Linear(4, 3)
    x = torch.randn(2, 4)
    program = imported(model, (x,))
    from safetensors.torch import load_file, save_file

    weights = load_file("model.safetensors")
    assert sorted(weights) == ["bias", "weight"]
    halves = {name: tensor.bfloat16() for name, tensor in weights.items()}
    save_file(halves, "halves.safetensors")
    program = numera.compile("model.mlir", safetensors="halves.safetensors")
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(halves[name].float())
    agrees(program, model, x)


class Passes(torch.nn.Module):
    """Returns what it has not computed, and what it has twice."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.arange(3.0))

    def forward(self, x, y):
        both = x + self.weight
        return both, x, self.weight, None, both, y.mT, torch.ones(2)


def test_results_that_are_not_computed():
    model = Passes()
    inputs = torch.randn(2, 3), torch.arange(6).view(2, 3)
    batch = torch.export.Dim("batch")
    for sizes in (None, ({0: batch}, {0: batch})):
        program = imported(model, inputs, dynamic_shapes=sizes)
        expected = [each for each in model(*inputs) if each is not None]
        found = program(*(each.numpy() for each in inputs))
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other.detach().numpy())


def test_what_pytorch_models_may_not_do():
    x = torch.randn(2, 4)

    class Counts(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("calls", torch.zeros(()))

        def forward(self, x):
            self.calls.add_(1)
            return x + self.calls

    with pytest.raises(numera.Error, match=r"model\.pt2: the model changes 'calls'"):
        imported(Counts(), (x,))
    class Counted(torch.nn.Module):
        def forward(self, x):
            return x + 1, x.shape[0]

    with pytest.raises(numera.Error, match="result 1 is a number, expected a tensor"):
        imported(Counted(), (x,))
    with pytest.raises(numera.Error, match="'aten.linalg_ldl_factor_ex"):
        imported(LDL(), (x @ x.mT,))


class LDL(torch.nn.Module):
    def forward(self, x):
        return torch.linalg.ldl_factor_ex(x)[0]


def network(x, w):
    import jax

    both = jax.lax.composite(lambda x: (x + 1, x * 2), name="mine.both")
    sums = sum(both(jax.lax.erf(x)))
    return jax.nn.softmax(jax.numpy.tanh(x @ w) + sums, axis=-1)


def test_stablehlo_in_every_form():
    jax = pytest.importorskip("jax")
    rng = np.random.default_rng(6)
    x, w = (rng.standard_normal((3, 3)).astype(np.float32) for _ in range(2))
    exported = jax.export.export(jax.jit(network))(x, w)
    with open("text.stablehlo", "w") as file:
        file.write(exported.mlir_module())
    with open("artifact.mlirbc", "wb") as file:
        file.write(exported.mlir_module_serialized)
    for path in ("text.stablehlo", "artifact.mlirbc"):
        numera.import_model(path, "model.mlir")
        found = numera.compile("model.mlir")(x, w)
        np.testing.assert_allclose(found, network(x, w), rtol=1e-5, atol=1e-6)


def test_stablehlo_with_unsigned_integers():
    jax = pytest.importorskip("jax")

    def of_bytes(x, n):
        return x + x, x // 3, x > n, jax.numpy.maximum(x, n), x.astype("float32"), n

    for kind in (np.uint8, np.uint16, np.uint32):
        largest = np.iinfo(kind).max
        x = np.array([0, 7, largest // 2 + 1, largest], kind)
        inputs = x, np.full_like(x, 9)
        exported = jax.export.export(jax.jit(of_bytes))(*inputs)
        with open("unsigned.stablehlo", "w") as file:
            file.write(exported.mlir_module())
        numera.import_model("unsigned.stablehlo", "model.mlir")
        found = numera.compile("model.mlir")(*inputs)
        for one, expected in zip(found, of_bytes(*inputs), strict=True):
            assert one.dtype == expected.dtype
            np.testing.assert_array_equal(one, expected)


_SORT = """\
func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %r = "stablehlo.sort"(%x) <{dimension = 1 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}
"""

_SCATTER = """\
#where = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0],
  scatter_dims_to_operand_dims = [0], index_vector_dim = 1>
func.func @main(%x: tensor<?x4xf32>, %i: tensor<?x1xi32>) -> tensor<?x4xf32> {
  %r = "stablehlo.scatter"(%x, %i, %x) <{scatter_dimension_numbers = #where}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<?x4xf32>, tensor<?x1xi32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}
"""


def test_stablehlo_with_sizes_that_are_not_known():
    pytest.importorskip("jax")
    with open("sort.stablehlo", "w") as file:
        file.write(_SORT)
    numera.import_model("sort.stablehlo", "model.mlir")
    x = np.random.default_rng(7).standard_normal((3, 4)).astype(np.float32)
    found = numera.compile("model.mlir")(x)
    np.testing.assert_array_equal(found, np.sort(x, axis=1))
    with open("scatter.stablehlo", "w") as file:
        file.write(_SCATTER)
    with pytest.raises(numera.Error, match=r"'stablehlo\.scatter' has no counterpart"):
        numera.import_model("scatter.stablehlo", "x.mlir")


def test_stablehlo_of_linear_algebra():
    jax = pytest.importorskip("jax")
    import numera.jax

    solve = jax.jit(jax.numpy.linalg.solve)
    a, b = np.array([[4, 1], [1, 3]], np.float32), np.ones(2, np.float32)
    with open("cpu.stablehlo", "w") as file:
        file.write(jax.export.export(solve, platforms=["cpu"])(a, b).mlir_module())
    message = (
        r"^cpu\.stablehlo: cannot compile 'lu' at .*: 'stablehlo\.custom_call "
        r"@lapack_sgetrf_ffi' has no counterpart in linalg; import numera\.jax, and "
        r"export it for platforms=\('numera',\)$"
    )
    with pytest.raises(numera.Error, match=message):
        numera.import_model("cpu.stablehlo", "x.mlir")
    exported = jax.export.export(solve, platforms=("numera",))(a, b)
    with open("own.stablehlo", "w") as file:
        file.write(exported.mlir_module())
    numera.import_model("own.stablehlo", "x.mlir")
    found = numera.compile("x.mlir")(a, b)
    np.testing.assert_allclose(found, np.linalg.solve(a, b), rtol=1e-5)


def test_stablehlo_that_is_none():
    pytest.importorskip("jax")
    for content in (b"", b"func.func @", b"ML\xefR\0\1", b"\xff\xfe"):
        with open("x.stablehlo", "wb") as file:
            file.write(content)
        with pytest.raises(numera.Error, match=r"^x\.stablehlo: not StableHLO: "):
            numera.import_model("x.stablehlo", "x.mlir")
    with open("x.stablehlo", "w") as file:
        file.write(
            "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
            "  %y = stablehlo.custom_call @mine(%x) "
            ": (tensor<4xf32>) -> tensor<4xf32>\n"
            "  return %y : tensor<4xf32>\n}\n"
        )
    with pytest.raises(numera.Error, match="custom_call"):
        numera.import_model("x.stablehlo", "x.mlir")


@pytest.mark.parametrize(
    ("model", "output", "message"),
    [
        ("no.pt2", "x.mlir", "no.pt2: no such file"),
        ("bad.pt2", "x.mlir", "bad.pt2: not what torch.export.save writes: "),
        ("x.tflite", "x.mlir", "python -m tf2onnx.convert --tflite x.tflite "),
        ("x.onnx", "x.mlir", "x.onnx: not imported; numera.compile and"),
        ("x.doc", "x.mlir", "x.doc: not a model that is known; expected .pt2"),
        ("bad.pt2", "x.txt", "expected a name that ends in .mlir"),
    ],
)
def test_one_line_for_what_is_wrong(model, output, message):
    for name in ("bad.pt2", "x.tflite", "x.onnx", "x.doc"):
        with open(name, "w") as file:
            file.write("nothing")
    command = [sys.executable, "-m", "numera", "import", model, "-o", output]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 1
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_operators_that_nothing_registers_are_named():
    library = torch.library.Library("someones", "DEF")
    library.define("twice(Tensor x) -> Tensor")
    library.impl("twice", lambda x: 2 * x, "CompositeExplicitAutograd")
    library.impl("twice", torch.empty_like, "Meta")

    class Model(torch.nn.Module):
        def forward(self, x):
            return torch.ops.someones.twice(x)

    torch.export.save(torch.export.export(Model(), (torch.ones(3),)), "own.pt2")
    command = [sys.executable, "-m", "numera", "import", "own.pt2", "-o", "x.mlir"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert (
        "own.pt2: calls 'torch.ops.someones.twice.default', which nothing registers "
        "here; in Python, import the package that does" in done.stderr
    )


def test_a_python_without_packages(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    open("x.pt2", "w").close()
    with pytest.raises(numera.Error) as error:
        numera.import_model("x.pt2", "x.mlir")
    assert str(error.value) == (
        f"this needs torch, which {sys.executable} has not: pip install "
        f"'numera-mlir[torch]', or name another Python in NUMERA_PYTHON"
    )


def test_the_command():
    model, x = torch.nn.Linear(4, 3), torch.randn(2, 4)
    torch.export.save(torch.export.export(model, (x,)), "linear.pt2")
    command = [sys.executable, "-m", "numera", "import", "linear.pt2", "-o", "y.mlir"]
    os.mkdir("temporary")
    known = {**os.environ, "TMPDIR": os.path.abspath("temporary")}
    known.pop("TORCHINDUCTOR_CACHE_DIR", None)  # that of this process
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=known)
    # Of what PyTorch warns its own authors of, users see nothing.
    assert done.stdout == done.stderr == ""
    assert not os.listdir("temporary")
    agrees(numera.compile("y.mlir"), model, x)


def test_a_folder_that_is_not_there_is_said_before_the_model_is_read(tmp_path):
    (tmp_path / "bad.mlir").write_text("no module")
    said = "cannot write none/x.mlir: no folder none"
    with pytest.raises(numera.Error, match=said):
        numera.import_model("bad.mlir", "none/x.mlir")
