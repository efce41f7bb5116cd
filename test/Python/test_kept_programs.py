# SPDX-License-Identifier: MIT
"""Programs that were compiled before, by this process or another."""

import fcntl
import json
import os
import pathlib
import pickle
import subprocess
import sys
import threading

import numera
import numpy as np
import pytest

TEXT = """
func.func @scaled(%x: tensor<4x8xf32>, %w: tensor<8x4xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant dense<0.3> : tensor<4x4xf32>
  %empty = tensor.empty() : tensor<4x4xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x4xf32>)
    -> tensor<4x4xf32>
  %product = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x4xf32>)
    outs(%start : tensor<4x4xf32>) -> tensor<4x4xf32>
  %result = arith.mulf %product, %half : tensor<4x4xf32>
  return %result : tensor<4x4xf32>
}
"""
TWO = """
func.func @one(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }
func.func @two(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = arith.addf %x, %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
"""
WEIGHTED = """
func.func @plus(%x: tensor<{n}xf32>) -> tensor<{n}xf32> {{
  %w = arith.constant dense_resource<w> : tensor<{n}xf32>
  %y = arith.addf %x, %w : tensor<{n}xf32>
  return %y : tensor<{n}xf32>
}}
"""


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    path = tmp_path / "code"
    monkeypatch.setenv("NUMERA_CODE_CACHE", os.fspath(path))
    return path


def programs(folder):
    """The files of programs, which begin with JSON, and what tells a file that was
    written anew."""
    files = folder.glob("llvmcache-*")
    return {f: f.stat().st_ino for f in files if f.read_bytes()[:1] == b"{"}


def inputs():
    rng = np.random.default_rng(7)
    return rng.normal(size=(4, 8)).astype("f4"), rng.normal(size=(8, 4)).astype("f4")


def field(number, value):
    """Of a message of Protocol Buffers; numbers and lengths are below 128."""
    if isinstance(value, int):
        return bytes([number << 3, value])
    value = value.encode() if isinstance(value, str) else value
    return bytes([number << 3 | 2]) + bytes([len(value)]) + value


def model(add, path, external=None, is_constant=False):
    """An ONNX model of x + add, which may lie in a file of its own; an initializer
    or the value of a node."""
    data = np.full(4, add, "f4").tobytes()
    content = field(9, data)
    if external:
        (path.parent / external).write_bytes(data)
        place = field(1, "location") + field(2, external)
        content = field(13, place) + field(14, 1)
    plus = field(1, 4) + field(2, 1) + field(8, "plus") + content
    shape = field(1, 1) + field(2, field(1, field(1, 4)))
    value = [field(1, name) + field(2, field(1, shape)) for name in "xy"]
    node = field(1, "x") + field(1, "plus") + field(2, "y") + field(4, "Add")
    if is_constant:
        value_of = field(1, "value") + field(5, plus) + b"\xa0\x01\x04"
        constant = field(2, "plus") + field(4, "Constant") + field(5, value_of)
        graph = field(1, constant) + field(1, node) + field(2, "g")
    else:
        graph = field(1, node) + field(2, "g") + field(5, plus)
    graph += field(11, value[0]) + field(12, value[1])
    path.write_bytes(field(1, 8) + field(7, graph) + field(8, field(2, 17)))
    return path


def safetensors(path, values):
    data = np.asarray(values, "f4").tobytes()
    entry = {"dtype": "F32", "shape": [len(values)], "data_offsets": [0, len(data)]}
    header = json.dumps({"w": entry}).encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header + data)
    return path


def test_a_kept_program_is_as_the_one_that_was_compiled(folder, tmp_path):
    options = {"format": "f8E4M3FN", "accumulate": "f32"}
    plain = numera.compile(TEXT, **options, code_cache="off")
    assert not folder.exists()
    numera.compile(TEXT, **options)
    made = programs(folder)
    assert len(made) == 1
    kept = numera.compile(TEXT, **options)
    assert programs(folder) == made  # found, not written again
    given = inputs()
    np.testing.assert_array_equal(kept(*given), plain(*given))
    assert kept._metadata == plain._metadata
    for name in ("inputs", "outputs", "policy", "seed", "target"):
        assert getattr(kept, name) == getattr(plain, name)
    # What a model is needed for compiles it.
    for stage in ("import", "retype", "lowered"):
        assert kept.mlir(stage) == plain.mlir(stage)
    assert kept.stats(*given) == plain.stats(*given)
    assert kept.layers(*given) == plain.layers(*given)
    for program, name in ((kept, "kept.so"), (plain, "plain.so")):
        program.save(tmp_path / name)
    assert (tmp_path / "kept.so").read_bytes() == (tmp_path / "plain.so").read_bytes()
    again = pickle.loads(pickle.dumps(kept))
    np.testing.assert_array_equal(again(*given), plain(*given))


