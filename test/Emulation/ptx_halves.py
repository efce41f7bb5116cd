# SPDX-License-Identifier: MIT
"""Instructions on binary16 and bf16, alone or two in a register, and conversions of
8-bit floats, as statements of C (ptx2c.py). Numbers are doubles, in which sums and
products are exact or rounded to odd; each result is rounded once. A NaN that one
returns has bits of its own."""
from ptx_instructions import CTYPE, WIDTH

PRELUDE = """
/* The nearest multiple of the last place's unit, the even one of two, in a format
   with so many digits whose exponents are -most + 1 to most. */
static inline double rounded(double x, int digits, int most) {
  if (x != x || isinf(x) || x == 0) return x;
  int exponent = ilogb(x);
  int unit = (exponent < 1 - most ? 1 - most : exponent) - (digits - 1);
  double y = ldexp(nearbyint(ldexp(x, -unit)), unit);
  return fabs(y) < ldexp(1, most + 1) ? y : copysign(INFINITY, y); }
static inline double half(uint32_t x, int i) {
  uint32_t code = x >> 16 * i & 0xffff, exponent = code >> 10 & 31, fraction = code & 1023;
  double y = exponent == 31 ? (fraction ? NAN : INFINITY)
    : ldexp(exponent ? 1024 + fraction : fraction, (exponent ? exponent : 1) - 25);
  return code >> 15 ? -y : y; }
static inline uint32_t bits_of_half(double x) {
  if (x != x) return 0x7fff;
  double y = fabs(rounded(x, 11, 15));
  int exponent = y < ldexp(1, -14) ? -14 : isinf(y) ? 16 : ilogb(y);
  uint32_t code = isinf(y) ? 0x7c00
    : (uint32_t)ldexp(y, 10 - exponent) + ((uint32_t)(exponent + 14) << 10);
  return code | (signbit(x) ? 0x8000 : 0); }
static inline double brain(uint32_t x, int i) { return f32(x >> 16 * i << 16); }
static inline uint32_t bits_of_brain(double x) {
  return x != x ? 0x7fff : bits32((float)rounded(x, 8, 127)) >> 16; }
/* a + b, or of the two doubles around it the one that is odd: a later rounding to
   fewer digits takes it for no tie. */
static inline double odd_sum(double a, double b) {
  double s = a + b, part = s - a, rest = (a - (s - part)) + (b - part);
  uint64_t word; memcpy(&word, &s, 8);
  return rest != rest || rest == 0 || word % 2 ? s
    : f64((rest > 0) == (s > 0) ? word + 1 : word - 1); }
static inline double odd_whole(__int128 x) {
  return odd_sum((double)(x >> 32 << 32), (double)(x & 0xffffffff)); }
static inline double lesser(double a, double b) {
  return a < b || (a == b && signbit(a)) ? a : b; }
static inline double extreme(double a, double b, int sign, int gives_nan) {
  if (a != a || b != b) return gives_nan || (a != a && b != b) ? NAN : a != a ? b : a;
  return sign * lesser(sign * a, sign * b); }
/* A code of FN in 1 + 4 + 3 bits. */
static inline double from_e4m3(uint8_t code) {
  if ((code & 0x7f) == 0x7f) return NAN;
  int exponent = code >> 3 & 15, fraction = code & 7;
  double x = ldexp(exponent ? 8 + fraction : fraction, (exponent ? exponent : 1) - 10);
  return code & 0x80 ? -x : x; }
/* The nearest code, the even one of two: by search, on magnitudes. */
static inline uint8_t to_e4m3(double x) {
  if (x != x) return 0x7f;
  double magnitude = fabs(x);
  uint8_t sign = signbit(x) ? 0x80 : 0;
  if (magnitude >= 448) return sign | 0x7e;
  int code = 0;
  while (code < 0x7e && from_e4m3(code + 1) <= magnitude) code++;
  double below = magnitude - from_e4m3(code), above = from_e4m3(code + 1) - magnitude;
  return sign | (code + (above < below || (above == below && code % 2))); }
"""

# How many stand in a register, and the functions from and to their bits.
KINDS = {"f16": (1, "half", "bits_of_half"), "f16x2": (2, "half", "bits_of_half"),
         "bf16": (1, "brain", "bits_of_brain"), "bf16x2": (2, "brain", "bits_of_brain")}
# Of doubles; products have at most 22 digits.
ROUNDED = {"add": "odd_sum({0}, {1})", "sub": "odd_sum({0}, -{1})", "mul": "{0} * {1}",
           "fma": "odd_sum({0} * {1}, {2})"}
EXACT = {"neg": "-{0}", "abs": "fabs({0})"}


