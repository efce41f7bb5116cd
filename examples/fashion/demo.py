#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Run one f32 model in six number formats and print what each costs and gives.

Every row is one `numera run` over the Fashion-MNIST test set; the last format,
mybf16, is the C library beside this file. `./dev demo` calls this script.
"""

import argparse
import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from command import CommandFailed, run  # noqa: E402

ROOT = HERE.parents[1]
MODEL = HERE / "model.onnx"
OWN_FORMATS = HERE / "formats.yaml"
FORMATS = ("f32", "bf16", "f8E4M3FN", "posit16", "posit8", "mybf16")
COLUMNS = ("format", "storage bits", "top-1", "agrees with f32", "SQNR dB", "seconds")


def measure(numera: str, name: str, data: Path, own: Path | None = None) -> tuple[str, ...]:
    """One row of the table, for a format that the file `own` may define."""
    extra = ["--formats", str(own)] if own else []
    description = json.loads(run([numera, "formats", name, "--json", *extra]))
    arrays = ["--input", str(data / "images.npy"), "--labels", str(data / "labels.npy")]
    options = ["--format", name, *extra, *arrays, "--compare", "f32", "--json"]
    result = json.loads(run([numera, "run", str(MODEL), *options]))
    logits = result["outputs"][0]
    sqnr = logits["sqnr_db"]
    return (
        name,
        str(description["storage_bits"]),
        f"{100 * result['top1']:.2f} %",
        f"{100 * logits['top1_agreement']:.2f} %",
        "∞" if sqnr is None else f"{sqnr:.1f}",
        f"{result['seconds']['median']:.2f}",
    )


def print_row(cells: tuple[str, ...]) -> None:
    """One line of the table: the name to the left, the figures to the right."""
    padded = [cells[0].ljust(len("posit16_1"))]
    padded += [cell.rjust(len(column)) for cell, column in zip(cells[1:], COLUMNS[1:])]
    print("  ".join(padded), flush=True)


def markdown(rows: list[tuple[str, ...]]) -> str:
    """The table as Markdown."""
    rule = ("---",) + ("---:",) * (len(COLUMNS) - 1)
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (COLUMNS, rule, *rows))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--numera", default=str(ROOT / "build/release/bin/numera"))
    parser.add_argument("--data", type=Path, default=ROOT / "build/fashion", help="for the arrays")
    parser.add_argument("--images", type=int, metavar="N", help="only the first N of 10000")
    parser.add_argument("--output", type=Path, metavar="FILE", help="the table as Markdown, too")
    args = parser.parse_args()

    count = [] if args.images is None else ["--count", str(args.images)]
    try:
        run([sys.executable, str(HERE / "data.py"), str(args.data), *count])
        print_row(COLUMNS)
        rows = []
        for name in FORMATS:
            own = OWN_FORMATS if name == "mybf16" else None
            rows.append(measure(args.numera, name, args.data, own))
            print_row(rows[-1])
        if args.output:
            args.output.write_text(markdown(rows), encoding="utf-8")
    except (CommandFailed, OSError) as error:
        print(f"demo.py: {error}", file=sys.stderr)
        return 1
    except (KeyError, ValueError) as error:
        print(f"demo.py: numera's JSON is not as expected: {error!r}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
