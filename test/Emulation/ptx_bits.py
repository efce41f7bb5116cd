# SPDX-License-Identifier: MIT
"""Instructions on bits, as statements of C (ptx2c.py)."""
from ptx_instructions import CTYPE, WIDTH


class BitInstructions:
    """A part of ptx_instructions.Instructions, before it."""

    def op_and(self, parts, ops):
        return self.binary(parts, ops, "&", False)

    def op_or(self, parts, ops):
        return self.binary(parts, ops, "|", False)

    def op_xor(self, parts, ops):
        return self.binary(parts, ops, "^", False)

    def op_not(self, parts, ops):
        k = parts[-1]
        operator = "!" if k == "pred" else "~"
        return self.write(ops[0], f"({CTYPE[k]})({operator}{self.read(ops[1], k)})")

    def op_lop3(self, parts, ops):
        a, b, c = (self.read(o, "b32") for o in ops[1:4])
        table = int(ops[4], 0)
        terms = [f"({'' if i & 4 else '~'}{a} & {'' if i & 2 else '~'}{b} & "
                 f"{'' if i & 1 else '~'}{c})" for i in range(8) if table >> i & 1]
        return self.write(ops[0], " | ".join(terms) or "0u")

    def op_shl(self, parts, ops):
        k = parts[-1]
        a, n = self.read(ops[1], k), self.read(ops[2], "b32")
        return self.write(ops[0], f"{n} >= {WIDTH[k]} ? 0 : "
                                  f"({CTYPE[k]})((uint64_t){a} << {n})")

    def op_shr(self, parts, ops):
        k = parts[-1]
        a, n = self.read(ops[1], k), self.read(ops[2], "b32")
        if k[0] == "s":
            return self.write(ops[0], f"({CTYPE[k]})({a} >> ({n} >= {WIDTH[k]} "
                                      f"? {WIDTH[k] - 1} : {n}))")
        return self.write(ops[0], f"{n} >= {WIDTH[k]} ? 0 : "
                                  f"({CTYPE[k]})({a} >> {n})")

    def op_shf(self, parts, ops):
        a, b, n = (self.read(o, "b32") for o in ops[1:4])
        n = f"({n} & 31)" if "wrap" in parts else f"({n} > 32 ? 32 : {n})"
        both = f"((uint64_t){b} << 32 | {a})"
        if parts[1] == "l":
            return self.write(ops[0], f"(uint32_t)({n} == 32 ? {a} : "
                                      f"({both} << {n}) >> 32)")
        return self.write(ops[0], f"(uint32_t)({both} >> {n})")

    def op_bfe(self, parts, ops):
        k = parts[-1]
        f = "bfe_s" if k[0] == "s" else "bfe_u"
        a, p, n = self.read(ops[1], k), self.read(ops[2], "b32"), self.read(ops[3], "b32")
        return self.write(ops[0], f"({CTYPE[k]}){f}({a}, {p}, {n}, {WIDTH[k]})")

    def op_bfi(self, parts, ops):
        k = parts[-1]
        a, b = self.read(ops[1], k), self.read(ops[2], k)
        p, n = self.read(ops[3], "b32"), self.read(ops[4], "b32")
        return self.write(ops[0], f"({CTYPE[k]})bfi({a}, {b}, {p}, {n}, {WIDTH[k]})")

    def op_brev(self, parts, ops):
        k = parts[-1]
        return self.write(ops[0], f"({CTYPE[k]})brev({self.read(ops[1], k)}, {WIDTH[k]})")

    def op_clz(self, parts, ops):
        k = parts[-1]
        a = self.read(ops[1], k)
        f = "__builtin_clzll" if WIDTH[k] == 64 else "__builtin_clz"
        return self.write(ops[0], f"{a} ? {f}({a}) : {WIDTH[k]}")

    def op_popc(self, parts, ops):
        return self.write(ops[0], f"__builtin_popcountll({self.read(ops[1], parts[-1])})")

    def op_prmt(self, parts, ops):
        a, b, c = (self.read(o, "b32") for o in ops[1:4])
        return self.write(ops[0], f"prmt({a}, {b}, {c})")
