// SPDX-License-Identifier: MIT
//
// The operations. Those of one line each are elementwise: they apply to
// scalars, vectors and tensors alike.

#ifndef NUMERA_DIALECT_NUMERA_IR_NUMERAOPS
#define NUMERA_DIALECT_NUMERA_IR_NUMERAOPS

include "mlir/Dialect/Arith/IR/ArithBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "numera/Dialect/Numera/IR/NumeraBase.td"
include "numera/Dialect/Numera/IR/NumeraInterfaces.td"

// A format's value, a machine number, or the storage integer of the former.
def Numera_Number : AnyTypeOf<[Numera_NumType, F32, F64, I8, I16, I32, I64],
                              "number of a format">;
def Numera_NumberLike
    : TypeOrValueSemanticsContainer<Numera_Number, "number-like">;
def Numera_BoolLike : TypeOrValueSemanticsContainer<I1, "i1-like">;
class Numera_Elementwise<string mnemonic, list<Trait> traits = []>
    : Op<Numera_Dialect, mnemonic,
         !listconcat([Pure, SameOperandsAndResultShape,
                      DeclareOpInterfaceMethods<Numera_FormatOpInterface>],
                     ElementwiseMappable.traits, traits)> {
  let hasFolder = 1;
}

class Numera_UnaryOp<string mnemonic, string phrase, string details = "">
    : Numera_Elementwise<mnemonic> {
  let summary = phrase;
  let description = details;
  let arguments = (ins Numera_NumberLike:$operand,
                   OptionalAttr<Numera_StorageAttr>:$format,
                   OptionalAttr<ArrayAttr>:$operand_formats,
                   OptionalAttr<Numera_RoundingAttr>:$rounding,
                   OptionalAttr<I32Attr>:$random_bits,
                   OptionalAttr<Numera_OverflowAttr>:$overflow,
                   Optional<Numera_RandomLike>:$random);
  let results = (outs Numera_NumberLike:$result);
  let builders = [
    OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$operand), [{
      $_state.addOperands(operand);
      $_state.addTypes(result);
    }]>];
  let assemblyFormat = [{
    $operand (`random` $random^)? attr-dict `:`
    custom<UniformTypes>(type($operand), type($result))
    `` custom<RandomType>(ref($random), type($random), ref(type($result)))
  }];
}

class Numera_BinaryOp<string mnemonic, string phrase, string details = "">
    : Numera_Elementwise<mnemonic> {
  let summary = phrase;
  let description = details;
  let arguments = (ins Numera_NumberLike:$lhs, Numera_NumberLike:$rhs,
                   OptionalAttr<Numera_StorageAttr>:$format,
                   OptionalAttr<ArrayAttr>:$operand_formats,
                   OptionalAttr<Numera_RoundingAttr>:$rounding,
                   OptionalAttr<I32Attr>:$random_bits,
                   OptionalAttr<Numera_OverflowAttr>:$overflow,
                   Optional<Numera_RandomLike>:$random);
  let results = (outs Numera_NumberLike:$result);
  let builders = [
    OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$lhs,
                   "::mlir::Value":$rhs), [{
      $_state.addOperands({lhs, rhs});
      $_state.addTypes(result);
    }]>];
  let assemblyFormat = [{
    $lhs `,` $rhs (`random` $random^)? attr-dict `:`
    custom<UniformTypes>(type($lhs), type($rhs), type($result))
    `` custom<RandomType>(ref($random), type($random), ref(type($result)))
  }];
}

class Numera_TernaryOp<string mnemonic, string phrase, string details = "">
    : Numera_Elementwise<mnemonic> {
  let summary = phrase;
  let description = details;
  let assemblyFormat = [{
    $lhs `,` $rhs `,` $addend (`random` $random^)? attr-dict `:`
    custom<UniformTypes>(type($lhs), type($rhs), type($addend), type($result))
    `` custom<RandomType>(ref($random), type($random), ref(type($result)))
  }];
}

//===----------------------------------------------------------------------===//
// Constants and casts
//===----------------------------------------------------------------------===//

