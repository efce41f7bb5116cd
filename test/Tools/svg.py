# SPDX-License-Identifier: MIT
"""Check a picture: svg.py FILE LINES.

It is XML, it has a precision line for each format, and whatever is drawn lies
within it.
"""

import re
import sys
from xml.etree import ElementTree

root = ElementTree.parse(sys.argv[1]).getroot()
_, _, width, height = map(float, root.get("viewBox").split())
lines = 0
for element in root.iter():
    kind = element.tag.split("}")[1]
    if kind == "path":
        data = element.get("d")
        lines += "H" in data
        # M and L are points, H an x; relative moves are the ticks' own.
        points = [tuple(map(float, p)) for p in re.findall(r"[ML]([-\d.]+) ([-\d.]+)", data)]
        points += [(float(x), 0) for x in re.findall(r"H([-\d.]+)", data)]
    elif kind in ("text", "rect") and element.get("x"):
        points = [(float(element.get("x")), float(element.get("y")))]
    else:
        continue
    for x, y in points:
        if not (0 <= x <= width and 0 <= y <= height):
            sys.exit(f"outside: {x} {y} of {ElementTree.tostring(element)[:200]}")
if lines != int(sys.argv[2]):
    sys.exit(f"{lines} lines, expected {sys.argv[2]}")
