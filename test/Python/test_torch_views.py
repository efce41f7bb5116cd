# SPDX-License-Identifier: MIT
"""Results that are views, where calls decide on sizes and places: PyTorch makes them
anew by the strides and the place that a graph's result has in its memory."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_mlir")

import numera.torch

pytestmark = pytest.mark.usefixtures("fresh_dynamo")

PARAMETER = torch.nn.Parameter(torch.arange(24.0).view(6, 4))


def both(x):
    y = x * 2
    return y, y[y.shape[0] // 2 :]


def narrow(x):
    y = x.bfloat16() * 2
    return y, y[y.shape[0] // 2 :]


def repeated(x):
    y = x * 2
    return y, y[:, None].expand(-1, x.shape[0], -1), y.t()[1:]


VIEWS = {
    "chunks": lambda x: x.chunk(2, 0),
    "half": lambda x: (x.sum(), x[x.shape[0] // 2 :]),
    "last": lambda x: (x.select(0, x.shape[0] - 1),),
    "diagonal": lambda x: (x.diagonal(x.shape[0] - 3),),
    "steps": lambda x: (x[:: x.shape[0] // 2],),
    "repeated": lambda x: (x[:, None].expand(-1, x.shape[0], -1),),
    "parameter": lambda x: (x.sum(), PARAMETER[x.shape[0] - 2 :]),
    "chunks of a result": lambda x: (x * 2).chunk(2, 0),
    "half of a result": lambda x: ((x * 2)[x.shape[0] // 2 :],),
    "a result and its half": both,
    "a narrow result and its half": narrow,
    "a result and it repeated": repeated,
}


def run(function, rows):
    x = (torch.arange(rows * 4.0).view(rows, 4) + 1).requires_grad_()
    PARAMETER.grad = None
    results = function(x)
    sum((each.float() ** 2).sum() for each in results).backward()
    return [*(each.detach() for each in results), x.grad, PARAMETER.grad]


@pytest.mark.parametrize("function", VIEWS.values(), ids=VIEWS)
def test_views_that_sizes_place(function):
    compiled = torch.compile(function, backend=numera.torch.backend("f32"))
    for rows in 3, 4, 5, 6, 3:
        for found, wanted in zip(run(compiled, rows), run(function, rows), strict=True):
            assert (found is None) == (wanted is None)
            if wanted is not None:
                assert found.shape == wanted.shape and torch.equal(found, wanted)


def test_views_that_numbers_place():
    compiled = torch.compile(lambda x, i: x[i], backend=numera.torch.backend("f32"))
    x = torch.tensor([10.0, 20.0, 30.0])
    for i in 1, 2, 0, 1, 2:
        assert compiled(x, i) == x[i]


def test_a_view_of_an_argument_is_one():
    compiled = torch.compile(
        lambda x: x[x.shape[0] // 2 :], backend=numera.torch.backend("bf16")
    )
    for rows in 4, 6, 8:
        x = torch.arange(rows * 4.0).view(rows, 4) / 3
        part = compiled(x)
        part.zero_()
        assert (x[rows // 2 :] == 0).all() and (x[1 : rows // 2] != 0).all()
