// SPDX-License-Identifier: MIT
//
// Conversions between codes and carriers. A carrier is f32 or f64 when it
// stands in for a format all of whose values it has.

#ifndef NUMERA_DIALECT_NUMERA_IR_NUMERACARRIER
#define NUMERA_DIALECT_NUMERA_IR_NUMERACARRIER

include "numera/Dialect/Numera/IR/NumeraBase.td"

def Numera_CodeLike
    : TypeOrValueSemanticsContainer<AnyTypeOf<[I8, I16, I32, I64]>,
                                    "code-like">;
def Numera_CarrierLike
    : TypeOrValueSemanticsContainer<AnyTypeOf<[F32, F64]>, "carrier-like">;

class Numera_CarrierOp<string mnemonic, string phrase, list<Trait> traits = []>
    : Op<Numera_Dialect, mnemonic,
         !listconcat([Pure, SameOperandsAndResultShape],
                     ElementwiseMappable.traits, traits)> {
  let summary = phrase;
  let hasFolder = 1;
  let hasVerifier = 1;
}

// What a rounding needs to know: the format, with the overflow rule that
// counts, and its attributes.
class Numera_CarrierRounding<string mnemonic, string phrase,
                             list<Trait> traits = []>
    : Numera_CarrierOp<mnemonic, phrase, traits> {
  string roundingDeclarations = [{
    /// The rounding, by the attributes or the format.
    ::numera::RoundingMode getRoundingMode();
  }];
}

def Numera_DecodeOp : Numera_CarrierOp<"decode", "turn a code into a carrier"> {
  let description = [{
    Converts a code to f32 or f64, its *carrier*. The conversion is exact: every
    value of the format must be one of the result's type. NaN (NaR) becomes the
    canonical NaN.

    ```mlir
    %1 = numera.decode %0 {format = #numera.format<posit<16, 2>>} : i16 to f32
    ```
  }];
  let arguments = (ins Numera_CodeLike:$operand, Numera_FormatAttr:$format);
  let results = (outs Numera_CarrierLike:$result);
  let assemblyFormat = [{
    $operand attr-dict `:` type($operand) `to` type($result)
  }];
}

def Numera_RoundToOp
    : Numera_CarrierRounding<"round_to", "round in a carrier",
                             [AllTypesMatch<["operand", "result"]>]> {
  let description = [{
    Rounds a number of the carrier (f32 or f64) to a value of the format, which
    stays in the carrier. The result is what decoding its code would give: of a
    `takum<16>` in f32, which has not all of its values, the nearest f32. NaN
    becomes the canonical NaN. `rounding` is the format's unless it is given.
    The overflow rule is the format's.

    ```mlir
    %1 = numera.round_to %0 {format = #numera.format<float<5, 7>>} : f32
    ```
  }];
  let arguments = (ins Numera_CarrierLike:$operand, Numera_FormatAttr:$format,
                   OptionalAttr<Numera_RoundingAttr>:$rounding,
                   OptionalAttr<I32Attr>:$random_bits,
                   Optional<Numera_RandomLike>:$random);
  let results = (outs Numera_CarrierLike:$result);
  let assemblyFormat = [{
    $operand (`random` $random^)? attr-dict `:` type($result)
    `` custom<RandomType>(ref($random), type($random), ref(type($result)))
  }];
  let extraClassDeclaration = roundingDeclarations;
}

def Numera_EncodeOp
    : Numera_CarrierRounding<"encode", "turn a carrier into a code"> {
  let description = [{
    Without `rounding` the operand must be a value of the format, or any NaN,
    and nothing is rounded. With `rounding` the operand is any number of the
    carrier (f32 or f64), and `encode {rounding}` equals `encode (round_to)`.

    ```mlir
    %1 = numera.encode %0 {format = #numera.format<posit<16, 2>>} : f32 to i16
    %2 = numera.encode %0 {format = #numera.format<posit<16, 2>>,
                           rounding = #numera.rounding<"nearest-even">} : f32 to i16
    ```
  }];
  let arguments = (ins Numera_CarrierLike:$operand, Numera_FormatAttr:$format,
                   OptionalAttr<Numera_RoundingAttr>:$rounding,
                   OptionalAttr<I32Attr>:$random_bits,
                   Optional<Numera_RandomLike>:$random);
  let results = (outs Numera_CodeLike:$result);
  let assemblyFormat = [{
    $operand (`random` $random^)? attr-dict `:` type($operand) `to`
    type($result)
    `` custom<RandomType>(ref($random), type($random), ref(type($result)))
  }];
  let extraClassDeclaration = roundingDeclarations # [{
    /// True if nothing is rounded.
    bool isExact() { return !getRounding(); }
  }];
}

#endif // NUMERA_DIALECT_NUMERA_IR_NUMERACARRIER
