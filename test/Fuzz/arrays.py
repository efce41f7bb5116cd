# SPDX-License-Identifier: MIT
"""Damaged .npz, .npy and idx files, plain and in gzip's format, are arrays or one
line of error: arrays.py [--seconds N] [--seed N]. test/Python runs a second of it.
"""

import argparse
import gzip
import io
import os
import random
import tempfile
import time
import warnings

import numera
import numpy as np
from numera.study import _data


def seeds():
    rows = np.arange(6, dtype="f4").reshape(2, 3)
    for save in (np.savez, np.savez_compressed):
        for arrays in ({"a": rows}, {"a": rows, "b": np.zeros((0, 2), "i2")}, {"a": np.zeros(2, "V2")}):
            file = io.BytesIO()
            save(file, **arrays)
            yield file.getvalue()
    for array in (rows, np.float64(1), np.asfortranarray(rows), np.zeros(2, "V2")):
        file = io.BytesIO()
        np.save(file, array)
        yield file.getvalue()
    for code, dtype in _data._IDX.items():
        array = np.ones((2, 3), np.dtype(dtype).newbyteorder(">"))
        data = bytes([0, 0, code, 2]) + np.array([2, 3], ">u4").tobytes() + array.tobytes()
        yield data
        yield gzip.compress(data)


def damage(data, generator):
    data = bytearray(data)
    for _ in range(generator.randrange(1, 5)):
        place = generator.randrange(len(data) + 1)
        kind = generator.randrange(5)
        if kind == 0 and place < len(data):
            data[place] = generator.choice([0, 1, 127, 128, 255, generator.randrange(256)])
        elif kind == 1 and place < len(data):
            data[place] ^= 1 << generator.randrange(8)
        elif kind == 2:
            del data[place : place + generator.randrange(1, 9)]
        elif kind == 3:
            data[place:place] = bytes(generator.randrange(256) for _ in range(generator.randrange(1, 9)))
        else:
            data[place : place + 4] = generator.choice([0, 1, 0xFFFFFFFF, 0x7FFFFFFF, 0x10000]).to_bytes(4, "big")
    return bytes(data)


def run(seconds, seed):
    """How many files were read and refused."""
    generator, known = random.Random(seed), list(seeds())
    read = refused = 0
    end = time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = os.path.join(folder, "data")
        while time.monotonic() < end:
            data = damage(generator.choice(known), generator)
            with open(path, "wb") as file:
                file.write(data)
            try:
                array = _data.read(path)
                assert isinstance(array, np.ndarray) and array.dtype != object
                read += 1
            except numera.Error as error:
                assert "\n" not in str(error), str(error)
                refused += 1
            except BaseException:
                print("on these bytes:", data.hex())
                raise
    return read, refused


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    print("{} files read, {} refused".format(*run(given.seconds, given.seed)))
