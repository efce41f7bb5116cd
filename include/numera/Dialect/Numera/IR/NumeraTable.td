// SPDX-License-Identifier: MIT
//
// Operations on few bits as tables of their results.

#ifndef NUMERA_DIALECT_NUMERA_IR_NUMERATABLE
#define NUMERA_DIALECT_NUMERA_IR_NUMERATABLE

include "numera/Dialect/Numera/IR/NumeraBase.td"

def Numera_StoredCode : AnyTypeOf<[I8, I16], "code of 8 or 16 bits">;
def Numera_StoredCodeLike
    : TypeOrValueSemanticsContainer<Numera_StoredCode, "code-like">;
def Numera_TableElementLike
    : TypeOrValueSemanticsContainer<AnyTypeOf<[I8, I16, F32, F64]>,
                                    "element-like">;

def Numera_LookupOp
    : Op<Numera_Dialect, "lookup",
         !listconcat([Pure, SameOperandsAndResultShape],
                     ElementwiseMappable.traits)> {
  let summary = "read a result from a table";
  let description = [{
    Returns the element of `table` at the operands, which are codes read as
    unsigned integers. The size of a dimension is a power of two, the number of
    codes of the operand's format. Higher bits of an operand are ignored. A
    table has one or two dimensions and at most 2^16 elements, codes or machine
    numbers.

    ```mlir
    %1 = numera.lookup %0 in dense<"0x…"> : tensor<256xi8> : i8 to i8
    %2 = numera.lookup %0, %1 in dense<"0x…"> : tensor<16x16xi8>
       : i8, i8 to i8
    ```
  }];
  let arguments = (ins Variadic<Numera_StoredCodeLike>:$operands,
                   ElementsAttr:$table);
  let results = (outs Numera_TableElementLike:$result);
  let assemblyFormat = [{
    $operands `in` $table attr-dict `:` type($operands) `to` type($result)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
  let extraClassDeclaration = [{
    /// The place in the table of operands with these codes.
    uint64_t placeOf(::llvm::ArrayRef<uint64_t> codes);
  }];
}

#endif // NUMERA_DIALECT_NUMERA_IR_NUMERATABLE
