#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the Fashion-MNIST test set as the .npy files that `numera run` reads.

`images.npy` is f32 [n, 1, 28, 28] with pixels scaled to 0…1 (byte / 255) and
`labels.npy` is int64 [n]. The source is Debian's package dataset-fashion-mnist.
"""

import argparse
import gzip
import sys
from pathlib import Path

import numpy as np

DATASET = Path("/usr/share/datasets/fashion-mnist")
IDX_UBYTE = 0x08


def read_idx(path: Path) -> np.ndarray:
    """Read a gzipped idx file of bytes: 0, 0, type, rank, then the shape."""
    with gzip.open(path) as file:
        data = file.read()
    if len(data) < 4 or data[:3] != bytes([0, 0, IDX_UBYTE]):
        raise ValueError(f"{path}: not an idx file of unsigned bytes")
    rank = data[3]
    shape = np.frombuffer(data, dtype=">u4", count=rank, offset=4)
    return np.frombuffer(data, dtype=np.uint8, offset=4 + 4 * rank).reshape(shape)


def load(split: str, dataset: Path = DATASET) -> tuple[np.ndarray, np.ndarray]:
    """Images and labels of `split`, which is "train" or "t10k"."""
    images = read_idx(dataset / f"{split}-images-idx3-ubyte.gz")
    labels = read_idx(dataset / f"{split}-labels-idx1-ubyte.gz")
    scaled = images.astype(np.float32) / np.float32(255)
    return scaled.reshape(-1, 1, 28, 28), labels.astype(np.int64)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="where the two .npy files go")
    parser.add_argument("--count", type=int, metavar="N", help="only the first N images")
    parser.add_argument("--dataset", type=Path, default=DATASET, help="the idx .gz files")
    args = parser.parse_args()
    if args.count is not None and args.count < 1:
        parser.error(f"argument --count: {args.count} is not a positive number")
    try:
        images, labels = load("t10k", args.dataset)
        args.folder.mkdir(parents=True, exist_ok=True)
        np.save(args.folder / "images.npy", images[: args.count])
        np.save(args.folder / "labels.npy", labels[: args.count])
    except FileNotFoundError as error:
        print(
            f"data.py: {error.filename} is missing; "
            "run `sudo apt-get install dataset-fashion-mnist`",
            file=sys.stderr,
        )
        return 1
    except (OSError, EOFError, ValueError) as error:
        print(f"data.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
