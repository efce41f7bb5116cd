# SPDX-License-Identifier: MIT
"""Runs a kernel: all threads of several blocks at once, those that are furthest
behind first. Threads wait for each other where instructions say so, of a warp
(`.sync`), of a warpgroup (`wgmma`) and of a block (`bar.sync`)."""
import re

import numpy as np

from memory import UNSIGNED, Fault, Shared
from program import SIZES, Unsupported

RUNS, WAITS, BARRIER, DONE = range(4)
DTYPES = {"b8": np.uint8, "u8": np.uint8, "s8": np.int8, "b16": np.uint16,
          "u16": np.uint16, "s16": np.int16, "b32": np.uint32, "u32": np.uint32,
          "s32": np.int32, "b64": np.uint64, "u64": np.uint64, "s64": np.int64,
          "f32": np.float32, "f64": np.float64, "f16": np.uint16, "bf16": np.uint16,
          "f16x2": np.uint32, "bf16x2": np.uint32, "f32x2": np.uint64, "pred": np.bool_}
SPECIAL = ("%tid", "%ntid", "%ctaid", "%nctaid", "%laneid")
SHARED_BEGIN = 1024  # in the window of shared memory; what is there is the system's


def together(instruction):
    """Of how many threads an instruction is, one after the other in the block."""
    parts = instruction.parts
    if parts[0] == "wgmma":
        return 128
    if parts[0] in ("mma", "ldmatrix") or parts[:3] == ["bar", "warp", "sync"]:
        return 32
    return 1


