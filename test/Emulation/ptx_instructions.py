# SPDX-License-Identifier: MIT
"""The instructions of PTX that LLVM writes for Numera's kernels, as statements of
C (ptx2c.py)."""
import re

CTYPE = {"u8": "uint8_t", "s8": "int8_t", "b8": "uint8_t",
         "u16": "uint16_t", "s16": "int16_t", "b16": "uint16_t",
         "u32": "uint32_t", "s32": "int32_t", "b32": "uint32_t",
         "u64": "uint64_t", "s64": "int64_t", "b64": "uint64_t",
         "f32": "uint32_t", "f64": "uint64_t", "pred": "pred"}
WIDTH = {t: (1 if t == "pred" else int(t[1:])) for t in CTYPE}
ROUNDINGS = {"rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi"}
ORDERED = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
           "lo": "<", "ls": "<=", "hi": ">", "hs": ">="}


def name(text):
    """A PTX name in C."""
    return text.strip().replace("%", "r_").replace("$", "_D_").replace(".", "_")


def function(text):
    """A function's: C has some of its own that it may be called like."""
    return "emulated_function_" + name(text)


def literal(text):
    if re.fullmatch(r"0[fF][0-9a-fA-F]{8}", text):
        return f"0x{text[2:]}u"
    if re.fullmatch(r"0[dD][0-9a-fA-F]{16}", text):
        return f"0x{text[2:]}ull"
    if re.fullmatch(r"-?(0x[0-9a-fA-F]+|\d+)U?", text):
        value = int(text.rstrip("U"), 0) & (2**64 - 1)
        return f"{value}ull"
    return None


