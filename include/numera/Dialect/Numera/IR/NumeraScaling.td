// SPDX-License-Identifier: MIT
//
// The operations that make and read scaled tensors (#numera.scaling).
// numera-expand-scales turns them into plain tensors of elements and of scales.

#ifndef NUMERA_DIALECT_NUMERA_IR_NUMERASCALING
#define NUMERA_DIALECT_NUMERA_IR_NUMERASCALING

include "numera/Dialect/Numera/IR/NumeraBase.td"

class Numera_ScalingOp<string mnemonic, string phrase, list<Trait> traits = []>
    : Op<Numera_Dialect, mnemonic, !listconcat([Pure], traits)> {
  let summary = phrase;
  let hasVerifier = 1;
}

def Numera_QuantizeOp
    : Numera_ScalingOp<"quantize", "scale a tensor", [AttrSizedOperandSegments]> {
  let description = [{
    Divides every element by its scale and rounds the quotient to the format of
    the result's elements. The scales are computed from the elements by the rule
    of the result's encoding, unless they are given as f32, one for each scale
    of the result. With rule `min-max`, a zero point for each scale is given
    too, also as f32. It is rounded to an element.

    ```mlir
    %q = numera.quantize %x : tensor<64x128xf32> to !mxfp8
    %p = numera.quantize %x scales %s : tensor<64x128xf32>, tensor<f32> to !i8
    %r = numera.quantize %x scales %s zeros %z
        : tensor<64x128xf32>, tensor<f32>, tensor<f32> to !u8
    ```
  }];
  let arguments = (ins RankedTensorOf<[F32]>:$input,
                   Optional<RankedTensorOf<[F32]>>:$scales,
                   Optional<RankedTensorOf<[F32]>>:$zeros);
  let results = (outs RankedTensorOf<[Numera_NumType]>:$result);
  let assemblyFormat = [{
    $input (`scales` $scales^)? (`zeros` $zeros^)? attr-dict `:` type($input)
    (`,` type($scales)^)? (`,` type($zeros)^)? `to` type($result)
  }];
}

def Numera_ScaledFromPartsOp
    : Numera_ScalingOp<"scaled_from_parts",
                       "make a scaled tensor from its parts"> {
  let description = [{
    The parts are plain tensors: the elements, the scales and, if the format has
    them, the zero points or the scale of the tensor.

    ```mlir
    %q = numera.scaled_from_parts %e, %s
        : (tensor<64x128x!f8>, tensor<64x4x!scale>) -> !mxfp8
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$parts);
  let results = (outs RankedTensorOf<[Numera_NumType]>:$result);
  let assemblyFormat = [{
    $parts attr-dict `:` functional-type($parts, results)
  }];
}

def Numera_ScaledPartsOp
    : Numera_ScalingOp<"scaled_parts", "take a scaled tensor apart"> {
  let description = [{
    Returns the operands of `scaled_from_parts`.

    ```mlir
    %e, %s = numera.scaled_parts %q
        : (!mxfp8) -> (tensor<64x128x!f8>, tensor<64x4x!scale>)
    ```
  }];
  let arguments = (ins RankedTensorOf<[Numera_NumType]>:$operand);
  let results = (outs Variadic<AnyRankedTensor>:$parts);
  let assemblyFormat = [{
    $operand attr-dict `:` functional-type(operands, $parts)
  }];
}

def Numera_DequantizeOp
    : Numera_ScalingOp<"dequantize", "read the values of a scaled tensor"> {
  let description = [{
    ```mlir
    %x = numera.dequantize %q : !mxfp8 to tensor<64x128xf32>
    ```
  }];
  let arguments = (ins RankedTensorOf<[Numera_NumType]>:$input);
  let results = (outs RankedTensorOf<[F32]>:$result);
  let assemblyFormat = [{
    $input attr-dict `:` type($input) `to` type($result)
  }];
}

//===----------------------------------------------------------------------===//
// Arithmetic whose scales are those of the worst case: nothing overflows
//===----------------------------------------------------------------------===//

def Numera_ScaledAddOp
    : Numera_ScalingOp<"scaled_add", "add scaled tensors",
                       [AllTypesMatch<["lhs", "rhs", "result"]>]> {
  let description = [{
    The scale of the sum is the sum of the scales. Operands and result have one
    scale each, and the rule `range`.

    ```mlir
    %z = numera.scaled_add %x, %y : !scaled
    ```
  }];
  let arguments = (ins RankedTensorOf<[Numera_NumType]>:$lhs,
                   RankedTensorOf<[Numera_NumType]>:$rhs);
  let results = (outs RankedTensorOf<[Numera_NumType]>:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
}

def Numera_ScaledMatmulOp
    : Numera_ScalingOp<"scaled_matmul", "multiply scaled matrices"> {
  let description = [{
    The scale of the product is scale · scale · k, for k steps. Elements of both
    operands are divided by (k · full scale)^½ first, so no sum of products is
    beyond the full scale. Elements are summed in the format `accumulate`, and
    rounded once more to the elements' format.

    ```mlir
    %z = numera.scaled_matmul %x, %y accumulate <float<8, 23>> : !x, !y to !z
    ```
  }];
  let arguments = (ins RankedTensorOf<[Numera_NumType]>:$lhs,
                   RankedTensorOf<[Numera_NumType]>:$rhs,
                   OptionalAttr<Numera_FormatAttr>:$accumulate);
  let results = (outs RankedTensorOf<[Numera_NumType]>:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs (`accumulate` $accumulate^)? attr-dict `:`
    type($lhs) `,` type($rhs) `to` type($result)
  }];
}

def Numera_ScaledReluOp
    : Numera_ScalingOp<"scaled_relu", "replace negative elements by zero",
                       [AllTypesMatch<["operand", "result"]>]> {
  let description = [{
    The scales stay the same.
  }];
  let arguments = (ins RankedTensorOf<[Numera_NumType]>:$operand);
  let results = (outs RankedTensorOf<[Numera_NumType]>:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
}

def Numera_RequantizeOp
    : Numera_ScalingOp<"requantize", "bring elements to their full range",
                       [AllTypesMatch<["operand", "result"]>]> {
  let description = [{
    The scale becomes the largest magnitude of the values, or 1 if that is 0.
  }];
  let arguments = (ins RankedTensorOf<[Numera_NumType]>:$operand);
  let results = (outs RankedTensorOf<[Numera_NumType]>:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
}

def Numera_WastedBitsOp
    : Numera_ScalingOp<"wasted_bits", "count the bits a scale leaves unused"> {
  let description = [{
    With r = full scale / largest magnitude of an element, the result is log2 r
    for fixed point and log2 log2 r for the families that have an exponent, but
    at least 0. It is infinite for a tensor of zeros.

    ```mlir
    %w = numera.wasted_bits %x : !scaled to tensor<f32>
    ```
  }];
  let arguments = (ins RankedTensorOf<[Numera_NumType]>:$operand);
  let results = (outs RankedTensorOf<[F32]>:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `to` type($result)";
}

#endif // NUMERA_DIALECT_NUMERA_IR_NUMERASCALING
