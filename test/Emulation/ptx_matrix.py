# SPDX-License-Identifier: MIT
"""Instructions that a warp executes together (PTX ISA, "Warp-level matrix
instructions"), as statements of C (ptx2c.py). The threads of a warp exchange
their registers (Driver.cpp), then each computes its own results.

PTX leaves the order of a matrix product's additions and their rounding to the
machine. Here products are exact and are added in f32, one by one."""

FACTORS = {"f16": "F16", "bf16": "BF16", "e4m3": "E4M3", "e5m2": "E5M2"}
STEPS = {"m16n8k8": 8, "m16n8k16": 16, "m16n8k32": 32}

PRELUDE = """
enum { F16, BF16, E4M3, E5M2 };
static const struct { int size, exponent, mantissa; } factors[] = {
  {2, 5, 10}, {2, 8, 7}, {1, 4, 3}, {1, 5, 2} };
static float factor(uint32_t code, int kind) {
  int m = factors[kind].mantissa, e = factors[kind].exponent;
  uint32_t fraction = code & ((1u << m) - 1), most = (1u << e) - 1;
  uint32_t exponent = code >> m & most, sign = code >> (m + e) & 1;
  int bias = (1 << (e - 1)) - 1;
  float x = ldexpf((float)(fraction | (exponent ? 1u << m : 0)),
                   (int)(exponent ? exponent : 1) - bias - m);
  if (kind == E4M3 ? exponent == most && fraction == 7 : exponent == most)
    x = fraction ? NAN : INFINITY;
  return sign ? -x : x; }
static float factor_at(uint32_t *words, int k, int kind) {
  int size = factors[kind].size;
  return factor(*words >> (8 * size * (k % (4 / size))), kind); }
static void mma(struct thread *T, uint32_t d[4], const uint32_t *ab,
                const uint32_t *c, int steps, int rows, int columns) {
  uint32_t (*warp)[8] = T->exchange(T, ab, 6);
  int lane = T->tid[0] % 32, size = factors[rows].size;
  for (int i = 0; i < 4; i++) {
    int row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
    float sum = f32(c[i]);
    for (int k = 0; k < steps; k++) {
      int word = k / (4 / size);
      sum = fmaf(
        factor_at(&warp[row % 8 * 4 + word % 4][row / 8 + word / 4 * 2], k, rows),
        factor_at(&warp[column * 4 + word % 4][4 + word / 4], k, columns), sum); }
    d[i] = bits32(sum); } }
static void ldmatrix(struct thread *T, uint32_t d[4], uint64_t address) {
  if (address % 16) __builtin_trap();
  uint32_t words[2] = {(uint32_t)address, address >> 32};
  uint32_t (*warp)[8] = T->exchange(T, words, 2);
  int lane = T->tid[0] % 32;
  for (int i = 0; i < 4; i++) {
    uint32_t *row = warp[i * 8 + lane / 4];
    memcpy(&d[i], (byte *)((uint64_t)row[1] << 32 | row[0]) + lane % 4 * 4, 4); } }
"""


class MatrixInstructions:
    """A part of ptx_instructions.Instructions."""

    def op_mma(self, parts, ops):
        _, sync, aligned, shape, layout, other, d, rows, columns, c = parts
        if ((sync, aligned, layout, other, d, c)
                != ("sync", "aligned", "row", "col", "f32", "f32")
                or shape not in STEPS or rows not in FACTORS
                or columns not in FACTORS):
            raise SystemExit(f"ptx2c: {self.name}: unknown matrix: {parts}")
        self.has_barriers = True
        a, b = self.list_of(ops[1]), self.list_of(ops[2])
        halves = len(a) == 2  # m16n8k8 has the first words alone
        assert (len(a), len(b)) == ((2, 1) if halves else (4, 2)), ops
        words = a + ["0"] * (4 - len(a)) + b + ["0"] * (2 - len(b))
        read = lambda list: ", ".join(self.read(x, "b32") for x in list)
        return (f"uint32_t d[4], ab[8] = {{{read(words)}}}, "
                f"c[4] = {{{read(self.list_of(ops[3]))}}}; "
                f"mma(T, d, ab, c, {STEPS[shape]}, {FACTORS[rows]}, "
                f"{FACTORS[columns]}); " + self.spread(ops[0]))

    def op_ldmatrix(self, parts, ops):
        if parts[1:] != ["sync", "aligned", "m8n8", "x4", "shared", "b16"]:
            raise SystemExit(f"ptx2c: {self.name}: unknown matrix: {parts}")
        self.has_barriers = True
        return (f"uint32_t d[4]; ldmatrix(T, d, {self.address(ops[1])}); "
                + self.spread(ops[0]))

    def spread(self, targets):
        return " ".join(self.write(target, f"d[{i}]")
                        for i, target in enumerate(self.list_of(targets)))
