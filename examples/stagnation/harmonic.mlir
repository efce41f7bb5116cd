// SPDX-License-Identifier: MIT
// 1 + 1/2 + 1/3 + …: the sum after every term, in one format throughout. The
// input holds 1, 2, 3, …, and demo.py writes the format in place of FORMAT.

!num = !numera.num<FORMAT>

func.func @main(%k: tensor<1100xf32>) -> tensor<1100xf32> {
  %from = arith.constant 0 : index
  %to = arith.constant 1100 : index
  %by = arith.constant 1 : index
  %zero = numera.constant 0.0 : !num
  %one = numera.constant 1.0 : !num
  %empty = tensor.empty() : tensor<1100xf32>
  %last, %sums = scf.for %i = %from to %to step %by
      iter_args(%sum = %zero, %out = %empty) -> (!num, tensor<1100xf32>) {
    %number = tensor.extract %k[%i] : tensor<1100xf32>
    %divisor = numera.cast %number : f32 to !num
    %term = numera.div %one, %divisor : !num
    %next = numera.add %sum, %term : !num
    %value = numera.cast %next : !num to f32
    %written = tensor.insert %value into %out[%i] : tensor<1100xf32>
    scf.yield %next, %written : !num, tensor<1100xf32>
  }
  return %sums : tensor<1100xf32>
}
