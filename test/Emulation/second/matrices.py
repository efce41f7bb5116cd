# SPDX-License-Identifier: MIT
"""Matrix instructions (PTX ISA, "Warp Level Matrix Multiply-Accumulate
Instructions", "Asynchronous Warpgroup Level Matrix Multiply-Accumulate
Instructions"). Fragments are the formulas of the ISA, element by element: rows and
columns that elements a0, a1, … of a lane are. Sums are made in f64 and rounded
once; a device may round otherwise, and agrees where f32 has every sum."""
import re

import numpy as np

import floats
from instructions import address, decodes, threads
from memory import UNSIGNED, Fault

LANES = np.arange(32)
GROUP, IN_GROUP = LANES >> 2, LANES % 4


def fragment_a(k, size):
    """(row, column) of each element of A, [lane, element]: in a register of 32 bits
    lie 4/size neighbours of a row; registers go down by 8 rows, then right."""
    each = 4 // size
    i = np.arange(16 * k // 32)
    register = i // each
    row = GROUP[:, None] + 8 * (register % 2)
    column = IN_GROUP[:, None] * each + i % each + 4 * each * (register // 2)
    return row, column


def fragment_b(k, size):
    each = 4 // size
    i = np.arange(8 * k // 32)
    row = IN_GROUP[:, None] * each + i % each + 4 * each * (i // each)
    return row, np.broadcast_to(GROUP[:, None], row.shape)


def fragment_c(columns):
    """Of 16 rows: c0, c1 in row groupID, c2, c3 in groupID + 8, and so on right."""
    i = np.arange(columns // 2)
    row = GROUP[:, None] + 8 * (i % 4 // 2)
    return row, IN_GROUP[:, None] * 2 + i % 2 + 8 * (i // 4)


def rounded(sums):
    return floats.code(sums, "f32")


def gather_words(machine, operands, rows):
    """Registers of a fragment: [thread, register] of 32 bits."""
    count = len(threads(machine, rows))
    return np.stack([np.broadcast_to(machine.get(o, rows, np.uint32), count) for o in operands], 1)


@decodes("mma")
def multiply(machine, parts, operands):
    kind_d, kind_a, kind_b, kind_c = parts[-4:]
    shape = re.fullmatch(r"m16n8k(\d+)", parts[3])
    if parts[1:3] != ["sync", "aligned"] or not shape or parts[4:6] != ["row", "col"] \
            or (kind_d, kind_c) != ("f32", "f32"):
        return None
    k = int(shape[1])
    size = {"f16": 2, "bf16": 2, "e4m3": 1, "e5m2": 1}.get(kind_a)
    if (k, size) not in ((8, 2), (16, 2), (32, 1), (16, 1)) or floats.CODES[kind_a] != floats.CODES[kind_b]:
        return None
    d, a, b, c = (each[1] for each in operands)
    if [len(d), len(a), len(b), len(c)] != [4, k * size // 8, k * size // 16, 4]:
        return None

    def elements(rows, fragment, place, kind, height, width):
        words = gather_words(machine, fragment, rows)
        codes = words.view(floats.CODES[kind]).reshape(-1, 32, place[0].shape[1])
        matrix = np.full((len(codes), height, width), np.nan)
        matrix[:, place[0], place[1]] = floats.value(codes, kind)
        return matrix

    def step(rows):
        left = elements(rows, a, fragment_a(k, size), kind_a, 16, k)
        right = elements(rows, b, fragment_b(k, size), kind_b, k, 8)
        sums = elements(rows, c, fragment_c(8), "f32", 16, 8)
        # One product after the other: an infinity times 0 is a NaN of its own.
        for i in range(k):
            sums = sums + left[:, :, i, None] * right[:, None, i, :]
        row, column = fragment_c(8)
        result = rounded(sums)[:, row, column].reshape(-1, 4)
        for i, register in enumerate(d):
            machine.set(register, rows, result[:, i])
    return step


@decodes("ldmatrix")
def load_matrices(machine, parts, operands):
    if parts[1:] != ["sync", "aligned", "m8n8", "x4", "shared", "b16"]:
        return None
    targets = operands[0][1]

    def step(rows):
        who = threads(machine, rows)
        at = address(machine, operands[1], rows)
        # Lanes 8 i to 8 i + 7 have the addresses of rows of matrix i; of row
        # `groupID`, a lane is given elements 2 threadID_in_group and the next.
        words = np.stack(machine.shared.load(who, at, 8, 2), 1).view(np.uint32).reshape(-1, 4, 8, 4)
        for i, register in enumerate(targets):
            machine.set(register, rows, words[:, i][:, GROUP, IN_GROUP].reshape(-1))
    return step


# ---- warpgroups


def described(machine, thread, descriptor, lanes, name):
    """The 32 bytes of each of `lanes` rows (or columns) that a matrix descriptor
    tells of, K-major (PTX ISA, "Matrix Descriptor", "Shared Memory Matrix
    Layout"): atoms of 8 lanes, each `swizzle` bytes wide; the next 8 lanes begin
    a stride further; pieces of 16 bytes are exchanged by the address's bits."""
    field = lambda low, count: int(descriptor) >> low & (1 << count) - 1
    start, stride = field(0, 14) << 4, field(32, 14) << 4
    leading, base, mode = field(16, 14) << 4, field(49, 3), field(62, 2)
    if field(14, 2) or field(30, 2) or field(46, 3) or field(52, 10):
        raise Fault(f"{name}: bits of the descriptor that are reserved")
    if base:
        raise Fault(f"{name}: a base offset")
    lane, piece = np.arange(lanes)[:, None], np.arange(2)
    if mode == 0:  # pieces of 8 lanes are dense; `leading` apart along K
        at = start + lane // 8 * stride + lane % 8 * 16 + piece * leading
    else:
        width = {1: 128, 2: 64, 3: 32}[mode]
        begin = start // (8 * width) * (8 * width)
        if start - begin > width - 32:
            raise Fault(f"{name}: begins within an atom, or ends behind it")
        if stride % (8 * width):
            raise Fault(f"{name}: atoms do not begin where the pattern does")
        at = start + lane // 8 * stride + lane % 8 * width + piece * 16
        # The piece's number within `width`, exclusive or the row's of 128 bytes.
        at ^= (at >> 7 & width // 16 - 1) << 4
    data = machine.shared.load_async(thread, at.reshape(-1))
    return data.reshape(lanes, 32)


@decodes("wgmma")
def warpgroups(machine, parts, operands):
    if parts[1:] == ["fence", "sync", "aligned"]:
        return lambda rows: machine.touched.clear()
    if parts[1:] == ["commit_group", "sync", "aligned"]:
        def commit(rows):
            for each in machine.multiplications:
                if each["group"][0] in threads(machine, rows):
                    each["committed"] = True
        return commit
    if parts[1:] == ["wait_group", "sync", "aligned"] and operands == [("integer", 0)]:
        return lambda rows: wait(machine, threads(machine, rows))
    shape = re.fullmatch(r"m64n(\d+)k(\d+)", parts[4]) if parts[1] == "mma_async" else None
    if not shape or parts[2:4] != ["sync", "aligned"] or parts[5] != "f32":
        return None
    width, k, kinds = int(shape[1]), int(shape[2]), parts[6:8]
    size = 32 // k
    if width % 8 or not 8 <= width <= 256 or {floats.CODES[kind] for kind in kinds} != {UNSIGNED[size]}:
        return None
    if operands[1][0] == "vector":
        return None  # A in registers
    flags = operands[4:]
    signs = [each[1] for each in flags[:2]]
    if set(signs) - {1, -1} or any(each[1] != 0 for each in flags[2:]) \
            or len(flags) != (4 if size == 2 else 2) or len(operands[0][1]) != width // 2:
        return None

    def step(rows):
        who = threads(machine, rows).reshape(-1, 128)
        for group in who:
            issue(machine, group, operands, width, kinds, signs)
    return step


def product(machine, group, descriptors, width, kinds, signs):
    """The products' sums of a warpgroup, and the bytes they are of."""
    data = [described(machine, group[0], each, lanes, name)
            for each, lanes, name in zip(descriptors, (64, width), "AB")]
    left, right = (floats.value(each.view(floats.CODES[kind]), kind) * sign
                   for each, kind, sign in zip(data, kinds, signs))
    sums = np.zeros((64, width))
    for i in range(left.shape[1]):
        sums = sums + left[:, i, None] * right[None, :, i]
    return sums, data


def issue(machine, group, operands, width, kinds, signs):
    registers, first = operands[0][1], (group[0] % machine.block_threads) % 128
    if first:
        raise Fault("the first warp of a warpgroup is no fourth one")
    descriptors = []
    for each in operands[1:3]:
        values = np.broadcast_to(machine.get(each, group, np.uint64), 128)
        if (values != values[0]).any():
            raise Fault("threads of a warpgroup have other descriptors")
        descriptors.append(values[0])
    added = bool(machine.get(operands[3], group, np.bool_).all())
    names = [each[1] for each in registers]
    busy = any(name in machine.busy and machine.busy[name][group].any() for name in names)
    if busy:
        same = [m for m in machine.multiplications if m["group"][0] == group[0]]
        if any(m["names"] != names for m in same):
            raise Fault("an accumulator of another shape is not finished")
    elif machine.touched & set(names):
        raise Fault("registers were written, and no wgmma.fence is behind")
    sums, data = product(machine, group, descriptors, width, kinds, signs)
    row, column = (np.concatenate([each + 16 * warp * (i == 0) for warp in range(4)])
                   for i, each in enumerate(fragment_c(width)))
    before = np.zeros((128, len(names)), np.uint32)
    if added:
        before = np.stack([machine.register(name)[group] for name in names], 1)
    total = floats.value(before, "f32") + sums[row, column] if added else sums[row, column]
    result = rounded(total)
    for i, name in enumerate(names):
        machine.register(name)[group] = result[:, i]
        machine.busy.setdefault(name, np.zeros(machine.threads, bool))[group] = True
    machine.multiplications.append(dict(group=group, names=names, data=data, committed=False,
                                        again=(descriptors, width, kinds, signs)))


def wait(machine, who):
    """Registers are the threads' again, and what was read is still there."""
    left = []
    for each in machine.multiplications:
        if each["group"][0] not in who:
            left.append(each)
            continue
        if not each["committed"]:
            raise Fault("waits for what no group was made of")
        _, data = product(machine, each["group"], *each["again"])
        if any((a != b).any() for a, b in zip(data, each["data"])):
            raise Fault("a matrix was changed while an instruction read it")
        for name in each["names"]:
            machine.busy[name][each["group"]] = False
    machine.multiplications = left
