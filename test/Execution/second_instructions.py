# SPDX-License-Identifier: MIT
"""Runs instructions of halves, of bytes and of matrices on the emulated GPU, each in
a kernel of its own, on operands of all kinds: both zeros, subnormal values, ties,
overflow, infinities, NaN. With NUMERA_EMULATED_RECORD, the second reading repeats
them (test/Emulation/second/replay.py).
"""
import sys

import numpy as np

from warpgroup import Device

HEAD = """.version 8.6
.target {target}
.address_size 64
.visible .entry multiply(.param .u64 in, .param .u64 out)
{{
.reg .b64 %from, %d, %offset, %x<4>;
.reg .b32 %t, %r<8>, %b, %w<12>, %s<8>;
.reg .b16 %h<8>;
.reg .f32 %f<4>;
.reg .pred %p, %q;
mov.u32 %t, %ctaid.x;
mov.u32 %b, %tid.x;
mad.lo.s32 %t, %t, 128, %b;
ld.param.u64 %from, [in];
ld.param.u64 %d, [out];
"""
# Kinds of operands: the register's letter, its type in memory, its size.
KINDS = {"f16x2": ("r", "b32", 4), "bf16x2": ("r", "b32", 4), "f16": ("h", "b16", 2),
         "bf16": ("h", "b16", 2), "f32": ("f", "f32", 4), "f32x2": ("x", "b64", 8),
         "e4m3x2": ("h", "b16", 2)}
# Instruction, the result's kind, the operands'.
PLAIN = [(f"{name}.rn.{kind}", kind, [kind] * count)
         for kind in ("f16x2", "f16", "bf16x2", "bf16")
         for name, count in (("add", 2), ("sub", 2), ("mul", 2), ("fma", 3))]
PLAIN += [(f"{name}.{kind}", kind, [kind] * 2) for kind in ("f16x2", "bf16x2", "f16", "bf16")
          for name in ("min", "max", "min.NaN", "max.NaN")]
PLAIN += [(f"cvt.rn.{kind}.f32", kind, ["f32"] * count)
          for kind, count in (("f16x2", 2), ("bf16x2", 2), ("f16", 1), ("bf16", 1))]
PLAIN += [("cvt.f32.f16", "f32", ["f16"]), ("cvt.f32.bf16", "f32", ["bf16"]),
          ("cvt.rn.f16x2.e4m3x2", "f16x2", ["e4m3x2"]),
          ("cvt.rn.satfinite.e4m3x2.f16x2", "e4m3x2", ["f16x2"])]
PAIRS = [(f"{name}.rn.f32x2", "f32x2", ["f32x2"] * count)
         for name, count in (("add", 2), ("sub", 2), ("mul", 2), ("fma", 3))]
DIGITS = {"f16": (10, 5), "bf16": (7, 8), "f32": (23, 8), "e4m3": (3, 4), "e5m2": (2, 5)}


def codes(random, kind, count):
    """Half of them drawn, half near what is special, or a multiple of it."""
    digits, exponents = DIGITS[kind]
    bits, top = digits + exponents + 1, (1 << exponents) - 1 << digits
    one = ((1 << exponents - 1) - 1) << digits
    special = np.array([0, 1, 2, 3, (1 << digits) - 1, 1 << digits, (1 << digits) + 1, one - 1,
                        one, one + 1, one + (1 << digits), top - 1, top, top | 1 << digits - 1,
                        one - (digits + 1 << digits), one - (digits << digits), one // 2,
                        top | (1 << digits) - 1])
    chosen = random.choice(special, count) | random.integers(0, 2, count) << bits - 1
    drawn = random.integers(0, 1 << bits, count)
    size = (bits + 7) // 8
    return np.where(random.random(count) < 0.5, chosen, drawn).astype(f"u{size}")


def element(kind):
    return kind[:-2] if kind.endswith("x2") else kind


