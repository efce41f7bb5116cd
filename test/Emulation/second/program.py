# SPDX-License-Identifier: MIT
"""PTX as text, taken apart: kernels, what they declare, and their instructions
(PTX ISA, "Syntax" and "Directives")."""
import re
from dataclasses import dataclass, field

SIZES = {"pred": 0, "b128": 16}
SIZES |= {kind + bits: int(bits) // 8 for kind in "busf"
          for bits in ("8", "16", "32", "64")}


class Unsupported(Exception):
    """What this interpreter does not know, or the PTX ISA does not allow."""


@dataclass
class Instruction:
    guard: tuple  # (register, value that lets it run), or None
    parts: list  # the name, split at points
    operands: list
    line: str


@dataclass
class Variable:
    name: str
    size: int
    align: int
    values: list


@dataclass
class Kernel:
    name: str
    parameters: dict = field(default_factory=dict)  # name -> (offset, size)
    threads: int = 0  # .maxntid
    registers: dict = field(default_factory=dict)  # prefix or name -> type
    shared: list = field(default_factory=list)
    local: list = field(default_factory=list)
    code: list = field(default_factory=list)
    labels: dict = field(default_factory=dict)
    tables: dict = field(default_factory=dict)  # .branchtargets
    results: list = field(default_factory=list)  # names of a function's


@dataclass
class Module:
    target: str
    kernels: dict = field(default_factory=dict)
    shared: list = field(default_factory=list)
    variables: list = field(default_factory=list)  # .global and .const


def number(text):
    """An immediate: an integer, or the bits of a float with their size."""
    text = text.strip()
    if match := re.fullmatch(r"0[fF]([0-9a-fA-F]{8})|0[dD]([0-9a-fA-F]{16})", text):
        bits = match[1] or match[2]
        return "float", int(bits, 16), len(bits) // 2
    if re.fullmatch(r"-?(0[xX][0-9a-fA-F]+|\d+)U?", text):
        return "integer", int(text.rstrip("U"), 0)
    return None


def operand(text, rename):
    """('register', name), ('vector', […]), ('list', […]), ('address', base, offset),
    ('integer', value), ('float', bits, size), ('symbol', name, offset), ('sink',)."""
    text = text.strip()
    if text.startswith("{"):
        return "vector", [operand(each, rename) for each in text[1:-1].split(",")]
    if text.startswith("("):
        names = [each.strip() for each in text[1:-1].split(",") if each.strip()]
        return "list", [("symbol", rename.get(each, each)) for each in names]
    if text.startswith("["):
        base, _, offset = text[1:-1].partition("+")
        return "address", operand(base, rename), int(offset or "0", 0)
    if "|" in text:
        return "vector", [operand(each, rename) for each in text.split("|")]
    if text == "_":
        return ("sink",)
    if text.startswith("!"):
        return "not", operand(text[1:], rename)
    if found := number(text):
        return found
    text = rename.get(text, text)
    if text.startswith("%"):
        return "register", text
    base, _, offset = text.partition("+")
    return "symbol", base.strip(), int(offset or "0", 0)


def split(text):
    """At commas outside of braces and brackets."""
    pieces, depth, begin = [], 0, 0
    for i, letter in enumerate(text):
        depth += letter in "{[("
        depth -= letter in "}])"
        if letter == "," and depth == 0:
            pieces.append(text[begin:i])
            begin = i + 1
    return [each for each in [*pieces, text[begin:]] if each.strip()]


def variable(text):
    """`.align 16 .b8 name[40] = {…}`, behind the state space."""
    match = re.fullmatch(r"(?:\.align (\d+) )?\.(\w+) ([\w$]+)(?:\[(\d*)\])?"
                         r"(?: ?= ?\{?(.*?)\}?)?", text)
    if not match:
        raise Unsupported(f"variable {text}")
    size = SIZES[match[2]]
    values = [int(each, 0) for each in (match[5] or "").split(",") if each.strip()]
    count = int(match[4] or 1)
    data = b"".join((value & (1 << 8 * size) - 1).to_bytes(size, "little")
                    for value in values)
    return Variable(match[3], size * count, int(match[1] or size),
                    list(data.ljust(size * count, b"\0")))


