# SPDX-License-Identifier: MIT
"""Where the layers of a network are drawn: Sugiyama's method, by grandalf; where that
is too wide, as for dense connections, each layer below the deepest one it reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from grandalf.graphs import Edge, Graph, Vertex
from grandalf.layouts import SugiyamaLayout

__all__ = ["Place", "layout"]

_WIDEST = 12
"""Boxes side by side that a reader may be asked to scroll through."""


class Place(NamedTuple):
    """The middle of a layer's box. x grows to the right, y down, in boxes."""

    x: float
    y: float


class _Box:
    """What grandalf asks of a vertex."""

    w, h = 1.0, 1.0
    xy = (0.0, 0.0)


def layout(layers: Sequence[Mapping[str, Any]]) -> list[Place]:
    """One place for each layer, below those that it reads."""
    places = _drawn(layers)
    width = max((place.x for place in places), default=0.0)
    return places if width < _WIDEST else _stacked(layers)


def _stacked(layers: Sequence[Mapping[str, Any]]) -> list[Place]:
    """A row for each depth, in rows of their own where it has many layers."""
    depths: list[int] = []
    rows: dict[int, list[int]] = {}
    for i, layer in enumerate(layers):
        # A layer that reads its own results, in a loop, has no depth by these.
        above = [depths[source] for source in layer["inputs"] if source < i]
        depths.append(max(above, default=-1) + 1)
        rows.setdefault(depths[-1], []).append(i)
    places = [Place(0, 0)] * len(layers)
    y = 0.0
    for _, row in sorted(rows.items()):
        for begin in range(0, len(row), _WIDEST):
            part = row[begin : begin + _WIDEST]
            left = (_WIDEST - len(part)) / 2
            for x, i in enumerate(part):
                places[i] = Place((left + x) * 1.2, y)
            y += 1.6
    left = min((place.x for place in places), default=0.0)
    return [Place(place.x - left, place.y) for place in places]


def _drawn(layers: Sequence[Mapping[str, Any]]) -> list[Place]:
    vertices = [Vertex(i) for i in range(len(layers))]
    for vertex in vertices:
        vertex.view = _Box()
    edges = [
        Edge(vertices[source], vertices[i])
        for i, layer in enumerate(layers)
        for source in dict.fromkeys(layer["inputs"])
    ]
    places = [Place(0, 0)] * len(layers)
    right = 0.0
    for component in Graph(vertices, edges).C:
        drawing = SugiyamaLayout(component)
        drawing.xspace, drawing.yspace = 0.4, 0.6
        drawing.init_all()
        drawing.draw(4)
        own = {vertex.data: vertex.view.xy for vertex in component.sV}
        left = min(x for x, _ in own.values())
        top = min(y for _, y in own.values())
        for i, (x, y) in own.items():
            places[i] = Place(right + x - left, y - top)
        right += max(x for x, _ in own.values()) - left + 2
    return places