def elsewhere(line, *arguments):
    """What a line writes, in another process."""
    here = str(pathlib.Path(__file__).parent)
    code = f"import sys; sys.path.append({here!r})\n"
    code += f"import numpy, numera, test_kept_programs as t\n{line}"
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout


def test_another_process_finds_it(folder):
    result = numera.compile(TEXT, format="posit16")(*inputs())
    made = programs(folder)
    line = "y = numera.compile(t.TEXT, format='posit16')(*t.inputs())"
    written = elsewhere(f"{line}; sys.stdout.buffer.write(y.tobytes())")
    assert written == result.tobytes()
    assert programs(folder) == made


def test_all_that_a_program_follows_from_is_in_its_key(folder, tmp_path):
    def grows(*args, **options):
        before = set(programs(folder))
        numera.compile(*args, **options)
        new = set(programs(folder)) - before
        numera.compile(*args, **options)
        return len(new) == 1 and set(programs(folder)) == before | new

    rule = {"match": "*", "format": "f16"}
    for options in (
        {}, {"format": "bf16"}, {"format": "bf16", "accumulate": "f32"},
        {"format": "bf16", "accumulate": "same"}, {"format": "bf16", "seed": 5},
        {"format": "bf16", "rounding": "toward-zero"},
        {"format": "bf16", "rounding": "stochastic"},
        {"format": "bf16", "rounding": "stochastic", "random_bits": 7},
        {"format": "f8E4M3FN", "overflow": "saturate"},
        {"format": "f8E4M3FN", "overflow": "infinity"},
        {"format": "bf16", "output_as": "storage"},
        {"format": "bf16", "replace": ("f32", "f64")}, {"cpu": "x86-64-v2"},
        {"cpu": "x86-64-v2,x86-64-v3"}, {"optimization": 0}, {"optimization": 1},
        {"format": "posit16", "accumulate": "quire", "quires": [0]},
        {"policy": {"default": "bf16"}},
        {"policy": {"default": "bf16", "weights": "f16"}},
        {"policy": {"default": "bf16", "rules": [rule]}},
    ):  # fmt: skip
        assert grows(TEXT, **options), options
    assert grows(TEXT.replace("0.3", "0.4"))
    assert grows(TWO) and grows(TWO, function="one") and grows(TWO, function="two")
    # A name that comes to mean another format.
    path = tmp_path / "formats.yaml"
    for mantissa in (5, 6):
        path.write_text(
            f"formats: {{mine: {{family: float, exponent: 5, mantissa: {mantissa}}}}}"
        )
        assert grows(TEXT, format="mine", formats=path)


def test_a_format_that_is_another_now_has_other_bits(tmp_path):
    path, results = tmp_path / "formats.yaml", []
    for mantissa in (3, 10, 3):
        path.write_text(
            f"formats: {{mine: {{family: float, exponent: 5, mantissa: {mantissa}}}}}"
        )
        results.append(numera.compile(TEXT, format="mine", formats=path)(*inputs()))
    np.testing.assert_array_equal(results[0], results[2])
    assert (results[0] != results[1]).any()


@pytest.mark.parametrize("is_constant", [False, True])
@pytest.mark.parametrize("external", [None, "weights.bin"])
def test_a_model_that_is_another_now(folder, tmp_path, external, is_constant):
    for add in (1, 2, 1):
        path = model(add, tmp_path / "m.onnx", external, is_constant)
        program = numera.compile(path)
        assert program(np.zeros(4, "f4")).tolist() == [add] * 4
    assert len(programs(folder)) == 2
    if external:
        (tmp_path / external).unlink()
        with pytest.raises(numera.Error, match="cannot read its external data"):
            numera.compile(path)


def test_a_file_may_have_another_name(folder, tmp_path):
    path = model(1, tmp_path / "m.onnx")
    (tmp_path / "other").mkdir()
    other = model(1, tmp_path / "other" / "n.onnx")
    for each in (path, other, path.read_bytes(), path.read_bytes()):
        assert numera.compile(each)(np.zeros(4, "f4")).tolist() == [1] * 4
    assert len(programs(folder)) == 1


def test_a_pipe_is_read_once(folder, tmp_path):
    path = tmp_path / "model.mlir"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_text, args=(TEXT,))
    writer.start()
    x, w = inputs()
    got = numera.compile(path, format="posit8")(x, w)
    writer.join()
    np.testing.assert_array_equal(got, numera.compile(TEXT, format="posit8")(x, w))
    assert len(programs(folder)) == 1  # of the text


