# SPDX-License-Identifier: MIT
"""Instructions of a thread: integers, bits, predicates, moves, control flow, memory
(PTX ISA, "Instruction Set"). `decode` makes a function of an instruction, which
carries it out for some of the threads."""
import numpy as np

from machine import DTYPES
from memory import UNSIGNED, Fault
from program import SIZES, Unsupported

DECODERS = {}


def decodes(*names):
    def register(function):
        for name in names:
            DECODERS[name] = function
        return function
    return register


def decode(machine, instruction):
    parts = instruction.parts
    if parts[0] not in DECODERS:
        raise Unsupported(instruction.line)
    step = DECODERS[parts[0]](machine, parts, instruction.operands)
    if step is None:
        raise Unsupported(instruction.line)
    return step


def apply(machine, operands, types, function):
    """d, a, … = operands; types of a, …"""
    target, sources = operands[0], operands[1:]
    dtypes = [DTYPES[each] for each in types]

    def step(rows):
        values = [machine.get(o, rows, t) for o, t in zip(sources, dtypes)]
        machine.set(target, rows, function(*values))
    return step


def is_integer(kind):
    return kind[0] in "subp" and not kind.startswith("bf")


def high(a, b):
    """The upper half of a product of 32 bits or less."""
    bits = a.dtype.itemsize * 8
    wide = np.int64 if a.dtype.kind == "i" else np.uint64
    if bits == 64:
        result = [int(x) * int(y) >> 64 for x, y in np.broadcast(a, b)]
        return np.array([r & (1 << 64) - 1 for r in result], np.uint64).view(a.dtype)
    return (a.astype(wide) * b.astype(wide) >> wide(bits)).astype(a.dtype)


def divide(a, b):
    """Towards zero; by zero it is not defined."""
    if (b == 0).any():
        raise Fault("a division of integers by zero")
    if a.dtype.kind == "u":
        return a // b
    q = np.abs(a) // np.abs(b)
    return np.where((a < 0) != (b < 0), -q, q).astype(a.dtype)


@decodes("mad", "rem")
def integers(machine, parts, operands):
    kind, name = parts[-1], parts[0]
    simple = {"add": lambda a, b: a + b, "sub": lambda a, b: a - b,
              "min": np.minimum, "max": np.maximum, "div": divide,
              "rem": lambda a, b: (a - divide(a, b) * b).astype(a.dtype),
              "abs": np.abs, "neg": lambda a: -a}
    if name in ("add", "sub") and parts[1] == "cc":
        return extended(machine, parts, operands)
    if len(parts) == 2 and name in simple:
        return apply(machine, operands, [kind] * (len(operands) - 1), simple[name])
    if name in ("mul", "mad") and len(parts) == 3:
        form = parts[1]
        if form == "wide":
            wide = DTYPES[kind[0] + str(16 * SIZES[kind])]
            product = lambda a, b: a.astype(wide) * b.astype(wide)
            types = [kind, kind, kind[0] + str(16 * SIZES[kind])]
        else:
            product = high if form == "hi" else lambda a, b: a * b
            types = [kind] * 3
        if name == "mul":
            return apply(machine, operands, types[:2], product)
        return apply(machine, operands, types, lambda a, b, c: product(a, b) + c)
    return None


CARRY = ("register", "%carry")


@decodes("addc", "subc")
def extended(machine, parts, operands):
    """`add.cc`, `addc.cc`, `addc` and the same of `sub`: with the thread's carry."""
    machine.kernel.registers[CARRY[1]] = "pred"
    kind, name = parts[-1], parts[0]
    with_carry, makes_carry = name.endswith("c"), "cc" in parts
    dtype = UNSIGNED[SIZES[kind]]

    def step(rows):
        a, b = (machine.get(each, rows, dtype) for each in operands[1:])
        carry = machine.get(CARRY, rows, np.bool_) if with_carry else np.array([False])
        if name.startswith("add"):
            result = a + b + carry.astype(dtype)
            out = (result < a) | (carry & (result == a))
        else:
            result = a - b - carry.astype(dtype)
            out = (a < b) | (carry & (a == b))
        machine.set(operands[0], rows, result)
        if makes_carry:
            machine.set(CARRY, rows, out)
    return step


