// SPDX-License-Identifier: MIT
//
// Codes stored without gaps between them (#numera.packed), and the operations
// that put them there and read them.

#ifndef NUMERA_DIALECT_NUMERA_IR_NUMERAPACKED
#define NUMERA_DIALECT_NUMERA_IR_NUMERAPACKED

include "numera/Dialect/Numera/IR/NumeraBase.td"

class Numera_PackingOp<string mnemonic, string phrase, list<Trait> traits = []>
    : Op<Numera_Dialect, mnemonic, !listconcat([Pure], traits)> {
  let summary = phrase;
  let hasVerifier = 1;
}

def Numera_PackOp
    : Numera_PackingOp<"pack", "store codes without gaps"> {
  let description = [{
    Stores the codes of a tensor without gaps, each in as many bits as the
    format has. Element i, counted in row-major order, starts at bit i · width,
    with the lowest bits of a byte first. After `numera-lower-types` the result
    is a tensor of bytes, whose last byte is filled up with zeros, and `width`
    is the number of bits of a code.

    ```mlir
    %1 = numera.pack %0 : tensor<64x32x!f4> to tensor<64x32x!f4, #numera.packed>
    %3 = numera.pack %2 width 4 : tensor<64x32xi8> to tensor<1024xi8>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, OptionalAttr<I32Attr>:$width);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $input (`width` $width^)? attr-dict `:` type($input) `to` type($result)
  }];
}

def Numera_UnpackOp
    : Numera_PackingOp<"unpack", "read codes stored without gaps"> {
  let description = [{
    The inverse of `numera.pack`. `sizes` are the dynamic sizes of the result.

    ```mlir
    %0 = numera.unpack %1 : tensor<64x32x!f4, #numera.packed> to tensor<64x32x!f4>
    %2 = numera.unpack %3 width 4 : tensor<1024xi8> to tensor<64x32xi8>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, Variadic<Index>:$sizes,
                   OptionalAttr<I32Attr>:$width);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $input (`sizes` `(` $sizes^ `)`)? (`width` $width^)? attr-dict `:`
    type($input) `to` type($result)
  }];
}

def Numera_LoadPackedOp
    : Op<Numera_Dialect, "load_packed",
         [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "read one of several codes stored without gaps";
  let description = [{
    Reads `width` bits of `bytes`, starting at bit `index` · `width`.

    ```mlir
    %0 = numera.load_packed %bytes[%i] width 4 : tensor<1024xi8> to i8
    ```
  }];
  let arguments = (ins
      AnyTypeOf<[1DTensorOf<[I8]>, MemRefRankOf<[I8], [1]>]>:$bytes,
      Index:$index, I32Attr:$width);
  let results = (outs AnySignlessInteger:$result);
  let assemblyFormat = [{
    $bytes `[` $index `]` `width` $width attr-dict `:` type($bytes) `to`
    type($result)
  }];
}

#endif // NUMERA_DIALECT_NUMERA_IR_NUMERAPACKED
