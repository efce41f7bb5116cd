# SPDX-License-Identifier: MIT
"""What numera.register refuses: arguments are named, and no lines of YAML."""

import pathlib

import numera
import pytest

MINE = pathlib.Path(__file__).parent / "mine.c"

WRONG = [
    ({"bits": 0}, "bits is '0', expected an integer from 1 to 256"),
    ({"carrier": "f33"}, "carrier is 'f33', expected f32 or f64"),
    ({"equivalent": "f61"}, "equivalent: unknown format 'f61', did you mean 'f64'?"),
    ({"flag": "-O2"}, "flag: unknown key 'flag' of a library, did you mean 'flags'?"),
    ({"target": "gppu"}, "target: unknown target 'gppu', did you mean 'cpu'?"),
    (
        {"operations": {"sub": "mine_add", "addd": "mine_add"}},
        "operations['addd']: unknown operation 'addd', did you mean 'add'?",
    ),
    (
        {"operations": {"add": {"call": "mine_add", "roundin": "up"}}},
        (
            "operations['add'] = {'call': 'mine_add', 'roundin': 'up'}: unknown key "
            "'roundin' of a lowering, did you mean 'rounding'?"
        ),
    ),
]


@pytest.mark.parametrize(("arguments", "line"), WRONG)
def test_errors_name_an_argument_and_no_line_of_yaml(arguments, line):
    given = {"operations": {"add": "mine_add"}, "bits": 16, **arguments}
    with pytest.raises(numera.Error) as error:
        numera.register("odd", source=MINE, **given)
    assert str(error.value) == f"numera.register('odd'): {line}"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ({"name": 5}, "name is 5, expected text"),
        ({"source": None}, "source is None, expected a path or several"),
        ({"source": []}, "source is [], expected a path or several"),
        ({"operations": ["add"]}, "operations are ['add'], expected {'add': 'my_add'}"),
        (
            {"operations": {"add": 5}},
            "operations['add'] is 5, expected the name of a function",
        ),
    ],
)
def test_arguments_of_other_types_are_one_line(arguments, line):
    with pytest.raises(numera.Error) as error:
        numera.register(**{"name": "odd", "bits": 16, "source": MINE, **arguments})
    assert str(error.value) == line
