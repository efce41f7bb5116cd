# SPDX-License-Identifier: MIT
"""Instructions on binary16, alone or two in a register, and conversions of 8-bit
floats, as statements of C (ptx2c.py). binary16 is _Float16, whose operations are
IEEE 754's; a NaN that one returns has bits of its own."""

PRELUDE = """
static inline _Float16 f16(uint16_t x) { _Float16 y; memcpy(&y, &x, 2); return y; }
static inline uint16_t bits16(_Float16 x) {
  uint16_t y; memcpy(&y, &x, 2); return x != x ? 0x7fff : y; }
static inline _Float16 half_of(uint32_t x, int i) { return f16(x >> 16 * i); }
static inline uint32_t halves(_Float16 low, _Float16 high) {
  return bits16(low) | (uint32_t)bits16(high) << 16; }
/* A code of FN in 1 + 4 + 3 bits. */
static inline _Float16 from_e4m3(uint8_t code) {
  if ((code & 0x7f) == 0x7f) return (_Float16)NAN;
  int exponent = code >> 3 & 15, fraction = code & 7;
  float x = ldexpf(exponent ? 8 + fraction : fraction, (exponent ? exponent : 1) - 10);
  return (_Float16)(code & 0x80 ? -x : x); }
/* The nearest code, the even one of two: by search, on magnitudes. */
static inline uint8_t to_e4m3(_Float16 x) {
  if (x != x) return 0x7f;
  float magnitude = fabsf((float)x);
  uint8_t sign = signbit((float)x) ? 0x80 : 0;
  if (magnitude >= 448) return sign | 0x7e;
  int code = 0;
  while (code < 0x7e && (float)from_e4m3(code + 1) <= magnitude) code++;
  float below = magnitude - (float)from_e4m3(code),
        above = (float)from_e4m3(code + 1) - magnitude;
  return sign | (code + (above < below || (above == below && code % 2))); }
"""
OPERATORS = {"add": "+", "sub": "-", "mul": "*"}


class HalfInstructions:
    """A part of ptx_instructions.Instructions, before it."""

    def read(self, text, kind):
        if kind == "f16":
            return f"f16({super().read(text, 'b16')})"
        return super().read(text, kind)

    def half_arithmetic(self, parts, ops):
        if parts[1:] == ["rn", "f16"]:
            a, b = (self.read(o, "f16") for o in ops[1:3])
            return self.write(ops[0], f"bits16({a} {OPERATORS[parts[0]]} {b})")
        if parts[1:] != ["rn", "f16x2"]:
            raise SystemExit(f"ptx2c: {self.name}: rounding: {parts}")
        a, b = (self.read(o, "b32") for o in ops[1:3])
        part = [f"half_of({a}, {i}) {OPERATORS[parts[0]]} half_of({b}, {i})"
                for i in range(2)]
        return self.write(ops[0], f"halves({part[0]}, {part[1]})")

    def op_setp(self, parts, ops):
        if parts[-1] != "f16x2":
            return super().op_setp(parts, ops)
        if parts[1:] != ["num", "f16x2"]:
            raise SystemExit(f"ptx2c: {self.name}: unknown comparison: {parts}")
        a, b = (self.read(o, "b32") for o in ops[1:3])
        ordered = [f"half_of({a}, {i}) == half_of({a}, {i}) && "
                   f"half_of({b}, {i}) == half_of({b}, {i})" for i in range(2)]
        return (f"pred low = {ordered[0]}, high = {ordered[1]}; "
                + "".join(self.write(target.strip(), value) for target, value
                          in zip(ops[0].split("|"), ("low", "high"))))

    def op_add(self, parts, ops):
        if parts[-1] in ("f16", "f16x2"):
            return self.half_arithmetic(parts, ops)
        return super().op_add(parts, ops)

    def op_sub(self, parts, ops):
        if parts[-1] in ("f16", "f16x2"):
            return self.half_arithmetic(parts, ops)
        return super().op_sub(parts, ops)

    def op_mul(self, parts, ops):
        if parts[-1] in ("f16", "f16x2"):
            return self.half_arithmetic(parts, ops)
        return super().op_mul(parts, ops)

    def op_set(self, parts, ops):
        if parts[1:] != ["nan", "u32", "f16x2"]:
            raise SystemExit(f"ptx2c: {self.name}: unknown comparison: {parts}")
        a, b = (self.read(o, "b32") for o in ops[1:3])
        part = [f"(half_of({a}, {i}) != half_of({a}, {i}) || "
                f"half_of({b}, {i}) != half_of({b}, {i}))" for i in range(2)]
        return self.write(ops[0], f"({part[0]} ? 0xffffu : 0) | "
                                  f"({part[1]} ? 0xffff0000u : 0)")

    def op_cvt(self, parts, ops):
        if parts[1:] == ["rn", "f16x2", "e4m3x2"]:
            a = self.read(ops[1], "b16")
            return self.write(ops[0], f"halves(from_e4m3({a} & 255), "
                                      f"from_e4m3({a} >> 8))")
        if parts[1:] == ["rn", "satfinite", "e4m3x2", "f16x2"]:
            a = self.read(ops[1], "b32")
            return self.write(ops[0], f"to_e4m3(half_of({a}, 0)) | "
                                      f"to_e4m3(half_of({a}, 1)) << 8")
        if parts[1:] == ["rn", "f16x2", "f32"]:
            high, low = (self.read(o, "f32") for o in ops[1:3])
            return self.write(ops[0], f"halves((_Float16){low}, (_Float16){high})")
        if parts[1:] == ["f32", "f16"]:
            return self.write(ops[0], f"(float)f16({self.read(ops[1], 'b16')})", "f32")
        if parts[1:] == ["rn", "f16", "f32"]:
            return self.write(ops[0], f"bits16((_Float16){self.read(ops[1], 'f32')})")
        return super().op_cvt(parts, ops)
