# SPDX-License-Identifier: MIT
"""The operations, from the list that the compiler expands
(include/numera/Numerics/Core/Operations.def)."""
import pathlib
import re
import typing

LIST = (pathlib.Path(__file__).resolve().parents[2]
        / "include/numera/Numerics/Core/Operations.def")
ROW = re.compile(r'^NUMERA_OPERATION\(\w+, (\w+), (\d), (\w+), \d+, "\w*",\s*'
                 r'((?:"[^"]*"\s*)+)\)$', re.M)


class Operation(typing.NamedTuple):
    name: str
    operands: int
    form: str
    mlir: list[str]


ALL = [Operation(name, int(operands), form, "".join(re.findall(r'"([^"]*)"', mlir)).split())
       for name, operands, form, mlir in ROW.findall(LIST.read_text())]


def of_operands(count):
    """Those on `count` numbers that give a number of the same format."""
    return [operation for operation in ALL if operation.operands == count
            and operation.form not in ("Test", "Cast", "Step")]
