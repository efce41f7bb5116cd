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


@dataclass
class Processor:
    """The pipes for vectors, as pipes.py measures them."""
    all_pipes: tuple    # those of 512 bits
    passes: list        # (pattern, {pipes: passes}): the first that matches counts
    others: dict        # of instructions that none of them matches
    simulated: bool     # llvm-mca's model has the units that it has
    issued: int = 8     # instructions a cycle
    loaded: int = 2     # vectors a cycle


# Takes 512 bits through pipes of 256, twice (AMD's optimisation guide for family
# 19h). llvm-mca's model does not, and shares out instructions among pipes that
# take no such ones.
MULTIPLY, ADD, PERMUTE, SHUFFLE = (0, 1), (2, 3), (1, 2), (1, 2, 3)
ZEN_4 = Processor((0, 1, 2, 3), [
    (r"vcvt(ps2ph|ne2?ps2bf16)", {ADD: 3, PERMUTE: 2}),
    (r"vcvtph2ps", {ADD: 2.5, PERMUTE: 2}),
    (r"v(pmov[sz]x|pmov[dqw][bdw]|p?perm|p?pack|p?extract|p?insert|align|pshufb|"
     r"p?compress|p?expand)", {PERMUTE: 2}),
    (r"v(punpck|unpck|shuf|pshuf)", {SHUFFLE: 2}),
    (r"v((add|sub|max|min)[ps][sd]|ps[lr]|cvt|range|getexp|rndscale)", {ADD: 2}),
    (r"v(mul|div|sqrt|fn?m|cmp|pcmp|ptest|fpclass|fixup|plzcnt|popcnt|pabs|pro[lr]|"
     r"pmul|pmadd|padd(us|s)[bw]|psub(us|s)[bw]|psh[lr]d|gf2p8|pdp|pmov.2m)",
     {MULTIPLY: 2}),
], {(0, 1, 2, 3): 2}, simulated=True)

# Ports 0 (with 1) and 5, both with a multiplier; llvm-mca's model is the client's,
# which has none at 5. Instructions of 256 bits have a third port.
P0, P5, P05 = (0,), (5,), (0, 5)
ICE_LAKE = Processor((0, 5), [
    (r"vcvt(ps2ph|ph2ps)", {P5: 1, P05: 1}),
    (r"v(pmov[dqw][bdw]|p?compress|p?expand)", {P5: 2}),
    (r"vperm[it]2[bw]", {P5: 2, P05: 1}),
    (r"vpermw", {P5: 1, P05: 1}),
    (r"v(pmov[sz]x|p?perm|p?pack|p?extract|p?insert|align|pshuf|punpck|unpck|shuf|"
     r"cmp|pcmp|ptest|fpclass|pmultishift)", {P5: 1}),
    (r"v(pmulld|rndscale)", {P05: 2}),
    (r"v(ps[lr]|pro[lr]|psh[lr]d|p(max|min)|padd(us|s)|psub(us|s)|pabs|gf2p8|pmov.2m)",
     {P0: 1}),
    (r"vdivp[sd]", {P0: 8}),
], {P05: 1}, simulated=False, issued=5)

# The same pipes in Sapphire and Emerald Rapids, where a model of llvm-mca's has half
# of the additions; division is slower, and conversions to bf16 are instructions.
SAPPHIRE_RAPIDS = Processor((0, 5), [
    (r"vcvtne2ps2bf16", {P5: 2, P05: 2}),
    (r"vdivp[sd]", {P0: 10}),
    *ICE_LAKE.passes,
], {P05: 1}, simulated=False, issued=6)


def processor():
    """None where llvm-mca's word is all there is."""
    info = pathlib.Path("/proc/cpuinfo").read_text()
    if "AuthenticAMD" in info and re.search(r"cpu family\s*: 25\b", info):
        return ZEN_4
    if "GenuineIntel" in info and re.search(r"\bmodel\s*: (106|108)\b", info):
        return ICE_LAKE
    if "GenuineIntel" in info and re.search(r"\bmodel\s*: (143|207)\b", info):
        return SAPPHIRE_RAPIDS
    return None


def cycles_of_pipes(lines, machine):
    """What vector pipes, issue and loads take at least: of any pipes, the passes of
    what only they take, shared evenly. Moves without a mask are renamings, loads
    and stores."""
    demand = {}
    for line in lines:
        if (not re.search(r"[xyz]mm\d", line) or
                re.match(r"v(movdq|movap|movup|movs[sd]|p?broadcast)[^{]*$", line)):
            continue
        share = 1 if "zmm" in line else 0.5
        passes = next((found for pattern, found in machine.passes
                       if re.match(pattern, line)), machine.others)
        for pipes, count in passes.items():
            demand[pipes] = demand.get(pipes, 0) + share * count
    subsets = [set(pipes) for size in range(1, len(machine.all_pipes) + 1)
               for pipes in itertools.combinations(machine.all_pipes, size)]
    loads = sum(1 for line in lines if re.search(r"\(.*\).*,", line))
    return max(len(lines) / machine.issued, loads / machine.loaded,
               *(sum(count for pipes, count in demand.items() if set(pipes) <= subset) /
                 len(subset) for subset in subsets))


def least_cycles(lines, llvm):
    machine = processor()
    if not machine:
        return cycles_of(lines, llvm)
    bound = cycles_of_pipes(lines, machine)
    return max(bound, cycles_of(lines, llvm)) if machine.simulated else bound


def bound_of(library, trace, work, llvm, least=1.0):
    """`least`: the share of all instructions that makes a loop another one that
    the work goes through."""
    found = []
    for addresses, count in inner_loops(counts_of(trace), least):
        lines = disassemble(library, addresses, llvm)
        found.append(Bound(len(lines), least_cycles(lines, llvm), work / count))
    found[0].others = tuple(found[1:])
    return found[0]