def Numera_ConstantOp : Op<Numera_Dialect, "constant", [
    Pure, ConstantLike,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "produce a constant that was encoded at compile time";
  let description = [{
    The attribute holds storage integers: one for a scalar, an elements
    attribute for a container. A scalar is written as a number, which is rounded
    once to the format, or as a code:

    ```mlir
    %0 = numera.constant 0.1 : !numera.num<posit<16, 2>>
    %1 = numera.constant code 0x8000 : !numera.num<posit<16, 2>>
    %2 = numera.constant codes dense<[1, 2]> : tensor<2xi16>
         as tensor<2x!numera.num<posit<16, 2>>>
    ```
  }];
  let arguments = (ins TypedAttrInterface:$value);
  let results = (outs TypeOrValueSemanticsContainer<Numera_NumType, "num-like">:$result);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Numera_CastOp : Numera_Elementwise<"cast"> {
  let summary = "convert a value to another format, rounding once";
  let description = [{
    Converts between formats, and between formats and integers. A cast to an
    integer truncates toward zero and saturates; NaN becomes 0. `unsigned` says
    that the integer is unsigned.

    ```mlir
    %1 = numera.cast %0 : f32 to !numera.num<posit<16, 2>>
    ```
  }];
  let arguments = (ins Numera_Castable:$operand,
                   OptionalAttr<Numera_StorageAttr>:$format,
                   OptionalAttr<ArrayAttr>:$operand_formats,
                   OptionalAttr<Numera_RoundingAttr>:$rounding,
                   OptionalAttr<I32Attr>:$random_bits,
                   OptionalAttr<Numera_OverflowAttr>:$overflow,
                   UnitAttr:$is_unsigned,
                   Optional<Numera_RandomLike>:$random);
  let results = (outs Numera_Castable:$result);
  let builders = [
    OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$operand), [{
      $_state.addOperands(operand);
      $_state.addTypes(result);
    }]>];
  let assemblyFormat = [{
    (`unsigned` $is_unsigned^)? $operand (`random` $random^)? attr-dict `:`
    type($operand) `to` type($result)
    `` custom<RandomType>(ref($random), type($random), ref(type($result)))
  }];
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

def Numera_AddOp : Numera_BinaryOp<"add", "add">;
def Numera_SubOp : Numera_BinaryOp<"sub", "subtract">;
def Numera_MulOp : Numera_BinaryOp<"mul", "multiply">;
def Numera_DivOp : Numera_BinaryOp<"div", "divide">;
def Numera_RemOp : Numera_BinaryOp<"rem", "take the remainder of a division",
    "The remainder of C's `fmod`: exact, with the sign of the dividend.">;
def Numera_PowOp : Numera_BinaryOp<"pow", "raise to a power">;
def Numera_Atan2Op : Numera_BinaryOp<"atan2", "take the angle of a point",
    "The angle of the point (rhs, lhs), from -pi to pi, as C's `atan2`.">;
def Numera_HypotOp : Numera_BinaryOp<"hypot",
    "take the square root of a sum of two squares">;
def Numera_CopySignOp : Numera_BinaryOp<"copysign", "copy the sign of a value",
    "The magnitude of lhs with the sign of rhs. NaN (NaR) has none: of rhs it "
    "counts as positive.">;
def Numera_MinOp : Numera_BinaryOp<"min", "take the smaller value",
    "The result is NaN (NaR) if either operand is. -0 is below +0.">;
def Numera_MaxOp : Numera_BinaryOp<"max", "take the larger value",
    "The result is NaN (NaR) if either operand is. -0 is below +0.">;
def Numera_MinNumOp : Numera_BinaryOp<"minnum", "take the smaller number",
    "If only one operand is NaN (NaR), the result is the other one.">;
def Numera_MaxNumOp : Numera_BinaryOp<"maxnum", "take the larger number",
    "If only one operand is NaN (NaR), the result is the other one.">;

def Numera_NegOp : Numera_UnaryOp<"neg", "negate">;
def Numera_AbsOp : Numera_UnaryOp<"abs", "take the magnitude">;
def Numera_SqrtOp : Numera_UnaryOp<"sqrt", "take the square root">;
def Numera_RsqrtOp
    : Numera_UnaryOp<"rsqrt", "take the reciprocal of the square root">;
def Numera_CbrtOp : Numera_UnaryOp<"cbrt", "take the cube root">;
def Numera_ExpOp : Numera_UnaryOp<"exp", "raise e to a power">;
def Numera_Exp2Op : Numera_UnaryOp<"exp2", "raise 2 to a power">;
def Numera_Expm1Op : Numera_UnaryOp<"expm1", "raise e to a power, less 1">;
def Numera_LogOp : Numera_UnaryOp<"log", "take the natural logarithm">;
def Numera_Log2Op : Numera_UnaryOp<"log2", "take the logarithm to base 2">;
def Numera_Log10Op
    : Numera_UnaryOp<"log10", "take the logarithm to base 10">;
def Numera_Log1pOp
    : Numera_UnaryOp<"log1p", "take the natural logarithm of 1 + x">;
def Numera_SinOp : Numera_UnaryOp<"sin", "take the sine">;
def Numera_CosOp : Numera_UnaryOp<"cos", "take the cosine">;
def Numera_TanOp : Numera_UnaryOp<"tan", "take the tangent">;
def Numera_AsinOp : Numera_UnaryOp<"asin", "take the inverse sine">;
def Numera_AcosOp : Numera_UnaryOp<"acos", "take the inverse cosine">;
def Numera_AtanOp : Numera_UnaryOp<"atan", "take the inverse tangent">;
def Numera_SinhOp : Numera_UnaryOp<"sinh", "take the hyperbolic sine">;
def Numera_CoshOp : Numera_UnaryOp<"cosh", "take the hyperbolic cosine">;
def Numera_TanhOp : Numera_UnaryOp<"tanh", "take the hyperbolic tangent">;
def Numera_AsinhOp
    : Numera_UnaryOp<"asinh", "take the inverse hyperbolic sine">;
def Numera_AcoshOp
    : Numera_UnaryOp<"acosh", "take the inverse hyperbolic cosine">;
def Numera_AtanhOp
    : Numera_UnaryOp<"atanh", "take the inverse hyperbolic tangent">;
def Numera_ErfOp : Numera_UnaryOp<"erf", "take the error function">;
def Numera_ErfcOp
    : Numera_UnaryOp<"erfc", "take the complementary error function 1 - erf">;
def Numera_SigmoidOp
    : Numera_UnaryOp<"sigmoid", "take the logistic function 1 / (1 + exp(-x))">;
def Numera_FloorOp : Numera_UnaryOp<"floor", "round down to an integral value">;
def Numera_CeilOp : Numera_UnaryOp<"ceil", "round up to an integral value">;
def Numera_TruncOp
    : Numera_UnaryOp<"trunc", "round toward zero to an integral value">;
def Numera_RoundOp
    : Numera_UnaryOp<"round", "round to the nearest integral value, ties away">;
def Numera_RoundEvenOp
    : Numera_UnaryOp<"roundeven",
                     "round to the nearest integral value, ties to even">;

def Numera_FmaOp : Numera_TernaryOp<"fma", "multiply and add, rounding once"> {
  let arguments = (ins Numera_NumberLike:$lhs, Numera_NumberLike:$rhs,
                   Numera_NumberLike:$addend,
                   OptionalAttr<Numera_StorageAttr>:$format,
                   OptionalAttr<ArrayAttr>:$operand_formats,
                   OptionalAttr<Numera_RoundingAttr>:$rounding,
                   OptionalAttr<I32Attr>:$random_bits,
                   OptionalAttr<Numera_OverflowAttr>:$overflow,
                   Optional<Numera_RandomLike>:$random);
  let results = (outs Numera_NumberLike:$result);
}

def Numera_MacOp
    : Numera_TernaryOp<"mac", "take one step of a contraction"> {
  let description = [{
    The step that a contraction repeats. The accumulator is the last operand:

    * without `product`: acc ← round(acc + lhs · rhs), rounded once to the
      accumulator's format;
    * with `product = #numera.format<G>`: acc ← round(acc + round_G(lhs · rhs)),
      where the product is rounded to G first. `accumulate: same` names the
      operands' format in both places;
    * with `tensorcore`: a GPU's matrix instructions add in f32, in any order,
      with the machine's rounding. This is the only step whose bits are not
      defined. The policy must ask for it (`accumulate: tensorcore`).

    An accumulator in f32 or f64 may hold a NaN that is not canonical until the
    contraction ends. The elementwise cast that follows makes it canonical.
  }];
  let arguments = (ins Numera_NumberLike:$lhs, Numera_NumberLike:$rhs,
                   Numera_NumberLike:$addend,
                   OptionalAttr<Numera_FormatAttr>:$product,
                   UnitAttr:$tensorcore,
                   OptionalAttr<Numera_StorageAttr>:$format,
                   OptionalAttr<ArrayAttr>:$operand_formats,
                   OptionalAttr<Numera_RoundingAttr>:$rounding,
                   OptionalAttr<I32Attr>:$random_bits,
                   OptionalAttr<Numera_OverflowAttr>:$overflow,
                   Optional<Numera_RandomLike>:$random);
  let results = (outs Numera_NumberLike:$result);
}

//===----------------------------------------------------------------------===//
// Comparisons
//===----------------------------------------------------------------------===//

def Numera_CmpOp : Numera_Elementwise<"cmp"> {
  let summary = "compare two values";
  let description = [{
    Has every predicate of `arith.cmpf`. For floats, NaN is unordered and -0
    equals +0. For posits, NaR equals NaR and is below all numbers, and nothing
    is unordered. The format of the operands selects the lowering.

    ```mlir
    %2 = numera.cmp olt, %0, %1 : !numera.num<posit<16, 2>>
    ```
  }];
  let arguments = (ins Arith_CmpFPredicateAttr:$predicate,
                   Numera_NumberLike:$lhs, Numera_NumberLike:$rhs,
                   OptionalAttr<Numera_StorageAttr>:$format,
                   OptionalAttr<ArrayAttr>:$operand_formats);
  let results = (outs Numera_BoolLike:$result);
  let assemblyFormat = [{
    $predicate `,` $lhs `,` $rhs attr-dict `:`
    custom<ComparedTypes>(type($lhs), type($rhs), type($result))
  }];
}

def Numera_IsNaNOp : Numera_Elementwise<"isnan"> {
  let summary = "test for NaN (NaR)";
  let arguments = (ins Numera_NumberLike:$operand,
                   OptionalAttr<Numera_StorageAttr>:$format,
                   OptionalAttr<ArrayAttr>:$operand_formats);
  let results = (outs Numera_BoolLike:$result);
  let assemblyFormat = [{
    $operand attr-dict `:` custom<TestedType>(type($operand), type($result))
  }];
}

//===----------------------------------------------------------------------===//
// Random bits
//===----------------------------------------------------------------------===//

def Numera_RandomOp : Op<Numera_Dialect, "random", [Pure]> {
  let summary = "draw the random bits of a stochastic rounding";
  let description = [{
    Returns `bits` random bits, a function of the operands and of `id`
    (docs/Semantics/Stochastic.md). `numera-retype` gives every operation that
    rounds stochastically an id, a sample and an index. `sample` is an index in
    the data set. `index` is the position in the operation's loops as they were
    before any tiling. Both are ordinary values, so every pass preserves them.

    ```mlir
    %r = numera.random %seed, %step, %sample, %index id 3 bits 16
    %z = numera.add %x, %y random %r : !numera.num<posit<16, 2, stochastic>>
    ```
  }];
  let arguments = (ins I64:$seed, I64:$step, I64:$sample, I64:$index,
                   I32Attr:$id, I32Attr:$bits);
  let results = (outs I32:$result);
  let assemblyFormat = [{
    $seed `,` $step `,` $sample `,` $index `id` $id `bits` $bits attr-dict
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Numera_RandomFillOp : Op<Numera_Dialect, "random_fill"> {
  let summary = "draw random bits for consecutive indices";
  let description = [{
    Fills the first `count` elements of the buffer. Their lowest `bits` bits
    become what `numera.random` returns for `index`, `index` + 1 and so on.
    Their other bits are unspecified.

    ```mlir
    numera.random_fill %draws, %seed, %step, %sample, %index, %count
      id 3 bits 16 : memref<2048xi32>
    ```
  }];
  let arguments = (ins
      Arg<MemRefRankOf<[I32], [1]>, "what is filled", [MemWrite]>:$buffer,
      I64:$seed, I64:$step, I64:$sample, I64:$index, I64:$count, I32Attr:$id,
      I32Attr:$bits);
  let assemblyFormat = [{
    $buffer `,` $seed `,` $step `,` $sample `,` $index `,` $count
    `id` $id `bits` $bits attr-dict `:` type($buffer)
  }];
}

include "numera/Dialect/Numera/IR/NumeraCarrier.td"
include "numera/Dialect/Numera/IR/NumeraLayers.td"
include "numera/Dialect/Numera/IR/NumeraPacked.td"
include "numera/Dialect/Numera/IR/NumeraQuire.td"
include "numera/Dialect/Numera/IR/NumeraScaling.td"
include "numera/Dialect/Numera/IR/NumeraTable.td"

#endif // NUMERA_DIALECT_NUMERA_IR_NUMERAOPS
