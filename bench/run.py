# SPDX-License-Identifier: MIT
"""Measures ours and the peers side by side, and writes the results.

    ./dev bench [--only PATTERN] [--list] [--seconds S] [--json] [--write]

Compiles the programs of rows.py, runs numera-bench on them pinned to a core,
and prints a table; --write puts it into RESULTS.md with a plot beside it.
"""

import argparse
import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import time

import report
import rows as table
from programs import Builder

HERE = pathlib.Path(__file__).resolve().parent


def arguments():
    parser = argparse.ArgumentParser(prog="./dev bench", description=__doc__)
    parser.add_argument("--only", default="", metavar="PATTERN",
                        help="rows whose name matches this regular expression")
    parser.add_argument("--list", action="store_true", help="print row names")
    parser.add_argument("--seconds", type=float, default=1.0,
                        help="how long to measure a row")
    parser.add_argument("--json", action="store_true",
                        help="results for scripts, in place of the table")
    parser.add_argument("--write", action="store_true",
                        help="write RESULTS.md and results.svg")
    parser.add_argument("--core", type=int, default=os.cpu_count() - 1,
                        help="the core to pin to")
    parser.add_argument("--build", type=pathlib.Path,
                        default=HERE.parent / "build/release")
    return parser.parse_args()


def plan_of(rows, builder, seconds):
    """The lines for numera-bench; a row whose program does not compile gets
    its reason instead."""
    lines, failures = [], {}
    for row in rows:
        try:
            fields = {"kernel": row.kernel, "seconds": seconds, **row.fields,
                      **row.make(builder)}
        except RuntimeError as error:
            failures[row.name] = str(error)
            continue
        lines.append("\t".join([row.name,
                                *(f"{k}={v}" for k, v in fields.items())]))
    return lines, failures


def measure(lines, program, folder, cores):
    """Runs numera-bench pinned to `cores`; its benchmarks by name."""
    plan, out = folder / "plan.txt", folder / "out.json"
    plan.write_text("".join(line + "\n" for line in lines))
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": str(len(cores))}
    command = ["taskset", "-c", ",".join(map(str, cores)), str(program),
               str(plan), f"--benchmark_out={out}",
               "--benchmark_out_format=json"]
    result = subprocess.run(command, env=environment, text=True,
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if result.returncode:
        said = [line for line in result.stderr.splitlines()
                if line.startswith("numera-bench: ")]
        sys.exit(said[-1] if said else
                 f"bench: numera-bench ended with {result.returncode}")
    benchmarks = json.loads(out.read_text())["benchmarks"]
    return {b["run_name"].removesuffix("/iterations:1/manual_time"): b
            for b in benchmarks}


def child_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def time_compiler(row, builder):
    """The least of three times, in the form of numera-bench's results. Where
    other processes run, the compiler's CPU time is the better figure."""
    source = builder.onnx(row.fields["model"], row.fields["net"]())
    times = []
    while len(times) < 3 and sum(times) < 60:
        builder.made.pop("compile-time", None)
        start, used = time.perf_counter(), child_seconds()
        try:
            builder.model("compile-time", source, row.fields["flags"])
        except RuntimeError as error:
            return {"error_occurred": True, "error_message": str(error)}
        times.append(min(time.perf_counter() - start, child_seconds() - used))
    limit = row.fields["limit"]
    return {"ours": min(times), "peer": limit, "ratio": limit / min(times),
            "low": limit / max(times), "high": limit / min(times)}


def main():
    args = arguments()
    rows = [row for row in table.all_rows() if re.search(args.only, row.name)]
    if not rows:
        sys.exit(f"bench: no row matches '{args.only}'; --list prints them")
    if args.list:
        print(*(row.name for row in rows), sep="\n")
        return
    folder = args.build.parent / "bench"
    builder = Builder(args.build, folder, pathlib.Path("/usr/lib/llvm-22/bin"))
    measured, failures = {}, {}
    for row in rows:
        if row.kernel == "compile":
            measured[row.name] = time_compiler(row, builder)
    rest = [row for row in rows if row.kernel != "compile"]
    for count in sorted({row.cores for row in rest}):
        group = [row for row in rest if row.cores == count]
        cores = [args.core] if count == 1 else list(range(count))
        lines, failed = plan_of(group, builder, args.seconds)
        failures |= failed
        if lines:
            measured |= measure(lines, args.build / "bin/numera-bench", folder,
                                cores)
    results = [report.Result.of(row, measured.get(row.name),
                                failures.get(row.name)) for row in rows]
    if args.json:
        print(json.dumps([result.as_json() for result in results], indent=1))
    else:
        print(report.text(results))
    if args.write:
        (HERE / "RESULTS.md").write_text(report.markdown(results))
        (HERE / "results.svg").write_text(report.plot(results))


if __name__ == "__main__":
    main()
