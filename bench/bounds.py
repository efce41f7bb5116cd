# SPDX-License-Identifier: MIT
"""What the instructions of a row's inner loop allow.

numera-bench steps through one call of a small instance of the row and counts
every instruction that is executed. The inner loop is the run of instructions,
in order of address and executed equally often, that makes up most of the count;
llvm-mca simulates how many cycles an iteration takes where nothing but the
machine's units is in the way. How much of the work an iteration does follows from how
often it ran. Where an element goes through several loops, one after the
other, as where random bits are drawn for it, their times add up.
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
    others: tuple = ()  # loops that the work goes through as well

    def seconds(self, row, ghz):
        own = row.work / self.work * self.cycles / (ghz * 1e9)
        return own + sum(loop.seconds(row, ghz) for loop in self.others)

    def loops(self):
        return [self, *self.others]


def counts_of(path):
    pairs = [line.split() for line in path.read_text().splitlines()]
    return [(int(address, 16), int(count)) for address, count in pairs]


def inner_loops(counts, least):
    """The addresses and counts of the loop that executes most instructions and
    of those with a share of at least `least`."""
    inside = [(address, count) for address, count in counts if address]
    groups = [(count, [address for address, _ in group]) for count, group in
              itertools.groupby(inside, key=lambda pair: pair[1])]
    # The parts of a loop that branches cut apart run equally often.
    merged = {}
    for count, addresses in groups:
        merged.setdefault(count, []).extend(addresses)
    weight = {count: count * len(merged[count]) for count in merged}
    total = sum(count for _, count in counts)
    order = sorted(merged, key=weight.get, reverse=True)
    return [(merged[count], count) for i, count in enumerate(order)
            if i == 0 or (count > 1 and weight[count] >= least * total)]


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
    (AMD's optimisation guide for family 19h). llvm-mca's model of it does not, and
    shares out instructions among pipes that take no such ones."""
    info = pathlib.Path("/proc/cpuinfo").read_text()
    return "AuthenticAMD" in info and bool(re.search(r"cpu family\s*: 25\b", info))


# Which of the four pipes of Zen 4 take an instruction, and in how many passes
# of 256 bits where it is one of 512; as pipes.py measures them. The first
# pattern that a mnemonic begins with counts; any pipe takes what none matches.
MULTIPLY, ADD, PERMUTE, SHUFFLE = (0, 1), (2, 3), (1, 2), (1, 2, 3)
PASSES = [
    (r"vcvt(ps2ph|ne2?ps2bf16)", {ADD: 3, PERMUTE: 2}),
    (r"vcvtph2ps", {ADD: 2.5, PERMUTE: 2}),
    (r"v(pmov[sz]x|pmov[dqw][bdw]|p?perm|p?pack|p?extract|p?insert|align|pshufb|"
     r"p?compress|p?expand)", {PERMUTE: 2}),
    (r"v(punpck|unpck|shuf|pshuf)", {SHUFFLE: 2}),
    (r"v((add|sub|max|min)[ps][sd]|ps[lr]|cvt|range|getexp|rndscale)", {ADD: 2}),
    (r"v(mul|div|sqrt|fn?m|cmp|pcmp|ptest|fpclass|fixup|plzcnt|popcnt|pabs|pro[lr]|"
     r"pmul|pmadd|padd(us|s)[bw]|psub(us|s)[bw]|psh[lr]d|gf2p8|pdp|pmov.2m)",
     {MULTIPLY: 2}),
]
ANY = {(0, 1, 2, 3): 2}


def cycles_of_pipes(lines):
    """What the vector pipes take at least: of any pipes, the passes of what only
    they take, shared evenly. Moves without a mask are renamings, loads and
    stores."""
    demand = {}
    for line in lines:
        if (not re.search(r"[xyz]mm\d", line) or
                re.match(r"v(movdq|movap|movup|movs[sd]|p?broadcast)[^{]*$", line)):
            continue
        share = 1 if "zmm" in line else 0.5
        passes = next((found for pattern, found in PASSES if re.match(pattern, line)),
                      ANY)
        for pipes, count in passes.items():
            demand[pipes] = demand.get(pipes, 0) + share * count
    subsets = [set(pipes) for size in range(1, 5)
               for pipes in itertools.combinations(range(4), size)]
    return max(sum(count for pipes, count in demand.items() if set(pipes) <= subset) /
               len(subset) for subset in subsets)


def bound_of(library, trace, work, llvm, least=1.0):
    """`least`: the share of all instructions that makes a loop another one that
    the work goes through."""
    found = []
    for addresses, count in inner_loops(counts_of(trace), least):
        lines = disassemble(library, addresses, llvm)
        cycles = cycles_of(lines, llvm)
        if halves_vectors():
            cycles = max(cycles, cycles_of_pipes(lines))
        found.append(Bound(len(lines), cycles, work / count))
    found[0].others = tuple(found[1:])
    return found[0]
