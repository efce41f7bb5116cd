# SPDX-License-Identifier: MIT
"""Functions put in place of the calls of them: their registers and labels get a name
for each call, and parameters are registers. None calls itself."""
import re

from program import SIZES, Instruction, Unsupported


def place(name, names, offset, size, registers):
    """The register of what lies in a parameter: of a call that is made here, or of
    the one that this function is called by, by the caller's name."""
    own = f"%caller:{names[name]}+{offset}" if name in names else f"%call:{name}+{offset}"
    if registers.setdefault(own, f"b{8 * size}") != f"b{8 * size}":
        raise Unsupported(f"a parameter in other pieces: {name}")
    return "register", own


def moved(instruction, names, registers):
    """`ld.param` and `st.param` of a call's parameters as `mov`: one a piece."""
    parts, operands = instruction.parts, instruction.operands
    is_load = parts[0] == "ld"
    where, what = operands[::-1] if is_load else operands
    count = int(parts[2][1]) if parts[2][0] == "v" else 1
    size = SIZES[parts[-1]]
    for i, piece in enumerate(what[1] if what[0] == "vector" else [what]):
        own = place(where[1][1], names, where[2] + i * size, size, registers)
        pair = [piece, own] if is_load else [own, piece]
        yield Instruction(instruction.guard, ["mov", f"b{8 * size}"], pair, instruction.line)
    if count != (len(what[1]) if what[0] == "vector" else 1):
        raise Unsupported(instruction.line)


def rename(register, tag):
    """As the caller has it."""
    if register.startswith("%caller:"):
        return register.replace("%caller:", "%call:")
    return register if re.match(r"%(n?tid|n?ctaid|laneid)", register) else register + tag


def tagged(operand, tag, labels):
    kind = operand[0]
    if kind == "register":
        return kind, rename(operand[1], tag)
    if kind in ("vector", "list"):
        return kind, [tagged(each, tag, labels) for each in operand[1]]
    if kind == "not":
        return kind, tagged(operand[1], tag, labels)
    if kind == "address":
        return kind, tagged(operand[1], tag, labels), operand[2]
    if kind == "symbol" and operand[1] in labels:
        return kind, operand[1] + tag, 0
    return operand


class Inliner:
    def __init__(self, functions):
        self.functions, self.count = functions, 0

    def expand(self, kernel, names=None, end=None):
        """The kernel's or function's code without calls. names: of a function's
        parameters, what the caller calls them; end: where it goes back to."""
        names, own = names or {}, set(kernel.parameters) if end is None else set()
        code, at = [], []
        labels, tables = dict(kernel.labels), dict(kernel.tables)
        registers, inner = dict(kernel.registers), {}
        for instruction in kernel.code:
            at.append(len(code))
            parts, operands = instruction.parts, instruction.operands
            if parts[0] == "call":
                inner |= self.call(instruction, code, registers, tables)
            elif "param" in parts and operands[parts[0] == "ld"][1][1] not in own:
                code += moved(instruction, names, registers)
            elif parts[0] == "ret" and end:
                code.append(Instruction(instruction.guard, ["bra"], [("symbol", end)], instruction.line))
            else:
                code.append(instruction)
        at.append(len(code))
        return code, {name: at[i] for name, i in labels.items()} | inner, tables, registers

    def call(self, instruction, code, registers, tables):
        """Appends what is called; labels in it."""
        operands = list(instruction.operands)
        results = operands.pop(0)[1] if operands[0][0] == "list" else []
        function = self.functions.get(operands[0][1])
        arguments = operands[1][1] if len(operands) > 1 else []
        if function is None or instruction.guard:
            raise Unsupported(instruction.line)
        self.count += 1
        tag, end = f"@{self.count}", "end"
        names = dict(zip([*function.results, *function.parameters],
                         [each[1] for each in results + arguments], strict=True))
        body, labels, inner_tables, types = self.expand(function, names, end)
        known = set(labels) | set(inner_tables) | {end}
        begin = len(code)
        for each in body:
            guard = each.guard and (each.guard[0] + tag, each.guard[1])
            code.append(Instruction(guard, each.parts, [tagged(o, tag, known) for o in each.operands],
                                    each.line))
        for name, kind in types.items():
            registers[rename(name, tag)] = kind
        for name, targets in inner_tables.items():
            tables[name + tag] = [target + tag for target in targets]
        return {name + tag: begin + i for name, i in labels.items()} | {end + tag: len(code)}


def inline(kernel, functions):
    kernel.code, kernel.labels, kernel.tables, kernel.registers = Inliner(functions).expand(kernel)
    kernel.local = kernel.local + [each for f in functions.values() for each in f.local]
