#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Arrays from Python, beside NumPy's copy and the peers that are installed.

    PYTHONPATH=build/release/python taskset -c 1 build/venv/bin/python bench/python/arrays.py

Prints a Markdown table for each question: nanoseconds an element of 2^20 f32, and
microseconds a call on 1000 elements, each the median of rounds in which all
columns take their turn, in time of the thread. `of
copy` is the time of NumPy's copy over that of `numera.quantize`.
"""

import argparse
import importlib
import time

import numera
import numpy as np

FORMATS = {
    # name: ml_dtypes, gfloat, Pychop (exponent, significand)
    "bf16": ("bfloat16", "format_info_bfloat16", (8, 7)),
    "f16": (None, "format_info_binary16", (5, 10)),
    "f8E4M3FN": ("float8_e4m3fn", "format_info_ocp_e4m3", (4, 3)),
    "f8E5M2": ("float8_e5m2", "format_info_ocp_e5m2", (5, 2)),
    "float<5,7>": (None, None, (5, 7)),
    "posit8": (None, None, None),
    "posit16": (None, None, None),
    "takum<16>": (None, None, None),
}


def peer(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


ml_dtypes, gfloat, pychop = map(peer, ("ml_dtypes", "gfloat", "pychop"))


def medians(calls, rounds, repeat):
    """Seconds a call; each round goes through all of them."""
    for call in calls.values():
        call()
    times = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            begin = time.thread_time()
            for _ in range(repeat):
                call()
            times[name].append((time.thread_time() - begin) / repeat)
    return {name: sorted(t)[len(t) // 2] for name, t in times.items()}


def peers_of(name, x):
    """Calls that round to a format, by peer; slow ones on a part of the array."""
    dtype, info, bits = FORMATS[name]
    calls = {}
    if name == "f16":
        calls["numpy"] = (lambda: x.astype("f2").astype("f4"), 1)
    if ml_dtypes and dtype:
        dtype = getattr(ml_dtypes, dtype)
        calls["ml_dtypes"] = (lambda: x.astype(dtype).astype("f4"), 1)
    if gfloat and info:
        module = importlib.import_module("gfloat.formats")
        info, part = getattr(module, info), x[:: 1 + len(x) // 20000]
        calls["gfloat"] = (lambda: gfloat.round_ndarray(info, part), len(x) / len(part))
    if pychop and bits:
        part = x[:: 1 + len(x) // 20000]
        chop = pychop.Chop(exp_bits=bits[0], sig_bits=bits[1], rmode=1)
        calls["pychop"] = (lambda: chop(part), len(x) / len(part))
    return calls


def ours_of(name, x, threads):
    codes, out = numera.encode(x, name), np.empty_like(x)
    options = {"threads": threads}
    random = {"rounding": "stochastic", **options}
    return {
        "copy": x.copy,
        "quantize": lambda: numera.quantize(x, name, **options),
        "out=": lambda: numera.quantize(x, name, out=out, **options),
        "stochastic": lambda: numera.quantize(x, name, **random),
        "encode": lambda: numera.encode(x, name, **options),
        "decode": lambda: numera.decode(codes, name, **options),
    }


def row(cells):
    print("| " + " | ".join(cells) + " |")


def table(title, header):
    print(f"\n{title}\n")
    row(header)
    row(["---"] + ["---:"] * (len(header) - 1))


def quantize_table(x, rounds, repeat, unit, scale, threads):
    names = ["copy", "quantize", "out=", "stochastic", "encode", "decode"]
    others = ["numpy", "ml_dtypes", "gfloat", "pychop"]
    table(
        f"{unit}, {len(x)} f32 in {threads} thread:",
        ["format", *names, "of copy", *others],
    )
    for name in FORMATS:
        # Peers by themselves: they leave little of the array in the caches.
        more = peers_of(name, x)
        found = medians(ours_of(name, x, threads), rounds, repeat)
        slow = {key: call for key, (call, _) in more.items()}
        found.update(medians(slow, min(rounds, 9), min(repeat, 9)))
        cells = [f"{found[key] * scale:.2f}" for key in names]
        cells.append(f"{found['copy'] / found['quantize']:.2f}")
        for key in others:
            share = more.get(key, (None, 1))[1]
            cells.append(f"{found[key] * share * scale:.2f}" if key in found else "–")
        row([f"`{name}`", *cells])


def operations_table(x, rounds, repeat, unit, scale):
    table(
        f"{unit}, operations on {len(x)} elements, Numera / ml_dtypes:",
        ["operation", "bf16", "f8E4M3FN", "posit16"],
    )
    operations = {
        "add": lambda a: a + a,
        "multiply": lambda a: a * a,
        "divide": lambda a: a / a,
        "exp": np.exp,
        "tanh": np.tanh,
        "less": lambda a: np.less(a, a),
        "sum": np.sum,
    }
    for name, operation in operations.items():
        cells = []
        for fmt in ("bf16", "f8E4M3FN", "posit16"):
            found = medians(operands_of(operation, fmt, x), rounds, repeat)
            cells.append(" / ".join(f"{t * scale:.2f}" for t in found.values()))
        row([name, *cells])


def operands_of(operation, name, x):
    ours = numera.array(x, name)
    calls = {"numera": lambda: operation(ours)}
    dtype = FORMATS[name][0]
    if ml_dtypes and dtype:
        theirs = x.astype(getattr(ml_dtypes, dtype))
        calls["ml_dtypes"] = lambda: operation(theirs)
    return calls


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=25)
    options = parser.parse_args()
    x = np.random.default_rng(0).standard_normal(1 << 20).astype(np.float32)
    few = x[:1000].copy()
    quantize_table(x, options.rounds, 1, "ns an element", 1e9 / len(x), threads=1)
    quantize_table(few, options.rounds, 100, "µs a call", 1e6, threads=1)
    with np.errstate(all="ignore"):
        operations_table(x, options.rounds, 1, "ns an element", 1e9 / len(x))
        operations_table(few, options.rounds, 100, "µs a call", 1e6)


main()
