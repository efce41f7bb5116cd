# SPDX-License-Identifier: MIT
"""Check JSON on stdin: json-fact.py EXPRESSION... are true of `it`."""

import json
import sys


def refuse(word):
    sys.exit(f"{word} is no JSON")


it = json.load(sys.stdin, parse_constant=refuse)
for expression in sys.argv[1:]:
    if eval(expression, {"it": it}) is not True:
        sys.exit(f"not true: {expression}\n{json.dumps(it, indent=1)}")
