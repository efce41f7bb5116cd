# SPDX-License-Identifier: MIT
"""Every row of RESULTS.md: what is run, against what, and the bar it has to meet.

A ratio is how many times faster ours is than the peer: 0.9 against memcpy means
90 % of its speed.
"""

import re
from dataclasses import dataclass, field

import models
import programs

MEGA = (1024, 1024)
SMALL = (2, 1024)  # to step through


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
    small: object = None # a Row that does the same with less, for its bound

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
                f"{stem}-{elements(shape)}", programs.elementwise(op, form.spelling, shape)),
            "scalar": builder.opaque(f"scalar-{form.stem}", form.spelling)}
        if peer == "apfloat":
            made["apfloat"] = builder.apfloat(f"apfloat-{stem}", op, form.name)
        return made

    label = fields.pop("label", peer)
    small = shape == MEGA and peer == "memcpy" and elementwise_row(
        op, form, peer, peer_name, None, SMALL, **fields)
    return Row("Elementwise, packed, 1 M", f"{op}/{form.name}/{label}",
               "elementwise", peer_name, make,
               {"op": op, "bits": form.bits, "peer": peer,
                **shape_fields(shape), **fields},
               bar, work=elements(shape), moved=3 * form.bits // 8,
               small=small or None)


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
        return {"program": builder.program(
                    f"quantize-{form.stem}-{how}-{elements(shape)}",
                    programs.identity(shape), flags),
                "scalar": builder.opaque(f"scalar-{form.stem}", form.spelling)}

    return Row("Quantize f32 → f32, 1 M", f"quantize/{form.name}/{how}",
               "quantize", "memcpy", make,
               {"bits": form.bits, **shape_fields(shape),
                **({"stochastic": 1} if random_bits else {})},
               bar, work=elements(shape), moved=8,
               small=quantize_row(form, None, random_bits, SMALL)
               if shape == MEGA else None)


def quantize():
    for form in (BF16, F16, TF32, F8, F8E5M2, E5M7, E6M9, E3M4):
        yield quantize_row(form, 0.9)
    for form in (POSIT8, POSIT16, POSIT12, POSIT32, FIXED):
        yield quantize_row(form, None)
    for random_bits, bar in ((8, 0.6), (16, 0.5), (32, 0.3)):
        for form in (BF16, E5M7, F8):
            yield quantize_row(form, bar, random_bits)


# ---- Python packages --------------------------------------------------------

def python_row(module, op, form, **fields):
    ours = (quantize_row(form, None, 32 if fields.get("stochastic") else None)
            if op == "quantize" else
            elementwise_row(op, form, "memcpy", "memcpy", None))
    how = "/stochastic" if fields.get("stochastic") else ""
    return Row("Python packages, 1 M", f"python/{module}/{op}/{form.name}{how}",
               "python", module, ours.make,
               {"module": module, "op": op, "shape": MEGA, **fields},
               work=ours.work)


def python():
    for form, dtype in ((BF16, "bfloat16"), (F8, "float8_e4m3fn"),
                        (F8E5M2, "float8_e5m2")):
        for op in ("add", "mul", "div", "quantize"):
            yield python_row("ml_dtypes", op, form, dtype=dtype)
    for module in ("pychop", "qtorch"):
        for form, exponent, mantissa in ((BF16, 8, 7), (E5M7, 5, 7)):
            for stochastic in (False, True):
                yield python_row(module, "quantize", form, exponent=exponent,
                                 mantissa=mantissa, stochastic=stochastic)


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
               bar, unit="GFLOP/s", work=2 * m * n * k,
               small=matmul_row(form, accumulate, (32, 64, 64), None, boundary)
               if m > 64 else None)


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


# ---- scaled ----------------------------------------------------------------

def scaled_matmul_row(name, flags, bar, size=(512, 512, 512), weights=True,
                      plain=None):
    """`flags`, or a policy; against sgemm, or against `plain`, another one."""
    m, n, k = size
    label = f"{m}³" if m == n == k else f"{m}×{n}×{k}"

    def make(builder):
        def program(stem, how):
            if isinstance(how, str):
                how = ["--formats", builder.policy(stem, how)]
            text = (programs.matmul_weights if weights else programs.matmul_f32)(
                m, n, k)
            return builder.program(stem, text, how)
        stem = f"scaled-{m}x{n}x{k}-" + re.sub(r"\W+", "-", name)
        made = {"program": program(stem, flags)}
        if plain is not None:
            made["plain"] = program(stem + "-plain", plain)
        return made

    return Row("Scaled tensors", f"scaled/matmul/{label}/{name}", "scaled",
               "OpenBLAS sgemm" if plain is None else "elements not packed",
               make, {"m": m, "n": n, "k": k, **({"weights": 1} if weights else {})},
               bar, unit="GFLOP/s", work=2 * m * n * k)


