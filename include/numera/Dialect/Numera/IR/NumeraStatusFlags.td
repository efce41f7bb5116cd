// SPDX-License-Identifier: MIT
//
// The operation that looks for flags (docs/Semantics/StatusFlags.md).

#ifndef NUMERA_DIALECT_NUMERA_IR_NUMERASTATUSFLAGS
#define NUMERA_DIALECT_NUMERA_IR_NUMERASTATUSFLAGS

include "mlir/Interfaces/SideEffectInterfaces.td"
include "numera/Dialect/Numera/IR/NumeraBase.td"

def Numera_StatusFlagsLike : TypeOrValueSemanticsContainer<I8, "i8-like">;

def Numera_StatusFlagsOp
    : Op<Numera_Dialect, "status_flags",
         !listconcat([Pure, SameOperandsAndResultShape,
                      AttrSizedOperandSegments],
                     ElementwiseMappable.traits)> {
  let summary = "compute the status flags of an operation";
  let description = [{
    Returns the set of status flags of an operation on `inputs` whose result is
    `outcome`: overflow 1, underflow 2, invalid 4, division by zero 8. In either
    form, the attributes describe that operation: the formats of its operands
    and of its result (the latter with the operation's overflow rule), its
    rounding, the truncation of its operands and, for a `mac` that rounds its
    product, the product's format and rounding.

    ```mlir
    %z = numera.add %x, %y : !posit16
    %e = numera.status_flags "add"(%x, %y) gives %z
         {format = #posit16, operand_formats = [#posit16, #posit16]}
       : (!posit16, !posit16, !posit16) -> i8
    ```
  }];
  let arguments = (ins StrAttr:$of, Variadic<Numera_Castable>:$inputs,
                   Numera_Castable:$outcome,
                   Optional<Numera_RandomLike>:$random,
                   Numera_StorageAttr:$format, ArrayAttr:$operand_formats,
                   OptionalAttr<Numera_RoundingAttr>:$rounding,
                   OptionalAttr<I32Attr>:$random_bits,
                   OptionalAttr<DenseI32ArrayAttr>:$truncation,
                   OptionalAttr<Numera_FormatAttr>:$product,
                   OptionalAttr<Numera_RoundingAttr>:$product_rounding,
                   UnitAttr:$is_unsigned);
  let results = (outs Numera_StatusFlagsLike:$result);
  let assemblyFormat = [{
    $of `(` $inputs `)` `gives` $outcome (`random` $random^)? attr-dict
    `:` functional-type(operands, results)
  }];
  let hasFolder = 1;
  let hasVerifier = 1;
}

#endif // NUMERA_DIALECT_NUMERA_IR_NUMERASTATUSFLAGS
