// SPDX-License-Identifier: MIT
//
// The passes on the dialect (docs/Passes.md is generated from here).

#ifndef NUMERA_DIALECT_NUMERA_TRANSFORMS_PASSES
#define NUMERA_DIALECT_NUMERA_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def NumeraRetype : Pass<"numera-retype", "::mlir::ModuleOp"> {
  let summary = "rewrite an f32 model to a format";
  let description = [{
    *Before:* linalg, arith, math and tensor operations on f32.
    *After:* the same computation in the format, as operations of `numera`.
    Function boundaries stay as they are, with one cast at each; what
    public functions return can be asked for as f64 or in the format itself.

    Constants are encoded. A contraction (a named linalg operation, or a generic
    whose body multiplies and adds) becomes a `linalg.generic` whose `outs` is
    the accumulator and whose body is one `numera.mac`, followed by an
    elementwise cast to the format. A sum reduces in the accumulator likewise,
    as 32 interleaved partial sums that are added in pairs (C7). With
    `accumulate=quire` the body is one `numera.quire_mac` or `quire_add`, and an
    elementwise `quire_round` follows.
    An infinite constant becomes the format's lowest or highest value, which is
    what it stands for in a maximum or a mask.

    Where the policy stores operands or results of contractions in a scaled
    format, they pass through a `numera.quantize`, the contraction reads what
    it makes, and everything else is in the policy's format, f32 for a scaled
    default.

    An operation that a rule of the policy matches, by the name in its location
    or by its operator, is rewritten as the rule says (docs/Configuration.md).
    Where formats meet there is one `numera.cast` from the one to the other.
    What only moves values (tensor operations, a generic whose body is a yield)
    takes the format of what it moves; constants, empty tensors, fills with
    constants and function arguments, also moved ones, that of what reads them,
    once for each format. The module's attribute `numera.rules` lists for each
    rule the operations that it was for; a rule for none is a warning.

    *Ensures:* no operation of arith or math on floats is left.
    *Fails when* an operation has no counterpart; the error names it.
  }];
  let options = [
    Option<"to", "to", "std::string", [{""}],
           "format, by name or spelling, or scaled format; default: the "
           "policy's, else f32">,
    Option<"accumulate", "accumulate", "std::string", [{""}],
           "same, quire, tensorcore, f32, f64 or a format; default: the "
           "policy's, else chosen by the format">,
    Option<"outputAs", "output-as", "std::string", [{"f32"}],
           "what public functions return: f32, f64 or storage (the format "
           "itself)">,
    Option<"keepRoles", "keep-roles", "bool", [{false}],
           "store weights, activations and outputs as the policy says, and "
           "follow its rules, although a format is named">,
    Option<"observe", "observe", "bool", [{false}],
           "return what would be quantized while the program runs, as results "
           "of public functions, and quantize nothing">,
  ];
  let dependentDialects = ["::numera::NumeraDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def NumeraExpandPacked : Pass<"numera-expand-packed", "::mlir::ModuleOp"> {
  let summary = "turn packing and unpacking into linalg on bytes";
  let description = [{
    *Requires:* `numera-lower-types`.
    *Before:* `numera.pack` and `numera.unpack` on storage.
    *After:* linalg.generic whose steps read a code among the bytes,
    `numera.load_packed`, or put a byte together from codes. Packed constants
    are constants of bytes. For nvptx codes are put together from bytes as well.
  }];
  let options = [
    Option<"target", "target", "std::string", [{"cpu"}],
           "cpu or nvptx: which reads codes by itself">,
  ];
  let dependentDialects = ["::numera::NumeraDialect",
                           "::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def NumeraExpandScales : Pass<"numera-expand-scales", "::mlir::ModuleOp"> {
  let summary = "turn scaled tensors into tensors of elements and of scales";
  let description = [{
    *Before:* tensors with the encoding `#numera.scaling`, made and read by
    operations of `numera` and read by contractions (`numera.mac`,
    `numera.quire_mac`).
    *After:* plain tensors and elementwise operations. Constants are quantized.
    A contraction reads the elements where their scale is the same for all of
    a sum, and its result is multiplied by the scales; where scales change from
    step to step, it reads the values (Z7).
    *Fails when* a scaled tensor crosses a function's boundary or goes into an
    operation that knows no scales.
  }];
  let dependentDialects = ["::numera::NumeraDialect",
                           "::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def NumeraPassParts : Pass<"numera-pass-parts", "::mlir::ModuleOp"> {
  let summary = "pass scaled tensors between functions as their parts";
  let description = [{
    *Before:* functions of `func` that take and return scaled tensors, and calls
    of them.
    *After:* they take and return elements, scales and, where the format has
    them, zero points or the scale of the tensor, in the place of each scaled
    tensor (Z15). A name `x` becomes `x`, `x.scales`, `x.zeros` and
    `x.tensor_scale`.
  }];
  let dependentDialects = ["::numera::NumeraDialect",
                           "::mlir::func::FuncDialect"];
}

def NumeraSimplify : Pass<"numera-simplify"> {
  let summary = "remove casts that change nothing and fold constants";
  let description = [{
    *Before / after:* `cast B→C (cast A→B x)` becomes `cast A→C x` where every
    value of A is one of B. `cast A→A x` becomes `x` where each value of A has
    one code, or x comes from an operation: an argument may hold any of the
    codes of NaN. Constants fold. No rounding is dropped.
  }];
}

def NumeraFoldTransposes : Pass<"numera-fold-transposes"> {
  let summary = "let contractions read what is transposed for them in place";
  let description = [{
    *Before:* `linalg.transpose`, or a `linalg.generic` that only moves
    elements, and a contraction (`numera.mac`, `numera.quire_mac`) that reads
    its result.
    *After:* the contraction's indexing map goes through what was transposed.
    Constants are left: they are transposed by the compiler. So are contractions
    that are left to loops.
  }];
  let dependentDialects = ["::numera::NumeraDialect",
                           "::mlir::linalg::LinalgDialect"];
}

def NumeraWidenContractions : Pass<"numera-widen-contractions"> {
  let summary = "cast the operands of contractions to their accumulator";
  let description = [{
    *Before:* `numera.mac` on narrow operands with a wide accumulator, one
    rounding a step.
    *After:* the operands are cast to the accumulator's format once, outside,
    and the step is uniform. Exact: it applies only where every value of the
    operands' format is one of the accumulator's.
  }];
  let options = [
    Option<"target", "target", "std::string", [{"cpu"}],
           "cpu or nvptx: whose kernels take narrow operands">,
  ];
  let dependentDialects = ["::numera::NumeraDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def NumeraFuse : Pass<"numera-fuse"> {
  let summary = "fuse elementwise operations on tensors";
  let description = [{
    Upstream's elementwise fusion, kept out of reductions: a producer fused into
    a contraction would be computed again in every step. So would one that has
    fewer loops than its reader, a scale or a mean for a row.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def NumeraUseProofs : Pass<"numera-use-proofs", "::mlir::ModuleOp"> {
  let summary = "compute in built-in formats what is proven to be theirs";
  let description = [{
    *Requires:* `numera-lower-types`.
    *Before:* operations on codes of opaque formats, whose functions a library
    has.
    *After:* those of which it is proven that they give, for all operands, what
    the format gives that the opaque one is equivalent to are operations in that
    format. All others stay as they are: values are codes, which both formats
    have alike. Where a few codes of one operand are known to give something
    else, `arith.select` gives that.

    The step of a contraction is replaced where its product and its sum are
    proven, or, in f32 and f64, the cast of its factors, and no function is
    registered for it or for contractions as a whole.

    The module's attribute `numera.library_uses` lists the operations of opaque
    formats: `operation`, `format`, the `equivalent` that it may be proven to be
    one of, and where it is, `exceptions`, how many codes are told apart.
  }];
  let options = [
    Option<"target", "target", "std::string", [{"cpu"}],
           "cpu or nvptx: whose functions count">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::numera::NumeraDialect"];
}

def NumeraCarry : Pass<"numera-carry"> {
  let summary = "keep values decoded between operations";
  let description = [{
    *Requires:* `numera-lower-types`.
    *Before:* neighbouring operations on codes of a format that embeds into f32
    or f64.
    *After:* `numera.decode`, the machine's arithmetic, `numera.round_to` where
    a value goes on, `numera.encode` where it leaves. Arithmetic, casts,
    comparisons, `neg abs min max` and `arith.select` take part, scalars and
    vectors alike; a cast from f32 to a format and back becomes one `round_to`.
    The carrier is f32 where the family proves it for all of a group of
    neighbours, else f64. A sum that has to be rounded to odd is spelled out.

    An opaque format takes part where its entry names a `carrier`, with the
    operations that are the carrier's own and a rounding: those that nothing is
    registered for, and those that its `round_to` names (docs/Configuration.md).

    What gains nothing stays on codes: an operation without a neighbour, and a
    group that only chooses among codes. So do other operations that the
    configuration registers or whose operands it truncates, and the steps of
    contractions.
  }];
  let options = [
    Option<"target", "target", "std::string", [{"cpu"}],
           "cpu or nvptx: whose lowerings of opaque formats count">,
  ];
  let dependentDialects = ["::numera::NumeraDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect"];
}

def NumeraLowerTypes : Pass<"numera-lower-types", "::mlir::ModuleOp"> {
  let summary = "turn values of formats into their storage integers";
  let description = [{
    *Before:* `!numera.num` and `!numera.quire` anywhere: in types, attributes,
    regions, signatures, on tensors, memrefs, vectors or scalars.
    *After:* their storage integers. Operations of `numera` take their form on
    storage, with the attribute `format`.
    *Ensures:* no type of `numera` is left.
    *Fails when* an operation cannot be rebuilt with the new types.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def NumeraDrawBlocks : InterfacePass<"numera-draw-blocks",
                                     "::mlir::FunctionOpInterface"> {
  let summary = "draw the random bits of a loop in blocks";
  let description = [{
    *Before:* inner loops of `scf` with `numera.random`.
    *After:* where the index grows by one with every iteration, the loop goes in
    strips of 2048 iterations, and `numera.random_fill` makes the draws of each
    before it. The draws are the same.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def NumeraLowerOps : Pass<"numera-lower-ops", "::mlir::ModuleOp"> {
  let summary = "turn operations into their registered lowerings";
  let description = [{
    *Requires:* `numera-lower-types`.
    *After:* each operation is a call of the function registered for it, or of
    the runtime's entry for its family; `mac` and casts between families are
    composed of those. An operation on vectors is the same call on vectors: of
    the function's vector form, `_ZGV_LLVM_N16vvuu_…`, which the back end makes
    (docs/Architecture.md). For GPUs vectors are taken apart. A quire that is
    loaded, added to and stored where it was stays in memory; any other goes
    through a slot on the stack.
    *Ensures:* no operation of `numera` is left.
    *Fails when* an operation has no lowering: the error names operation,
    target and format, and prints the line that would register one.
  }];
  let options = [
    Option<"target", "target", "std::string", [{"cpu"}], "cpu or nvptx">,
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::vector::VectorDialect"];
}

def NumeraLower : Pass<"numera-lower", "::mlir::ModuleOp"> {
  let summary = "lower types and operations in one step";
  let description = [{
    Elementwise operations on tensors become `linalg.generic`; then
    `numera-lower-types` and `numera-lower-ops`.
    *Ensures:* no type or operation of `numera` is left.
  }];
  let options = [
    Option<"target", "target", "std::string", [{"cpu"}], "cpu or nvptx">,
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::numera::NumeraDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::tensor::TensorDialect",
                           "::mlir::vector::VectorDialect"];
}

def NumeraContract : Pass<"numera-contract", "::mlir::ModuleOp"> {
  let summary = "turn contractions into calls of a packed kernel";
  let description = [{
    *Requires:* linalg on memrefs, types lowered.
    *Before:* a `linalg.generic` whose body is one `numera.mac`: matrix products
    and convolutions, with any strides and dilation, batches and groups.
    *After:* a call of `numera.contraction.<i>`, declared with the attribute
    `numera.kernel` (the carrier), beside its hooks, functions in terms of
    `numera`: `.row` and `.column` decode an element, `.load` and `.store` move
    a sum, `.prefetch` fetches its memory, `.step` is the `numera.mac` on a
    vector. The back end links runtime/kernels with them: operands are packed
    and decoded once, sums stay in registers, steps in written order. A fill of
    the sums in front of it is gone: the call is given the value.
    A body of one `numera.quire_mac` likewise, where every factor is an f64 and
    nothing is cut off it: `.span`, `.add` and `.mac` are the runtime's entries
    for windows and quires.
    Products with a vector and depthwise convolutions are left to
    `numera-loops`.
    Where the configuration registers a `matmul` or a `dot` for the formats of a
    contraction, it becomes calls of that instead, whatever its sizes, on
    matrices that lie row by row: what does not is copied.
    *Fails when* such a contraction is more than sums of products, or its sums
    start at something that is not known to be zero.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def NumeraTabulate : Pass<"numera-tabulate"> {
  let summary = "read what is slow to compute on few bits from tables";
  let description = [{
    *Before:* an operation on storage, scalars or vectors, whose operands have 16
    bits together, constants aside.
    *After:* `numera.lookup`, in a table that has the operation's result for
    every code, by the code that the program would run. A `numera.mac` that
    rounds its product becomes two where both are wanted.
    Arithmetic of floats of 8 bits on two operands becomes a choice, by a call
    of `numera_has_byte_lookups`, between the operation and a program of small
    tables and integers on bytes that has the same result for every pair of
    codes; where no such program is known, it stays.

    What becomes a table is a matter of cost (Zen 4, 1 M elements of every code,
    one core, ns an element; CPUs without AVX512_VBMI in brackets):

    | a table | takes |
    |---|---|
    | of 8 bits, results of 8 | 0.02 (0.22); of 7 or 6 bits 0.007 |
    | of 8 bits, results of 16 or 32 | 0.32 to 0.36 (0.23) |
    | of two operands of 8 bits | 0.46 (0.39) |
    | of 16 bits, results of 16 | 0.56 (0.65) |

    | `FormatFamily::effort` | operations | computed | tables |
    |---|---|---|---|
    | `Codes` | neg, abs, min, max, cmp, isnan; add, sub, mul of fixed point | 0.04 to 0.3 | none |
    | `Short` | arithmetic and casts of floats; casts and div of fixed point | 0.2 to 0.5 (0.3 to 1.4) | of 8 bits, results of 8: sqrt, casts, two operands of 4; on bytes: add, sub, mul, div of floats of 8, 0.06 to 0.15 |
    | `Long` | arithmetic and casts of posits; mul, div of lns | 0.5 to 0.7 (0.9 to 1.4) | of operands of 8 bits |
    | `Slow` | functions, rem, integral values; takums; add, sub and casts of lns | 1.3 to 150 | all, up to 128 KiB |

    Operations that draw random bits stay, and those that the configuration
    registers.
  }];
  let dependentDialects = ["::numera::NumeraDialect"];
}

include "numera/Dialect/Numera/Transforms/DevicePasses.td"
include "numera/Dialect/Numera/Transforms/LoopPasses.td"

#endif // NUMERA_DIALECT_NUMERA_TRANSFORMS_PASSES