def scaled_quantize_row(name, element, largest, bar, shape=MEGA, back=True):
    """f32 to f32, or to codes and scales, whose bytes are fewer than memcpy's."""
    def make(builder):
        text = programs.quantize_blocks(shape, element, back)
        stem = f"quantize-{name}" + ("" if back else "-codes")
        return {"program": builder.program(stem, text),
                "scalar": builder.opaque(f"scalar-{name}", element)}
    return Row("Scaled tensors", f"scaled/quantize/{name}" + ("" if back else "/codes"),
               "scaled", "memcpy", make,
               {"bits": 8, "largest": largest, **({} if back else {"codes": 1}),
                **shape_fields(shape)}, bar,
               work=elements(shape), moved=8 if back else 5)


def scaled():
    for name, element, largest in (("mxfp8", "float<4,3,fn>", 0x7e),
                                   ("mxfp6", "float<2,3,finite>", 0x1f),
                                   ("mxfp4", "float<2,1,finite>", 0x7)):
        yield scaled_quantize_row(name, element, largest, 0.6)
        yield scaled_quantize_row(name, element, largest, 0.6, back=False)
    yield scaled_matmul_row("mxfp8", ["--format", "mxfp8"], 0.85, weights=False)
    yield scaled_matmul_row("mxfp8 weights", ["--format", "mxfp8"], 0.85)
    channels = "{weights: i8, scale: {weights: per-channel}}"
    yield scaled_matmul_row("i8 weights per channel", channels, 0.85)
    for name, weights in (("mxfp4", "mxfp4"), ("mxfp6", "mxfp6")):
        for size in ((512, 512, 512), (1, 4096, 1024)):
            yield scaled_matmul_row(f"{name} weights packed",
                                    f"{{weights: {weights}, storage: packed}}", 0.8,
                                    size, plain=f"{{weights: {weights}}}")


# ---- quire -----------------------------------------------------------------

def quire():
    m = n = k = 256

    def make(builder):
        return {"program": builder.program(
                    "quire-256", programs.matmul_codes(
                        m, n, k, POSIT16.spelling, "quire")),
                "scalar": builder.opaque("scalar-posit16", POSIT16.spelling)}

    yield Row("Quire matmul", "quire/256³/posit16", "quire",
              "opaque quire calls", make,
              {"m": m, "n": n, "k": k, "bits": 16, "es": 2}, 10,
              unit="GFLOP/s", work=2 * m * n * k)


# ---- convolutions ----------------------------------------------------------

# Of ResNet-50: channels in, out, size of the image, window, stride.
CONVS = [(3, 64, 224, 7, 2), (64, 64, 56, 3, 1), (128, 128, 28, 3, 1),
         (256, 1024, 14, 1, 1), (512, 512, 7, 3, 1)]
F32 = Format("f32", "float<8,23>", 32)


def conv_row(form, shape):
    inputs, out, size, window, stride = shape
    net = models.conv(*shape)
    rows, columns, depth, _ = net.gemms[0]
    label = f"{inputs}×{size}×{size} → {out}, {window}×{window}/{stride}"
    stem = "conv-" + "-".join(map(str, shape))

    def make(builder):
        weights = builder.folder / f"{stem}.weights"
        weights.write_bytes(net.values(0).tobytes())
        made = {"weights": weights, "program": builder.model(
            f"{stem}-{form.stem}", builder.onnx(stem, net),
            ["--format", form.name, "--accumulate", "f32"])}
        if form is not F32:
            made["scalar"] = builder.opaque(f"scalar-{form.stem}", form.spelling)
        return made

    return Row("Convolutions of ResNet-50, f32 accumulation",
               f"conv/{label}/{form.name}", "conv", "OpenBLAS sgemm", make,
               {"in": inputs, "out": out, "size": size, "window": window,
                "stride": stride, "bits": form.bits},
               0.8, unit="GFLOP/s", work=2 * rows * columns * depth)


def conv():
    for shape in CONVS:
        for form in (F32, BF16, F8, POSIT16):
            yield conv_row(form, shape)