@decodes("and", "or", "xor", "not", "cnot", "shl", "shr", "bfe", "bfi", "prmt", "shf",
         "popc", "clz", "brev", "bfind", "lop3")
def bits(machine, parts, operands):
    name, kind = parts[0], parts[-1]
    size = SIZES[kind] * 8
    count = len(operands) - 1
    if name in ("and", "or", "xor", "not"):
        function = {"and": lambda a, b: a & b, "or": lambda a, b: a | b,
                    "xor": lambda a, b: a ^ b, "not": lambda a: ~a}[name]
        return apply(machine, operands, [kind] * count, function)
    if name == "cnot":
        return apply(machine, operands, [kind], lambda a: (a == 0).astype(a.dtype))
    if name in ("shl", "shr"):
        return apply(machine, operands, [kind, "u32"],
                     shift_left if name == "shl" else shift_right)
    if name == "bfe":
        return apply(machine, operands, [kind, "u32", "u32"], lambda a, b, c: extract(a, b, c, size))
    if name == "bfi":
        def insert(a, b, at, length):
            at, length = at & 255, length & 255
            mask = shift_left(shift_left(np.ones(1, b.dtype), length) - b.dtype.type(1), at)
            return b & ~mask | shift_left(a, at) & mask
        return apply(machine, operands, [kind, kind, "u32", "u32"], insert)
    if name == "prmt" and len(parts) == 2:
        def permute(a, b, selector):
            both, result = b.astype(np.uint64) << np.uint64(32) | a, 0
            for i in range(4):
                chosen = (selector >> np.uint32(4 * i)).astype(np.uint64)
                byte = both >> (chosen & np.uint64(7)) * np.uint64(8) & np.uint64(255)
                sign = np.where(byte >> np.uint64(7) == 1, np.uint64(255), np.uint64(0))
                byte = np.where(chosen & np.uint64(8) == 8, sign, byte)
                result = result | byte << np.uint64(8 * i)
            return result.astype(np.uint32)
        return apply(machine, operands, ["b32", "b32", "b32"], permute)
    if name == "shf":
        left = parts[1] == "l"

        def funnel(a, b, c):
            c = c & 31 if parts[2] == "wrap" else np.minimum(c, 32)
            both, c = b.astype(np.uint64) << np.uint64(32) | a, c.astype(np.uint64)
            moved = (both << c) >> np.uint64(32) if left else both >> c
            return (moved & np.uint64(0xFFFFFFFF)).astype(np.uint32)
        return apply(machine, operands, ["b32", "b32", "u32"], funnel)
    if name in ("popc", "clz", "brev"):
        def count_bits(a):
            each = (a[:, None] >> np.arange(size, dtype=a.dtype) & a.dtype.type(1)).astype(bool)
            if name == "popc":
                return each.sum(1).astype(np.uint32)
            if name == "clz":
                return np.where(a == 0, size, each[:, ::-1].argmax(1)).astype(np.uint32)
            places = (np.ones(1, a.dtype) << np.arange(size, dtype=a.dtype)[::-1])
            return (each * places).sum(1, dtype=a.dtype)
        return apply(machine, operands, [kind], count_bits)
    if name == "lop3":
        table = operands[-1][1]

        def look_up(a, b, c):
            result = np.zeros_like(a)
            for i in range(8):
                if table >> i & 1:
                    result = result | ((a if i & 4 else ~a) & (b if i & 2 else ~b)
                                       & (c if i & 1 else ~c))
            return result
        return apply(machine, operands[:-1], [kind] * 3, look_up)
    return None


def shift_left(a, by):
    size = a.dtype.itemsize * 8
    return np.where(by < size, a << np.minimum(by, size - 1).astype(a.dtype), 0).astype(a.dtype)


def shift_right(a, by):
    size = a.dtype.itemsize * 8
    moved = a >> np.minimum(by, size - 1).astype(a.dtype)
    return moved if a.dtype.kind == "i" else np.where(by < size, moved, 0).astype(a.dtype)


