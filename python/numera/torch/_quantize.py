# SPDX-License-Identifier: MIT
"""Rounding between layers, with a gradient that goes straight through."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import torch
from torch._C._functorch import is_functorch_wrapped_tensor, peek_interpreter_stack
from torch._functorch.utils import enable_single_level_autograd_function
from torch.autograd import forward_ad

from numera import _arrays, _casts, _formats, _kernels
from numera._errors import Error
from numera._formats import Format, ScaledFormat

__all__ = ["Quantizer", "quantize"]

Spec = str | Format

GRADIENT = 1 << 63
"""What sets the seed of a gradient apart from that of its number."""
_objects: dict[str, Format] = {}
"""Formats that have no name by which they can be found, by one."""


def _named(spec: Spec | None) -> str | None:
    """A name for a graph, which holds strings."""
    if spec is None:
        return None
    fmt = _casts.chosen(spec)
    try:
        if _formats.format(fmt.name) == fmt:
            return fmt.name
    except Error:
        pass
    name = f"{fmt.name}#{hash(fmt)}"
    _objects[name] = fmt
    return name


def _found(name: str) -> Format:
    return _objects.get(name) or _casts.chosen(name)


def _draws(fmt: Spec | None, rounding: str | None) -> bool:
    if fmt is None:
        return False
    found = _casts.chosen(fmt)
    if isinstance(found, ScaledFormat):
        return False
    return rounding == "stochastic" or (
        rounding is None and _kernels.is_stochastic(found)
    )


torch.library.define(
    "numera::quantize",
    "(Tensor x, Tensor draw, str? forward, str? backward, str? forward_rounding, "
    "str? backward_rounding, str? overflow, SymInt? axis) -> Tensor",
    tags=(torch.Tag.pt2_compliant_tag, torch.Tag.needs_fixed_stride_order),
)
_quantize = torch.ops.numera.quantize.default


@torch.library.register_kernel("numera::quantize", "cpu")
def _rounded(
    x: torch.Tensor,
    draw: torch.Tensor,
    forward: str | None,
    backward: str | None,
    forward_rounding: str | None,
    backward_rounding: str | None,
    overflow: str | None,
    axis: int | None,
) -> torch.Tensor:
    """``draw``: seed and step, i64, which graphs need not be made anew for."""
    if forward is None:
        return x.clone()
    seed, step = draw.tolist()
    fmt = _found(forward)
    result: torch.Tensor = _arrays.quantize(
        x.detach(),
        fmt,
        rounding=forward_rounding,
        overflow=overflow,
        seed=seed % (1 << 64),
        step=step,
        axis=axis if isinstance(fmt, ScaledFormat) else None,
        threads=torch.get_num_threads(),
    )
    return result


@torch.library.register_fake("numera::quantize")
def _(x: torch.Tensor, *others: Any) -> torch.Tensor:
    return torch.empty_like(x)


class _Through(torch.autograd.Function):
    """Of one level of derivatives. Transforms of ``torch.func`` have several, for
    which no operator with `torch.library.register_autograd` is."""

    @staticmethod
    def forward(ctx: Any, keys: Any, *given: Any) -> torch.Tensor:
        # PyTorch turns derivatives off here, those of the levels below as well.
        with torch.enable_grad(), forward_ad._set_fwd_grad_enabled(True):
            y = _below(keys, *given)
        _, draw, _, backward, _, rounding, overflow, axis = given
        ctx.options = (backward, None, rounding, None, overflow, axis)
        if backward is not None:
            ctx.save_for_backward(draw)
        return y

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[Any, ...]:
        if ctx.options[0] is not None:
            (draw,) = ctx.saved_tensors
            # Another seed than that of the number: its highest bit is the other one.
            other = draw ^ torch.tensor([-GRADIENT, 0])
            gradient = _quantize(gradient, other, *ctx.options)
        return (None, gradient, *[None] * 7)

    @staticmethod
    def jvp(ctx: Any, keys: Any, tangent: torch.Tensor, *_: Any) -> torch.Tensor:
        return tangent.clone()


def _below(keys: Any, *given: Any) -> torch.Tensor:
    """The operator without derivatives."""
    with torch._C._AutoDispatchBelowAutograd():
        y: torch.Tensor = _quantize.redispatch(
            keys & torch._C._after_autograd_keyset, *given
        )
        return y


def _derived(keys: Any, *given: Any) -> torch.Tensor:
    x = given[0]
    if not _has_tangent(x) and not (torch.is_grad_enabled() and x.requires_grad):
        return _below(keys, *given)
    with enable_single_level_autograd_function():
        # Not `_Through.apply`, which is for callers above all levels.
        y: torch.Tensor = super(torch.autograd.Function, _Through).apply(keys, *given)  # type: ignore[misc]
        return y


def _has_tangent(x: torch.Tensor) -> bool:
    if not torch._C._is_fwd_grad_enabled():
        return False
    # Not `forward_ad.unpack_dual`, which asks for a level that Dynamo does not set.
    unpacked: Any = torch._VF._unpack_dual(x, level=0)  # type: ignore[attr-defined]
    return unpacked[1] is not None


_library = torch.library.Library("numera", "FRAGMENT")
_library.impl("quantize", _derived, "Autograd", with_keyset=True)


@torch.library.register_vmap("numera::quantize")
def _(info: Any, dims: tuple[Any, ...], x: torch.Tensor, *others: Any) -> Any:
    draw, forward, *options, axis = others
    if dims[1] is not None:
        raise Error("torch.vmap over the seeds of numera.torch.quantize")
    x = x.movedim(dims[0], 0)
    fmt = None if forward is None else _found(forward)
    if isinstance(fmt, ScaledFormat):
        # Each has scales of its own.
        rows = [_quantize(row, draw, forward, *options, axis) for row in x]
        return torch.stack(rows), 0
    axis = axis + 1 if axis is not None and axis >= 0 else axis
    return _quantize(x, draw, forward, *options, axis), 0


ROUNDS = _quantize
"""The operator in graphs, which rounds between programs."""


def rounds_to(node: Any) -> Format:
    """The format that such a node of a graph rounds to."""
    name = node.args[2]
    return _casts.chosen("f32") if name is None else _found(name)


def quantize(
    x: torch.Tensor,
    format: Spec | None,
    *,
    backward: Spec | None = None,
    rounding: str | None = None,
    backward_rounding: str | None = None,
    overflow: str | None = None,
    axis: int | None = None,
    seed: int = 0,
    step: int = 0,
) -> torch.Tensor:
    """Rounds a tensor's elements to numbers of a format, its gradient to another's.

    The gradient of the rounding itself is taken to be 1 (straight through).

    format    a format, or a scaled one such as ``mxfp8``; None: x stays.
    backward  the format of the gradient; None: it stays.
    rounding, backward_rounding
              instead of the formats' own.
    axis      of scaled formats, as in :func:`numera.quantize`.
    seed, step
              of stochastic rounding. An element draws by its place in row-major
              order, and its gradient by another seed.

    >>> import torch, numera.torch
    >>> x = torch.tensor([0.1, 3.3], requires_grad=True)
    >>> y = numera.torch.quantize(x, "f8E4M3FN", backward="posit8")
    >>> (y * torch.tensor([1.0, 0.3])).sum().backward()
    >>> y.tolist(), x.grad.tolist()
    ([0.1015625, 3.25], [1.0, 0.3125])
    """
    if not isinstance(x, torch.Tensor):
        raise Error(f"quantize takes a tensor, found {type(x).__name__}")
    words = {"rounding": rounding, "backward_rounding": backward_rounding}
    _check({**words, "overflow": overflow}, seed=seed, step=step, axis=axis)
    draw = torch.tensor([_signed(seed), step])
    return _call(x, draw, format, backward, rounding, backward_rounding, overflow, axis)


def _check(words: dict[str, Any], **numbers: Any) -> None:
    """Refuses what PyTorch's operator would, in one line. Graphs have symbols, and
    tensors, in place of numbers."""
    for name, word in words.items():
        if word is not None and not isinstance(word, str):
            raise Error(f"{name} is {word!r}, expected a word such as 'nearest-even'")
    for name, number in numbers.items():
        if not isinstance(number, _WHOLE) and not (name == "axis" and number is None):
            raise Error(f"{name} is {number!r}, expected a whole number")


_WHOLE = (int, np.integer, torch.SymInt, torch.Tensor)


def _signed(seed: int) -> int:
    """The i64 whose bits are those of a seed."""
    return (seed + GRADIENT) % (1 << 64) - GRADIENT


def _call(
    x: torch.Tensor,
    draw: torch.Tensor,
    forward: Spec | None,
    backward: Spec | None,
    *options: Any,
) -> torch.Tensor:
    y: torch.Tensor = _quantize(x, draw, _named(forward), _named(backward), *options)
    return y


# ---- what is computed again -------------------------------------------------

_steps: dict[tuple[int, int], int] = {}
"""Steps of calls under ``torch.utils.checkpoint``, by the module and a number that
PyTorch draws. It is drawn once more where the call is made again, since the state of
PyTorch's generator is restored for that."""

