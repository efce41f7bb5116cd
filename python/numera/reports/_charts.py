# SPDX-License-Identifier: MIT
"""Charts, as specifications of Vega-Lite. Layers' data are put in by page.js."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from numera.reports._graph import layout

__all__ = [
    "BAD",
    "FAIR",
    "GOOD",
    "MEASURES",
    "NOTHING",
    "Noise",
    "SCHEMA",
    "Spec",
    "config",
    "graph",
    "histogram",
    "noise",
]

Spec = dict[str, Any]

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
_BOX = (150, 22)
"""Width and height of a layer's box, in pixels."""

_NAME = {
    "type": "text",
    "limit": _BOX[0] - 8,
    "fontSize": 11,
    "font": "sans-serif",
    "color": "white",
    "cursor": "pointer",
}
_OUTLINE = {
    "stroke": "black",
    "strokeWidth": 2.5,
    "strokeJoin": "round",
    "strokeOpacity": 0.75,
}

MEASURES = {
    "own": "noise that the layer adds, dB below its signal",
    "all": "noise of all that was computed so far, dB",
    "beyond": "share that overflows",
    "zeros": "share that is lost to zero",
    "lost": "share that is NaN or infinite",
}
"""What the graph's colours show."""
_DECIBELS = ("own", "all")
BAD, FAIR, GOOD = "#c62a2f", "#c9a227", "#2f7f9e"
_EXACT = 1e4
"""For what has no noise, in dB; numbers that are lost have the negative of it."""
_LOUD = 6.0
"""In dB. Below, the noise is half as large as the signal."""
_MOSTLY = 0.5


class Noise(NamedTuple):
    """dB of a layer's noise as words and as a number, and whether it is alarming."""

    text: str
    level: float
    bad: bool = False


NOTHING = Noise("–", _EXACT)
"""Of what was not compared."""


def noise(layer: Mapping[str, Any], prefix: str) -> Noise:
    """Of the layer by itself, ``own_``, or all so far. Where most numbers are lost,
    those that are left do not count."""
    found, error = layer[f"{prefix}sqnr_db"], layer[f"{prefix}max_abs_error"]
    if layer[f"{prefix}lost"] >= _MOSTLY:
        return Noise("lost", -_EXACT, True)
    if found is not None:
        return Noise(f"{found:.1f}".replace("-", "−"), found, found < _LOUD)
    if error is None:
        return NOTHING
    return Noise("exact", _EXACT) if error == 0 else Noise("−∞", -_EXACT, True)


