# SPDX-License-Identifier: MIT
"""Read the examples of MLIR in docs/Dialect.md with numera-opt: dialect.py PAGE.

An example is a few lines. Here each stands in a function whose arguments are the
values that it names and does not define.
"""

import re
import subprocess
import sys

from blocks import blocks

# What examples call by names of their own.
NAMES = """
#posit16 = #numera.format<posit<16, 2>>
#f32_scale = #numera.scaling<range, float<8, 23>>
!posit16 = !numera.num<posit<16, 2>>
!drawn = !numera.num<posit<16, 2, stochastic>>
!quire_posit16 = !numera.quire<posit<16, 2>>
!f4 = !numera.num<float<2, 1, finite>>
!f8 = !numera.num<float<4, 3, fn>>
!scale = !numera.num<float<8, 0, fnu>>
!i8 = tensor<64x128x!numera.num<fixed<7, 0>>, #f32_scale>
!u8 = tensor<64x128x!numera.num<fixed<8, 0, unsigned>>, #numera.scaling<"min-max", float<8, 23>>>
!scaled = !i8
!x = tensor<8x64x!numera.num<fixed<7, 0>>, #f32_scale>
!y = tensor<64x8x!numera.num<fixed<7, 0>>, #f32_scale>
!z = tensor<8x8x!numera.num<fixed<7, 0>>, #f32_scale>
"""
# Of that example the page has the names #mx and !mxfp8.
MX = "// A power of two"
# The values of an example, by the operation in its first line.
VALUES = {
    "cast": "%0: f32",
    "cmp": "%0: !posit16, %1: !posit16",
    "decode": "%0: i16",
    "dequantize": "%q: !mxfp8",
    "encode": "%0: f32",
    "load_packed": "%bytes: tensor<1024xi8>, %i: index",
    "lookup": "%0: i8",
    "pack": "%0: tensor<64x32x!f4>, %2: tensor<64x32xi8>",
    "quantize": "%x: tensor<64x128xf32>, %s: tensor<f32>, %z: tensor<f32>",
    "quire_from_words": "%a: i64, %b: i64, %c: i64, %d: i64",
    "quire_mac": "%a: !posit16, %b: !posit16, %0: !quire_posit16",
    "quire_round": "%1: !quire_posit16",
    "quire_word": "%0: !quire_posit16",
    "random": "%seed: i64, %step: i64, %sample: i64, %index: i64, %x: !drawn, %y: !drawn",
    "random_fill": "%draws: memref<2048xi32>, %seed: i64, %step: i64, %sample: i64, "
    "%index: i64, %count: i64",
    "round_to": "%0: f32",
    "scaled_add": "%x: !scaled, %y: !scaled",
    "scaled_from_parts": "%e: tensor<64x128x!f8>, %s: tensor<64x4x!scale>",
    "scaled_matmul": "%x: !x, %y: !y",
    "scaled_parts": "%q: !mxfp8",
    "show_row": "%value: tensor<1x8xf32>, %own: tensor<1x8xf32>, %reference: tensor<1x8xf32>",
    "unpack": "%1: tensor<64x32x!f4, #numera.packed>, %3: tensor<1024xi8>",
    "wasted_bits": "%x: !scaled",
    "add": "%x: !posit16, %y: !posit16",
}


def module(example, mx):
    # Names of types and attributes stand before a function.
    if example.startswith(("!", "//")):
        return NAMES + example
    operation = re.search(r"numera\.(\w+)", example)[1]
    # Elements that the page leaves out are zeros.
    body = example.replace('"0x…"', '"0x00"')
    return f"{mx}{NAMES}func.func @example({VALUES.get(operation, '')}) {{\n{body}return\n}}\n"


def main(page):
    with open(page) as file:
        found = [each for each in blocks(file.read()) if each.language == "mlir"]
    [mx] = [each.text for each in found if each.text.startswith(MX)]
    for block in found:
        done = subprocess.run(
            ["numera-opt"],
            input=module(block.text, mx),
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            sys.exit(f"{page}:{block.line}: {done.stderr}of the example\n{block.text}")
    print(f"{len(found)} examples")


main(*sys.argv[1:])
