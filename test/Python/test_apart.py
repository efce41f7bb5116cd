# SPDX-License-Identifier: MIT
"""What packages do in a process of their own: errors and ends of it are exceptions."""

import os
import re
import subprocess
import sys

import numera
import numpy as np
import pytest
from numera._apart import Ended, text_of


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A module that does what its functions are named for."""
    (tmp_path / "package.py").write_text(
        "import ctypes, os, sys\n"
        "from numera import Error\n"
        "def twice(text, none):\n    print('noise')\n    return 2 * text\n"
        "def refuse():\n    raise Error('not this one')\n"
        "def fail():\n    raise KeyError('one')\n"
        "def fill():\n    raise MemoryError\n"
        "def end():\n    os._exit(3)\n"
        "def crash():\n    os.abort()\n"
        "def lack():\n    print('memory allocation of 8 bytes failed', file=sys.stderr)\n"
        "    os.abort()\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    return "package"


def test_a_text_comes_back_and_noise_does_not(package, capfd):
    assert text_of(package, "twice", "µ\ud800", None) == "µ\ud800µ\ud800"
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("function", "kind", "message"),
    [
        ("refuse", numera.Error, "not this one"),
        ("fail", RuntimeError, "KeyError: 'one'"),
        ("fill", MemoryError, ""),
        ("end", Ended, "status 3"),
        ("crash", Ended, "SIGABRT"),
        ("lack", MemoryError, "memory allocation"),
    ],
)
def test_what_goes_wrong_is_an_exception(package, function, kind, message):
    with pytest.raises(kind) as error:
        text_of(package, function)
    assert str(error.value) == message


def test_modules_at_hand_are_not_taken_for_those_of_python(tmp_path):
    (tmp_path / "json.py").write_text("import os\nos.abort()\n")
    script = (
        "import sys\ndel sys.path[0]\n"
        "from numera._apart import text_of\n"
        "print(text_of('string', 'capwords', 'a b'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path, check=True, capture_output=True, text=True,
    )  # fmt: skip
    assert done.stdout == "A B\n"


_MODEL = """func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %y = stablehlo.tanh %x : tensor<3xf32>
  return %y : tensor<3xf32>
}"""

_NO_TEXT = b'func.func @main() attributes {"a.\\FF"} { return }'
"""A name that is no UTF-8."""


def artifact():
    pytest.importorskip("jax")
    import jax
    from jaxlib.mlir.dialects import stablehlo

    lowered = jax.jit(lambda: 0).lower().compiler_ir("stablehlo")
    with lowered.context:
        return stablehlo.serialize_portable_artifact_str(_MODEL, "1.0.0")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda good: good[:90], "attempting to parse "),
        (lambda good: b"ML\xefR\x33garbled", "bytecode version 25 is newer than "),
        (lambda good: _NO_TEXT, "the reader of JAX ended with SIGABRT"),
        (lambda good: b"func.func @f() { \xff }", "Unable to parse module assembly: "),
        (
            lambda good: b"func.func @f(%x: " + b"tuple<" * 200_000,
            "the reader of JAX ended",
        ),
    ],
)
def test_garbled_stablehlo_is_one_line(tmp_path, change, message):
    pytest.importorskip("torch_mlir")
    (tmp_path / "bad.stablehlo").write_bytes(change(artifact()))
    done = subprocess.run(
        [sys.executable, "-m", "numera", "import", "bad.stablehlo", "-o", "x.mlir"],
        cwd=tmp_path, check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(
        f"numera: error: bad.stablehlo: not StableHLO: {message}"
    )
    assert done.stderr.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["bad.stablehlo"]


@pytest.mark.skipif(
    "san" in os.environ.get("LD_PRELOAD", ""), reason="sanitizers reserve address space"
)
def test_a_page_without_memory_is_one_line(tmp_path):
    for package in ("jinja2", "grandalf", "vl_convert"):
        pytest.importorskip(package)
    model, x = tmp_path / "net.mlir", tmp_path / "x.npy"
    model.write_text(_MODEL.replace("stablehlo.tanh", "math.exp"))
    np.save(x, np.ones(3, "f4"))

    def report(*words):
        script = (
            "import resource, sys\n"
            "from numera.study._command import main\n"
            "if sys.argv[1] != 'none':\n"
            "    size = int(sys.argv[1]) << 20\n"
            "    resource.setrlimit(resource.RLIMIT_AS, (size, size))\n"
            "sys.exit(main(sys.argv[2:]))"
        )
        given = ["report", model, "--input", x, "--format", "bf16", "-o", "x.html"]
        return subprocess.run(
            [sys.executable, "-c", script, words[0], *given, "--hints", "0", *words[1:]],
            cwd=tmp_path, check=False, capture_output=True, text=True,
        )  # fmt: skip

    # Address space for the rest, and not for the engine that draws. What was found is
    # printed before.
    done = report("8000")
    assert (done.returncode, done.stderr) == (1, "numera: error: out of memory\n")
    assert done.stdout.startswith("net.mlir in bf16: ")
    done = report("none", "--max-memory", "300")
    line = r"numera: error: out of memory: --max-memory is 300 MiB( \(.*\))?\n"
    assert done.returncode == 1 and re.fullmatch(line, done.stderr), done.stderr
    assert not (tmp_path / "x.html").exists()
