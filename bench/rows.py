# SPDX-License-Identifier: MIT
"""Every row of RESULTS.md: what is run, against what, and the bar it has to meet.

A ratio is how many times faster ours is than the peer: 0.9 against memcpy means
90 % of its speed.
"""

from dataclasses import dataclass, field

import programs

MEGA = (1024, 1024)


@dataclass(frozen=True)
class Format:
    """A format as `numera compile` and as the dialect write it."""
    name: str
    spelling: str
    bits: int
    stochastic: bool = False

    @property
    def stem(self):
        return "".join(c if c.isalnum() else "_" for c in self.name).strip("_")


BF16 = Format("bf16", "float<8,7>", 16)
F16 = Format("f16", "float<5,10>", 16)
F8 = Format("f8E4M3FN", "float<4,3,fn>", 8)
F8E5M2 = Format("f8E5M2", "float<5,2>", 8)
E5M7 = Format("float<5,7>", "float<5,7>", 16)
E6M9 = Format("float<6,9>", "float<6,9>", 16)
E3M4 = Format("float<3,4>", "float<3,4>", 8)
TF32 = Format("tf32", "float<8,10>", 32)
POSIT8 = Format("posit8", "posit<8,2>", 8)
POSIT16 = Format("posit16", "posit<16,2>", 16)
POSIT12 = Format("posit<12,1>", "posit<12,1>", 16)
POSIT24 = Format("posit<24,2>", "posit<24,2>", 32)
POSIT32 = Format("posit32", "posit<32,2>", 32)
FIXED = Format("fixed<4,11>", "fixed<4,11>", 16)


@dataclass
class Row:
    section: str
    name: str            # unique; the benchmark's name
    kernel: str
    peer: str            # as the table names it
    make: object         # Builder → the row's files, as fields
    fields: dict = field(default_factory=dict)
    bar: float = None    # the least ratio; None: for the record
    unit: str = "ns/element"
    work: float = 1      # elements, or floating-point operations
    moved: int = None    # bytes read and written an element: the bound
    cores: int = 1

    def figure(self, seconds):
        """A time as the table shows it."""
        if self.unit == "GFLOP/s":
            return self.work / seconds * 1e-9
        return {"ns/element": 1e9, "ms": 1e3, "s": 1}[self.unit] * (
            seconds / self.work)


def shape_fields(shape):
    return {"shape": ",".join(map(str, shape))}


def elements(shape):
    count = 1
    for extent in shape:
        count *= extent
    return count


# ---- elementwise -----------------------------------------------------------

MEMCPY_BARS = {"bf16": 0.9, "f8E4M3FN": 0.5, "float<5,7>": 0.5, "posit16": 0.28}
APFLOAT_BARS = {"bf16": 250, "f8E4M3FN": 300}
NATIVE = {"bf16": "bf16", "f16": "f16"}


