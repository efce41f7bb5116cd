# SPDX-License-Identifier: MIT
"""The same bits, however a program is compiled and run: agree.py FOLDER [--count N]
[--first SEED] compares, for each of N programs (generate.py), the ways of WAYS.

A program on which two differ stays in FOLDER, made small, with the command that
repeats it. Ways that refuse a program are counted by what they say.
"""

import argparse
import collections
import copy
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

import numpy as np
from generate import generate

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "Emulation" / "arm"))
import qemu  # noqa: E402

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
# For 64-bit Arm, whose options are those of the compiler.
ARM = {"arm": "aarch64", "arm-n1": "neoverse-n1", "arm-v1": "neoverse-v1"}
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
    def __init__(self, seed, folder, ways, python):
        self.program, self.options, self.configuration = generate(seed)
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

    def run_arm(self, way):
        """Compiled for 64-bit Arm, and run by an emulator of it."""
        folder = self.folder / way
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        done = subprocess.run(self.arm_command(way), stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode:
            return f"broke: status {done.returncode}: {done.stderr[:400]}"
        if message := qemu.link(folder, "f"):
            return f"broke: {message}"
        results = qemu.call(folder, "f", list(self.arrays.values()), len(self.program.main.outputs))
        if isinstance(results, str):
            return results
        return {f"output_{i}.npy": result for i, result in enumerate(results)}

    def arm_command(self, way):
        return ["numera", "compile", str(self.folder / "program.mlir"), *self.options, "--function", "f",
                "--cpu", ARM[way], "-o", str(self.folder / way / "f.o")]

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
        shapes = self.program.main.shapes()
        joined = {}
        for i, name in enumerate(self.program.main.outputs):
            name, batched = f"output_{i}.npy", shapes[name][0] < 0
            if name in parts[0]:
                both = [part[name] for part in parts]
                joined[name] = np.concatenate(both) if batched else both[0]
        return joined

    def splits(self):
        text = " ".join(self.options) + (self.configuration or "")
        return (any(shape[0] < 0 for shape in self.program.main.arguments.values())
                and "stochastic" not in text and "mx" not in text)

    def differs(self, refused=None):
        """The ways that disagree with the first; None if none does. `refused`
        counts those that say that they cannot."""
        (self.folder / "program.mlir").write_text(self.program.print())
        expected, found = None, []
        for way in self.ways:
            if way == "split" and not self.splits():
                continue
            result = (self.run_python() if way == "python" else self.run_split() if way == "split"
                      else self.run_arm(way) if way in ARM else self.run(way, WAYS[way]))
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


def smaller(program):
    """Programs with one output or one operation less."""
    outputs = program.main.outputs
    for name in outputs if len(outputs) > 1 else []:
        less = copy.deepcopy(program)
        less.main.outputs.remove(name)
        yield less
    for name in reversed(list(program.main.operations)):
        less = copy.deepcopy(program)
        f = less.main
        shape = f.operations.pop(name).shape
        others = [o for o, s in f.shapes().items() if s == shape]
        earlier = [o for o in others if o in f.arguments
                   or list(program.main.operations).index(o) < list(program.main.operations).index(name)]
        used = any(name in op.uses for op in f.operations.values()) or name in f.outputs
        if used and not earlier:
            continue
        for op in f.operations.values():
            op.uses = [earlier[-1] if use == name else use for use in op.uses]
        f.outputs = [o for o in f.outputs if o != name or len(f.outputs) == 1]
        f.outputs = [earlier[-1] if o == name else o for o in f.outputs]
        yield less


def shrink(case):
    """Greedily, while the same ways differ."""
    ways = {way for way, _ in case.differs()}
    changed = True
    while changed:
        changed = False
        for less in smaller(case.program):
            before, case.program = case.program, less
            found = case.differs()
            if found and ways & {way for way, _ in found}:
                changed = True
                break
            case.program = before
    return case.differs()


def report(case, found):
    kept = case.folder.parent / f"failed-{case.seed}"
    found = shrink(case) or found
    shutil.rmtree(kept, ignore_errors=True)
    shutil.copytree(case.folder, kept)
    lines = [f"program {case.seed}, {' '.join(case.options)}"]
    for way, how in found:
        command = (case.arm_command(way) if way in ARM
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
    given = parser.parse_args()
    every = [*WAYS, *(ARM if qemu.EMULATOR else []), *(["python"] if given.python else []), "split"]
    if unknown := set(given.ways or []) - set(every):
        parser.error(f"no such way here: {', '.join(sorted(unknown))}; expected {', '.join(every)}")
    ways = [way for way in every if not given.ways or way == "scalar" or way in given.ways]
    os.environ.setdefault("NUMERA_CODE_CACHE", "off")
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