def _limits(boxes: Sequence[Mapping[str, Any]]) -> dict[str, list[float]]:
    """For each measure the numbers with the first and the last colour: of dB, all but
    a few far away."""
    found = {}
    for key in MEASURES:
        values = sorted(box[key] or 0.0 for box in boxes) or [0.0]
        if key in _DECIBELS:
            known = [each for each in values if abs(each) < _EXACT] or [0.0]
            low, high = known[len(known) // 20], known[-1 - len(known) // 20]
            found[key] = [low, max(high, low + 10)]
        else:
            found[key] = [0.0, max(values[-1], 0.01)]
    return found


def config() -> Spec:
    """Colours of the page, so that they follow a light or dark theme."""
    ink = {"labelColor": "currentColor", "titleColor": "currentColor"}
    return {
        "background": None,
        "font": "inherit",
        "view": {"stroke": None},
        "axis": {
            **ink,
            "domainColor": "currentColor",
            "tickColor": "currentColor",
            "gridColor": "currentColor",
            "gridOpacity": 0.15,
        },
        "legend": ink,
        "text": {"color": "currentColor"},
    }


def graph(layers: Sequence[Mapping[str, Any]]) -> Spec:
    """The network, a box a layer, its colour the measure that is chosen."""
    places = layout(layers)
    width = max((place.x for place in places), default=0) + 1
    height = max((place.y for place in places), default=0) + 1
    boxes = [
        {
            "layer": i,
            "name": layer["name"],
            "operation": layer["operation"],
            "format": layer["format"],
            "x": round(place.x, 3),
            "y": round(place.y, 3),
            "own": noise(layer, "own_").level,
            "own_text": noise(layer, "own_").text,
            "all": noise(layer, "").level,
            "all_text": noise(layer, "").text,
            "beyond": layer["overflow"],
            "zeros": layer["zeros"],
            "lost": layer["lost"],
        }
        for i, (layer, place) in enumerate(zip(layers, places))
    ]
    lines = [
        {
            "x": boxes[source]["x"],
            "y": boxes[source]["y"],
            "x2": boxes[i]["x"],
            "y2": boxes[i]["y"],
        }
        for i, layer in enumerate(layers)
        for source in dict.fromkeys(layer["inputs"])
    ]
    x = {"type": "quantitative", "axis": None, "scale": {"domain": [-0.6, width - 0.4]}}
    y = {**x, "scale": {"domain": [height - 0.4, -0.6]}}
    place = {"x": {"field": "x", **x}, "y": {"field": "y", **y}}
    tooltip = [
        {"field": "name", "type": "nominal", "title": "layer"},
        {"field": "operation", "type": "nominal"},
        {"field": "format", "type": "nominal"},
        {"field": "own_text", "type": "nominal", "title": "noise added, dB"},
        {"field": "all_text", "type": "nominal", "title": "noise in all, dB"},
        {"field": "beyond", "title": "overflow", "format": ".2%"},
        {"field": "zeros", "title": "zeros", "format": ".2%"},
        {"field": "lost", "title": "not finite", "format": ".2%"},
    ]
    limits = json.dumps(_limits(boxes))
    is_share = "(measure !== 'own' && measure !== 'all')"
    return {
        "$schema": SCHEMA,
        "description": "The network; the table of layers has the same numbers.",
        "width": round((width + 0.2) * _BOX[0] * 1.1),
        "height": round((height + 0.2) * _BOX[1] * 1.1),
        "params": [{"name": "measure", "value": "own"}],
        "layer": [
            {
                "data": {"values": lines},
                "mark": {
                    "type": "rule",
                    "color": "currentColor",
                    "opacity": 0.4,
                    "aria": False,
                },
                "encoding": {**place, "x2": {"field": "x2"}, "y2": {"field": "y2"}},
            },
            {
                "data": {"values": boxes},
                "transform": [{"calculate": "datum[measure]", "as": "shown"}],
                "mark": {
                    "type": "rect",
                    "width": _BOX[0],
                    "height": _BOX[1],
                    "cornerRadius": 4,
                    "cursor": "pointer",
                    "stroke": "currentColor",
                    "strokeOpacity": 0.4,
                },
                "encoding": {
                    **place,
                    "color": {
                        "field": "shown",
                        "type": "quantitative",
                        "title": None,
                        "scale": {
                            "range": [BAD, FAIR, GOOD],
                            "interpolate": "rgb",
                            "clamp": True,
                            "domainMin": {"expr": f"{limits}[measure][0]"},
                            "domainMax": {"expr": f"{limits}[measure][1]"},
                            "reverse": {"expr": is_share},
                        },
                        "legend": {"orient": "top", "gradientLength": 240},
                    },
                    "tooltip": tooltip,
                },
            },
            # The name, first its outline.
            *(
                {
                    "data": {"values": boxes},
                    "mark": {**_NAME, **outline, "aria": False},
                    "encoding": {
                        **place,
                        "text": {"field": "name", "type": "nominal"},
                        "tooltip": tooltip,
                    },
                }
                for outline in (_OUTLINE, {})
            ),
        ],
        "config": config(),
    }


def histogram() -> Spec:
    """Numbers of the reference by binade, and the range of the format behind."""
    x = {
        "field": "exponent",
        "type": "quantitative",
        "title": "exponent of the number in f32",
        "scale": {"nice": False, "zero": False},
        "axis": {"tickMinStep": 1, "format": "d"},
    }
    return {
        "$schema": SCHEMA,
        "width": "container",
        "height": 160,
        "autosize": {"type": "fit", "contains": "padding"},
        "datasets": {"range": [], "binades": [], "normal": []},
        "layer": [
            {
                "data": {"name": "range"},
                "mark": {"type": "rect", "color": "#4c9a5f", "opacity": 0.2},
                "encoding": {"x": {**x, "field": "first"}, "x2": {"field": "last"}},
            },
            {
                "data": {"name": "binades"},
                "mark": {"type": "rect", "tooltip": True},
                "encoding": {
                    "x": {**x, "field": "first"},
                    "x2": {"field": "last"},
                    "y": {
                        "field": "share",
                        "type": "quantitative",
                        "title": "share",
                        "axis": {"format": "%", "tickCount": 4},
                    },
                    "y2": {"datum": 0},
                    "color": {
                        "field": "place",
                        "type": "nominal",
                        "title": None,
                        "scale": {
                            "domain": ["in range", "beyond the format"],
                            "range": ["#3b75af", "#d1495b"],
                        },
                        "legend": {"orient": "top"},
                    },
                },
            },
            {
                "data": {"name": "normal"},
                "mark": {
                    "type": "rule",
                    "color": "currentColor",
                    "strokeDash": [4, 3],
                    "aria": False,
                },
                "encoding": {"x": {**x, "field": "first"}},
            },
        ],
        "config": config(),
    }
