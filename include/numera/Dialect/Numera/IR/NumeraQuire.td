// SPDX-License-Identifier: MIT
//
// The operations on quires. All but quire_round are exact.

#ifndef NUMERA_DIALECT_NUMERA_IR_NUMERAQUIRE
#define NUMERA_DIALECT_NUMERA_IR_NUMERAQUIRE

include "numera/Dialect/Numera/IR/NumeraBase.td"
include "numera/Dialect/Numera/IR/NumeraInterfaces.td"

// A quire, or its words as one integer.
def Numera_Quire : AnyTypeOf<[Numera_QuireType, AnySignlessInteger], "quire">;
def Numera_QuireLike : TypeOrValueSemanticsContainer<Numera_Quire, "quire-like">;

class Numera_QuireOp<string mnemonic, string phrase, list<Trait> traits>
    : Op<Numera_Dialect, mnemonic,
         !listconcat([Pure, SameOperandsAndResultShape,
                      Numera_QuireOpInterface],
                     ElementwiseMappable.traits, traits)> {
  let summary = phrase;
}

// A step of a sum: a quire goes in and comes out.
class Numera_QuireStep<string mnemonic, string phrase, list<Trait> traits = []>
    : Numera_QuireOp<mnemonic, phrase,
                     !listconcat([AllTypesMatch<["quire", "result"]>],
                                 traits)> {
  let results = (outs Numera_QuireLike:$result);
}

def Numera_QuireZeroOp : Op<Numera_Dialect, "quire_zero", [Pure]> {
  let summary = "produce an empty quire";
  let description = [{
    ```mlir
    %0 = numera.quire_zero : !numera.quire<posit<16, 2>>
    ```

    If the library of an opaque format starts its accumulators with a function
    of its own, the operation remains on storage, with the attribute `format`.
  }];
  let arguments = (ins OptionalAttr<Numera_FormatAttr>:$format);
  let results = (outs Numera_Quire:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Numera_QuireMacOp : Numera_QuireStep<"quire_mac", "add a product",
                                         [AllTypesMatch<["lhs", "rhs"]>]> {
  let description = [{
    Returns quire + lhs · rhs, the step of a contraction with
    `accumulate: quire`.

    ```mlir
    %1 = numera.quire_mac %a, %b, %0 : !posit16, !quire_posit16
    ```
  }];
  let arguments = (ins Numera_NumberLike:$lhs, Numera_NumberLike:$rhs,
                   Numera_QuireLike:$quire,
                   OptionalAttr<Numera_FormatAttr>:$format);
  let assemblyFormat = [{
    $lhs `,` $rhs `,` $quire attr-dict `:` type($lhs) `,` type($quire)
  }];
}

class Numera_QuireValueOp<string mnemonic, string phrase>
    : Numera_QuireStep<mnemonic, phrase> {
  let arguments = (ins Numera_QuireLike:$quire, Numera_NumberLike:$operand,
                   OptionalAttr<Numera_FormatAttr>:$format);
  let assemblyFormat = [{
    $quire `,` $operand attr-dict `:` type($quire) `,` type($operand)
  }];
}
def Numera_QuireAddOp : Numera_QuireValueOp<"quire_add", "add a value">;
def Numera_QuireSubOp : Numera_QuireValueOp<"quire_sub", "subtract a value">;

def Numera_QuireNegOp : Numera_QuireStep<"quire_neg", "negate a sum"> {
  let arguments = (ins Numera_QuireLike:$quire,
                   OptionalAttr<Numera_FormatAttr>:$format);
  let assemblyFormat = "$quire attr-dict `:` type($quire)";
}

def Numera_QuireMergeOp
    : Numera_QuireStep<"quire_merge", "add another sum",
                       [AllTypesMatch<["quire", "other"]>]> {
  let arguments = (ins Numera_QuireLike:$quire, Numera_QuireLike:$other,
                   OptionalAttr<Numera_FormatAttr>:$format);
  let assemblyFormat = "$quire `,` $other attr-dict `:` type($quire)";
}

def Numera_QuireRoundOp
    : Numera_QuireOp<"quire_round", "round a sum, once", []> {
  let description = [{
    Rounds to the quire's format or to another one. `rounding` is that of the
    result's format unless it is given. On storage, `result_format` names the
    result's format if it is not the quire's.

    ```mlir
    %2 = numera.quire_round %1 : !quire_posit16 to !posit16
    %3 = numera.quire_round %1 {rounding = #numera.rounding<up>} : !quire_posit16 to f32
    ```
  }];
  let arguments = (ins Numera_QuireLike:$quire,
                   OptionalAttr<Numera_FormatAttr>:$format,
                   OptionalAttr<Numera_FormatAttr>:$result_format,
                   OptionalAttr<Numera_RoundingAttr>:$rounding,
                   Optional<Numera_RandomLike>:$random);
  let results = (outs Numera_NumberLike:$result);
  let assemblyFormat = [{
    $quire (`random` $random^)? attr-dict `:` type($quire) `to` type($result)
    `` custom<RandomType>(ref($random), type($random), ref(type($result)))
  }];
  let extraClassDeclaration = [{
    /// The format that the sum is rounded to.
    ::numera::Format getRoundedFormat();
    ::numera::RoundingMode getRoundingMode();
    /// True if it rounds stochastically: it needs the operand `random`.
    bool drawsRandom();
  }];
}

// Between quires and their words in memory, for functions that hand sums on.

def Numera_QuireOnlyLike
    : TypeOrValueSemanticsContainer<Numera_QuireType, "quire-like">;

class Numera_QuireWordsOp<string mnemonic, string phrase, list<Trait> traits>
    : Op<Numera_Dialect, mnemonic,
         !listconcat([Pure, SameOperandsAndResultShape],
                     ElementwiseMappable.traits, traits)> {
  let summary = phrase;
}

def Numera_QuireWordOp : Numera_QuireWordsOp<"quire_word", "read a word",
    [TypesMatchWith<"the result is a word", "quire", "result",
                    "::numera::quireWordType($_self)">]> {
  let description = [{
    Returns the word `index` of a quire, the least significant one for 0
    (docs/Semantics/Quire.md, Q2 and Q4). `numera-lower-types` makes it a shift.

    ```mlir
    %1 = numera.quire_word %0[3] : !quire_posit16
    ```
  }];
  let arguments = (ins Numera_QuireOnlyLike:$quire, I32Attr:$index);
  let results = (outs SignlessIntegerLike:$result);
  let assemblyFormat = "$quire `[` $index `]` attr-dict `:` type($quire)";
  let hasVerifier = 1;
}

def Numera_QuireFromWordsOp
    : Numera_QuireWordsOp<"quire_from_words", "make a quire of its words",
    [TypesMatchWith<"operands are the quire's words", "result", "words",
                    "::numera::quireWordTypes($_self)">]> {
  let description = [{
    The inverse of `quire_word`: takes all words of a quire, the least
    significant one first.

    ```mlir
    %1 = numera.quire_from_words %a, %b, %c, %d : !quire_posit16
    ```
  }];
  let arguments = (ins Variadic<SignlessIntegerLike>:$words);
  let results = (outs Numera_QuireOnlyLike:$result);
  let assemblyFormat = "$words attr-dict `:` type($result)";
}

#endif // NUMERA_DIALECT_NUMERA_IR_NUMERAQUIRE