class Instructions:
    """One method for each, `op_<name>`: from the parts of the opcode and the
    operands to the statement. `name` and `translator` are the function's."""

    # ---- operands

    def read(self, text, kind):
        """The operand as a C expression of the type."""
        text = text.strip()
        if text.startswith("!"):
            return f"!{self.read(text[1:], kind)}"
        value = literal(text)
        if value is None:
            special = re.fullmatch(r"%(tid|ctaid|ntid|nctaid)\.([xyz])", text)
            if special:
                value = f"T->{special[1]}[{'xyz'.index(special[2])}]"
            elif text.startswith("%") or text in ("tmp",):
                value = name(text)
            else:  # the address of a variable
                value = self.address(text)
        if kind == "f32":
            return f"f32((uint32_t){value})"
        if kind == "f64":
            return f"f64({value})"
        return f"(({CTYPE[kind]}){value})"

    def address(self, text):
        text = text.strip()
        if text.startswith("["):
            text = text[1:-1].strip()
        match = re.fullmatch(r"([%\w$]+)\s*(?:\+\s*(-?\w+))?", text)
        base, offset = match[1], match[2] or "0"
        if literal(base):
            base = literal(base)
        elif base in self.translator.dynamic:
            base = "(uintptr_t)T->shared"
        elif base in (places := self.translator.static_shared | self.shared):
            base = f"(uintptr_t)(T->shared + {places[base]})"
        else:
            base = f"(uintptr_t){name(base)}"
        return f"({base} + (int64_t){int(offset, 0)}ll)"

    @staticmethod
    def list_of(text):
        return [p.strip() for p in text.strip("{}").split(",")]

    @staticmethod
    def write(target, value, kind=""):
        if target == "_":
            return f"(void)({value});"
        if kind == "f32":
            value = f"bits32({value})"
        elif kind == "f64":
            value = f"bits64({value})"
        return f"{name(target)} = {value};"

    # ---- instructions

    def instruction(self, parts, ops, text):
        for word in ("ftz", "approx", "full"):
            if word in parts:
                raise SystemExit(f"ptx2c: {self.name}: .{word}: {text}")
        handler = getattr(self, "op_" + parts[0], None)
        if not handler:
            raise SystemExit(f"ptx2c: {self.name}: unknown instruction: {text}")
        return handler(parts, ops)

    def pairs(self, parts, ops, form):
        """Two f32 in a register, each rounded once."""
        if parts[1:-1] != ["rn"]:
            raise SystemExit(f"ptx2c: {self.name}: rounding: {parts}")
        words = [self.read(o, "b64") for o in ops[1:]]
        low, high = ("bits32(" + form.format(*(f"f32((uint32_t)({word} >> {at}))"
                                               for word in words)) + ")" for at in (0, 32))
        return self.write(ops[0], f"{low} | (uint64_t){high} << 32")

    def binary(self, parts, ops, operator, arithmetic=True):
        kind = parts[-1]
        if kind == "f32x2":
            return self.pairs(parts, ops, f"({{0}} {operator} {{1}})")
        if kind in ("f32", "f64"):
            if arithmetic and not ROUNDINGS & set(parts):
                raise SystemExit(f"ptx2c: {self.name}: no rounding: {parts}")
            if "rn" not in parts and arithmetic:
                raise SystemExit(f"ptx2c: {self.name}: rounding: {parts}")
        a, b = (self.read(o, kind) for o in ops[1:3])
        value = f"{a} {operator} {b}"
        if kind[0] == "s":  # wraps
            u = CTYPE["u" + kind[1:]]
            value = f"({u}){a} {operator} ({u}){b}"
        if kind in ("f32", "f64"):
            return self.write(ops[0], value, kind)
        return self.write(ops[0], f"({CTYPE[kind]})({value})")

    def op_add(self, parts, ops):
        if "cc" in parts:
            k = parts[-1]
            u = "unsigned __int128" if WIDTH[k] == 64 else "uint64_t"
            t = CTYPE["u" + k[1:]]
            return (f"{u} s = ({u})({t}){self.read(ops[1], k)} + "
                    f"({t}){self.read(ops[2], k)}; carry = s >> {WIDTH[k]} & 1; "
                    + self.write(ops[0], f"({t})s"))
        return self.binary(parts, ops, "+")

    def op_addc(self, parts, ops):
        k = parts[-1]
        u = "unsigned __int128" if WIDTH[k] == 64 else "uint64_t"
        t = CTYPE["u" + k[1:]]
        keep = f"carry = s >> {WIDTH[k]} & 1; " if "cc" in parts else ""
        return (f"{u} s = ({u})({t}){self.read(ops[1], k)} + "
                f"({t}){self.read(ops[2], k)} + carry; {keep}"
                + self.write(ops[0], f"({t})s"))

    def op_sub(self, parts, ops):
        if "cc" in parts:
            k = parts[-1]
            t = CTYPE["u" + k[1:]]
            return (f"{t} a = {self.read(ops[1], k)}, b = {self.read(ops[2], k)}; "
                    f"carry = a < b; " + self.write(ops[0], f"({t})(a - b)"))
        return self.binary(parts, ops, "-")

    def op_subc(self, parts, ops):
        k = parts[-1]
        t = CTYPE["u" + k[1:]]
        keep = "carry = a < b || (a == b && carry); " if "cc" in parts else ""
        return (f"{t} a = {self.read(ops[1], k)}, b = {self.read(ops[2], k)}, "
                f"d = ({t})(a - b - carry); {keep}" + self.write(ops[0], "d"))

    def op_mul(self, parts, ops):
        k = parts[-1]
        if "wide" in parts:
            wide = k[0] + str(2 * WIDTH[k])
            t = CTYPE[wide]
            return self.write(ops[0], f"({t}){self.read(ops[1], k)} * "
                                      f"({t}){self.read(ops[2], k)}")
        if "hi" in parts:
            return self.write(ops[0], self.high(k, ops[1], ops[2]))
        return self.binary(parts, ops, "*")

    def high(self, k, a, b):
        a, b = self.read(a, k), self.read(b, k)
        if WIDTH[k] == 64:
            return f"hi_{k}({a}, {b})"
        t = "int64_t" if k[0] == "s" else "uint64_t"
        return f"({CTYPE[k]})(({t}){a} * ({t}){b} >> {WIDTH[k]})"

    def op_mad(self, parts, ops):
        k = parts[-1]
        if "wide" in parts:
            wide = k[0] + str(2 * WIDTH[k])
            t = CTYPE["u" + wide[1:]]
            s = CTYPE[wide]
            return self.write(ops[0], f"({t})(({s}){self.read(ops[1], k)} * "
                              f"({s}){self.read(ops[2], k)}) + ({t})"
                              f"{self.read(ops[3], wide)}")
        t = CTYPE["u" + k[1:]]
        if "hi" in parts:
            return self.write(ops[0], f"({t}){self.high(k, ops[1], ops[2])} + "
                                      f"({t}){self.read(ops[3], k)}")
        return self.write(ops[0], f"({t})(({t}){self.read(ops[1], k)} * "
                          f"({t}){self.read(ops[2], k)} + ({t})"
                          f"{self.read(ops[3], k)})")

    def op_fma(self, parts, ops):
        k = parts[-1]
        if k == "f32x2":
            return self.pairs(parts, ops, "fmaf({0}, {1}, {2})")
        if "rn" not in parts:
            raise SystemExit(f"ptx2c: {self.name}: rounding: {parts}")
        a, b, c = (self.read(o, k) for o in ops[1:4])
        return self.write(ops[0], f"{'fmaf' if k == 'f32' else 'fma'}"
                                  f"({a}, {b}, {c})", k)

    def op_div(self, parts, ops):
        return self.binary(parts, ops, "/") if parts[-1][0] != "s" else \
            self.signed_division(parts, ops, "/")

    def op_rem(self, parts, ops):
        return self.binary(parts, ops, "%") if parts[-1][0] != "s" else \
            self.signed_division(parts, ops, "%")

    def signed_division(self, parts, ops, operator):
        k = parts[-1]
        return self.write(ops[0], f"{self.read(ops[1], k)} {operator} "
                                  f"{self.read(ops[2], k)}")

    def op_sqrt(self, parts, ops):
        k = parts[-1]
        if "rn" not in parts:
            raise SystemExit(f"ptx2c: {self.name}: rounding: {parts}")
        return self.write(ops[0], f"{'sqrtf' if k == 'f32' else 'sqrt'}"
                                  f"({self.read(ops[1], k)})", k)

    def op_rcp(self, parts, ops):
        k = parts[-1]
        if "rn" not in parts:
            raise SystemExit(f"ptx2c: {self.name}: rounding: {parts}")
        return self.write(ops[0], f"1 / {self.read(ops[1], k)}", k)

    def op_neg(self, parts, ops):
        k = parts[-1]
        if k in ("f32", "f64"):
            return self.write(ops[0], f"-{self.read(ops[1], k)}", k)
        return self.write(ops[0], f"({CTYPE[k]})(0 - (uint64_t){self.read(ops[1], k)})")

    def op_abs(self, parts, ops):
        k = parts[-1]
        if k in ("f32", "f64"):
            f = "fabsf" if k == "f32" else "fabs"
            return self.write(ops[0], f"{f}({self.read(ops[1], k)})", k)
        a = self.read(ops[1], k)
        return self.write(ops[0], f"{a} < 0 ? ({CTYPE[k]})(0 - (uint64_t){a}) : {a}")

    def op_copysign(self, parts, ops):  # the sign of the first operand
        k = "b" + parts[-1][1:]
        sign = f"(({CTYPE[k]})1 << {WIDTH[k] - 1})"
        return self.write(ops[0], f"({self.read(ops[1], k)} & {sign}) | "
                                  f"({self.read(ops[2], k)} & ~{sign})")

    def extreme(self, parts, ops, operator):
        k = parts[-1]
        a, b = (self.read(o, k) for o in ops[1:3])
        if k in ("f32", "f64"):
            zero = "signbit(a) ? a : b" if operator == "<" else "signbit(a) ? b : a"
            nan = "(a != a ? a : b)" if "NaN" in parts else "(a != a ? b : a)"
            t = "float" if k == "f32" else "double"
            return (f"{t} a = {a}, b = {b}; " + self.write(
                ops[0], f"a != a || b != b ? {nan} : a == b ? ({zero}) : "
                f"a {operator} b ? a : b", k))
        return self.write(ops[0], f"{a} {operator} {b} ? {a} : {b}")

    def op_min(self, parts, ops):
        return self.extreme(parts, ops, "<")

    def op_max(self, parts, ops):
        return self.extreme(parts, ops, ">")

    def op_selp(self, parts, ops):
        k = "b" + parts[-1][1:]
        return self.write(ops[0], f"{self.read(ops[3], 'pred')} ? "
                          f"{self.read(ops[1], k)} : {self.read(ops[2], k)}")

    @staticmethod
    def compared(compare, a, b, is_float=True):
        """Whether a comparison of two C expressions holds."""
        unordered = f"({a} != {a} || {b} != {b})"
        if compare == "num":
            return f"!{unordered}"
        if compare == "nan":
            return unordered
        if is_float and compare.endswith("u"):
            return f"({unordered} || {a} {ORDERED[compare[:-1]]} {b})"
        if is_float and compare == "ne":
            return f"(!{unordered} && {a} != {b})"
        return f"{a} {ORDERED[compare]} {b}"

    def op_setp(self, parts, ops):
        k = parts[-1]
        a, b = self.read(ops[1], k), self.read(ops[2], k)
        value = self.compared(parts[1], a, b, k[0] == "f")
        for word, operator in (("and", "&&"), ("or", "||"), ("xor", "!=")):
            if word in parts[2:-1]:
                value = f"!!({value}) {operator} !!{self.read(ops[3], 'pred')}"
        if "|" in ops[0]:
            first, second = ops[0].split("|")
            return (self.write(first, f"({value})")
                    + self.write(second, f"!({value})"))
        return self.write(ops[0], f"({value})")

    def op_mov(self, parts, ops):
        k = parts[-1]
        if ops[0].startswith("{"):
            targets = self.list_of(ops[0])
            width = WIDTH[k] // len(targets)
            value = self.read(ops[1], k)
            return f"uint64_t v = {value}; " + " ".join(
                self.write(t, f"(uint{width}_t)(v >> {i * width})")
                for i, t in enumerate(targets))
        if ops[1].startswith("{"):
            sources = self.list_of(ops[1])
            width = WIDTH[k] // len(sources)
            return self.write(ops[0], f"({CTYPE[k]})(" + " | ".join(
                f"(uint64_t){self.read(s, f'b{width}')} << {i * width}"
                for i, s in enumerate(sources)) + ")")
        bits = k if k == "pred" else "b" + k[1:]
        return self.write(ops[0], self.read(ops[1], bits))

    def op_cvt(self, parts, ops):
        to, source = parts[-2], parts[-1]
        value = self.read(ops[1], source)
        if source[0] == "f" and to[0] == "f":
            if to == source:
                f = {"rni": "rint", "rzi": "trunc", "rmi": "floor",
                     "rpi": "ceil"}[(ROUNDINGS & set(parts)).pop()]
                value = f"{f}{'f' if to == 'f32' else ''}({value})"
            elif to == "f32" and "rn" not in parts:
                raise SystemExit(f"ptx2c: {self.name}: rounding: {parts}")
            return self.write(ops[0], value, to)
        if to[0] == "f":
            if "rn" not in parts:
                raise SystemExit(f"ptx2c: {self.name}: rounding: {parts}")
            return self.write(ops[0], f"({'float' if to == 'f32' else 'double'})"
                                      f"{value}", to)
        if source[0] == "f":
            if "rzi" not in parts:
                raise SystemExit(f"ptx2c: {self.name}: rounding: {parts}")
            f = "to_s" if to[0] == "s" else "to_u"
            return self.write(ops[0], f"({CTYPE[to]}){f}({value}, {WIDTH[to]})")
        return self.write(ops[0], f"({CTYPE[to]}){value}")

    def op_cvta(self, parts, ops):
        return self.write(ops[0], self.read(ops[1], "b64"))

    def op_ld(self, parts, ops):
        k = parts[-1]  # a signed one is extended to the register
        address = self.address(ops[1])
        targets = self.list_of(ops[0]) if ops[0].startswith("{") else [ops[0]]
        size = WIDTH[k] // 8
        return f"const byte *p = (const byte *){address}; " + " ".join(
            f"{{ {CTYPE[k]} v; memcpy(&v, p + {i * size}, {size}); "
            f"{self.write(t, 'v')} }}" for i, t in enumerate(targets))

    def op_st(self, parts, ops):
        k = "b" + parts[-1][1:]
        address = self.address(ops[0])
        sources = self.list_of(ops[1]) if ops[1].startswith("{") else [ops[1]]
        size = WIDTH[k] // 8
        told = f"T->wrote(T, p, {size * len(sources)}); " \
            if self.has_warpgroups and "shared" in parts else ""
        return f"byte *p = (byte *){address}; {told}" + " ".join(
            f"{{ {CTYPE[k]} v = {self.read(s, k)}; "
            f"memcpy(p + {i * size}, &v, {size}); }}" for i, s in enumerate(sources))

    def op_cp(self, parts, ops):
        if parts[1:] == ["async", "wait_all"]:
            return "T->wait(T);"
        if parts[1:] not in (["async", "ca", "shared", "global"],
                             ["async", "cg", "shared", "global"]):
            raise SystemExit(f"ptx2c: {self.name}: unknown copy: {parts}")
        return (f"T->copy(T, (byte *){self.address(ops[0])}, "
                f"(const byte *){self.address(ops[1])}, {int(ops[2], 0)});")

    def op_bar(self, parts, ops):
        self.has_barriers = True
        return "T->barrier(T);"

    op_barrier = op_bar

    def op_bra(self, parts, ops):
        return f"goto {name(ops[0])};"

    def op_brx(self, parts, ops):
        targets = self.tables[ops[1]]
        cases = " ".join(f"case {i}: goto {name(t)};" for i, t in enumerate(targets))
        return f"switch ({self.read(ops[0], 'b32')}) {{ {cases} }} __builtin_unreachable();"

    def op_call(self, parts, ops):
        results = []
        if ops[0].startswith("("):
            results = ops.pop(0).strip("()").split(",")
        arguments = ops[1].strip("()").split(",") if len(ops) > 1 else []
        places = [name(p) for p in results + arguments if p.strip()]
        return f"{function(ops[0])}({', '.join(['T'] + places)});"

    def op_ret(self, parts, ops):
        return "return;"

    def op_exit(self, parts, ops):
        return "T->exit(T);"

    def op_trap(self, parts, ops):
        return "__builtin_trap();"
