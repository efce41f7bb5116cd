# SPDX-License-Identifier: MIT
"""Pages: one file each, with its style, scripts and pictures inside."""

from __future__ import annotations

import functools
import json
import math
import pathlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import jinja2

from numera import _numera
from numera._apart import Ended, text_of
from numera._errors import Error
from numera.reports import _charts, _policy, _words
from numera.reports._hints import decibels, format_of
from numera.study._output import plain

if TYPE_CHECKING:
    from numera.reports._report import Report

__all__ = ["page", "render"]

_FOLDER = pathlib.Path(__file__).parent
_VEGA_LITE = "6.4"


@functools.cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_FOLDER),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["decibels"] = _decibels
    environment.filters["share"] = _share
    environment.filters["noise"] = _charts.noise
    environment.filters["worst_input"] = _worst_input
    environment.filters["room"] = _room
    environment.filters["gain"] = decibels
    environment.filters["about"] = _words.about
    environment.filters["listed"] = _listed
    return environment


def _worst_input(
    layer: Mapping[str, Any], layers: Sequence[Mapping[str, Any]]
) -> _charts.Noise:
    """That of what a layer reads."""
    found = [_charts.noise(layers[place], "") for place in layer["inputs"]]
    return min(found, key=lambda each: each.level, default=_charts.NOTHING)


def _listed(value: Any) -> str:
    """What was asked, as text."""
    if isinstance(value, Mapping):
        return "; ".join(f"{key}: {each}" for key, each in value.items())
    if isinstance(value, (list, tuple)):
        return "; ".join(map(str, value))
    return str(value)


def _room(layer: Mapping[str, Any]) -> str:
    """How far the largest number is from the format's, in words."""
    limits, found = layer.get("format_exponents"), layer["exponents"]
    if not limits or not found:
        return ""
    binades = limits[1] - max(map(int, found))
    if binades == 0:
        return "; the largest is in the last binade of the format"
    where, many = ("below" if binades > 0 else "above"), abs(binades)
    return (
        f"; the largest is {many} binade{'s' if many > 1 else ''} {where} the format's"
    )


def _decibels(value: float | None) -> str:
    if value is None:
        return "exact"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    return f"{value:.1f}".replace("-", "−")


def _share(value: float | None) -> str:
    if value is None:
        return "–"
    return "0" if value == 0 else f"{value:.2%}" if value >= 5e-5 else "< 0.01%"


@functools.cache
def _library() -> str:
    """Vega, Vega-Lite and Vega-Embed, without what ends a script."""
    try:
        bundle = text_of("vl_convert", "javascript_bundle", None, _VEGA_LITE)
    except Ended as error:
        raise Error(f"vl_convert, which a page needs, ended with {error}") from None
    return bundle.replace("</script", "<\\/script")


def _json(value: Any) -> str:
    text = json.dumps(plain(value), ensure_ascii=False, separators=(",", ":"))
    # Nothing in a script element may end it, or begin a comment.
    return text.replace("<", "\\u003c")


_SHOWN = ("name", "exponents", "format_exponents", "count")


def _of_histogram(layer: Mapping[str, Any]) -> dict[str, Any]:
    found = {key: layer.get(key) for key in _SHOWN}
    own = format_of(layer)
    if own and found["format_exponents"]:
        least = own.finfo.nearest("smallest_normal")
        if least and math.isfinite(least):
            found["normal"] = math.frexp(least)[1] - 1
    return found


_COLUMNS = {
    "layer": "opens the histogram of its numbers",
    "operation": "",
    "format": "what it computes in",
    "added, dB": "noise that the layer makes by itself, from exact inputs, below its "
    "signal: 20 log10 of their ratio",
    "in, dB": "noise of what it reads, of the worst of it",
    "out, dB": "noise of what it gives, all before it included",
    "mean ulp": "mean error that the layer makes by itself, in units of the format's "
    "last place",
    "overflow": "share of numbers that are too large for the format in f32",
    "underflow": "share of numbers that are below the format's least normal one in f32",
    "zeros": "share that is 0 and is not in f32, all before it included",
    "not finite": "share that is NaN or infinite and is not in f32, all before it "
    "included; dB are those of the rest",
    "codes used": "of the format's codes, how many occur",
    "in words": "the error that the layer makes by itself, root mean square, in ulps "
    "of its numbers: rounding alone makes 0.29",
}
"""Of the table, with what each means."""


def render(template: str, data: Any, scripts: list[str], **values: Any) -> str:
    """A page of a template that extends `base.html.j2`."""
    text: str = (
        _environment()
        .get_template(template)
        .render(
            style=_read("page.css"),
            script="\n".join(map(_read, ["table.js", *scripts])),
            library=_library(),
            data=_json(data),
            version=_numera.version(),
            **values,
        )
    )
    return text


def page(report: Report) -> str:
    """The page of a report as HTML."""
    data = {
        "graph": _charts.graph(report.layers),
        "histogram": _charts.histogram(),
        "layers": [_of_histogram(layer) for layer in report.layers],
    }
    changes = [hint.policy for hint in report.hints if hint.layer]
    return render(
        "page.html.j2",
        data,
        ["page.js"],
        report=report,
        measures=_charts.MEASURES,
        columns=_COLUMNS,
        whole=[
            _policy.text(_policy.changed(report.policy, [hint.policy]))
            for hint in report.hints
            if not hint.layer
        ],
        policy=_policy.text(report.policy),
        better=_policy.text(_policy.changed(report.policy, changes)),
    )


@functools.cache
def _read(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")
