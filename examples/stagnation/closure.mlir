// SPDX-License-Identifier: MIT
// x + y and x * y for every pair of codes, given by their values; demo.py writes
// the format in place of FORMAT.

!num = !numera.num<FORMAT>

func.func @main(%x: tensor<65536xf32>, %y: tensor<65536xf32>)
    -> (tensor<65536xf32>, tensor<65536xf32>) {
  %a = numera.cast %x : tensor<65536xf32> to tensor<65536x!num>
  %b = numera.cast %y : tensor<65536xf32> to tensor<65536x!num>
  %sum = numera.add %a, %b : tensor<65536x!num>
  %product = numera.mul %a, %b : tensor<65536x!num>
  %s = numera.cast %sum : tensor<65536x!num> to tensor<65536xf32>
  %p = numera.cast %product : tensor<65536x!num> to tensor<65536xf32>
  return %s, %p : tensor<65536xf32>, tensor<65536xf32>
}
