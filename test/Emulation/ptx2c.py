#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Translates PTX to C, for the emulated driver beside it (Driver.cpp).

    ptx2c.py program.ptx program.c

Every .func becomes a C function, every .entry one that runs one thread; a
register is a variable that holds bits, an instruction a statement. The
instructions are those that LLVM writes for Numera's kernels; any other is an
error. What PTX leaves to the hardware in a way that could hide a mistake is made
to show: a NaN that an operation returns has bits of its own, and instructions that
flush, approximate or may be contracted are refused.
"""
import re
import sys

from ptx_bits import BitInstructions
from ptx_halves import PRELUDE as HALVES_PRELUDE
from ptx_halves import HalfInstructions
from ptx_instructions import CTYPE, WIDTH, Instructions, function, literal, name
from ptx_matrix import PRELUDE as MATRIX_PRELUDE
from ptx_matrix import MatrixInstructions
from ptx_warpgroup import PRELUDE as WARPGROUP_PRELUDE
from ptx_warpgroup import WarpgroupInstructions

PRELUDE = """
#include <math.h>
#include <stdint.h>
#include <string.h>
struct matrix_instruction;
struct thread {
  uint32_t tid[3], ctaid[3], ntid[3], nctaid[3];
  unsigned char *shared;
  void (*barrier)(struct thread *), (*exit)(struct thread *);
  void (*copy)(struct thread *, void *to, const void *from, uint64_t size);
  void (*wait)(struct thread *);
  void *copies;
  uint32_t (*(*exchange)(struct thread *, const uint32_t *words, int count))[8];
  void (*wrote)(struct thread *, const void *shared, uint64_t size);
  void (*fence_proxy)(struct thread *);
  void (*multiply)(struct thread *, const struct matrix_instruction *);
  void (*wait_for_matrices)(struct thread *);
};
typedef unsigned char byte;
typedef _Bool pred; // any immediate but 0 is true
static inline float f32(uint32_t x) { float y; memcpy(&y, &x, 4); return y; }
static inline double f64(uint64_t x) { double y; memcpy(&y, &x, 8); return y; }
static inline uint32_t bits32(float x) {
  uint32_t y; memcpy(&y, &x, 4); return x != x ? 0x7fffffffu : y; }
static inline uint64_t bits64(double x) {
  uint64_t y; memcpy(&y, &x, 8); return x != x ? 0x7fffffffffffffffull : y; }
static inline uint64_t hi_u64(uint64_t a, uint64_t b) {
  return (unsigned __int128)a * b >> 64; }
static inline uint64_t hi_s64(int64_t a, int64_t b) {
  return (uint64_t)((__int128)a * b >> 64); }
static inline uint64_t bfe_u(uint64_t a, uint32_t pos, uint32_t len, int w) {
  pos &= 255; len &= 255;
  uint64_t s = pos >= (uint32_t)w ? 0 : a >> pos;
  return len >= 64 ? s : s & ((1ull << len) - 1); }
static inline uint64_t bfe_s(int64_t a, uint32_t pos, uint32_t len, int w) {
  pos &= 255; len &= 255;
  if (len == 0) return 0;
  int64_t s = a >> (pos >= 63 ? 63 : pos);
  if (pos + len >= (uint32_t)w || len >= 64) return (uint64_t)s;
  return (uint64_t)((int64_t)((uint64_t)s << (64 - len)) >> (64 - len)); }
static inline uint64_t bfi(uint64_t a, uint64_t b, uint32_t pos, uint32_t len, int w) {
  pos &= 255; len &= 255;
  if (pos >= (uint32_t)w || len == 0) return b;
  uint64_t m = (len >= 64 ? ~0ull : (1ull << len) - 1) << pos;
  return (b & ~m) | (a << pos & m); }
static inline uint32_t prmt(uint32_t a, uint32_t b, uint32_t c) {
  uint64_t v = (uint64_t)b << 32 | a; uint32_t r = 0;
  for (int i = 0; i < 4; i++) {
    uint32_t s = c >> (4 * i) & 15, x = v >> (8 * (s & 7)) & 255;
    if (s & 8) x = x & 128 ? 255 : 0;
    r |= x << (8 * i); }
  return r; }
static inline uint64_t brev(uint64_t a, int w) {
  uint64_t r = 0;
  for (int i = 0; i < w; i++) r |= (a >> i & 1) << (w - 1 - i);
  return r; }
static inline int64_t to_s(double x, int w) {
  if (x != x) return 0;
  double h = ldexp(1, w - 1);
  if (x >= h) return (int64_t)((1ull << (w - 1)) - 1);
  if (x < -h) return w == 64 ? INT64_MIN : -(1ll << (w - 1));
  return (int64_t)x; }
static inline uint64_t to_u(double x, int w) {
  if (x != x || x <= 0) return 0;
  if (x >= ldexp(1, w)) return w == 64 ? ~0ull : (1ull << w) - 1;
  return (uint64_t)x; }
