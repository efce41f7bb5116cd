# SPDX-License-Identifier: MIT
"""What a store and policies of studies depend on."""

import json

import numera
import numpy as np
import pytest
from numera.study import _keys
from numera.study._command import main
from studies import LABELS, LAYER, W, X, kept

CUT = "0xffff0000u"


def test_headers_are_part_of_a_format(tmp_path):
    """Of libraries in C: beside the source, in folders, and headers of headers."""
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "mask.h").write_text(f"#define MASK {CUT}\n")
    (tmp_path / "cut.h").write_text("# include <mask.h>\n")
    (tmp_path / "cut.c").write_text(
        '#include "cut.h"\n#include <stdint.h>\n#include <string.h>\n'
        "uint16_t from(float x) { uint32_t u; memcpy(&u, &x, 4);"
        " return (u & MASK) >> 16; }\n"
        "float to(uint16_t c) { uint32_t u = c << 16; float x; memcpy(&x, &u, 4);"
        " return x; }\n"
    )
    (tmp_path / "formats.yaml").write_text(
        "formats: {cut: {family: opaque, bits: 16, carrier: f32}}\n"
        "libraries: {cut: {path: cut.c, include: [include]}}\n"
        "lowerings:\n"
        "  - {op: cast, from: f32, to: cut, call: from}\n"
        "  - {op: cast, from: cut, to: f32, call: to}\n"
    )
    store = tmp_path / "sweep.sqlite"

    def run():
        (cut,) = numera.load(tmp_path / "formats.yaml").values()
        return kept(store, formats=cut)

    first, again = run(), run()
    assert (first.computed, again.computed) == (1, 0)
    (tmp_path / "include" / "mask.h").write_text("#define MASK 0xe0000000u\n")
    changed = run()
    assert changed.computed == 1 and changed[0].value < first[0].value - 0.1


def test_functions_of_formats_in_a_policy_are_part_of_a_result(tmp_path):
    store = tmp_path / "sweep.sqlite"
    values = []
    for k in (1, 1, 2):

        @numera.lowering("mul", "posit8")
        def mul(x, y, k=k):
            return x * y if k == 1 else y

        rule = {"match": {"op": "linalg.matmul"}, "format": mul, "accumulate": "same"}
        policy = {"rules": [rule]}
        found = kept(store, formats="bf16", policy=policy)
        values.append((found.computed, found[0].value))
    assert values[1] == (0, values[0][1])
    assert values[2][0] == 1 and values[2][1] != values[0][1]


def test_external_data_of_a_long_name_is_found(tmp_path):
    name = "w" * 140 + ".data"
    entry = b"\n\x08location\x12\x91\x01" + name.encode()
    (tmp_path / "model.onnx").write_bytes(b"\x08\x07" + entry + b"\x00")
    assert _keys.external(str(tmp_path / "model.onnx")) == [name]


def test_attributes_of_a_class_are_part_of_a_metric():
    def key(k):
        class Rule:
            factor = k

        return _keys.function(lambda outputs, labels: Rule.factor)

    assert key(2) == key(2) != key(3)


@pytest.mark.parametrize(
    ("scale_format", "bits"), [(None, 8.25), ("f32", 9), ("f16", 8.5)]
)
def test_bits_are_those_of_the_scales_that_a_policy_names(scale_format, bits, tmp_path):
    policy = {} if scale_format is None else {"scale-format": scale_format}
    given = {"formats": "f8E4M3FN", "scale": "block(32)"}
    assert kept(None, policy=policy, **given)[0].bits == bits
    if policy:
        (tmp_path / "p.yaml").write_text(f"policy: {{scale-format: {scale_format}}}")
        assert kept(None, policy=tmp_path / "p.yaml", **given)[0].bits == bits


def test_a_policy_file_names_formats_that_were_loaded(tmp_path):
    (tmp_path / "p.yaml").write_text(
        "policy: {rules: [{match: {op: linalg.matmul}, format: coarse_of_a_file}]}"
    )
    with pytest.raises(numera.Error, match="unknown format 'coarse_of_a_file'"):
        numera.compile(LAYER, policy=tmp_path / "p.yaml")
    (tmp_path / "f.yaml").write_text(
        "formats: {coarse_of_a_file: {family: float, exponent: 2, mantissa: 1}}"
    )
    numera.load(tmp_path / "f.yaml")
    plain = numera.compile(LAYER, policy={"default": "float<2,1>"})(X, W)
    found = numera.compile(LAYER, policy=tmp_path / "p.yaml")(X, W)
    np.testing.assert_array_equal(found, plain)
    swept = kept(None, formats="bf16", policy=tmp_path / "p.yaml")
    right = (found.argmax(1) == LABELS).mean()
    assert swept[0].value == pytest.approx(right)


def test_a_policy_in_a_file_of_formats_is_not_left_out(tmp_path, capsys):
    """`report` and `cost` take it, as `numera run` does; others ask for its option."""
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "w.npy", W)
    (tmp_path / "layer.mlir").write_text(LAYER)
    (tmp_path / "both.yaml").write_text(
        "formats: {coarse: {family: float, exponent: 2, mantissa: 1}}\n"
        "policy: {default: f32, rules: [{match: {op: linalg.matmul}, format: coarse}]}"
    )
    words = [str(tmp_path / "layer.mlir"), "--formats", str(tmp_path / "both.yaml")]
    words += ["--input", str(tmp_path / "x.npy"), "--input", str(tmp_path / "w.npy")]
    assert main(["report", *words, "--json", "--hints", "0"]) == 0
    (layer,) = json.loads(capsys.readouterr().out)["layers"]
    assert layer["format"] == "coarse"
    words[1] = "--load"
    assert main(["sweep", *words, "--formats", "bf16", "--metric", "rmse"]) == 1
    message = f"{tmp_path / 'both.yaml'} has a policy; name it with --policy"
    assert message in capsys.readouterr().err
