#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whole models from ONNX files, beside onnxruntime in f32.

    PYTHONPATH=build/release/python taskset -c 1 build/venv/bin/python bench/python/models.py MODEL.onnx …

Prints a row of a Markdown table for each model: milliseconds a call, the median of
rounds in which all columns take their turn. `ratio` is onnxruntime's time over
Numera's in f32: above 1, Numera is faster. A format's column is its time over that
of Numera's f32. `error` is the largest difference of f32 results, over the largest
result. Inputs are normally distributed; sizes that are dynamic are 1.

With --threads 2, leave taskset out. Needs onnxruntime beside the package.
"""

import argparse
import pathlib
import time

import numera
import numpy as np
import onnxruntime


def session(path, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(
        str(path), options, providers=["CPUExecutionProvider"]
    )


def inputs_of(peer):
    random = np.random.default_rng(0)
    arrays = {}
    for entry in peer.get_inputs():
        shape = [size if isinstance(size, int) else 1 for size in entry.shape]
        if entry.type == "tensor(int64)":
            arrays[entry.name] = random.integers(0, 100, shape)
        else:
            arrays[entry.name] = random.standard_normal(shape).astype("f4")
    return arrays


def median(times):
    return sorted(times)[len(times) // 2]


def measure(path, given):
    peer = session(path, given.threads)
    arrays = inputs_of(peer)
    calls = {"onnxruntime": lambda: peer.run(None, arrays)}
    for name in ["f32", *given.formats]:
        options = {"format": name, "accumulate": given.accumulate}
        function = numera.compile(path, **(options if name != "f32" else {}))
        calls[name] = lambda function=function: function(
            *arrays.values(), threads=given.threads
        )
    wanted = calls["onnxruntime"]()[0]
    first = calls["f32"]()
    found = first[0] if isinstance(first, tuple) else first
    error = np.abs(found - wanted).max() / (np.abs(wanted).max() or 1)
    for call in calls.values():
        call()
    times = {name: [] for name in calls}
    end = time.monotonic() + given.seconds
    while time.monotonic() < end or len(times["f32"]) < 5:
        for name, call in calls.items():
            begin = time.perf_counter()
            call()
            times[name].append(time.perf_counter() - begin)
    took = {name: median(each) * 1e3 for name, each in times.items()}
    own = took["f32"]
    cells = [path.stem, f"{took['onnxruntime']:.3g}", f"{own:.3g}",
             f"{took['onnxruntime'] / own:.2f}",
             *(f"{took[name] / own:.2f}" for name in given.formats), f"{error:.1e}"]
    print("| " + " | ".join(cells) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("models", nargs="+", type=pathlib.Path)
    parser.add_argument("--formats", nargs="*", default=["bf16", "posit16", "f8E4M3FN"])
    parser.add_argument("--accumulate", default="f32")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=10, help="for each model")
    given = parser.parse_args()
    head = ["model", "onnxruntime", "f32", "ratio", *given.formats, "error"]
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head), flush=True)
    for path in given.models:
        measure(path, given)


if __name__ == "__main__":
    main()