"""

def aligned(size, alignment):
    """The next place in shared memory, at 16 bytes or what PTX says."""
    step = max(16, int(alignment or 1))
    return -(-size // step) * step


class Function(WarpgroupInstructions, HalfInstructions, MatrixInstructions,
               BitInstructions, Instructions):
    def __init__(self, translator, head, body):
        self.translator = translator
        self.out = []
        self.tables = {}
        self.floats = {}  # registers that instructions on floats wrote: their bits
        self.shared, self.shared_size = {}, translator.shared_size
        self.has_barriers = False
        self.has_warpgroups = "wgmma." in body
        self.begin_block()
        self.head(head)
        self.block(body)

    # ---- the head

    def head(self, head):
        match = re.match(r"(?:\.visible\s+|\.weak\s+)*\.(entry|func)\s*"
                         r"(?:\(([^)]*)\)\s*)?([\w$]+)\s*(?:\((.*?)\))?", head, re.S)
        kind, result, self.name, parameters = match.groups()
        self.is_entry = kind == "entry"
        pick = lambda text: re.findall(r"([\w$]+)(?:\[\d+\])?\s*(?:,|$)", text or "")
        self.parameters = [name(p) for p in pick(parameters)]
        self.result = [name(p) for p in pick(result)]

    def signature(self):
        if self.is_entry:
            return f"void {function(self.name)}(struct thread *T, byte **parameters)"
        places = ", ".join(f"byte *{p}" for p in self.result + self.parameters)
        return (f"static void {function(self.name)}(struct thread *T"
                f"{', ' if places else ''}{places})")

    def text(self):
        lines = [self.signature() + " {"]
        if self.is_entry:
            lines += [f"byte *{p} = parameters[{i}];"
                      for i, p in enumerate(self.parameters)]
            label = name(self.name)
            lines = [f"const uint64_t emulated_shared_{label} = {self.shared_size};",
                     f"const int emulated_barriers_{label} = {int(self.has_barriers)};",
                     f"const int emulated_warpgroups_{label} = {int(self.has_warpgroups)};",
                     *lines]
        return "\n".join(lines + self.out + ["return;", "}"])

    # ---- statements

    def block(self, body):
        """Statements end in `;`, labels in `:`; a brace that begins one is a
        block's."""
        position, start = 0, 0
        while position < len(body):
            c = body[position]
            before = body[start:position].strip()
            if c in "{}" and not before:
                self.out.append(c if c == "{" else ";}")
                start = position + 1
            elif c == ";":
                self.statement(before)
                start = position + 1
            elif c == ":" and re.fullmatch(r"\$?[\w$]+", before):
                rest = body[position + 1:].lstrip()
                if rest.startswith(".branchtargets"):
                    end = body.index(";", position)
                    targets = body[position + 1:end].split(None, 1)[1]
                    self.tables[before] = [t.strip() for t in targets.split(",")]
                    position, start = end, end + 1
                else:
                    self.begin_block()
                    self.out.append(f"{name(before)}:;")
                    start = position + 1
            position += 1

    def statement(self, text):
        if not text:
            return
        if text.startswith("."):
            return self.declaration(text)
        guard = re.match(r"@(!?)(%\w+)\s+", text)
        condition = ""
        if guard:
            condition = f"if ({guard[1]}{name(guard[2])}) "
            text = text[guard.end():]
        opcode, _, rest = text.partition(" ") if " " in text.split("\t")[0] \
            else text.partition("\t")
        opcode = opcode.strip()
        operands = self.split(rest)
        self.watch(opcode, text)
        self.watch_stores(opcode.split("."), operands, text)
        code = self.instruction(opcode.split("."), operands, text)
        self.out.append(f"{condition}{{ {code} }}")

    def watch_stores(self, parts, operands, text):
        """Refuses stores of the low bits of what an instruction on floats made:
        NVIDIA's assembler stores a number converted to an integer."""
        types = [p for p in parts[1:] if p in WIDTH or p in ("f16", "bf16", "f16x2", "bf16x2")
                 or re.fullmatch(r"e\dm\d(x\d)?", p)]
        if parts[0] == "st" and set(re.findall(r"%\w+", operands[1])) & {
                register for register, width in self.floats.items()
                if width > WIDTH[types[-1]]}:
            raise SystemExit(f"ptx2c: {self.name}: low bits of a float are stored, "
                             f"which ptxas makes a conversion: {text}")
        if parts[0] in ("st", "setp", "mov") or not types or not operands:
            return
        widths = {"f16": 16, "bf16": 16, "f16x2": 32, "bf16x2": 32, "f32": 32, "f64": 64}
        if types[0] in widths:
            self.floats[operands[0]] = widths[types[0]]
        else:
            self.floats.pop(operands[0], None)

    @staticmethod
    def split(text):
        """Operands; `{a, b}`, `(a, b)` and `[a]` are one."""
        parts, depth, last = [], 0, ""
        for c in text:
            depth += c in "{[(" and 1 or c in "}])" and -1 or 0
            if c == "," and depth == 0:
                parts.append(last.strip())
                last = ""
            else:
                last += c
        return [p for p in parts + [last.strip()] if p]

    def declaration(self, text):
        if match := re.match(r"\.reg\s+\.(\w+)\s+(.*)", text, re.S):
            kind = CTYPE[match[1]]
            for part in match[2].split(","):
                part = part.strip()
                if many := re.fullmatch(r"(%\w+)<(\d+)>", part):
                    stem, count = name(many[1]), int(many[2])
                    for first in range(0, count, 50):
                        self.out.append(f"{kind} " + ", ".join(
                            f"{stem}{i} = 0"
                            for i in range(first, min(first + 50, count))) + ";")
                else:
                    self.out.append(f"{kind} {name(part)} = 0;")
            return
        match = re.match(r"\.(param|local|shared)\s+(?:\.align\s+(\d+)\s+)?\.(\w+)\s+"
                         r"([\w$]+)(?:\[(\d+)\])?$", text)
        if not match:
            if re.match(r"\.(pragma|loc|file|maxntid|noreturn)", text):
                return
            raise SystemExit(f"ptx2c: {self.name}: unknown directive: {text}")
        size = int(match[5] or 1) * WIDTH[match[3]] // 8
        if match[1] == "shared":
            self.shared_size = aligned(self.shared_size, match[2])
            self.shared[match[4]] = self.shared_size
            self.shared_size += size
            return
        self.out.append(f"byte {name(match[4])}[{size}] "
                        "__attribute__((aligned(16)));")


