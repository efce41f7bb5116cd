# SPDX-License-Identifier: MIT
"""Write the arrays of these tests into a folder of their own."""

import os
import sys

import numpy as np


def main(folder):
    os.makedirs(folder, exist_ok=True)

    def save(name, array):
        np.save(os.path.join(folder, name + ".npy"), array)

    save("x", np.array([1, 2, 3, -4], "f4"))
    save("y", np.array([1, 0.5, 0.25, 4], "f4"))
    save("x_f64", np.array([1, 2, 3, -4], "f8"))
    save("x_i64", np.array([1, 2, 3, -4], "i8"))
    save("x_odd_f64", np.array([1 + 2.0**-24 + 2.0**-52, 1e300, -0.0, 1e-45]))
    # By way of f64 the first, 2^60 + 2^36 + 1, would be a tie, and go down.
    save("x_odd_i64", np.array([2**60 + 2**36 + 1, 2**24 + 1, -(2**62), 3]))
    for kind in "i1 i2 i4 i8 u1 u2 u4 u8 ?".split():
        dtype = np.dtype(kind)
        info = None if kind == "?" else np.iinfo(dtype)
        ends = [0, 1, 1, 0] if kind == "?" else [info.min, 0, 1, info.max]
        save("x_" + dtype.str[1:], np.array(ends, dtype))
    half = np.array([1.5, -65504, 2.0**-24, 0], "f2")
    save("x_f16", half)
    save("x_codes", half.view("u2"))
    save("zeros", np.zeros(4, "f4"))
    save("x_big", np.array([1, 2, 3, -4], ">f4"))
    save("ten_f16", np.arange(20, dtype="f2").reshape(10, 2))
    save("ten_u8", np.arange(20, dtype="u1").reshape(10, 2))
    save("labels_half", np.ones(150, "f2"))
    save("labels_bool", np.ones(150, "?"))
    save("labels_part", np.full(150, 0.5))
    save("matrix", np.zeros((4, 4), "f4"))
    save("five", np.zeros((5, 3), "f4"))
    # Ten rows for a batch of four: two slices and a half.
    ten = np.arange(20, dtype="f4").reshape(10, 2)
    save("ten", ten)
    save("ten_fortran", np.asfortranarray(ten))
    save("nine", np.arange(18, dtype="f4").reshape(9, 2))
    save("four", np.arange(8, dtype="f4").reshape(4, 2))
    # The second of two ascending numbers is the larger: label 1 is right.
    rows = np.arange(300, dtype="f4").reshape(150, 2)
    save("rows", rows)
    save("empty", rows[:0])
    label = np.ones(150, "u1")
    save("all_right", label)
    label = label.copy()
    label[:15] = 0
    save("tenth_wrong", label)
    save("labels_short", label[:149])
    save("labels_column", label.reshape(150, 1))
    save("labels_seven", np.full(150, 7, "i4"))
    special = rows.copy()
    special[0, 0], special[1, 0], special[2, 0] = np.nan, np.inf, -np.inf
    special[3] = np.nan
    special[5, 1] = 1e30
    save("special", special)
    with open(os.path.join(folder, "x.npy"), "rb") as file:
        content = file.read()
    with open(os.path.join(folder, "cut.npy"), "wb") as file:
        file.write(content[:-3])
    with open(os.path.join(folder, "text.npy"), "wb") as file:
        file.write(b"1 2 3 4 5 6 7 8\n")


main(sys.argv[1])
