# SPDX-License-Identifier: MIT
"""Models of PyTorch, trained and run in a number format.

>>> import numera.torch
>>> import torch
>>> model = torch.nn.Linear(4, 2)
>>> model = torch.compile(model, backend=numera.torch.backend("posit16"))
"""

from numera.torch import optim
from numera.torch._arguments import backend
from numera.torch._backend import Backend
from numera.torch._export import Exported, compile
from numera.torch._fallback import Fallback
from numera.torch._linalg import TORCH_MLIR, to_linalg
from numera.torch._quantize import Quantizer, quantize

__all__ = [
    "TORCH_MLIR",
    "Backend",
    "Exported",
    "Fallback",
    "Quantizer",
    "backend",
    "compile",
    "optim",
    "quantize",
    "to_linalg",
]
