# SPDX-License-Identifier: MIT
"""What the instructions of a row's inner loop allow.

numera-bench steps through one call of a small instance of the row and counts
every instruction that is executed. The inner loop is the run of instructions,
in order of address and executed equally often, that makes up most of the count;
llvm-mca simulates how many cycles an iteration takes where nothing but the
machine's units is in the way. How much of the work an iteration does follows from how
often it ran.
"""

import itertools
import pathlib
import re
import subprocess
from dataclasses import dataclass


@dataclass
class Bound:
    instructions: int   # of the inner loop
    cycles: float       # an iteration takes at least
    work: float         # elements, or floating-point operations, an iteration
    share: float        # of all instructions that lie in the loop

    def seconds(self, row, ghz):
        return row.work / self.work * self.cycles / (ghz * 1e9)


def counts_of(path):
    pairs = [line.split() for line in path.read_text().splitlines()]
    return [(int(address, 16), int(count)) for address, count in pairs]


def inner_loop(counts):
    """The addresses of the loop and its count; the weight of everything."""
    inside = [(address, count) for address, count in counts if address]
    groups = [(count, [address for address, _ in group]) for count, group in
              itertools.groupby(inside, key=lambda pair: pair[1])]
    # The parts of a loop that branches cut apart run equally often.
    merged = {}
    for count, addresses in groups:
        merged.setdefault(count, []).extend(addresses)
    count = max(merged, key=lambda count: count * len(merged[count]))
    return merged[count], count, sum(count for _, count in counts)


def disassemble(library, addresses, llvm):
    listing = subprocess.run(
        [llvm / "llvm-objdump", "-d", "--no-show-raw-insn",
         f"--start-address={addresses[0]}",
         f"--stop-address={addresses[-1] + 1}", library],
        text=True, capture_output=True, check=True).stdout
    wanted, lines = set(addresses), []
    for line in listing.splitlines():
        match = re.match(r"\s*([0-9a-f]+):\s+(.*)", line)
        if match and int(match[1], 16) in wanted:
            text = match[2].split("#")[0].strip()
            text = re.sub(r"\s+0x[0-9a-f]+ <.*>$", " target", text)
            lines.append(re.sub(r"<[^>]*>", "", text))
    return lines


def cycles_of(lines, llvm):
    """What an iteration takes when the instructions are a loop. (Not the
    reciprocal throughput that llvm-mca sums up: it overlooks units that
    several kinds of instructions share.)"""
    iterations = 1000
    report = subprocess.run(
        [llvm / "llvm-mca", "-mcpu=native", f"-iterations={iterations}"],
        input="\n".join(lines) + "\n", text=True, capture_output=True)
    match = re.search(r"Total Cycles:\s+(\d+)", report.stdout)
    if not match:
        raise RuntimeError("llvm-mca: " + report.stderr.strip().split("\n")[0])
    return int(match[1]) / iterations


def halves_vectors():
    """True on a processor that takes 512 bits through pipes of 256, twice: Zen 4
    (AMD's optimisation guide for family 19h). llvm-mca's model of it does not."""
    info = pathlib.Path("/proc/cpuinfo").read_text()
    return "AuthenticAMD" in info and bool(re.search(r"cpu family\s*: 25\b", info))


def cycles_of_pipes(lines):
    """What four pipes of 256 bits take for the 512-bit arithmetic alone. Moves
    without a mask are renamings, loads and stores."""
    wide = [line for line in lines if "zmm" in line and
            not re.match(r"v(movdq|movap|movup|p?broadcast)[^{]*$", line)]
    return len(wide) / 2


def bound_of(library, trace, work, llvm):
    addresses, count, total = inner_loop(counts_of(trace))
    lines = disassemble(library, addresses, llvm)
    cycles = cycles_of(lines, llvm)
    if halves_vectors():
        cycles = max(cycles, cycles_of_pipes(lines))
    return Bound(len(lines), cycles, work / count,
                 count * len(addresses) / total)
