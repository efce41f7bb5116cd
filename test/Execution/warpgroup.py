# SPDX-License-Identifier: MIT
"""The emulated GPU's matrix instructions of warpgroups, by PTX written out here.
Matrices are laid as the figures of the PTX ISA show it, given
as tables. What the machine would do wrong is refused, each by its line."""
import ctypes
import os
import subprocess
import sys

import numpy as np

# "K major 128B swizzling" and so on: of eight rows, which 16 bytes lie where. With
# none, eight rows of 16 bytes follow each other, and then the next 16 bytes of all.
PLACES = {
    64: [[0, 1, 2, 3], [0, 1, 2, 3], [1, 0, 3, 2], [1, 0, 3, 2],
         [2, 3, 0, 1], [2, 3, 0, 1], [3, 2, 1, 0], [3, 2, 1, 0]],
    32: [[0, 1]] * 4 + [[1, 0]] * 4,
    128: [[0, 1, 2, 3, 4, 5, 6, 7], [1, 0, 3, 2, 5, 4, 7, 6], [2, 3, 0, 1, 6, 7, 4, 5],
          [3, 2, 1, 0, 7, 6, 5, 4], [4, 5, 6, 7, 0, 1, 2, 3], [5, 4, 7, 6, 1, 0, 3, 2],
          [6, 7, 4, 5, 2, 3, 0, 1], [7, 6, 5, 4, 3, 2, 1, 0]],
}
MODES = {16: 0, 128: 1, 64: 2, 32: 3}
ROWS, COLUMNS = 64, 24


def laid(codes, width):
    """Rows of `width` bytes in shared memory."""
    rows = codes.view("u1").reshape(len(codes), -1, 16)
    if width == 16:  # eight rows of one column, then of the next
        return rows.reshape(-1, 8, rows.shape[1], 16).transpose(0, 2, 1, 3).tobytes()
    out = np.empty_like(rows)
    for row, places in enumerate(rows):
        for chunk, place in enumerate(PLACES[width][row % 8]):
            out[row, place] = places[chunk]
    return out.tobytes()


