// SPDX-License-Identifier: MIT
//
// What a program shows of its layers (docs/Semantics/LayerErrors.md);
// NumeraOps.td includes it.

#ifndef NUMERA_DIALECT_NUMERA_IR_NUMERALAYERS
#define NUMERA_DIALECT_NUMERA_IR_NUMERALAYERS

def Numera_ShowRowOp
    : Op<Numera_Dialect, "show_row",
         [SameOperandsShape, AllElementTypesMatch<["value", "own"]>,
          DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "hand a layer's tensors to the program's caller";
  let description = [{
    Calls the function that the caller has for rows of layers, `show_row` of its
    options (docs/RuntimeABI.md), if it has one. `value` is what the layer makes,
    `own` what it makes of the inputs that it has in the reference, `reference`
    what it is there.

    ```mlir
    numera.show_row 3 of %value, %own, %reference
      : tensor<1x8xf32>, tensor<1x8xf32>, tensor<1x8xf32>
    ```
  }];
  defvar Numbers = AnyTypeOf<[RankedTensorOf<[F32, F64]>, MemRefOf<[F32, F64]>]>;
  let arguments = (ins I32Attr:$row, Numbers:$value, Numbers:$own,
                   Numbers:$reference);
  let assemblyFormat = [{
    $row `of` $value `,` $own `,` $reference attr-dict `:` type($value) `,`
    type($own) `,` type($reference)
  }];
}

#endif // NUMERA_DIALECT_NUMERA_IR_NUMERALAYERS
