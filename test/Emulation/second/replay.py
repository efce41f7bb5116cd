# SPDX-License-Identifier: MIT
"""Repeats launches that the emulated GPU recorded (test/Emulation/Record.h) by a
second reading of the PTX ISA, and compares all of memory behind each.

    replay.py FOLDER [--want INSTRUCTION]… [--blocks N]

Says how many launches, instructions and bytes agree, of which kinds of matrix
and paired instructions some ran; each of `--want` has to be among them.
"""
import argparse
import os
import re
import sys

import numpy as np

import arithmetic  # noqa: F401 - its instructions
import instructions
import matrices  # noqa: F401
from calls import inline
from machine import Machine
from memory import Fault, Global
from program import Unsupported, parse

NAMED = re.compile(r"wgmma\.mma.*|mma\..*|ldmatrix.*|.*x2(\..*)?|fence\..*|cp\.async\..*")
VARIABLES = 1 << 52  # where the module's own lie, above all of the emulator's


class Launch:
    def __init__(self, path):
        with open(path, "rb") as file:
            self.kernel = file.readline().decode().strip()
            self.grid, self.block = (tuple(map(int, file.readline().split())) for _ in range(2))
            self.parameters = [bytes.fromhex(each) for each in file.readline().decode().split()]
            sizes = [tuple(map(int, file.readline().split())) for _ in range(int(file.readline()))]
            self.before, self.after = ([(address, file.read(size)) for address, size in sizes]
                                       for _ in range(2))
            # The emulator ends a process whose kernel does what it may not.
            self.is_refused = any(len(data) != size for (_, data), (_, size)
                                  in zip(self.after, sizes))
        with open(path.replace(".launch", ".ptx"), encoding="utf-8") as file:
            self.ptx = file.read()


def variables(module):
    at = VARIABLES
    for each in module.variables:
        at = (at + each.align - 1) // each.align * each.align
        yield each.name, at, bytes(each.values)
        at += each.size


def repeat(launch, modules, most):
    """The machine that ran it, and what it left."""
    if launch.ptx not in modules:
        module, functions = modules[launch.ptx] = parse(launch.ptx)
        for kernel in module.kernels.values():
            inline(kernel, functions)
    module, _ = modules[launch.ptx]
    kernel = module.kernels[launch.kernel]
    own = list(variables(module))
    memory = Global(launch.before + [(address, data) for _, address, data in own])
    arguments = bytearray(max((o + s for o, s in kernel.parameters.values()), default=0))
    for (offset, size), value in zip(kernel.parameters.values(), launch.parameters, strict=True):
        arguments[offset:offset + size] = value
    machine = Machine(module, kernel, instructions.decode, memory, bytes(arguments),
                      launch.grid, launch.block, {name: address for name, address, _ in own})
    blocks = int(np.prod(launch.grid))
    together = max(1, most // machine.block_threads)
    for first in range(0, blocks, together):
        machine.run(range(first, min(first + together, blocks)))
    return machine


def differences(launch, memory):
    count = 0
    for i, (address, data) in enumerate(launch.after):
        found, wanted = memory.bytes_of(i), np.frombuffer(data, np.uint8)
        wrong = np.flatnonzero(found != wanted)
        if len(wrong):
            print(f"{launch.kernel}: {len(wrong)} bytes of {len(data)} at {address:x} differ, "
                  f"first byte {wrong[0]}: {found[wrong[0] & ~15:][:16].tobytes().hex()}, "
                  f"emulator {wanted[wrong[0] & ~15:][:16].tobytes().hex()}")
        count += len(wrong)
    return count


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--want", action="append", default=[])
    parser.add_argument("--threads", type=int, default=8192, help="at once")
    options = parser.parse_args()
    paths = sorted(os.path.join(options.folder, name) for name in os.listdir(options.folder)
                   if name.endswith(".launch"))
    modules, ran, wrong, steps, size = {}, set(), 0, 0, 0
    for path in paths:
        launch = Launch(path)
        try:
            machine = repeat(launch, modules, options.threads)
        except (Fault, Unsupported) as error:
            if launch.is_refused and isinstance(error, Fault):
                print(f"refused by both: {error}")
                continue
            sys.exit(f"{launch.kernel}: {error}")
        if launch.is_refused:
            sys.exit(f"{launch.kernel}: the emulator alone refuses it")
        for pc, count in machine.executed.items():
            steps += count
            name = ".".join(machine.kernel.code[pc].parts)
            if NAMED.fullmatch(name):
                ran.add(name)
        wrong += differences(launch, machine.memory)
        size += sum(len(data) for _, data in launch.after)
    for name in sorted(ran):
        print(name)
    if missing := [each for each in options.want if each not in ran]:
        sys.exit(f"did not run: {', '.join(missing)}")
    print(f"{len(paths)} launches, {steps} instructions of threads, {size} bytes: {wrong} differ")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
