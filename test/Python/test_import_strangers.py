# SPDX-License-Identifier: MIT
"""Files of torch.export are data: nothing that they say is run."""

import io
import pathlib
import re
import zipfile

import numera
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_mlir")
pytest.importorskip("safetensors")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


class Runs:
    """An object whose unpickling leaves a file."""

    def __reduce__(self):
        return pathlib.Path.touch, (pathlib.Path("ran"),)


def pickled():
    buffer = io.BytesIO()
    torch.save(Runs(), buffer)
    return buffer.getvalue()


def rewritten(change):
    """A file that torch.export.save wrote, whose parts `change` has changed."""
    size = torch.export.Dim("batch")
    exported = torch.export.export(
        torch.nn.Linear(4, 4).eval(), (torch.randn(3, 4),), dynamic_shapes=({0: size},)
    )
    torch.export.save(exported, "good.pt2")
    with zipfile.ZipFile("good.pt2") as old, zipfile.ZipFile("bad.pt2", "w") as new:
        for name in old.namelist():
            new.writestr(name, change(name, old.read(name)))


def replaced(pattern, text):
    """Changes the model's graph."""

    def change(name, content):
        if not name.endswith("models/model.json"):
            return content
        found, count = re.subn(pattern, lambda _: text, content.decode())
        assert count
        return found.encode()

    return change


def test_example_inputs_are_not_read():
    rewritten(lambda name, old: pickled() if "sample_inputs" in name else old)
    numera.import_model("bad.pt2", "x.mlir")
    assert not pathlib.Path("ran").exists()
    assert numera.compile("x.mlir", format="bf16")


def with_pickled_weights(name, content):
    if name.endswith("weights_config.json"):
        return content.replace(b'"use_pickle": false', b'"use_pickle": true')
    return pickled() if re.search(r"weights/weight_\d+$", name) else content


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (with_pickled_weights, "has a pickled object, which is code"),
        (
            replaced(
                r'"expr_str": "[^"]*"',
                "\"expr_str\": \"[__import__('pathlib').Path('ran').touch(), 1][1]\"",
            ),
            r"has the size '\[__import__\('pathlib'\)",
        ),
        (
            replaced(r'"expr_str": "[^"]*"', '"expr_str": "print(1)"'),
            r"has the size 'print\(1\)', expected symbols and arithmetic",
        ),
        (
            replaced(r'"expr_str": "[^"]*"', '"expr_str": "(open)(\'ran\')"'),
            r"has the size '\(open\)\('ran'\)', expected symbols and arithmetic",
        ),
        (
            replaced(r'"expr_str": "[^"]*"', '"expr_str": "Max (1) (\'ran\')"'),
            r"has the size 'Max \(1\) \('ran'\)', expected symbols and arithmetic",
        ),
        (
            replaced(
                r"torch\.ops\.aten\.linear\.default", "torch.serialization.os.system"
            ),
            "calls 'torch.serialization.os.system', which is no operator of PyTorch",
        ),
        (
            replaced(r"torch\.ops\.aten\.linear\.default", "torch.ops.load_library"),
            "calls 'torch.ops.load_library', which is no operator of PyTorch",
        ),
        (
            replaced(
                r"torch\.ops\.aten\.linear\.default", "torch.ops.aten.save.default"
            ),
            "calls 'torch.ops.aten.save.default', which does not compute",
        ),
        (
            replaced(r"torch\.ops\.aten\.linear\.default", "_operator.methodcaller"),
            "calls '_operator.methodcaller', which is no operator of PyTorch",
        ),
    ],
)
def test_what_would_run_is_refused(change, message):
    rewritten(change)
    with pytest.raises(numera.Error, match=r"^bad\.pt2: " + message):
        numera.import_model("bad.pt2", "x.mlir")
    assert not pathlib.Path("ran").exists()
    assert not pathlib.Path("x.mlir").exists()


def test_names_are_no_code():
    run = "x=__import__('pathlib').Path('ran').touch()"
    rewritten(replaced(r'"input"', f'"{run}"'))
    with pytest.raises(numera.Error, match=r"^bad\.pt2: has the name \"x=__import__"):
        numera.import_model("bad.pt2", "x.mlir")
    assert not pathlib.Path("ran").exists()


def test_names_of_hidden_graphs_are_no_code():
    graph = '{"as_graph": {"name": "g", "graph": {"inputs": [{"as_tensor": {"name": "a=1"}}]}}}'
    hidden = (
        '"inputs": [{"name": "", "arg": {"as_string_to_argument": {"metadata": ' + graph
    )
    rewritten(replaced(r'"inputs": \[(?=\{"name")', hidden + "}}}, "))
    with pytest.raises(numera.Error, match=r"^bad\.pt2: has the name 'a=1'"):
        numera.import_model("bad.pt2", "x.mlir")


def test_guards_are_not_run():
    run = "__import__('pathlib').Path('ran').touch() is None"
    rewritten(replaced(r'"guards_code": \[[^\]]*\]', f'"guards_code": ["{run}"]'))
    numera.import_model("bad.pt2", "x.mlir")
    assert not pathlib.Path("ran").exists()


def test_older_layouts_are_refused():
    with zipfile.ZipFile("old.pt2", "w") as archive:
        archive.writestr("version", "8.0")
        archive.writestr("serialized_example_inputs.pt", pickled())
    with pytest.raises(
        numera.Error, match=r"^old\.pt2: not what torch\.export\.save writes"
    ):
        numera.import_model("old.pt2", "x.mlir")
    assert not pathlib.Path("ran").exists()


def test_machine_code_is_refused():
    rewritten(lambda _, content: content)
    with zipfile.ZipFile("bad.pt2", "a") as archive:
        root = archive.namelist()[0].split("/")[0]
        archive.writestr(f"{root}/data/aotinductor/model/model.so", b"\x7fELF")
    with pytest.raises(
        numera.Error, match=r"^bad\.pt2: has a compiled program, which is code"
    ):
        numera.import_model("bad.pt2", "x.mlir")


def test_what_pytorch_does_not_decompose_is_a_line():
    class Halves(torch.nn.Module):
        def forward(self, x):
            return x.reshape(-1, 2)[: x.shape[0] // 2]

    half = torch.export.Dim("half", min=2)
    exported = torch.export.export(
        Halves(), (torch.ones(8),), dynamic_shapes=({0: 2 * half},)
    )
    torch.export.save(exported, "halves.pt2")
    with pytest.raises(
        numera.Error, match=r"^halves\.pt2: PyTorch cannot decompose it: ex"
    ):
        numera.import_model("halves.pt2", "x.mlir")