def plain(device, random, instruction, kind, operands, target, count=4096):
    """As many threads as there are operands."""
    text, data, at = HEAD.format(target=target), b"", 0
    names = []
    for i, each in enumerate(operands):
        letter, memory, size = KINDS[each]
        names.append(f"%{letter}{i}")
        text += (f"mul.wide.u32 %offset, %t, {size};\nadd.u64 %offset, %from, %offset;\n"
                 f"ld.global.{memory} {names[-1]}, [%offset+{at}];\n")
        drawn = codes(random, element(each), count * (2 if each.endswith("x2") else 1))
        data += drawn.tobytes()
        at += size * count
    letter, memory, size = KINDS[kind]
    result = f"%{letter}{len(operands)}"
    text += f"{instruction} {result}, {', '.join(names)};\n"
    text += canonical(kind, result)
    text += (f"mul.wide.u32 %offset, %t, {size};\nadd.u64 %d, %d, %offset;\n"
             f"st.global.{memory} [%d], {result};\nret;\n}}\n")
    if device.run(text, data, size * count, count // 128) is None:
        sys.exit(f"{instruction}: refused")
    print(instruction)


def canonical(kind, register):
    """NaNs of f32 have other bits on the emulator, on purpose."""
    one = "setp.nan.f32 %p, {0}, {0};\n@%p mov.b32 {0}, 0x7fffffff;\n"
    if kind == "f32":
        return one.format(register)
    if kind == "f32x2":
        return (f"mov.b64 {{%f0, %f1}}, {register};\n" + one.format("%f0") + one.format("%f1")
                + f"mov.b64 {register}, {{%f0, %f1}};\n")
    return ""


def matrix(device, random, depth, rows, columns):
    """A warp's: every operand's every element of its own, and of all kinds; sums
    are exact, for each row has few numbers, whose products are not far apart."""
    size = 2 if "f16" in rows else 1
    words = 16 * depth * size // 128, depth * 8 * size // 128
    text = HEAD.format(target="sm_90a")
    names = [f"%w{i}" for i in range(sum(words) + 4)]
    text += f"mul.wide.u32 %offset, %b, {4 * len(names)};\nadd.u64 %from, %from, %offset;\n"
    text += "".join(f"ld.global.b32 {name}, [%from+{4 * i}];\n" for i, name in enumerate(names))
    a, b, c = names[:words[0]], names[words[0]:-4], names[-4:]
    sums = [f"%s{i}" for i in range(4)]
    text += (f"mma.sync.aligned.m16n8k{depth}.row.col.f32.{rows}.{columns}.f32 {{{', '.join(sums)}}}, "
             f"{{{', '.join(a)}}}, {{{', '.join(b)}}}, {{{', '.join(c)}}};\n")
    text += "".join(f"mov.b32 %f0, {s};\n" + canonical("f32", "%f0") + f"mov.b32 {s}, %f0;\n" for s in sums)
    text += "mul.wide.u32 %offset, %b, 16;\nadd.u64 %d, %d, %offset;\n"
    text += "".join(f"st.global.b32 [%d+{4 * i}], {s};\n" for i, s in enumerate(sums)) + "ret;\n}\n"
    for round_ in range(24):
        lanes = []
        for kind, count in ((rows, words[0]), (columns, words[1])):
            digits, exponents = DIGITS[kind]
            bias = (1 << exponents - 1) - 1
            # 1 to 4, exact in all sums; then zeros but for a few of any kind.
            form = f"u{size}"
            drawn = random.integers(bias << digits, bias + 2 << digits, (32, count * 4 // size))
            drawn &= ~((1 << max(digits - 3, 0)) - 1)
            drawn |= random.integers(0, 2, drawn.shape) << digits + exponents
            if round_ >= 8:
                of_any = codes(random, kind, drawn.size).reshape(drawn.shape)
                drawn = np.where(random.random(drawn.shape) < 1 / (8 * depth), of_any,
                                 drawn & 1 << digits + exponents)
            lanes.append(drawn.astype(form).view("u4"))
        start = random.integers(-8, 9, (32, 4)).astype("f4")
        lanes.append((start if round_ < 8 else start * 0).view("u4"))
        data = np.ascontiguousarray(np.concatenate(lanes, 1), "u4").tobytes()
        if device.run(text, data, 512, 1, 32) is None:
            sys.exit(f"{rows} {columns}: refused")
    print(f"mma m16n8k{depth} {rows} {columns}")


def main():
    device, random = Device(), np.random.default_rng(3)
    for each in PLAIN:
        plain(device, random, *each, "sm_90a")
    for each in PAIRS:
        plain(device, random, *each, "sm_100")
    for depth, rows, columns in ((8, "f16", "f16"), (16, "f16", "f16"), (16, "bf16", "bf16"),
                                 (32, "e4m3", "e4m3"), (32, "e4m3", "e5m2"), (32, "e5m2", "e4m3"),
                                 (32, "e5m2", "e5m2")):
        matrix(device, random, depth, rows, columns)


main()
