# SPDX-License-Identifier: MIT
"""What the scripts of this folder share: pictures, arguments, and a table."""

import argparse
import gzip
import pathlib
import sys
import time

import numpy as np

DATA = pathlib.Path("/usr/share/datasets/fashion-mnist")
"""Where Debian's package dataset-fashion-mnist puts them."""


def fashion(data: pathlib.Path) -> tuple[np.ndarray, ...]:
    """Training and test pictures (f32, 0 to 1, flat) and their labels."""

    def read(name: str, header: int) -> np.ndarray:
        try:
            raw = gzip.decompress((data / f"{name}.gz").read_bytes())
        except OSError as error:
            sys.exit(f"{error}: apt-get install dataset-fashion-mnist, or --data")
        return np.frombuffer(raw, np.uint8, offset=header)

    found = []
    for part in ("train", "t10k"):
        pictures = read(f"{part}-images-idx3-ubyte", 16).reshape(-1, 784)
        found += [pictures.astype("f4") / 255, read(f"{part}-labels-idx1-ubyte", 8)]
    return tuple(found)


def arguments(description: str, steps: int) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=description.partition("\n\n")[0])
    parser.add_argument("--steps", type=int, default=steps)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--only", nargs="+", metavar="ROW", help="rows whose name has it"
    )
    parser.add_argument("--data", type=pathlib.Path, default=DATA)
    parser.add_argument("--plot", metavar="PNG", help="draws the losses (matplotlib)")
    options = parser.parse_args()
    if "torch" in sys.modules:
        # Networks of this size gain nothing from more.
        sys.modules["torch"].set_num_threads(1)
    return options


class Table:
    """Rows of runs: the mean loss of the last steps, and the accuracy."""

    def __init__(self, options: argparse.Namespace, result: str = "accuracy") -> None:
        self._only, self._plot = options.only, options.plot
        self._curves: dict[str, list[float]] = {}
        print(f"{'':32} {'loss':>7} {result:>9} {'seconds':>8}")

    def wants(self, name: str) -> bool:
        self._start = time.perf_counter()
        return not self._only or any(each in name for each in self._only)

    def row(self, name: str, losses: list[float], result: str) -> None:
        seconds = time.perf_counter() - self._start
        self._curves[name] = losses
        last = np.mean(losses[-max(1, len(losses) // 10) :])
        print(f"{name:32} {last:7.4f} {result:>9} {seconds:8.1f}", flush=True)

    def close(self) -> None:
        if self._plot is None:
            return
        import matplotlib.pyplot as plt

        for name, losses in self._curves.items():
            width = max(1, len(losses) // 50)
            means = np.convolve(losses, np.ones(width) / width, "valid")
            plt.plot(means, label=name)
        plt.xlabel("step")
        plt.ylabel("loss")
        plt.legend()
        plt.savefig(self._plot)
