# SPDX-License-Identifier: MIT
"""Measures ours and the peers side by side, and writes the results.

    ./dev bench [--only PATTERN] [--list] [--seconds S] [--passes N] [--bounds] [--json] [--write]

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

import bounds
import report
import rows as table
from programs import Builder

# QPyTorch compiles its kernels when it is imported.
PYTORCH = ["torch==2.13.0", "qtorch", "ninja", "setuptools"]
HERE = pathlib.Path(__file__).resolve().parent
# A call on the wall clock is late for reasons of its own.
LEAST_SECONDS_OF_THREADS = 3


def positive(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is less than 1")
    return number


def arguments():
    parser = argparse.ArgumentParser(prog="./dev bench", description=__doc__)
    parser.add_argument("--only", default="", metavar="PATTERN",
                        help="rows whose name matches this regular expression")
    parser.add_argument("--list", action="store_true", help="print row names")
    parser.add_argument("--seconds", type=float, default=1.0,
                        help="how long to measure a row in a pass")
    parser.add_argument("--passes", type=positive, default=1, metavar="N",
                        help="measure all rows so many times, in turn; a "
                        "row's result is that of its median ratio")
    parser.add_argument("--json", action="store_true",
                        help="results for scripts, in place of the table")
    parser.add_argument("--write", action="store_true",
                        help="write RESULTS.md and results.svg")
    parser.add_argument("--bounds", action="store_true",
                        help="step through inner loops for what they allow")
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
        lines.append(line_of(row, fields))
    return lines, failures


def line_of(row, fields):
    return "\t".join([row.name, *(f"{k}={v}" for k, v in fields.items())])


def blas_core():
    """The kernels OpenBLAS shall use: on a machine newer than itself it takes
    its oldest ones, of SSE3, whatever the machine has."""
    if "OPENBLAS_CORETYPE" in os.environ or "avx512vl" not in report.cpu("flags").split():
        return {}
    return {"OPENBLAS_CORETYPE": "SkylakeX"}


def measure(lines, program, folder, cores):
    """Runs numera-bench pinned to `cores`; its benchmarks by name."""
    plan, out = folder / "plan.txt", folder / "out.json"
    plan.write_text("".join(line + "\n" for line in lines))
    # Its threads would look for work for 0.1 s, in what is measured next.
    environment = {**os.environ, **blas_core(),
                   "OPENBLAS_NUM_THREADS": str(len(cores)),
                   "OPENBLAS_THREAD_TIMEOUT": "20"}
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
    results = json.loads(out.read_text())
    return {b["run_name"].removesuffix("/iterations:1/manual_time"): b
            for b in results["benchmarks"]}


def median_of(passes):
    """Of a row's results, that of the median ratio, with what bounds are
    compared with, from the pass of the fewest cycles."""
    for result in passes:
        if result is None or result.get("error_occurred"):
            return result
    result = sorted(passes, key=lambda found: found["ratio"])[(len(passes) - 1) // 2]
    if "least" not in result:
        return result
    least = min(passes, key=lambda found: (found["least"] * found["ghz"],
                                           found["least"]))
    return result | {key: least[key] for key in ("least", "ghz")}


def find_bounds(rows, builder, program, cores):
    """Steps through the small instances of the rows; Bound by name."""
    folder, found = builder.folder, {}
    for row in rows:
        trace = folder / "trace.txt"
        trace.unlink(missing_ok=True)
        try:
            fields = {"kernel": row.kernel, "trace": trace, **row.small.fields,
                      **row.small.make(builder)}
            measure([line_of(row, fields)], program, folder, cores)
            # Random bits are drawn in a loop of their own.
            least = 0.1 if row.kernel == "quantize" else 1.0
            found[row.name] = bounds.bound_of(fields["program"], trace,
                                              row.small.work, builder.llvm,
                                              least)
        except (RuntimeError, OSError) as error:
            print(f"bench: no bound for {row.name}: {error}", file=sys.stderr)
    return found


def environment(folder):
    """A Python with what pip finds of the packages; each alone, since one may
    be missing."""
    home = folder.parent / "bench-venv"
    python = home / "bin/python"
    if not python.exists():
        subprocess.run(["/usr/bin/python3", "-m", "venv", home], check=True)
        for packages in (["numpy", "ml_dtypes"], ["pychop"], PYTORCH):
            subprocess.run([python, "-m", "pip", "install", "--quiet",
                            *packages], stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
    return python


def measure_python(rows, builder, seconds, core):
    described, failures = [], {}
    for row in rows:
        try:
            program = row.make(builder)["program"]
        except RuntimeError as error:
            failures[row.name] = str(error)
            continue
        described.append({"name": row.name, "seconds": seconds,
                          "program": str(program), **row.fields})
    result = subprocess.run(
        ["taskset", "-c", str(core), environment(builder.folder),
         HERE / "peers.py"], input=json.dumps(described), text=True,
        stdout=subprocess.PIPE)
    if result.returncode:
        sys.exit(f"bench: peers.py ended with {result.returncode}")
    return json.loads(result.stdout), failures


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
    packages = [row for row in rows if row.kernel == "python"]
    if packages:
        got, failed = measure_python(packages, builder, args.seconds, args.core)
        measured |= got
        failures |= failed
    rest = [row for row in rows if row.kernel not in ("compile", "python")]
    plans = []
    for count in sorted({row.cores for row in rest}):
        group = [row for row in rest if row.cores == count]
        cores = [args.core] if count == 1 else list(range(count))
        seconds = (args.seconds if count == 1 else
                   max(args.seconds, LEAST_SECONDS_OF_THREADS))
        lines, failed = plan_of(group, builder, seconds)
        failures |= failed
        if lines:
            plans.append((lines, cores))
    program = args.build / "bin/numera-bench"
    passes = [{name: result for lines, cores in plans for name, result
               in measure(lines, program, folder, cores).items()}
              for _ in range(args.passes)]
    for row in rest:
        measured[row.name] = median_of([found.get(row.name)
                                        for found in passes])
    found = {}
    if args.bounds:
        found = find_bounds([row for row in rows if row.small], builder,
                            program, [args.core])
    results = [report.Result.of(row, measured.get(row.name), found.get(row.name),
                                failures.get(row.name)) for row in rows]
    if args.json:
        print(json.dumps([result.as_json() for result in results], indent=1))
    else:
        print(report.text(results))
    if args.write:
        duration = (f"{args.passes} times " if args.passes > 1 else "") + \
            f"{args.seconds:g} s"
        (HERE / "RESULTS.md").write_text(report.markdown(results, duration))
        (HERE / "results.svg").write_text(report.plot(results))


if __name__ == "__main__":
    main()