def extract(a, at, length, size):
    at, length = at & 255, length & 255
    word = np.uint64 if a.dtype.kind == "u" else np.int64
    wide = a.astype(word)
    if a.dtype.kind == "u":
        kept = shift_right(wide, at)
        return (kept & (shift_left(np.ones(1, word), length) - word(1))).astype(a.dtype)
    # The sign is the field's highest bit, or the operand's where it ends before.
    sign_at = np.where(length == 0, 0, np.minimum(at.astype(np.int64) + length - 1, size - 1))
    sign = np.where(length == 0, 0, wide >> sign_at & 1)
    mask = shift_left(np.ones(1, np.uint64), length).view(np.int64) - 1
    kept = np.where(at < size, shift_right(wide, at), -sign) & mask
    return (kept | np.where(sign == 1, ~mask, 0)).astype(a.dtype)


@decodes("mov")
def move(machine, parts, operands):
    target, source = operands
    kind = parts[-1]
    if target[0] == "vector":
        pieces = target[1]
        size = SIZES[kind] // len(pieces)

        def unpack(rows):
            whole = machine.get(source, rows, DTYPES[kind])
            for i, piece in enumerate(pieces):
                part = whole >> whole.dtype.type(8 * size * i)
                machine.set(piece, rows, part.astype(UNSIGNED[size]))
        return unpack
    if source[0] == "vector":
        pieces = source[1]
        size = SIZES[kind] // len(pieces)

        def pack(rows):
            whole = DTYPES[kind](0)
            for i, piece in enumerate(pieces):
                part = machine.get(piece, rows, UNSIGNED[size]).astype(DTYPES[kind])
                whole = whole | part << part.dtype.type(8 * size * i)
            machine.set(target, rows, whole)
        return pack
    return apply(machine, operands, [kind], lambda a: a)


@decodes("selp")
def select(machine, parts, operands):
    kind = parts[-1]
    return apply(machine, operands, [kind, kind, "pred"], lambda a, b, p: np.where(p, a, b))


# Global memory's generic addresses are its own; local memory's are from here on.
LOCAL_WINDOW = np.uint64(1 << 60)


@decodes("cvta")
def convert_address(machine, parts, operands):
    offset = {"global": np.uint64(0), "const": np.uint64(0), "local": LOCAL_WINDOW}.get(parts[-2])
    if offset is None:
        return None
    if "to" in parts:
        return apply(machine, operands, ["u64"], lambda a: a - offset)
    return apply(machine, operands, ["u64"], lambda a: a + offset)


@decodes("bra")
def branch(machine, parts, operands):
    target = machine.kernel.labels[operands[0][1]]
    return lambda rows: target


@decodes("brx")
def branch_indexed(machine, parts, operands):
    names = machine.kernel.tables[operands[1][1]]
    targets = np.array([machine.kernel.labels[name] for name in names])

    def step(rows):
        index = machine.get(operands[0], rows, np.uint32)
        if (index >= len(targets)).any():
            raise Fault("a branch to behind the list of targets")
        return targets[index]
    return step


@decodes("ret", "exit")
def leave(machine, parts, operands):
    return lambda rows: "ret"


@decodes("bar", "barrier")
def barrier(machine, parts, operands):
    if parts == ["bar", "sync"] and operands == [("integer", 0)]:
        return lambda rows: "barrier"
    if parts == ["bar", "warp", "sync"]:
        if operands != [("integer", 0xFFFFFFFF)]:
            return None

        def meet(rows):
            machine.shared.turn[np.unique(machine.warp[rows])] += 1
        return meet
    return None


# ---- memory


def threads(machine, rows):
    return np.arange(machine.threads) if isinstance(rows, slice) else rows


def address(machine, operand, rows):
    _, base, offset = operand
    at = machine.get(base, rows, np.uint64) + np.uint64(offset & (1 << 64) - 1)
    return np.broadcast_to(at, threads(machine, rows).shape)


