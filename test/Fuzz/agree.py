# SPDX-License-Identifier: MIT
"""The same bits, however a program is compiled and run: agree.py FOLDER [--count N]
[--first SEED] compares, for each of N programs (generate.py), the ways of WAYS.

A program on which two differ stays in FOLDER, made small, with the command that
repeats it. Ways that refuse a program are counted by what they say.
"""

import argparse
import collections
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

import numpy as np
from generate import generate

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "Emulation" / "machines"))
import machines

# The first is the reference: every operation alone, for a CPU with SSE only.
WAYS = {
    "scalar": ["--optimization", "0", "--cpu", "x86-64"],
    "vectors": ["--threads", "1"],
    "threads": ["--threads", "2"],
    "v2": ["--cpu", "x86-64-v2"],
    "v3": ["--cpu", "x86-64-v3"],
    "v4": ["--cpu", "x86-64-v4"],
    "gpu": ["--target", "nvptx"],
}
# For CPUs that are emulated, whose options are those of the compiler.
ARM = {"arm": "aarch64", "arm-n1": "neoverse-n1", "arm-v1": "neoverse-v1"}
AVX512 = {f"avx512-{cpu.removesuffix('-avx512')}": cpu for cpu in machines.AVX512}
EMULATED = ARM | AVX512
NO_SUCH_CPU = re.compile(r"compiled for the CPU .*; this one has no ")
SPECIAL = np.array([0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-38, 3e38, 65504, 1, -1, 0.5], "f4")


def make_inputs(program, seed, folder):
    """Numbers of usual sizes, some special, and in one array of three any bits."""
    random = np.random.default_rng(seed)
    arrays = {}
    for name, shape in program.main.arguments.items():
        shape = [7 if size < 0 else size for size in shape]
        array = (random.standard_normal(shape) * 2.0 ** random.integers(-3, 4)).astype("f4")
        if random.random() < 0.3:
            array = random.integers(0, 1 << 32, shape, dtype=np.uint32).view("f4")
        elif random.random() < 0.5:
            chosen = random.random(shape) < 0.1
            array[chosen] = random.choice(SPECIAL, chosen.sum())
        arrays[name[1:]] = array
        np.save(folder / f"{name[1:]}.npy", array)
    return arrays