def elementwise_row(op, form, peer, peer_name, bar, shape=MEGA, **fields):
    stem = f"{op}-{form.stem}"

    def make(builder):
        made = {
            "program": builder.program(
                stem, programs.elementwise(op, form.spelling, shape)),
            "scalar": builder.opaque(f"scalar-{form.stem}", form.spelling)}
        if peer == "apfloat":
            made["apfloat"] = builder.apfloat(f"apfloat-{stem}", op, form.name)
        return made

    label = fields.pop("label", peer)
    return Row("Elementwise, packed, 1 M", f"{op}/{form.name}/{label}",
               "elementwise", peer_name, make,
               {"op": op, "bits": form.bits, "peer": peer,
                **shape_fields(shape), **fields},
               bar, work=elements(shape), moved=3 * form.bits // 8)


def elementwise():
    formats = [BF16, F16, F8, E5M7, E6M9, E3M4, POSIT16, POSIT12, POSIT24,
               POSIT32, FIXED]
    for op in ("add", "mul", "div"):
        for form in formats:
            bar = MEMCPY_BARS.get(form.name) if op != "div" else None
            yield elementwise_row(op, form, "memcpy", "memcpy", bar)
    for op in ("add", "mul"):
        for form in (BF16, F8, E5M7, POSIT16):
            yield elementwise_row(op, form, "memcpy", "memcpy", None,
                                  label="memcpy, all codes",
                                  codes=form.bits if form != E5M7 else 13)
    for op in ("add", "mul", "div"):
        for form in (BF16, F8):
            yield elementwise_row(op, form, "apfloat",
                                  "convert-arith-to-apfloat",
                                  APFLOAT_BARS[form.name])
    for op in ("add", "mul", "div"):
        for form in (BF16, F8, E5M7, POSIT16, POSIT32, FIXED):
            yield elementwise_row(op, form, "opaque", "opaque calls", None)
    for op in ("add", "mul", "div"):
        for form in (BF16, F16):
            yield elementwise_row(op, form, "native",
                                  f"clang's {NATIVE[form.name]}", None,
                                  native=NATIVE[form.name])


# ---- quantize --------------------------------------------------------------

def quantize_row(form, bar, random_bits=None, shape=MEGA):
    how = f"stochastic-{random_bits}" if random_bits else "nearest"
    flags = ["--format", form.name]
    if random_bits:
        flags += ["--rounding", "stochastic", "--random-bits", random_bits]

    def make(builder):
        return {"program": builder.program(f"quantize-{form.stem}-{how}",
                                           programs.identity(shape), flags),
                "scalar": builder.opaque(f"scalar-{form.stem}", form.spelling)}

    return Row("Quantize f32 → f32, 1 M", f"quantize/{form.name}/{how}",
               "quantize", "memcpy", make,
               {"bits": form.bits, **shape_fields(shape),
                **({"stochastic": 1} if random_bits else {})},
               bar, work=elements(shape), moved=8)


def quantize():
    for form in (BF16, F16, TF32, F8, F8E5M2, E5M7, E6M9, E3M4):
        yield quantize_row(form, 0.9)
    for form in (POSIT8, POSIT16, POSIT12, POSIT32, FIXED):
        yield quantize_row(form, None)
    for random_bits, bar in ((8, 0.6), (16, 0.5), (32, 0.3)):
        for form in (BF16, E5M7, F8):
            yield quantize_row(form, bar, random_bits)


# ---- matmul ----------------------------------------------------------------

SAME_BARS = {"bf16": 0.26, "f8E4M3FN": 0.21, "float<5,7>": 0.16,
             "posit16": 0.10}


def matmul_row(form, accumulate, size, bar, boundary="codes"):
    m, n, k = size
    label = f"{m}³" if m == n == k else f"{m}×{n}×{k}"
    stem = f"matmul-{m}x{n}x{k}-{form.stem}-{accumulate}-{boundary}"

    def make(builder):
        if boundary == "codes":
            program = builder.program(stem, programs.matmul_codes(
                m, n, k, form.spelling, accumulate))
        else:
            program = builder.program(
                stem, programs.matmul_f32(m, n, k),
                ["--format", form.name, "--accumulate", accumulate])
        return {"program": program,
                "scalar": builder.opaque(f"scalar-{form.stem}", form.spelling)}

    how = {"same": "every operation rounded",
           "f32": "f32 accumulation"}[accumulate]
    return Row(f"Matmul, {how}", f"matmul/{label}/{form.name}/{accumulate}"
               + ("" if boundary == "codes" else "/f32 in and out"), "matmul",
               "OpenBLAS sgemm", make,
               {"m": m, "n": n, "k": k, "bits": form.bits,
                "accumulate": accumulate,
                **({"f32": 1} if boundary == "f32" else {})},
               bar, unit="GFLOP/s", work=2 * m * n * k)


def matmul():
    cube = (512, 512, 512)
    for form in (BF16, F8, E5M7, POSIT16, E6M9, E3M4, POSIT12, POSIT24, FIXED):
        yield matmul_row(form, "same", cube, SAME_BARS.get(form.name))
    for form in (BF16, POSIT16):
        yield matmul_row(form, "same", cube, None, "f32")
    for size in (cube, (1000, 777, 1023)):
        for form in (BF16, F16, F8, E5M7, E6M9, E3M4, POSIT16, POSIT8, POSIT12):
            is_posit = form.name.startswith("posit")
            yield matmul_row(form, "f32", size, 0.85 if is_posit else 0.95)
    for form in (BF16, POSIT16):
        yield matmul_row(form, "f32", cube, None, "f32")


def all_rows():
    rows = [*elementwise(), *quantize(), *matmul()]
    names = [row.name for row in rows]
    assert len(set(names)) == len(names)
    return rows
