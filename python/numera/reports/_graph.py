# SPDX-License-Identifier: MIT
"""Where the layers of a network are drawn: Sugiyama's method, by grandalf."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from grandalf.graphs import Edge, Graph, Vertex
from grandalf.layouts import SugiyamaLayout

__all__ = ["Place", "layout"]


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
