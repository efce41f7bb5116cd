// SPDX-License-Identifier: MIT
// RUN: numera-opt %s --numera-retype='to=posit16 output-as=f64' | FileCheck %s --check-prefixes=CHECK,F64
// RUN: numera-opt %s --numera-retype='to=posit16 output-as=storage' | FileCheck %s --check-prefixes=CHECK,STORAGE
// RUN: echo 'module {}' | not numera-opt --numera-retype='output-as=f16' 2>&1 | FileCheck %s --check-prefix=KIND

// KIND: error: output-as is 'f16', expected f32, f64, storage or model, or one for each result, as in f32,storage

// What a public function returns is for its caller to choose.
// F64-LABEL: func.func @a_public_function
// F64-SAME: (%{{.*}}: tensor<2xf32>) -> tensor<2xf64>
// F64: %[[Y:.*]] = numera.exp
// F64: %[[Z:.*]] = numera.cast %[[Y]] : tensor<2x!posit16> to tensor<2xf64>
// F64: return %[[Z]] : tensor<2xf64>
// STORAGE-LABEL: func.func @a_public_function
// STORAGE-SAME: (%{{.*}}: tensor<2xf32>) -> tensor<2x!posit16>
// STORAGE: %[[Y:.*]] = numera.exp
// STORAGE: return %[[Y]] : tensor<2x!posit16>
func.func @a_public_function(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = math.exp %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: func.func private @a_private_function_keeps_its_type
// CHECK-SAME: (%{{.*}}: f32) -> f32
func.func private @a_private_function_keeps_its_type(%x: f32) -> f32 {
  %0 = math.exp %x : f32
  return %0 : f32
}

// Scaled tensors of a program have values of f32.
#mx = #numera.scaling<floor, float<8, 0, fnu>, axis = 1, block = 32>
// CHECK-LABEL: @scaled_tensors
// CHECK: %[[X:.*]] = numera.add
// CHECK: %[[IN:.*]] = numera.cast %[[X]] : tensor<4x64x!posit16> to tensor<4x64xf32>
// CHECK: %[[Q:.*]] = numera.quantize %[[IN]] scales %{{.*}} : tensor<4x64xf32>, tensor<4x2xf32> to
// CHECK: %[[OUT:.*]] = numera.dequantize %[[Q]] : {{.*}} to tensor<4x64xf32>
// CHECK: %[[Y:.*]] = numera.cast %[[OUT]] : tensor<4x64xf32> to tensor<4x64x!posit16>
// CHECK: numera.add
func.func @scaled_tensors(%x: tensor<4x64xf32>, %s: tensor<4x2xf32>) -> tensor<4x64xf32> {
  %0 = arith.addf %x, %x : tensor<4x64xf32>
  %1 = numera.quantize %0 scales %s : tensor<4x64xf32>, tensor<4x2xf32> to tensor<4x64x!numera.num<float<4, 3, fn>>, #mx>
  %2 = numera.dequantize %1 : tensor<4x64x!numera.num<float<4, 3, fn>>, #mx> to tensor<4x64xf32>
  %3 = arith.addf %2, %2 : tensor<4x64xf32>
  return %3 : tensor<4x64xf32>
}