class HalfInstructions:
    """A part of ptx_instructions.Instructions, before it."""

    def read(self, text, kind):
        if kind in ("f16", "f:bf16"):  # compared as floats are
            number = KINDS[kind.removeprefix("f:")][1]
            return f"{number}({super().read(text, 'b16')}, 0)"
        return super().read(text, kind)

    def numbers(self, texts, kind):
        """The operands of each number in a register."""
        count, number, _ = KINDS[kind]
        words = [super(HalfInstructions, self).read(t, "b32" if count == 2 else "b16")
                 for t in texts]
        return [[f"{number}({word}, {i})" for word in words] for i in range(count)]

    def write_numbers(self, target, values, kind):
        return self.write(target, " | ".join(
            f"{KINDS[kind][2]}({value}) << {16 * i}" for i, value in enumerate(values)))

    def arithmetic(self, parts, ops):
        """The statement; None if it is not of these kinds."""
        name, kind, words = parts[0], parts[-1], parts[1:-1]
        if kind not in KINDS:
            return None
        nan = name in ("min", "max") and words == ["NaN"]
        if words != (["rn"] if name in ROUNDED else ["NaN"] if nan else []):
            raise SystemExit(f"ptx2c: {self.name}: rounding: {parts}")
        if name in ("min", "max"):
            form = f"extreme({{0}}, {{1}}, {1 if name == 'min' else -1}, {int(nan)})"
        else:
            form = (ROUNDED | EXACT)[name]
        return self.write_numbers(ops[0], [form.format(*operands) for operands
                                           in self.numbers(ops[1:], kind)], kind)

    def op_add(self, parts, ops):
        return self.arithmetic(parts, ops) or super().op_add(parts, ops)

    def op_sub(self, parts, ops):
        return self.arithmetic(parts, ops) or super().op_sub(parts, ops)

    def op_mul(self, parts, ops):
        return self.arithmetic(parts, ops) or super().op_mul(parts, ops)

    def op_fma(self, parts, ops):
        return self.arithmetic(parts, ops) or super().op_fma(parts, ops)

    def op_neg(self, parts, ops):
        return self.arithmetic(parts, ops) or super().op_neg(parts, ops)

    def op_abs(self, parts, ops):
        return self.arithmetic(parts, ops) or super().op_abs(parts, ops)

    def op_min(self, parts, ops):
        return self.arithmetic(parts, ops) or super().op_min(parts, ops)

    def op_max(self, parts, ops):
        return self.arithmetic(parts, ops) or super().op_max(parts, ops)

    def op_setp(self, parts, ops):
        if parts[-1] == "bf16":
            return super().op_setp(parts[:-1] + ["f:bf16"], ops)
        if parts[-1] not in KINDS or KINDS[parts[-1]][0] == 1:
            return super().op_setp(parts, ops)
        if len(parts) != 3 or len(ops) != 3:
            raise SystemExit(f"ptx2c: {self.name}: unknown comparison: {parts}")
        values = [self.compared(parts[1], a, b)
                  for a, b in self.numbers(ops[1:3], parts[-1])]
        return (f"pred low = {values[0]}, high = {values[1]}; "
                + "".join(self.write(target.strip(), value) for target, value
                          in zip(ops[0].split("|"), ("low", "high"))))

    def op_set(self, parts, ops):
        if parts[1:] != ["nan", "u32", "f16x2"]:
            raise SystemExit(f"ptx2c: {self.name}: unknown comparison: {parts}")
        values = [self.compared("nan", a, b) for a, b in self.numbers(ops[1:3], "f16x2")]
        return self.write(ops[0], f"({values[0]} ? 0xffffu : 0) | "
                                  f"({values[1]} ? 0xffff0000u : 0)")

    def op_cvt(self, parts, ops):
        words, to, source = parts[1:-2], parts[-2], parts[-1]
        if parts[1:] == ["rn", "f16x2", "e4m3x2"]:
            a = self.read(ops[1], "b16")
            return self.write_numbers(
                ops[0], [f"from_e4m3({a} & 255)", f"from_e4m3({a} >> 8)"], "f16x2")
        if parts[1:] == ["rn", "satfinite", "e4m3x2", "f16x2"]:
            (low,), (high,) = self.numbers(ops[1:], "f16x2")
            return self.write(ops[0], f"to_e4m3({low}) | to_e4m3({high}) << 8")
        if to not in KINDS and source not in KINDS:
            return super().op_cvt(parts, ops)
        if to in KINDS:
            if words != ["rn"] or source in KINDS:
                raise SystemExit(f"ptx2c: {self.name}: rounding: {parts}")
            # Of two the first is the upper half.
            values = [self.read(o, source) for o in ops[:0:-1]]
            if source[0] != "f":
                values = [f"odd_whole({value})" for value in values]
            return self.write_numbers(ops[0], values, to)
        if words != ([] if to[0] == "f" else ["rzi"]):
            raise SystemExit(f"ptx2c: {self.name}: rounding: {parts}")
        ((value,),) = self.numbers(ops[1:], source)
        if to[0] == "f":
            return self.write(ops[0], value, to)
        whole = f"to_{'s' if to[0] == 's' else 'u'}({value}, {WIDTH[to]})"
        return self.write(ops[0], f"({CTYPE[to]}){whole}")