# ---- models ----------------------------------------------------------------

def model_row(name, net, form, accumulate, bar, against_sgemm=False):
    def make(builder):
        stem = re.sub("[^a-z0-9]+", "-", name)
        source = builder.onnx(stem, net)
        made = {"program": builder.model(
            f"{stem}-{form.stem}-{accumulate}", source,
            ["--format", form.name, "--accumulate", accumulate])}
        if not against_sgemm:
            made["f32"] = builder.model(f"{stem}-f32", source)
        return made

    fields = {"input": ",".join(map(str, net.inputs)),
              "output": ",".join(map(str, net.shape))}
    if form.bits == 8 and accumulate == "same":
        fields["rough"] = 1  # sums stop growing: far from f32, as they should
    if against_sgemm:
        fields["gemms"] = ",".join(str(n) for gemm in net.gemms for n in gemm)
    work = sum(2 * m * n * k * count for m, n, k, count in net.gemms)
    return Row("Whole models", f"model/{name}/{form.name}/{accumulate}"
               + ("/sgemm" if against_sgemm else ""), "model",
               "sgemm of its layers" if against_sgemm else "the same in f32",
               make, fields, bar, unit="GFLOP/s", work=work)


def model():
    wide = models.wide()
    for name, net in (("cnn", wide), ("lenet", models.lenet(64))):
        bars = {("posit16", "f32"): 1 / 1.5, ("bf16", "same"): 1 / 5,
                ("posit16", "same"): 1 / 12} if net is wide else {}
        yield model_row(name, net, F32, "f32", None, True)
        for form, accumulate in ((POSIT16, "f32"), (BF16, "f32"), (F8, "f32"),
                                 (BF16, "same"), (POSIT16, "same"),
                                 (F8, "same"), (E5M7, "same")):
            yield model_row(name, net, form, accumulate,
                            bars.get((form.name, accumulate)))
    for label, net in models.wide_layers():
        yield model_row(f"cnn, {label}", net, F32, "f32", 0.7, True)
    for form in (F32, BF16, POSIT16):
        yield model_row("resnet50", models.resnet50(), form, "f32", None, True)


# ---- two threads -----------------------------------------------------------

def thread_row(label, make, fields):
    return Row("Two threads over one", f"threads/{label}", "threads",
               "one thread; sgemm's gain", make, {"sgemm": 1024, **fields},
               0.95, unit="ms", cores=2)


def threads():
    size = 1024
    matrix = f"{size},{size}"
    for form, accumulate in ((F32, "f32"), (BF16, "f32"), (POSIT16, "f32"),
                             (BF16, "same"), (POSIT16, "same")):
        flags = ["--format", form.name, "--accumulate", accumulate]
        yield thread_row(
            f"matmul {size}³/{form.name}/{accumulate}",
            lambda builder, flags=flags, stem=form.stem + "-" + accumulate: {
                "program": builder.program(
                    f"threads-{size}-{stem}",
                    programs.matmul_f32(size, size, size), flags)},
            {"input": matrix, "input2": matrix, "output": matrix})
    net = models.wide()
    for form, accumulate in ((F32, "f32"), (POSIT16, "f32"), (BF16, "same")):
        flags = ["--format", form.name, "--accumulate", accumulate]
        yield thread_row(
            f"cnn/{form.name}/{accumulate}",
            lambda builder, flags=flags, stem=form.stem + "-" + accumulate: {
                "program": builder.model(f"threads-cnn-{stem}",
                                         builder.onnx("cnn", net), flags)},
            {"input": ",".join(map(str, net.inputs)),
             "output": ",".join(map(str, net.shape))})


# ---- compile time ----------------------------------------------------------

def compile_time():
    for name, net, limit in (("lenet", models.lenet, 2),
                             ("resnet50", models.resnet50, 30)):
        for form, accumulate in ((POSIT16, "f32"), (POSIT16, "same")):
            yield Row("Compile time, model to .so",
                      f"compile/{name}/{form.name}/{accumulate}", "compile",
                      f"{limit} s", None,
                      {"model": name, "net": net, "limit": limit,
                       "flags": ["--format", form.name, "--accumulate",
                                 accumulate]}, 1, unit="s")


def all_rows():
    rows = [*elementwise(), *quantize(), *python(), *matmul(), *scaled(), *quire(), *conv(), *model(),
            *threads(), *compile_time()]
    names = [row.name for row in rows]
    assert len(set(names)) == len(names)
    return rows