def statements(text):
    """Pieces up to ';', labels, and '{' and '}' of scopes."""
    at = 0
    while (at := at + len(text[at:]) - len(text[at:].lstrip())) < len(text):
        if text[at] in "{}":
            yield text[at]
            at += 1
        elif match := re.compile(r"([\w$]+):").match(text, at):
            yield match[0]
            at = match.end()
        else:
            end = text.index(";", at)
            yield " ".join(text[at:end].split())
            at = end + 1


def declare(kernel, text, rename, scope):
    """`.reg .b32 %r<9>` or `.reg .b16 tmp`."""
    kind, names = text[len(".reg ."):].split(" ", 1)
    for name in names.split(","):
        name = name.strip()
        if match := re.fullmatch(r"(%\w+?)<\d+>", name):
            kernel.registers[match[1]] = kind
        else:
            own = name if name.startswith("%") else f"%{name}.{scope}"
            kernel.registers[own] = kind
            rename[name] = own


def body(kernel, text):
    scopes, count, label = [{}], 0, None
    for each in statements(text):
        rename = scopes[-1]
        if each == "{":
            count += 1
            scopes.append(dict(rename))
        elif each == "}":
            scopes.pop()
        elif each.endswith(":"):
            label = each[:-1]
            kernel.labels[label] = len(kernel.code)
        elif each.startswith(".branchtargets"):
            kernel.tables[label] = [name.strip() for name in split(each[len(".branchtargets"):])]
        elif each.startswith(".reg"):
            declare(kernel, each, rename, count)
        elif each.startswith(".shared"):
            kernel.shared.append(variable(each[len(".shared "):]))
        elif each.startswith(".local"):
            kernel.local.append(variable(each[len(".local "):]))
        elif each.startswith(".param"):  # of a call
            name = re.sub(r"\[\d+\]", "", each).split()[-1]
            rename[name] = f"{name}.{count}"
        elif not each.startswith(".pragma"):
            guard = None
            if match := re.match(r"@(!?)(%\w+) ", each):
                guard, each = (match[2], not match[1]), each[match.end():]
            name, _, rest = each.partition(" ")
            kernel.code.append(Instruction(
                guard, name.split("."), [operand(o, rename) for o in split(rest)], each))


def parameters(text):
    """name -> (offset, size) of `.param .b64 name, …`."""
    found, offset = {}, 0
    for each in text.strip("()").split(","):
        if match := re.search(r"\.param (?:\.align (\d+) )?\.(\w+).*?([\w$]+)(?:\[(\d+)\])?\s*$", each, re.S):
            align = int(match[1] or SIZES[match[2]])
            offset = (offset + align - 1) // align * align
            found[match[3]] = offset, (size := SIZES[match[2]] * int(match[4] or 1))
            offset += size
    return found


def parse(text):
    """The module, and its functions."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)
    module = Module(re.search(r"\.target\s+(\w+)", text)[1])
    functions, outside, at = {}, [], 0
    for match in re.finditer(r"(?:\.entry|\.func\s*(\(.*?\))?)\s*([\w$]+)\s*\((.*?)\)([^{;]*)([{;])",
                             text, re.S):
        if match[5] == ";":  # a declaration
            continue
        kernel = Kernel(match[2], parameters(match[3]), results=list(parameters(match[1] or "")))
        (module.kernels if match[0].startswith(".entry") else functions)[match[2]] = kernel
        if most := re.search(r"\.maxntid (\d+), (\d+), (\d+)", match[4]):
            kernel.threads = int(most[1]) * int(most[2]) * int(most[3])
        depth, end = 1, match.end()
        while depth:
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        body(kernel, text[match.end():end - 1])
        outside.append(text[at:match.start()])
        at = end
    outside.append(text[at:])
    for each in re.findall(r"\.(shared|global|const)\s+([^;]*);", "".join(outside)):
        where = module.shared if each[0] == "shared" else module.variables
        where.append(variable(" ".join(each[1].split())))
    return module, functions