def descriptors(size, width, step):
    """Of the two matrices, 32 bytes of step `step`. PTX adds the address."""
    stride = {16: 128 * (size // 16)}.get(width, 8 * width)
    start = step * (256 if width == 16 else 32)
    leading = 128 if width == 16 else 16
    base = MODES[width] << 62 | stride // 16 << 32 | leading // 16 << 16
    return base + start // 16, base + (ROWS * size + start) // 16


def program(types, size, width):
    """Bytes of a row; of swizzling."""
    depth, ends = ("16", ", 1, 1, 0, 0") if types[-2:] == "16" else ("32", ", 1, 1")
    count = COLUMNS // 2
    sums = ", ".join(f"%s{i}" for i in range(count))
    copies = "".join(
        f"ld.global.v4.b32 {{%w0, %w1, %w2, %w3}}, [%from + {i}];\n"
        f"st.shared.v4.b32 [%to + {i}], {{%w0, %w1, %w2, %w3}};\n"
        for i in range(0, (ROWS + COLUMNS) * size, 2048))
    steps = ""
    for step in range(size // 32):
        a, b = descriptors(size, width, step)
        steps += (f"add.u64 %a, %at, {a};\nadd.u64 %b, %at, {b};\n"
                  f"wgmma.mma_async.sync.aligned.m64n{COLUMNS}k{depth}.f32.{types} "
                  f"{{{sums}}}, %a, %b, {int(step > 0)}{ends};\n")
    stores = "".join(f"st.global.b32 [%d + {4 * i}], %s{i};\n" for i in range(count))
    return f""".version 8.0
.target sm_90a
.address_size 64
.shared .align 1024 .b8 before[16];
.shared .align 1024 .b8 room[{-(-(ROWS + COLUMNS) * size // 2048) * 2048}];
.visible .entry multiply(.param .u64 in, .param .u64 out)
{{
.reg .b64 %from, %to, %a, %b, %d, %at, %offset;
.reg .b32 %t, %w<4>, %s<{count}>;
.reg .pred %p;
mov.u32 %t, %tid.x;
mul.wide.u32 %offset, %t, 16;
ld.param.u64 %from, [in];
add.u64 %from, %from, %offset;
mov.u64 %to, room;
add.u64 %to, %to, %offset;
{copies}fence.proxy.async.shared::cta;
bar.sync 0;
mov.u64 %at, room;
and.b64 %at, %at, 262143;
shr.u64 %at, %at, 4;
wgmma.fence.sync.aligned;
{steps}wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned 0;
ld.param.u64 %d, [out];
mul.wide.u32 %offset, %t, {4 * count};
add.u64 %d, %d, %offset;
{stores}ret;
}}
"""


class Device:
    """The emulated driver, its first device's context current."""

    def __init__(self):
        self.cuda, context = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p()
        assert self.cuda.cuInit(0) == 0
        assert self.cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
        assert self.cuda.cuCtxSetCurrent(context) == 0

    def memory(self, size):
        address = ctypes.c_uint64()
        assert self.cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(size)) == 0
        return address

    def run(self, ptx, given, size, blocks=1, threads=128):
        """`size` bytes that the kernel makes of `given`; None if it is refused."""
        cuda, module, function = self.cuda, ctypes.c_void_p(), ctypes.c_void_p()
        if cuda.cuModuleLoadData(ctypes.byref(module), ptx.encode() + b"\0"):
            return None
        assert cuda.cuModuleGetFunction(ctypes.byref(function), module, b"multiply") == 0
        given += b"\0" * (-len(given) % 2048)
        places = [self.memory(len(given)), self.memory(size)]
        cuda.cuMemcpyHtoDAsync_v2(places[0], given, ctypes.c_size_t(len(given)), None)
        pointers = (ctypes.c_void_p * 2)(
            *[ctypes.cast(ctypes.pointer(p), ctypes.c_void_p) for p in places])
        assert cuda.cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, None, pointers,
                                   None) == 0
        out = ctypes.create_string_buffer(size)
        cuda.cuMemcpyDtoHAsync_v2(out, places[1], ctypes.c_size_t(size), None)
        for place in places:
            cuda.cuMemFree_v2(place)
        return out.raw


def values(codes, kind):
    """Whole numbers and halves of them, which all formats have."""
    table = {"e4m3": 7, "e5m2": 15, "f16": 15, "bf16": 127}
    digits = {"e4m3": 3, "e5m2": 2, "f16": 10, "bf16": 7}[kind]
    codes = codes.astype("i8")
    exponent = (codes >> digits) - table[kind]
    return (1 + (codes & (1 << digits) - 1) / (1 << digits)) * np.exp2(exponent)


def matrices(types, size):
    """Codes, and the product."""
    random, drawn = np.random.default_rng(size), []
    for kind, rows in zip(types.split("."), (ROWS, COLUMNS)):
        digits, bias, form = {"e4m3": (3, 7, "u1"), "e5m2": (2, 15, "u1"),
                              "f16": (10, 15, "u2"), "bf16": (7, 127, "u2")}[kind]
        shape = (rows, size // np.dtype(form).itemsize)
        codes = (random.integers(bias - 2, bias + 2, shape) << digits
                 | random.integers(0, 4, shape) << digits - 2).astype(form)
        drawn.append((codes, values(codes, kind)))
    return drawn[0][0], drawn[1][0], drawn[0][1] @ drawn[1][1].T


def check(device, types, size, width):
    rows, columns, wanted = matrices(types, size)
    count = COLUMNS // 2
    out = device.run(program(types, size, width), laid(rows, width) + laid(columns, width),
                     128 * count * 4)
    sums = np.frombuffer(out, "f4").reshape(4, 8, 4, count // 4, 2, 2)
    # Of warp, row of eight, pair of columns: eight columns, rows 8 apart, pair.
    got = sums.transpose(0, 4, 1, 3, 2, 5).reshape(ROWS, COLUMNS)
    assert (got == wanted).all(), (types, size, width)


MISTAKES = {
    "no wgmma.fence": ("wgmma.fence.sync.aligned;\n", ""),
    "sums touched after it": ("wgmma.fence.sync.aligned;\n",
                              "wgmma.fence.sync.aligned;\nmov.b32 %s0, 0;\n"),
    "sums read too early": ("wgmma.commit_group", "mov.b32 %t, %s1;\nwgmma.commit_group"),
    "no group": ("wgmma.commit_group.sync.aligned;\n", ""),
    "no wait": ("wgmma.wait_group.sync.aligned 0;\n", ""),
    "no fence.proxy.async": ("fence.proxy.async.shared::cta;\n", ""),
    "no barrier": ("bar.sync 0;\n", ""),
    "fence before the writes": ("mov.u64 %to, room;",
                                "fence.proxy.async.shared::cta;\nmov.u64 %to, room;"),
    "written while read": ("wgmma.wait_group.sync.aligned 0;\n",
                           "wgmma.wait_group.sync.aligned 0;\nst.shared.b32 [%to], %t;\n"),
    "pattern not at its boundary": ("mov.u64 %at, room;", "mov.u64 %at, room+128;"),
    "threads differ": ("shr.u64 %at, %at, 4;", "shr.u64 %at, %at, 4;\nxor.b64 %at, %at, %offset;"),
}


def refused(mistake):
    """In a process of its own, which such a program ends."""
    ptx = program("e4m3.e5m2", 64, 64)
    if mistake == "fence before the writes":
        ptx = ptx.replace("fence.proxy.async.shared::cta;\n", "")
    assert MISTAKES[mistake][0] in ptx, mistake
    rows, columns, _ = matrices("e4m3.e5m2", 64)
    Device().run(ptx.replace(*MISTAKES[mistake]), laid(rows, 64) + laid(columns, 64), 6144)


def main():
    if len(sys.argv) > 1:
        return refused(sys.argv[1])
    device = Device()
    for types in ("e4m3.e4m3", "e4m3.e5m2", "e5m2.e4m3", "e5m2.e5m2", "f16.f16",
                  "bf16.bf16"):
        for size, width in ((32, 16), (64, 16), (32, 32), (64, 64), (128, 128)):
            check(device, types, size, width)
        print(f"{types}: every layout", flush=True)
    for mistake in MISTAKES:
        done = subprocess.run([sys.executable, __file__, mistake], env=os.environ,
                              capture_output=True, text=True, check=False)
        lines = [l for l in done.stderr.splitlines()
                 if l.startswith(("ptx2c: ", "emulated GPU: "))]
        print(f"{mistake}: {lines[0] if lines else 'taken'}", flush=True)


if __name__ == "__main__":
    main()
