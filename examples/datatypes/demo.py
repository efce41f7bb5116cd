#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Run the CNN of examples/fashion in each datatype of this folder.

Every row is one `numera run` over the Fashion-MNIST test set; then the same
network is compiled for a GPU.
"""

import argparse
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "fashion")]
import demo as fashion  # noqa: E402
from command import CommandFailed, run  # noqa: E402

OWN_FORMATS = HERE / "formats.yaml"
FORMATS = ("posit16_1", "logarithm", "truncated", "datapath", "wide32", "float24")


def assemble(numera: str, name: str, folder: Path) -> int:
    """Lines of PTX of the network in a format."""
    ptx = folder / f"{name}.ptx"
    run([numera, "compile", str(fashion.MODEL), "--format", name, "--formats",
         str(OWN_FORMATS), "--target", "nvptx", "-o", str(ptx)])
    return ptx.read_text(encoding="utf-8").count("\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--numera", default=str(fashion.ROOT / "build/release/bin/numera"))
    parser.add_argument("--data", type=Path, default=fashion.ROOT / "build/fashion")
    parser.add_argument("--images", type=int, metavar="N", help="only the first N of 10000")
    args = parser.parse_args()

    count = [] if args.images is None else ["--count", str(args.images)]
    try:
        run([sys.executable, str(HERE.parent / "fashion/data.py"), str(args.data), *count])
        fashion.print_row(fashion.COLUMNS)
        for name in FORMATS:
            fashion.print_row(fashion.measure(args.numera, name, args.data, OWN_FORMATS))
        with tempfile.TemporaryDirectory() as folder:
            for name in FORMATS:
                lines = assemble(args.numera, name, Path(folder))
                print(f"{name}: {lines} lines of PTX", flush=True)
    except (CommandFailed, OSError) as error:
        print(f"demo.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