class Translator:
    def __init__(self, text):
        self.dynamic, self.static_shared = set(), {}
        self.shared_size = 0
        self.globals, self.functions = [], []
        text = re.sub(r"//[^\n]*", "", text)
        text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
        self.module(text)

    def module(self, text):
        position = 0
        pattern = re.compile(r"\s*(\.(?:version|target|address_size|file)[^\n]*\n)"
                             r"|\s*((?:\.(?:visible|extern|weak)\s+)*\."
                             r"(?:entry|func|global|shared|const)\b)")
        while match := pattern.match(text, position):
            if match[1]:
                position = match.end()
                continue
            if re.search(r"\.(entry|func)$", match[2]):
                brace, end = text.find("{", position), text.find(";", position)
                if brace < 0 or 0 <= end < brace:  # a declaration
                    position = end + 1
                    continue
                close = self.matching(text, brace)
                self.functions.append(Function(self, text[position:brace].strip(),
                                               text[brace + 1:close]))
                position = close + 1
            else:
                end = text.index(";", position)
                self.variable(" ".join(text[position:end].split()))
                position = end + 1
        if text[position:].strip():
            raise SystemExit(f"ptx2c: unknown: {text[position:position + 80]}")

    @staticmethod
    def matching(text, brace):
        depth = 0
        for match in re.compile(r"[{}]").finditer(text, brace):
            depth += 1 if match[0] == "{" else -1
            if depth == 0:
                return match.start()
        raise SystemExit("ptx2c: a brace is not closed")

    def variable(self, text):
        match = re.match(r"((?:\.(?:visible|extern|weak) )*)\.(global|shared|const) "
                         r"(?:\.align (\d+) )?\.(\w+) ([\w$]+)(?:\[(\d*)\])?"
                         r"(?: = (.*))?$", text)
        prefix, space, _, kind, label, count, value = match.groups()
        if space == "shared" and count == "":
            self.dynamic.add(label)
            return
        size = int(count or 1) * WIDTH[kind] // 8
        if space == "shared":
            self.shared_size = aligned(self.shared_size, match[3])
            self.static_shared[label] = self.shared_size
            self.shared_size += size
            return
        storage = "" if "visible" in prefix else "static "
        attribute = "__attribute__((aligned(16)))"
        initial = ""
        if value:
            numbers = value.strip("{} ").split(",")
            initial = " = {" + ", ".join(literal(n.strip()) or "0"
                                         for n in numbers) + "}"
        if "extern" in prefix:
            return
        self.globals.append(f"{storage}{CTYPE['b' + kind[1:]]} {name(label)}"
                            f"[{count or 1}] {attribute}{initial};")

    def text(self):
        out = [PRELUDE, MATRIX_PRELUDE, WARPGROUP_PRELUDE, HALVES_PRELUDE, "static __thread uint64_t carry;"]
        out += self.globals
        out += [f.signature() + ";" for f in self.functions]
        out += [f.text() for f in self.functions]
        return "\n".join(out) + "\n"


def main():
    source, target = sys.argv[1:]
    with open(source, encoding="utf-8") as file:
        translator = Translator(file.read().rstrip("\0"))
    with open(target, "w", encoding="utf-8") as file:
        file.write(translator.text())


if __name__ == "__main__":
    main()
