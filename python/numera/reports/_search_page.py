# SPDX-License-Identifier: MIT
"""The page of a search: what was tried, what each format adds, what was chosen."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from numera.reports._charts import BAD, FAIR, GOOD, SCHEMA, Spec, config
from numera.reports._page import render

if TYPE_CHECKING:
    from numera.study._found import Search

__all__ = ["page"]


def page(search: Search) -> str:
    """The page as HTML."""
    records = search.records()
    layers = search.layers()
    data = {"trials": _trials(search, records), "noises": _noises(search, layers)}
    key = _key(search)
    return render(
        "search.html.j2",
        data,
        ["search.js"],
        search=search,
        layers=layers,
        cost=_COSTS[search.cost],
        roles=[key for key in layers[0] if key in _ROLES],
        trials=[{**each, "value": each[key]} for each in records],
        options={k: v for k, v in search.origin.options.items() if v is not None},
        policy=search.yaml(),
    )


_COSTS = {
    "weight-bits": "bits of a weight on the average",
    "element-bits": "bits of an element on the average",
    "cost": "by the table of costs",
}
_ROLES = ("format", "weights", "activations", "accumulate")


def _key(search: Search) -> str:
    """Under which records have the metric."""
    return search.metric if search.metric in search.records()[0] else "value"


def _trials(search: Search, records: list[dict[str, Any]]) -> Spec:
    """The metric over the cost, and the front as a line."""
    key = _key(search)
    points = [
        {
            "trial": n,
            "cost": record[search.cost],
            "value": record[key],
            "sqnr": record["sqnr_db"],
            "what": "best" if record["best"] else "tried",
        }
        for n, record in enumerate(records)
        if record[key] is not None and math.isfinite(record[key])
    ]
    front = [
        {"cost": trial.cost, "value": trial.value}
        for trial in search.pareto()
        if trial.value is not None and math.isfinite(trial.value)
    ]
    x = {
        "field": "cost",
        "type": "quantitative",
        "title": search.cost.replace("-", " "),
        "scale": {"zero": False},
    }
    y = {
        "field": "value",
        "type": "quantitative",
        "title": search.metric,
        "scale": {"zero": False},
    }
    tooltip = [
        {"field": "cost", "title": search.cost, "format": ".4g"},
        {"field": "value", "title": search.metric, "format": ".5g"},
        {"field": "sqnr", "title": "SQNR, dB", "format": ".1f"},
    ]
    what = {"field": "what", "type": "nominal", "title": None}
    words = ["tried", "best"]
    return {
        "$schema": SCHEMA,
        "description": "What was tried; the table of policies has the same numbers.",
        "width": "container",
        "height": 320,
        "autosize": {"type": "fit", "contains": "padding"},
        "layer": [
            {
                "data": {"values": front},
                "mark": {
                    "type": "line",
                    "interpolate": "step-after",
                    "color": "currentColor",
                    "opacity": 0.5,
                },
                "encoding": {"x": x, "y": y},
            },
            {
                "data": {"values": points},
                "mark": {
                    "type": "point",
                    "filled": True,
                    "opacity": 1,
                    "cursor": "pointer",
                },
                "encoding": {
                    "x": x,
                    "y": y,
                    "color": {
                        **what,
                        "scale": {"domain": words, "range": ["#3b75af", "#d1495b"]},
                        "legend": {"orient": "top"},
                    },
                    "shape": {
                        **what,
                        "scale": {"domain": words, "range": ["circle", "diamond"]},
                        "legend": {"orient": "top"},
                    },
                    "size": {
                        "condition": {"test": "datum.what === 'best'", "value": 220},
                        "value": 50,
                    },
                    "tooltip": tooltip,
                },
            },
        ],
        "config": config(),
    }


def _noises(search: Search, layers: list[dict[str, Any]]) -> Spec:
    """For each layer and format, dB of what it adds by itself; those that were chosen
    have a frame."""
    cells, names = [], [str(layer["name"]) for layer in layers]
    known: dict[str, None] = {}
    for layer, noises in zip(layers, search.noises()):
        chosen = "/".join(str(layer[r]) for r in _ROLES if layer.get(r) is not None)
        for format, noise in noises.items():
            known[format] = None
            cells.append(
                {
                    "layer": layer["name"],
                    "format": format,
                    "own": -10 * math.log10(noise) if noise > 0 else None,
                    "chosen": format == chosen,
                }
            )
    x = {"field": "format", "type": "nominal", "sort": list(known), "title": None}
    y = {"field": "layer", "type": "nominal", "sort": names, "title": None}
    angle = {"axis": {"orient": "top", "labelAngle": -30, "labelLimit": 240}}
    place = {"x": {**x, **angle}, "y": {**y, "axis": {"labelLimit": 240}}}
    return {
        "$schema": SCHEMA,
        "description": "Noise of each format in each layer.",
        "data": {"values": cells},
        "width": {"step": 56},
        "height": {"step": 24},
        "layer": [
            {
                "mark": {"type": "rect"},
                "encoding": {
                    **place,
                    "color": {
                        "field": "own",
                        "type": "quantitative",
                        "title": "dB below the signal",
                        "scale": {"range": [BAD, FAIR, GOOD], "interpolate": "rgb"},
                        "legend": {"orient": "top", "gradientLength": 240},
                    },
                    "tooltip": [
                        {"field": "layer", "type": "nominal"},
                        {"field": "format", "type": "nominal"},
                        {"field": "own", "title": "noise, dB", "format": ".1f"},
                    ],
                },
            },
            {
                "mark": {"type": "text", "color": "white", "interactive": False},
                "encoding": {
                    **place,
                    "text": {"field": "own", "type": "quantitative", "format": ".0f"},
                },
            },
            {
                "transform": [{"filter": "datum.chosen"}],
                "mark": {
                    "type": "rect",
                    "filled": False,
                    "stroke": "currentColor",
                    "strokeWidth": 3,
                    "interactive": False,
                },
                "encoding": place,
            },
        ],
        "config": config(),
    }