_MOST = 1 << 16
"""Calls that are remembered."""


def _is_backward() -> bool:
    return torch._C._current_graph_task_id() != -1


def _is_transformed() -> bool:
    """Whether ``torch.func.grad`` or another transform runs."""
    return peek_interpreter_stack() is not None


def _is_checkpoint(trains: bool) -> bool:
    """Whether a call may be made again, or is. What is to be computed again hooks the
    tensors that are kept, or keeps none."""
    hooks = torch._C._autograd._top_saved_tensors_default_hooks(True)
    without = trains and not torch.is_grad_enabled()
    return _is_backward() or hooks is not None or without


def _is_traced() -> bool:
    """Whether tensors have no numbers, or ones that become a graph's."""
    traced = torch.fx.experimental.proxy_tensor.get_proxy_mode()
    return traced is not None or torch._guards.detect_fake_mode() is not None


class Quantizer(torch.nn.Module):
    """Rounds what goes through it, and the gradient that comes back.

    forward, backward
              formats; None: nothing is rounded.
    forward_rounding, backward_rounding
              instead of the formats' own.
    overflow, axis
              as in :func:`numera.torch.quantize`.
    seed      of stochastic rounding; None: a number that PyTorch draws.

    A module that draws has a buffer with its seed and the number of its calls, by
    which the next call draws; it is part of the state dict.

    >>> import torch, numera.torch
    >>> net = torch.nn.Sequential(
    ...     torch.nn.Linear(4, 4), numera.torch.Quantizer("f8E4M3FN", "f8E5M2"))
    >>> y = net(torch.ones(4))
    >>> bool((numera.quantize(y.detach(), "f8E4M3FN") == y).all())
    True
    """

    draw: torch.Tensor

    def __init__(
        self,
        forward: Spec | None = None,
        backward: Spec | None = None,
        *,
        forward_rounding: str | None = None,
        backward_rounding: str | None = None,
        overflow: str | None = None,
        axis: int | None = None,
        seed: int | None = None,
    ) -> None:
        super().__init__()
        words = {
            "forward_rounding": forward_rounding,
            "backward_rounding": backward_rounding,
            "overflow": overflow,
        }
        _check(words, seed=0 if seed is None else seed, axis=axis)
        self._formats = _named(forward), _named(backward)
        self._options = forward_rounding, backward_rounding, overflow, axis
        self.draws = _draws(forward, forward_rounding) or _draws(
            backward, backward_rounding
        )
        if seed is None:
            seed = int(torch.randint(1 << 62, ())) if self.draws else 0
        self.register_buffer(
            "draw", torch.tensor([_signed(seed), 0]), persistent=self.draws
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        draw = self._next() if self.draws else self.draw
        y: torch.Tensor = _quantize(x, draw, *self._formats, *self._options)
        return y

    def _count(self) -> None:
        """Also below transforms of ``torch.func``, which let nothing be changed that
        they are not given."""
        if _is_transformed() and not is_functorch_wrapped_tensor(self.draw):
            with torch._C._DisableFuncTorch():
                self.draw[1] += 1
        else:
            self.draw[1] += 1

    def _next(self) -> torch.Tensor:
        """Seed and step of a call, which are counted. One that computes again what
        ``torch.utils.checkpoint`` did not keep has those that it had."""
        draw = self.draw.clone()  # which the gradient needs
        if torch.compiler.is_compiling():
            self.draw[1] += 1
            return draw
        if _is_transformed() or _is_traced() or not _is_checkpoint(self.training):
            self._count()
            return draw
        key = id(self), int(torch.randint(1 << 62, (), device="cpu"))
        if key in _steps and _is_backward():
            # Selective checkpoints refuse what the forward pass did not do.
            with torch.utils._python_dispatch._disable_current_modes():
                draw[1] = _steps[key]
            return draw
        _steps[key] = int(draw[1])
        for oldest in list(itertools.islice(_steps, max(len(_steps) - _MOST, 0))):
            _steps.pop(oldest, None)
        self._count()
        return draw

    def extra_repr(self) -> str:
        """The formats."""
        forward, backward = self._formats
        return f"forward={forward}, backward={backward}"
