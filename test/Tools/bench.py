# SPDX-License-Identifier: MIT
"""bench.py BENCH OUT.svg: the parts of ./dev bench that measure nothing."""

import pathlib
import sys
import xml.dom.minidom

sys.path.insert(0, sys.argv[1])
import bounds
import models
import programs
import report
import rows
import run


def check(got, expected):
    if got != expected:
        sys.exit(f"got {got!r}; expected {expected!r}")


# Rows: names differ, every bar of a section is there, and a row against memcpy
# says what it moves.
table = rows.all_rows()
named = {row.name: row for row in table}
check(len(named), len(table))
check(named["add/bf16/memcpy"].bar, 0.9)
check(named["add/bf16/memcpy"].moved, 6)
check(named["quantize/float<5,7>/stochastic-16"].bar, 0.5)
check(named["matmul/1000×777×1023/posit16/f32"].bar, 0.85)
check(all(row.moved for row in table if row.peer == "memcpy"), True)

# A row in figures: a million elements in 0.5 ms, undisturbed 0.4, memcpy in 0.25.
row = named["add/bf16/memcpy"]
times = {"ours": 0.0005 * 1.048576, "peer": 0.00025 * 1.048576, "ratio": 0.5,
         "low": 0.49, "high": 0.51, "ghz": 4.0,
         "least": 0.0004 * 1.048576}
loop = bounds.Bound(instructions=14, cycles=32, work=32)
fill = bounds.Bound(instructions=7, cycles=8, work=16)
drawn = bounds.Bound(14, 32, 32, others=(fill,))
check(drawn.seconds(row, 4.0), 1.5 * loop.seconds(row, 4.0))
slow = report.Result.of(row, times, loop)
check(slow.cells(), ["add/bf16/memcpy", "6 B: 0.250; 14 instr, 32 cyc: 0.250",
                     "0.500", "62%", "memcpy", "0.250", "0.500", "0.900",
                     "not met"])
fast = report.Result.of(row, {**times, "ratio": 0.9})
check(fast.verdict, "met")
broken = report.Result.of(row, {"error_occurred": True,
                                "error_message": "element 3 is 0x1"})
check(broken.cells()[-1], "failed: element 3 is 0x1")
check(report.Result.of(row, None).failure, "not measured")
check(report.summary([slow, fast, broken]), "1 not met, 1 met, 1 failed")

# Of several passes the one in the middle, but the fewest cycles, 7 of 16 and 7.5.
passes = [{**times, "ratio": ratio, "least": least, "ghz": ghz}
          for ratio, least, ghz in ((0.9, 3, 2.5), (0.2, 2, 3.5), (0.5, 4, 4))]
check(run.median_of(passes), {**times, "ratio": 0.5, "least": 2, "ghz": 3.5})
check(run.median_of([*passes, {"error_occurred": True}]), {"error_occurred": True})
check(run.median_of([None]), None)

matrix = report.Result.of(named["matmul/512³/bf16/f32"], {
    **times, "ours": 2 * 512**3 / 90e9, "peer": 2 * 512**3 / 100e9})
check(matrix.cells()[2:6], ["90", "", "OpenBLAS sgemm", "100"])
check([report.short(x) for x in (0.01234, 250.0, 1234.5, 3, 0)],
      ["0.0123", "250", "1234", "3", "0"])

text = report.markdown([slow, fast, matrix], "5 times 0.1 s")
check("| add/bf16/memcpy | 6 B: 0.250 |" in text, True)
check("## Matmul, f32 accumulation" in text, True)
pathlib.Path(sys.argv[2]).write_text(report.plot([slow, fast, matrix, broken]))
bars = xml.dom.minidom.parse(sys.argv[2]).getElementsByTagName("rect")
check(len(bars), 1 + 3)

# The inner loop is what runs most, also where a branch that is not taken cuts
# it in two; what runs elsewhere counts in the whole.
trace = [(0, 50), (0x10, 1), (0x14, 100), (0x18, 100), (0x1c, 2), (0x20, 100),
         (0x24, 1)]
check(bounds.inner_loops(trace, 1.0), [([0x14, 0x18, 0x20], 100)])
check(loop.seconds(row, 4.0), 1024 * 1024 / 32 * 32 / 4e9)

# Models: what their layers multiply.
check(models.conv(64, 64, 56, 3, 1).gemms, [(64, 3136, 576, 1)])
check(models.resnet50().shape, [1, 1000])
work = sum(2 * m * n * k * count for m, n, k, count in models.resnet50().gemms)
check(round(work * 1e-9, 1), 8.2)
check("quire_mac" in programs.matmul_codes(2, 2, 2, "posit<16,2>", "quire"),
      True)
