# SPDX-License-Identifier: MIT
"""Constants of truths. Text has those of many elements as bytes, which releases of MLIR
pack in different ways: they are integers of a byte, and made smaller when a program runs.

    arith.constant dense<…> : tensor<…xi1>  becomes  arith.trunci of one in i8
"""

from __future__ import annotations

from typing import Any

import numpy as np
from torch_mlir import ir

from numera import _pieces as p

__all__ = ["widen"]

_FEW = 32
"""Elements that text has as words."""


def widen(module: Any) -> None:
    found: list[Any] = []

    def visit(operation: Any) -> Any:
        if operation.name == "arith.constant":
            kind = operation.results[0].type
            if (
                isinstance(kind, ir.RankedTensorType)
                and kind.element_type == ir.IntegerType.get_signless(1)
                and not ir.DenseElementsAttr(operation.attributes["value"]).is_splat
            ):
                found.append(operation)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    for constant in found:
        (result,) = constant.results
        truths = np.array(ir.DenseElementsAttr(constant.attributes["value"]))
        if truths.size <= _FEW:
            continue
        with constant.location, ir.InsertionPoint(constant):
            kind = ir.RankedTensorType.get(truths.shape, ir.IntegerType.get_signless(8))
            elements = ir.DenseElementsAttr.get(truths.astype(np.int8), type=kind)
            held = ir.Operation.create(
                "arith.constant", [kind], attributes={"value": elements}
            )
            narrow = p.make("arith.trunci", [held.results[0]], result.type)
        result.replace_all_uses_with(narrow)
        constant.operation.erase()
