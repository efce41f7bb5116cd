# SPDX-License-Identifier: MIT
"""One model in ten formats, as a table; a pandas one where pandas is installed.

The model is the CNN of examples/fashion, the images are the test set of
Fashion-MNIST (Debian's package dataset-fashion-mnist).
"""

import argparse
import pathlib
import sys
import time

import numera
import numpy as np

FASHION = pathlib.Path(__file__).parents[1] / "fashion"
FORMATS = [
    "f32",
    "bf16",
    "f16",
    "float<5,5>",
    "f8E4M3FN",
    "f8E5M2",
    "posit16",
    "posit8",
    "takum<8>",
    "mxfp4",
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("formats", nargs="*", help="names or spellings")
    parser.add_argument("--count", type=int, default=2000, help="of images")
    args = parser.parse_args()
    sys.path.append(str(FASHION))
    from data import load

    images, labels = (array[: args.count] for array in load("t10k"))
    reference = numera.compile(FASHION / "model.onnx")(images)
    rows = []
    for name in args.formats or FORMATS:
        net = numera.compile(FASHION / "model.onnx", format=name)
        start = time.perf_counter()
        scores = net(images)
        seconds = time.perf_counter() - start
        top1 = scores.argmax(1)
        rows.append(
            {
                "format": name,
                "accumulate": net.policy["accumulate"],
                "top-1 %": 100 * np.mean(top1 == labels),
                "agrees with f32 %": 100 * np.mean(top1 == reference.argmax(1)),
                "images/s": round(len(images) / seconds),
            }
        )
    show(rows)


def show(rows: list[dict]) -> None:
    try:
        import pandas
    except ImportError:
        print(*rows[0], sep="\t")
        for row in rows:
            print(*row.values(), sep="\t")
    else:
        print(pandas.DataFrame(rows).to_string(index=False, float_format="%.2f"))


if __name__ == "__main__":
    main()
