# SPDX-License-Identifier: MIT
"""Pages: one file each, with its style, scripts and pictures inside."""

from __future__ import annotations

import functools
import json
import math
import pathlib
from typing import TYPE_CHECKING, Any

import jinja2
import vl_convert

from numera import _numera
from numera.reports import _charts, _policy
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
    return environment


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
    bundle: Any = vl_convert.javascript_bundle
    return str(bundle(vl_version=_VEGA_LITE)).replace("</script", "<\\/script")


def _json(value: Any) -> str:
    text = json.dumps(plain(value), ensure_ascii=False, separators=(",", ":"))
    # Nothing in a script element may end it, or begin a comment.
    return text.replace("<", "\\u003c")


_SHOWN = ("name", "exponents", "format_exponents", "count")


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
        "layers": [{key: layer[key] for key in _SHOWN} for layer in report.layers],
    }
    changes = [hint.policy for hint in report.hints if hint.layer]
    return render(
        "page.html.j2",
        data,
        ["page.js"],
        report=report,
        measures=_charts.MEASURES,
        policy=_policy.text(report.policy),
        better=_policy.text(_policy.changed(report.policy, changes)),
    )


@functools.cache
def _read(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")