def shape_of(parts):
    """Size of an element, how many, and its type."""
    count = int(parts[-2][1]) if parts[-2] in ("v2", "v4", "v8") else 1
    return SIZES[parts[-1]], count, parts[-1]


@decodes("ld")
def load(machine, parts, operands):
    size, count, kind = shape_of(parts)
    target, source = operands
    targets = target[1] if target[0] == "vector" else [target]
    if "param" in parts:
        offset = machine.kernel.parameters[source[1][1]][0] + source[2]
        bits = int.from_bytes(machine.arguments[offset:offset + size], "little")
        return lambda rows: machine.set(target, rows, np.array([bits], UNSIGNED[size]).view(DTYPES[kind]))
    if (space := space_of(parts)) is None:
        return None

    def step(rows):
        at = address(machine, source, rows)
        for each, value in zip(targets, access(machine, space, threads(machine, rows), at, size, count)):
            machine.set(each, rows, value.view(DTYPES[kind]))
    return step


def space_of(parts):
    if {"volatile", "acquire", "release", "relaxed"} & set(parts):
        return None
    return next((each for each in ("global", "shared", "local", "const") if each in parts), "generic")


def access(machine, space, rows, at, size, count, values=None):
    """Loads `count` elements, or stores values."""
    if space == "generic":
        is_local = at >= LOCAL_WINDOW
        if is_local.all():
            return access(machine, "local", rows, at - LOCAL_WINDOW, size, count, values)
        if is_local.any():
            raise Unsupported("generic addresses of several spaces")
    if space == "shared":
        if values is None:
            return machine.shared.load(rows, at, size, count)
        return machine.shared.store(rows, at, size, values)
    if space == "local":
        return local(machine, rows, at, size, count, values)
    if values is None:
        return machine.memory.load(at, size, count)
    return machine.memory.store(at, size, values)


def local(machine, rows, at, size, count, values):
    if (at % np.uint64(size * count)).any() or (at + np.uint64(size * count) > machine.local_size).any():
        raise Fault("an address outside of local memory, or not aligned")
    index = (rows * machine.local_size + at.astype(np.int64)) // size
    data = machine.local.view(UNSIGNED[size])
    if values is None:
        return [data[index + i] for i in range(count)]
    for i, value in enumerate(values):
        data[index + i] = value
    return None


@decodes("st")
def store(machine, parts, operands):
    size, count, _ = shape_of(parts)
    target, source = operands
    sources = source[1] if source[0] == "vector" else [source]
    if (space := space_of(parts)) is None:
        return None

    def step(rows):
        at = address(machine, target, rows)
        values = [machine.get(each, rows, UNSIGNED[size]) for each in sources]
        access(machine, space, threads(machine, rows), at, size, count, values)
    return step


@decodes("cp")
def copy(machine, parts, operands):
    if parts[1:] == ["async", "wait_all"]:
        def wait(rows):
            mine = np.zeros(machine.threads, bool)
            mine[rows] = True
            left = []
            for who, places, source, size in machine.copies:
                now = mine[who]
                data = np.stack(machine.memory.load(source[now], size // max(size // 8, 1),
                                                    max(size // 8, 1)), 1)
                machine.shared.end_copy(who[now], places[now], size,
                                        np.ascontiguousarray(data).view(np.uint8))
                if not now.all():
                    left.append((who[~now], places[~now], source[~now], size))
            machine.copies = left
        return wait
    if parts[1] != "async" or parts[-2:] != ["shared", "global"] or len(operands) != 3:
        return None
    size = operands[2][1]
    if size not in {"ca": (4, 8, 16), "cg": (16,)}[parts[2]]:
        return None

    def begin(rows):
        who = threads(machine, rows)
        places = machine.shared.begin_copy(who, address(machine, operands[0], rows), size)
        machine.copies.append((who, places, address(machine, operands[1], rows), size))
    return begin


@decodes("fence")
def fence(machine, parts, operands):
    if parts[1:] != ["proxy", "async", "shared::cta"]:
        return None
    return lambda rows: machine.shared.fence_proxy(threads(machine, rows))
