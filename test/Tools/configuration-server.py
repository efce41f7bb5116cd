# SPDX-License-Identifier: MIT
"""What the editor's server for YAML says of texts, at their ends."""

import json
import subprocess


def session(text):
    units = len(text[text.rfind("\n") + 1 :].encode("utf-16-le")) // 2
    place = {"line": text.count("\n"), "character": units}
    uri = "test:///folder/f.yaml"
    messages = [
        {"id": 0, "method": "initialize", "params": {"capabilities": {}}},
        {
            "method": "textDocument/didOpen",
            "params": {
                "textDocument": {
                    "uri": uri,
                    "languageId": "yaml",
                    "version": 1,
                    "text": "formats: {}",
                }
            },
        },
        {
            "method": "textDocument/didChange",
            "params": {
                "textDocument": {"uri": uri, "version": 2},
                "contentChanges": [{"text": text}],
            },
        },
        {
            "id": 1,
            "method": "textDocument/completion",
            "params": {"textDocument": {"uri": uri}, "position": place},
        },
        {"id": 2, "method": "shutdown"},
        {"method": "exit"},
    ]
    lines = "".join(
        json.dumps({"jsonrpc": "2.0", **message}) + "\n// -----\n"
        for message in messages
    )
    done = subprocess.run(
        ["numera-lsp-server", "--yaml", "--lit-test"],
        input=lines,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    decoder, replies, rest = json.JSONDecoder(), [], done.stdout
    while "{" in rest:
        reply, end = decoder.raw_decode(rest[rest.index("{") :])
        replies.append(reply)
        rest = rest[rest.index("{") + end :]
    notes = [reply["params"] for reply in replies if "method" in reply]
    assert notes[0] == {"diagnostics": [], "uri": uri, "version": 1}, notes[0]
    words = [
        item["label"]
        for item in next(r for r in replies if r.get("id") == 1)["result"]["items"]
    ]
    return notes[1]["diagnostics"], words


def check(text, *words):
    _, found = session(text)
    if missing := [word for word in words if word not in found]:
        raise SystemExit(f"{text!r}: {missing} is not suggested, but {found}")
    return found


POSIT = "formats:\n  a:\n    family: posit\n"
assert check("fo", "fallback", "formats", "lowerings") == [
    "fallback",
    "formats",
    "libraries",
    "lowerings",
    "policy",
]
assert check("formats:\n  ") == []
check("formats:\n  a: {", "family")
check("formats:\n  a:\n    family: ", "float", "opaque")
found = check("formats:\n  a: {family: float, ", "mantissa", "overflow")
assert "family" not in found and "es" not in found, found
assert check("formats:\n  a: {family: float, overflow: ") == [
    "infinity",
    "propagate",
    "saturate",
    "wrap",
]
assert "exponent" not in check(POSIT + "    ", "bits", "es")
check(
    POSIT + "    es: 2\n\n  b: {family: posit, rounding: ", "nearest-even", "stochastic"
)
check("formats:\n  a: {family: posit, operations: {add: {rounding: ", "toward-zero")
check("lowerings:\n  - ", "op", "call")
found = check(
    "lowerings:\n- op: add\n  format: bf16\n- op: mul # a comment\n  ta",
    "target",
    "format",
)
assert "op" not in found, found
check("lowerings:\n  - {op: add, format: ", "bf16", "posit16")
check("lowerings:\n  - op: add\n    vector: {", "lanes")
check("policy:\n  rules:\n    - {match: x, ", "accumulate", "weights")
check("policy:\n  default: bf16\n  rules:\n    - match: x\n      format: ", "f8E4M3FN")
check(
    POSIT + "  # a comment\n  b: {family: fixed}\npolicy:\n  default: ",
    "a",
    "b",
    "bf16",
)
check("policy:\n  default: ", "mxfp8", "nvfp4", "bf16")
check("policy:\n  rules:\n    - match: x\n      weights: ", "mxfp8")
assert "mxfp8" not in check("lowerings:\n  - {op: add, format: ", "bf16")
check("libraries:\n  mine: {path: a.c, codes: ", "signed")

found, _ = session(POSIT + "    bits: 16\n    ess: 2\n")
assert len(found) == 1 and found[0]["range"]["start"] == {"line": 4, "character": 4}, (
    found
)
assert "unknown key 'ess'" in found[0]["message"] and found[0]["severity"] == 1, found
wide = 'libraries: {m: {path: "ä€😀😀😀.c", '
check(wide + "codes: ", "signed")
found, _ = session(wide + "cods: signed}}")
assert found[0]["range"]["start"]["character"] == 36, found
found, _ = session("formats: {a: {family: posit")
assert len(found) == 1 and "not valid YAML" in found[0]["message"], found
print("suggestions and errors as expected")