class Case:
    def __init__(self, seed, folder, ways, python, text=None):
        self.program, self.options, self.configuration = generate(seed)
        self.text = text or self.program.print()
        self.seed, self.folder, self.ways, self.python = seed, folder, ways, python
        self.arrays = make_inputs(self.program, seed, folder)
        if self.configuration:
            (folder / "formats.yaml").write_text(self.configuration)
            self.options = ["--formats", str(folder / "formats.yaml")]

    def command(self, way, options, inputs="."):
        given = []
        for name in self.arrays:
            given += ["--input", f"{name}={self.folder / inputs / name}.npy"]
        return ["numera", "run", str(self.folder / "program.mlir"), *self.options, "--function", "f",
                *options, *given, "--output-dir", str(self.folder / way)]

    def outputs(self, way):
        return {path.name: np.load(path) for path in sorted((self.folder / way).glob("*.npy"))}

    def run(self, way, options, inputs="."):
        """Its results, or its one line of error."""
        shutil.rmtree(self.folder / way, ignore_errors=True)
        done = subprocess.run(self.command(way, options, inputs), stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, timeout=600, check=False)
        if done.returncode == 0:
            return self.outputs(way)
        lines = [line for line in done.stderr.splitlines() if ": warning: " not in line]
        if done.returncode != 1 or len(lines) != 1 or "error:" not in lines[0]:
            return f"broke: status {done.returncode}: {done.stderr[:400]}"
        return lines[0].replace(str(self.folder), "")

    def run_python(self):
        """Compiled and called in a Python that has the package."""
        shutil.rmtree(self.folder / "python", ignore_errors=True)
        done = subprocess.run([self.python, str(HERE / "call.py"), str(self.folder), *self.options],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        return self.outputs("python") if done.returncode == 0 else done.stderr.strip().splitlines()[-1]

    def run_emulated(self, way):
        """Compiled for another CPU, and called where that is emulated."""
        folder = self.folder / way
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        done = subprocess.run(self.compile_command(way), stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode:
            return f"broke: status {done.returncode}: {done.stderr[:400]}"
        cpu = EMULATED[way]
        if message := machines.assemble(cpu, folder, "f") or machines.link(cpu, folder, "f"):
            return f"broke: {message}"
        signature = machines.signature_of(folder, "f")
        if isinstance(signature, str):
            return f"broke: {signature}"
        results = machines.call(cpu, folder, "f", list(self.arrays.values()), len(signature["outputs"]))
        if isinstance(results, str):
            return results
        return {f"output_{i}.npy": result for i, result in enumerate(results)}

    def compile_command(self, way):
        return ["numera", "compile", str(self.folder / "program.mlir"), *self.options, "--function", "f",
                *machines.target(EMULATED[way], self.folder / way, "f")]

    def run_split(self):
        """The rows of the batch in two calls; of what has a batch."""
        parts = []
        for i, rows in enumerate((slice(0, 3), slice(3, 7))):
            folder = self.folder / f"part{i}"
            folder.mkdir(exist_ok=True)
            for name, shape in self.program.main.arguments.items():
                array = self.arrays[name[1:]]
                np.save(folder / f"{name[1:]}.npy", array[rows] if shape[0] < 0 else array)
            parts.append(self.run(f"split{i}", WAYS["vectors"], f"part{i}"))
        if any(isinstance(part, str) for part in parts):
            return next(part for part in parts if isinstance(part, str))
        joined = {}
        for name in parts[0]:
            both = [part[name] for part in parts]
            batched = [array.shape[:1] for array in both] == [(3,), (4,)]
            joined[name] = np.concatenate(both) if batched else both[0]
        return joined

    def splits(self):
        text = " ".join(self.options) + (self.configuration or "")
        return (any(shape[0] < 0 for shape in self.program.main.arguments.values())
                and "stochastic" not in text and "mx" not in text)

    def differs(self, refused=None):
        """The ways that disagree with the first; None if none does. `refused`
        counts those that say that they cannot."""
        (self.folder / "program.mlir").write_text(self.text)
        expected, found = None, []
        for way in self.ways:
            if way == "split" and not self.splits():
                continue
            result = (self.run_python() if way == "python" else self.run_split() if way == "split"
                      else self.run_emulated(way) if way in EMULATED else self.run(way, WAYS[way]))
            if isinstance(result, str):
                if result.startswith("broke: "):
                    found.append((way, result))
                elif way == "scalar":
                    if refused is not None:
                        refused[f"all: {re.sub(r'^[^ ]*: ', '', result)}"] += 1
                    return None
                elif way == "gpu" or NO_SUCH_CPU.search(result):
                    if refused is not None:
                        refused[f"{way}: {re.sub(r'^[^ ]*: ', '', result)}"] += 1
                else:
                    found.append((way, result))
            elif expected is None:
                expected = result
            elif not same(expected, result):
                found.append((way, "other bits"))
        return found or None


def same(a, b):
    return a.keys() == b.keys() and all(
        a[n].dtype == b[n].dtype and a[n].shape == b[n].shape and a[n].tobytes() == b[n].tobytes() for n in a)


def shrink(case, found):
    """Smaller, by numera-reduce, as long as one of the same ways differs."""
    whole, script = case.folder / "whole.mlir", case.folder / "differs.sh"
    shutil.copy(case.folder / "program.mlir", whole)
    again = [sys.executable, str(HERE / "agree.py"), str(case.folder), "--first", str(case.seed), "--program"]
    ways = ["--ways", ",".join(way for way, _ in found), *(["--python", case.python] if case.python else [])]
    script.write_text(f'#!/bin/sh\n{shlex.join(again)} "$1" {shlex.join(ways)} > {os.devnull}\n')
    script.chmod(0o755)
    smaller = case.folder / "smaller.mlir"
    done = subprocess.run(["numera-reduce", str(whole), f"--reduce-functions=test={script}", "-o", str(smaller)],
                          stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        print(f"  not made smaller: {done.stderr.strip()}")
        return found
    case.text = smaller.read_text()
    return case.differs() or found


def report(case, found):
    kept = case.folder.parent / f"failed-{case.seed}"
    found = shrink(case, found)
    shutil.rmtree(kept, ignore_errors=True)
    shutil.copytree(case.folder, kept)
    lines = [f"program {case.seed}, {' '.join(case.options)}"]
    for way, how in found:
        command = (case.compile_command(way) if way in EMULATED
                   else case.command(way, WAYS.get(way, WAYS["vectors"])))
        lines += [f"  {way}: {how}", "    " + shlex.join(command).replace(str(case.folder), str(kept))]
    lines.append(f"  again: {sys.argv[0]} {case.folder.parent} --first {case.seed} --count 1")
    (kept / "report.txt").write_text("\n".join(lines) + "\n")
    print("\n".join(lines), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=4)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--python", help="a Python that has the package numera")
    parser.add_argument("--ways", type=lambda text: text.split(","), help="instead of all, as in v3,arm")
    parser.add_argument("--program", type=pathlib.Path, help="in place of the first one: a part of it")
    given = parser.parse_args()
    every = [*WAYS, *(ARM if machines.EMULATOR else []), *(AVX512 if machines.runs_avx512() else []), *(["python"] if given.python else []), "split"]
    if unknown := set(given.ways or []) - set(every):
        parser.error(f"no such way here: {', '.join(sorted(unknown))}; expected {', '.join(every)}")
    ways = [way for way in every if not given.ways or way == "scalar" or way in given.ways]
    os.environ.setdefault("NUMERA_CODE_CACHE", "off")
    if given.program:
        with tempfile.TemporaryDirectory() as folder:
            case = Case(given.first, pathlib.Path(folder), ways, given.python, given.program.read_text())
            sys.exit(bool(case.differs()))
    refused, failures, done = collections.Counter(), 0, 0
    try:
        for seed in range(given.first, given.first + given.count):
            folder = given.folder.absolute() / f"program-{given.first}"
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            case = Case(seed, folder, ways, given.python)
            if found := case.differs(refused):
                failures += 1
                report(case, found)
            done += 1
    except KeyboardInterrupt:
        pass  # what is done is said
    for text, count in refused.most_common():
        print(f"  refused {count} times: {text}")
    everywhere = sum(count for text, count in refused.items() if text.startswith("all: "))
    print(f"{done - everywhere} programs, {everywhere} refused, {failures} differ")
    sys.exit(failures != 0)


main()
