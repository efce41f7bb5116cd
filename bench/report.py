# SPDX-License-Identifier: MIT
"""Results as text, Markdown, JSON and a picture."""

import dataclasses
import datetime
import html
import math
import os
import pathlib


@dataclasses.dataclass
class Result:
    row: object
    ours: float = None     # seconds
    peer: float = None
    ratio: float = None    # of the row's times, peer over ours, the median
    low: float = None      # its quartiles
    high: float = None
    failure: str = None
    limit: object = None   # bounds.Bound
    ghz: float = None      # the clock beside ours
    least: float = None    # what ours takes at that clock, undisturbed

    @staticmethod
    def of(row, measured, limit=None, failure=None):
        if failure is None and measured is None:
            failure = "not measured"
        if failure is None and measured.get("error_occurred"):
            failure = measured["error_message"]
        if failure is not None:
            return Result(row, failure=failure)
        return Result(row, *(measured[key] for key in
                             ("ours", "peer", "ratio", "low", "high")),
                      limit=limit, ghz=measured.get("ghz"),
                      least=measured.get("least"))

    @property
    def verdict(self):
        if self.failure:
            return "failed"
        if self.row.bar is None:
            return ""
        return "met" if self.ratio >= self.row.bar else "not met"

    def bounds(self):
        """What the row's bytes take at memcpy's speed, and what the inner
        loop's instructions allow; seconds, each with the time of ours that it
        is a bound of: memcpy shares the machine as ours does, and a loop of
        instructions reaches its bound at best while no one else does."""
        found = {}
        if not self.failure and self.row.moved and self.row.peer == "memcpy":
            found[f"{self.row.moved} B"] = self.peer, self.ours
        if not self.failure and self.limit:
            text = " + ".join(
                f"{loop.instructions} instr, {short(loop.cycles)} cyc"
                for loop in self.limit.loops())
            found[text] = self.limit.seconds(self.row, self.ghz), self.least
        return found

    def bound(self):
        return "; ".join(f"{what}: {short(self.row.figure(seconds))}"
                         for what, (seconds, _) in self.bounds().items())

    def of_bound(self):
        """How much of the tighter bound is reached."""
        found = [bound / time for bound, time in self.bounds().values()]
        return f"{max(found):.0%}" if found else ""

    def cells(self):
        bar = "" if self.row.bar is None else short(self.row.bar)
        if self.failure:
            return [self.row.name, "", "", "", self.row.peer, "", "", bar,
                    "failed: " + self.failure]
        figure = self.row.figure
        return [self.row.name, self.bound(), short(figure(self.ours)),
                self.of_bound(), self.row.peer, short(figure(self.peer)), short(self.ratio), bar,
                self.verdict]

    def as_json(self):
        fields = {key: getattr(self, key) for key in
                  ("ours", "peer", "ratio", "low", "high", "failure",
                   "least", "ghz")}
        return {"name": self.row.name, "section": self.row.section,
                "peer_name": self.row.peer, "bar": self.row.bar,
                "unit": self.row.unit, "verdict": self.verdict,
                "bounds": {what: seconds for what, (seconds, _)
                           in self.bounds().items()}, **fields}


def short(value):
    """Three significant digits, without an exponent."""
    if value == 0 or not math.isfinite(value):
        return str(value)
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{round(value)}" if value == round(value) else f"{value:.{digits}f}"


HEADINGS = ["row", "bound", "measured", "of bound", "peer", "peer's", "ratio", "bar", ""]


def sections(results):
    grouped = {}
    for result in results:
        grouped.setdefault((result.row.section, result.row.unit),
                           []).append(result)
    return grouped.items()


def text(results):
    lines = []
    for (section, unit), group in sections(results):
        rows = [HEADINGS, *(result.cells() for result in group)]
        widths = [max(map(len, column)) for column in zip(*rows)]
        lines += ["", f"{section} ({unit})"]
        lines += ["  ".join(cell.ljust(width) for cell, width
                            in zip(row, widths)).rstrip() for row in rows]
    return "\n".join(lines[1:] + ["", summary(results)])


def summary(results):
    counts = {}
    for result in results:
        if result.verdict:
            counts[result.verdict] = counts.get(result.verdict, 0) + 1
    return ", ".join(f"{count} {what}" for what, count in counts.items())


def cpu(key):
    """What the system says of the CPU; empty where it does not."""
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        name, _, value = line.partition(":")
        if name.strip() == key:
            return value.strip()
    return ""


def machine():
    """The model of the CPU, and how many cores are used."""
    return ", ".join(filter(None, [cpu("model name"), f"{os.cpu_count()} cores"]))


def markdown(results, duration):
    """`duration`: how long a row was measured."""
    lines = ["<!-- SPDX-License-Identifier: MIT -->",
             "<!-- Written by ./dev bench --write; do not edit. -->",
             "# Results", "",
             f"{machine()}; {datetime.date.today().isoformat()}; a row for "
             f"{duration}. "
             "[README](README.md) says how to read this. "
             f"Of the rows with a bar: {summary(results)}.", "",
             "![Ratios over their bars](results.svg)"]
    for (section, unit), group in sections(results):
        lines += ["", f"## {section}", "", f"In {unit}.", "",
                  "| " + " | ".join(HEADINGS) + " |",
                  "|" + "---|" * len(HEADINGS)]
        lines += ["| " + " | ".join(result.cells()) + " |" for result in group]
    return "\n".join(lines) + "\n"


def plot(results):
    """Each ratio over its bar, on a logarithmic axis: right of the line, met."""
    shown = [r for r in results if r.row.bar is not None and not r.failure]
    left, width, step, top = 330, 420, 16, 40
    height = top + step * len(shown) + 20
    low, high = -2, 1  # 0.01 to 10 times the bar

    def x(value):
        place = (math.log10(max(value, 1e-9)) - low) / (high - low)
        return left + width * min(max(place, 0), 1)

    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 60}"'
             f' height="{height}" font-family="sans-serif" font-size="11">',
             "<!-- SPDX-License-Identifier: MIT -->",
             '<rect width="100%" height="100%" fill="white"/>',
             f'<text x="{left}" y="14" font-size="13">ratio over bar</text>']
    for power in range(low, high + 1):
        at = x(10.0**power)
        lines += [f'<line x1="{at}" y1="{top - 8}" x2="{at}" y2="{height - 20}"'
                  f' stroke="{"black" if power == 0 else "#ddd"}"/>',
                  f'<text x="{at}" y="{top - 12}" text-anchor="middle">'
                  f"{10.0**power:g}</text>"]
    for i, result in enumerate(shown):
        y = top + step * i
        over = result.ratio / result.row.bar
        color = "#2a7" if over >= 1 else "#c43"
        lines += [f'<text x="{left - 8}" y="{y + 10}" text-anchor="end">'
                  f"{html.escape(result.row.name)}</text>",
                  f'<rect x="{min(x(1), x(over))}" y="{y + 2}" height="9" '
                  f'width="{max(abs(x(over) - x(1)), 1)}" fill="{color}"/>',
                  f'<text x="{max(x(1), x(over)) + 4}" y="{y + 10}">'
                  f"{short(over)}</text>"]
    return "\n".join(lines + ["</svg>"]) + "\n"