@pytest.mark.parametrize("beside", [True, False])
def test_weights_that_are_others_now(folder, tmp_path, beside):
    path = tmp_path / "m.mlir"
    path.write_text(WEIGHTED.format(n=4))
    weights = tmp_path / ("m.safetensors" if beside else "other.safetensors")
    options = {} if beside else {"safetensors": weights}
    for value in (1, 2, 1):
        safetensors(weights, [value] * 4)
        program = numera.compile(path, **options)
        assert program(np.zeros(4, "f4")).tolist() == [value] * 4
    assert len(programs(folder)) == 2
    weights.unlink()
    with pytest.raises(numera.Error, match=r"no elements of 'w'|other.safetensors"):
        numera.compile(path, **options)


def test_large_constants_are_kept_up_to_a_quarter(folder, tmp_path, monkeypatch):
    n = 60_000
    path = tmp_path / "m.mlir"
    path.write_text(WEIGHTED.format(n=n))
    values = np.arange(n, dtype="f4")
    safetensors(tmp_path / "m.safetensors", values)
    for _ in range(2):
        program = numera.compile(path)
        np.testing.assert_array_equal(program(np.ones(n, "f4")), values + 1)
        (kept,) = programs(folder)
    assert kept.stat().st_size > 4 * n
    kept.unlink()
    (folder / "llvmcache.timestamp").touch()
    monkeypatch.setenv("NUMERA_CODE_CACHE_SIZE", "1")
    safetensors(tmp_path / "m.safetensors", np.resize(values, 70_000))
    path.write_text(WEIGHTED.format(n=70_000))
    numera.compile(path)
    assert not programs(folder)


def test_a_library_that_is_another_now(folder, tmp_path):
    source = tmp_path / "mine.c"
    config = tmp_path / "mine.yaml"
    config.write_text(
        "libraries: {own: {path: mine.c}}\n"
        "lowerings:\n"
        "- {op: add, format: bf16, target: cpu, library: own, call: plus}\n"
    )
    for sign in "+", "-":
        source.write_text(
            "#include <stdint.h>\n"
            f"uint16_t plus(uint16_t a, uint16_t b) {{ return a {sign} 1; }}\n"
        )
        # A process reads a library once.
        line = (
            "p = numera.compile(t.TWO, format='bf16', formats=sys.argv[1],"
            "                   function='two', output_as='storage')\n"
            "print(p(numpy.ones(4, 'f4')).tolist())"
        )
        wanted = [0x3F80 + (1 if sign == "+" else -1)] * 4
        assert json.loads(elsewhere(line, config)) == wanted
    assert not folder.exists() or not programs(folder)


def test_what_is_not_whole_is_compiled_again(folder):
    expected = numera.compile(TEXT, format="posit16")(*inputs())
    (entry,) = programs(folder)
    good = entry.read_bytes()
    numera.compile(TEXT, format="bf16")
    (other,) = set(programs(folder)) - {entry}
    changed = good[:50] + bytes([good[50] ^ 1]) + good[51:]
    for bad in (b"", good[:-1], good[:100], changed, other.read_bytes()):
        entry.write_bytes(bad)
        program = numera.compile(TEXT, format="posit16")
        np.testing.assert_array_equal(program(*inputs()), expected)
        assert entry.read_bytes() == good
    # An object that it needs is gone, or no longer whole.
    whole = programs(folder)
    parts = [each for each in folder.glob("llvmcache-*") if each not in whole]
    for part in parts:
        content = part.read_bytes()
        for spoil in (part.unlink, lambda part=part: part.write_bytes(b"!")):
            spoil()
            program = numera.compile(TEXT, format="posit16")
            np.testing.assert_array_equal(program(*inputs()), expected)
            numera.compile(TEXT, format="bf16")
            assert part.read_bytes() == content


def test_warnings_are_kept(folder):
    policy = {"default": "bf16", "rules": [{"match": "conv9", "format": "f16"}]}
    for _ in range(2):
        with pytest.warns(UserWarning, match="conv9"):
            numera.compile(TEXT, policy=policy)
    assert len(programs(folder)) == 1


def test_of_those_that_begin_together_one_compiles(folder):
    numera.compile(TEXT, format="bf16")
    made = programs(folder)
    locks = [open(folder / f"{i:02x}.lock", "wb") for i in range(256)]
    for each in locks:
        fcntl.flock(each, fcntl.LOCK_EX)
    try:
        waits = threading.Thread(target=numera.compile, args=(TEXT,))
        waits.start()
        numera.compile(TEXT, format="bf16")  # what is there needs no lock
        waits.join(0.3)
        assert waits.is_alive() and programs(folder) == made
    finally:
        for each in locks:
            each.close()
    waits.join()
    assert len(programs(folder)) == 2


def test_a_folder_that_cannot_be_written_is_ignored(tmp_path):
    (tmp_path / "file").touch()
    given = inputs()
    expected = numera.compile(TEXT)(*given)
    for _ in range(2):
        program = numera.compile(TEXT, code_cache=tmp_path / "file" / "code")
        np.testing.assert_array_equal(program(*given), expected)