class Machine:
    def __init__(self, module, kernel, decode, memory, arguments, grid, block, variables):
        self.kernel, self.memory, self.arguments = kernel, memory, arguments
        self.grid, self.shape = grid, block
        self.block_threads = int(np.prod(block))
        self.symbols, at = dict(variables), SHARED_BEGIN
        for each in kernel.shared + module.shared:
            # At a multiple of what is asked for, and of no more.
            at = (at // each.align | 1) * each.align
            self.symbols[each.name] = at
            at += each.size
        self.shared_size = at
        at = 0
        for each in kernel.local:
            at = (at + each.align - 1) // each.align * each.align
            self.symbols[each.name] = at
            at += each.size
        self.local_size = (at + 15) // 16 * 16
        widths = [SIZES.get(i.parts[-1], 4) for i in kernel.code
                  if i.parts[0] == "st" and "shared" in i.parts]
        self.granule = min([4, *widths])
        self.together = [together(i) for i in kernel.code]
        self.steps = [decode(self, i) for i in kernel.code]
        self.entries = sorted({0, *kernel.labels.values()})
        self.executed = {}

    # ---- registers

    def type_of(self, register):
        types = self.kernel.registers
        if register in types:
            return types[register]
        name, *calls = register.split("@")
        return types["@".join([re.match(r"%[a-zA-Z_]+", name)[0], *calls])]

    def register(self, name):
        """Of all threads. Nobody wrote to it: something, as padding of structures."""
        if name not in self.registers:
            kind = self.type_of(name)
            dtype = np.bool_ if kind == "pred" else UNSIGNED[SIZES[kind]]
            self.registers[name] = np.full(self.threads, 0x5A5A5A5A5A5A5A5A, np.uint64).astype(dtype)
        return self.registers[name]

    def get(self, operand, rows, dtype):
        """An operand as `dtype`, for the threads `rows`."""
        kind = operand[0]
        if kind == "register":
            name = operand[1]
            if name.split(".")[0] in SPECIAL:
                return self.special(name, rows).astype(dtype)
            value = self.register(name)[rows]
            if name in self.busy:
                self.check_idle(name, rows)
            size = np.dtype(dtype).itemsize
            if dtype == np.bool_ or value.dtype == np.bool_:
                return value
            if value.dtype.itemsize > size:
                value = value.astype(UNSIGNED[size])
            return value.view(dtype) if value.dtype.itemsize == size else value.astype(dtype)
        if kind == "integer":
            bits = np.dtype(dtype).itemsize * 8
            if dtype == np.bool_:
                return np.array([operand[1] != 0])
            return np.array([operand[1] & (1 << bits) - 1], UNSIGNED[bits // 8]).view(dtype)
        if kind == "float":
            return np.array([operand[1]], UNSIGNED[operand[2]]).view(dtype)
        if kind == "symbol":
            return np.array([self.symbols[operand[1]] + operand[2]], np.uint64).astype(dtype)
        if kind == "not":
            return ~self.get(operand[1], rows, dtype)
        raise Unsupported(f"operand {operand}")

    def set(self, operand, rows, value):
        """Signed values are extended to a wider register with their sign."""
        if operand[0] == "sink":
            return
        name = operand[1]
        register = self.register(name)
        if name in self.busy:
            self.check_idle(name, rows)
        self.touched.add(name)
        if register.dtype != np.bool_ and value.dtype.itemsize != register.dtype.itemsize:
            wide = np.int64 if np.issubdtype(value.dtype, np.signedinteger) else np.uint64
            value = value.astype(wide).view(np.uint64)
            register[rows] = value.astype(register.dtype)
        else:
            register[rows] = np.ascontiguousarray(value).view(register.dtype)

    def check_idle(self, name, rows):
        if self.busy[name][rows].any():
            raise Fault(f"{name} is a matrix instruction's that nobody waited for")

    def special(self, name, rows):
        x, y, _ = self.shape
        inside = self.thread[rows]
        names = {"%tid": (inside % x, inside // x % y, inside // (x * y)),
                 "%ntid": self.shape, "%nctaid": self.grid}
        name, _, axis = name.partition(".")
        if name == "%laneid":
            return inside % 32
        place = "xyz".index(axis)
        if name == "%ctaid":
            block, (gx, gy, _) = self.block_id[rows], self.grid
            return (block % gx, block // gx % gy, block // (gx * gy))[place]
        return np.asarray(names[name][place]).reshape(-1)

    # ---- threads

    def run(self, blocks):
        """blocks: their numbers."""
        count = self.block_threads
        self.threads = len(blocks) * count
        self.thread = np.tile(np.arange(count), len(blocks))
        self.block_id = np.repeat(np.asarray(blocks), count)
        self.block = np.repeat(np.arange(len(blocks)), count)
        warps = (count + 31) // 32
        self.warp = self.block * warps + self.thread // 32
        self.registers, self.busy, self.touched = {}, {}, set()
        self.copies, self.multiplications = [], []
        self.shared = Shared(len(blocks), self.shared_size, self.granule, self.block, self.warp)
        self.local = np.full(self.threads * self.local_size, 0x5A, np.uint8)
        self.pc = np.zeros(self.threads, np.int64)
        self.state = np.full(self.threads, RUNS, np.int8)
        with np.errstate(all="ignore"):
            while (self.state != DONE).any():
                self.advance()
        if self.copies or self.multiplications:
            raise Fault("a kernel ends before what it began")

    def advance(self):
        ready = self.state == RUNS
        if not ready.any():
            self.release()
            return
        pc = self.pc[ready].min()
        rows = np.flatnonzero(ready & (self.pc == pc))
        self.follow(int(pc), rows)

    def follow(self, pc, rows):
        """Until the threads part, wait or meet others."""
        code = self.kernel.code
        rest = self.pc[(self.state == RUNS)]
        rest = rest[rest > pc]
        limit = rest.min() if len(rest) else len(code)
        whole = len(rows) == self.threads
        while True:
            if pc >= limit:
                self.pc[rows] = pc
                return
            if self.together[pc] > 1 and not self.gather(pc, rows):
                return
            instruction = code[pc]
            self.executed[pc] = self.executed.get(pc, 0) + len(rows)
            chosen = rows
            if instruction.guard:
                name, wanted = instruction.guard
                chosen = rows[self.register(name)[rows] == wanted]
            try:
                outcome = self.steps[pc](slice(None) if whole and len(chosen) == len(rows)
                                         else chosen) if len(chosen) else None
            except Fault as fault:
                raise Fault(f"{self.kernel.name}, instruction {pc} `{instruction.line}`: {fault}")
            if outcome is None:
                pc += 1
                continue
            if isinstance(outcome, np.ndarray):
                self.pc[rows] = pc + 1
                self.pc[chosen] = outcome
                return
            if outcome == "barrier":
                if len(chosen) != len(rows):
                    raise Unsupported("a barrier under a condition")
                self.state[rows], self.pc[rows] = BARRIER, pc + 1
                return
            if outcome == "ret":
                self.state[chosen] = DONE
                target = None
            else:
                target = outcome
            if len(chosen) == len(rows):
                if target is None:
                    return
                pc = target
                if pc >= limit:
                    self.pc[rows] = pc
                    return
            elif len(chosen):
                self.pc[rows] = pc + 1
                if target is not None:
                    self.pc[chosen] = target
                return
            else:
                pc += 1

    def gather(self, pc, rows):
        """Whether all threads of the warps or warpgroups are here."""
        group = self.block[rows] * 64 + self.thread[rows] // self.together[pc]
        count = np.bincount(group)
        full = count[group] == self.together[pc]
        if full.all():
            return True
        self.pc[rows] = pc
        self.state[rows[~full]] = WAITS
        return False

    def release(self):
        """All threads wait."""
        waits = self.state == WAITS
        if waits.any():
            pcs = self.pc[waits]
            for pc in np.unique(pcs):
                rows = np.flatnonzero(waits & (self.pc == pc))
                group = self.block[rows] * 64 + self.thread[rows] // self.together[pc]
                full = np.bincount(group)[group] == self.together[pc]
                if full.any():
                    self.state[rows[full]] = RUNS
                    return
            if not (self.state == BARRIER).any():
                raise Fault("threads of a warp wait at different instructions")
        opened = False
        for block in np.unique(self.block[self.state != DONE]):
            rows = np.flatnonzero((self.block == block) & (self.state != DONE))
            if (self.state[rows] == BARRIER).all():
                for warp in np.unique(self.warp[rows]):
                    if len(np.unique(self.pc[rows[self.warp[rows] == warp]])) > 1:
                        raise Fault("threads of a warp wait at different barriers")
                self.state[rows] = RUNS
                self.shared.time[block] += 1
                self.shared.turn[np.unique(self.warp[rows])] += 1
                opened = True
        if not opened:
            raise Fault("threads wait for each other for ever")
