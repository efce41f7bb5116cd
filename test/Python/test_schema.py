# SPDX-License-Identifier: MIT
"""docs/numera.schema.json: what the reader accepts, and what it refuses."""

import json
import re
from pathlib import Path

import numera
import pytest

ROOT = Path(__file__).parents[2]
jsonschema = pytest.importorskip("jsonschema")
yaml = pytest.importorskip("yaml")


@pytest.fixture(scope="module")
def validator():
    schema = json.loads((ROOT / "docs/numera.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def keys(schema, place=""):
    """Every key of every mapping, with its place."""
    if isinstance(schema, dict):
        for name, each in schema.items():
            if name == "properties":
                for key, value in each.items():
                    yield f"{place}/{key}", value
                    yield from keys(value, f"{place}/{key}")
            elif name != "if":
                yield from keys(each, f"{place}/{name}")
    elif isinstance(schema, list):
        for each in schema:
            yield from keys(each, place)


def test_each_key_has_a_description(validator):
    def described(value):
        target = value.get("$ref", "").rpartition("/")[2]
        return value.get("description") or validator.schema["$defs"].get(
            target, {}
        ).get("description")

    found = list(keys(validator.schema))
    assert len(found) > 100
    assert not [place for place, value in found if not described(value)]


FILES = sorted(
    [
        *ROOT.glob("examples/**/*.yaml"),
        *ROOT.glob("lib/Registry/Builtin/*.yaml"),
        *ROOT.glob("test/Execution/**/*.yaml"),
        *ROOT.glob("test/Tools/Inputs/**/*.yaml"),
        *ROOT.glob("tools/numera/Commands/Skeleton/*.yaml"),
    ]
)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_are_valid(validator, path):
    text = path.read_text().replace("@NAME@", "mine")
    errors = [
        f"{e.json_path}: {e.message}"
        for e in validator.iter_errors(yaml.safe_load(text) or {})
    ]
    assert not errors


def configurations():
    """Whole configurations on pages."""
    for page in sorted((ROOT / "docs").rglob("*.md")) + [ROOT / "README.md"]:
        for number, text in enumerate(
            re.findall(
                r"^```yaml\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL
            )
        ):
            if re.match(r"(?:#.*\n)*(formats|libraries|lowerings|policy):", text):
                yield pytest.param(text, id=f"{page.name}-{number}")


@pytest.mark.parametrize("text", list(configurations()))
def test_pages_are_valid(validator, text):
    errors = [
        f"{e.json_path}: {e.message}"
        for e in validator.iter_errors(yaml.safe_load(text))
    ]
    assert not errors


REFUSED = """
formatz: {}
formats: {a: {family: flout, exponent: 5, mantissa: 7}}
formats: {a: {family: float, exponents: 5, mantissa: 7}}
formats: {a: {family: float, exponent: 5, mantissa: 7, overflow: explode}}
formats: {a: {family: float, exponent: 5, mantissa: 7, rounding: sideways}}
formats: {a: {family: float, exponent: 5, mantissa: 7, specials: odd}}
formats: {a: {family: float, exponent: 5, mantissa: 7, operations: {mull: {rounding: up}}}}
formats: {a: {family: float, exponent: 5, mantissa: 7, operations: {mul: {round: up}}}}
formats: {a: {family: float, exponent: 17, mantissa: 7}}
formats: {a: {family: float, exponent: 5, mantissa: 53}}
formats: {a: {family: float, exponent: 5}}
formats: {a: {family: float, exponent: 5, mantissa: 7, rounding: stochastic, random-bits: 33}}
formats: {a: {family: fixed, integer: 65, fraction: 0}}
formats: {a: {family: posit, bits: 65, es: 2}}
formats: {a: {family: posit, bits: 8, es: 5}}
formats: {a: {family: posit, bits: 8, mantissa: 3}}
formats: {a: {family: posit, es: 2}}
formats: {a: {family: takum}}
formats: {a: {family: lns, integer: 12, fraction: 4}}
formats: {a: {family: opaque, bits: 257}}
formats: {a: {family: opaque}}
formats: {a: {family: opaque, bits: 8, proofs: maybe}}
formats: {a: {family: block, element: i8}}
formats: {a: {family: block, element: i8, size: 32, rule: best}}
libraries: {a: {paths: x.c}}
lowerings: [{op: plus, format: f32, call: f}]
lowerings: [{op: add, format: f32, call: f, vector: {lane: 3}}]
policy: {defaults: f32}
policy: {storage: dense}
policy: {rules: [{format: f32}]}
policy: {rules: [{match: {name: a, kind: b}, format: f32}]}
""".strip().splitlines()


@pytest.mark.parametrize("text", REFUSED)
def test_both_refuse(validator, text, tmp_path):
    assert list(validator.iter_errors(yaml.safe_load(text)))
    path = tmp_path / "formats.yaml"
    path.write_text(text + "\n")
    with pytest.raises(numera.Error):
        numera.load(path)
