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
!scaled = tensor<4x64x!numera.num<float<4, 3, fn>>, #mx>
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

// Scales that are given are no numbers of the model: an argument, also a part of
// it, and a constant are read as they are, though the model computes with them
// as well. Those that the model computes are in its format.
// CHECK-LABEL: @given_scales
// CHECK-SAME: (%[[X:.*]]: tensor<4x64xf32>, %[[S:.*]]: tensor<4x2xf32>, %[[ROWS:.*]]: tensor<8x2xf32>)
// CHECK-DAG: %[[PART:.*]] = tensor.extract_slice %[[ROWS]]{{.*}} : tensor<8x2xf32> to tensor<4x2xf32>
// CHECK-DAG: %[[C:.*]] = arith.constant dense<1.000100e+00> : tensor<4x2xf32>
// CHECK-DAG: %[[NUMBER:.*]] = numera.cast %[[S]] : tensor<4x2xf32> to tensor<4x2x!posit16>
// CHECK: numera.quantize %{{.*}} scales %[[S]] :
// CHECK: numera.quantize %{{.*}} scales %[[PART]] :
// CHECK: numera.quantize %{{.*}} scales %[[C]] :
// CHECK: %[[SUM:.*]] = numera.add %[[NUMBER]], %{{.*}} : tensor<4x2x!posit16>
// CHECK: %[[WIDE:.*]] = numera.cast %[[SUM]] : tensor<4x2x!posit16> to tensor<4x2xf32>
// CHECK: numera.quantize %{{.*}} scales %[[WIDE]] :
func.func @given_scales(%x: tensor<4x64xf32>, %s: tensor<4x2xf32>, %rows: tensor<8x2xf32>) -> (tensor<4x64xf32>, tensor<4x64xf32>, tensor<4x64xf32>, tensor<4x64xf32>) {
  %c = arith.constant dense<1.0001> : tensor<4x2xf32>
  %part = tensor.extract_slice %rows[0, 0] [4, 2] [1, 1] : tensor<8x2xf32> to tensor<4x2xf32>
  %0 = numera.quantize %x scales %s : tensor<4x64xf32>, tensor<4x2xf32> to !scaled
  %1 = numera.quantize %x scales %part : tensor<4x64xf32>, tensor<4x2xf32> to !scaled
  %2 = numera.quantize %x scales %c : tensor<4x64xf32>, tensor<4x2xf32> to !scaled
  %sum = arith.addf %s, %c : tensor<4x2xf32>
  %3 = numera.quantize %x scales %sum : tensor<4x64xf32>, tensor<4x2xf32> to !scaled
  %4 = numera.dequantize %0 : !scaled to tensor<4x64xf32>
  %5 = numera.dequantize %1 : !scaled to tensor<4x64xf32>
  %6 = numera.dequantize %2 : !scaled to tensor<4x64xf32>
  %7 = numera.dequantize %3 : !scaled to tensor<4x64xf32>
  return %4, %5, %6, %7 : tensor<4x64xf32>, tensor<4x64xf32>, tensor<4x64xf32>, tensor<4x64xf32>
}

// Nor are the parts of scaled tensors.
!parts = tensor<4x!numera.num<fixed<7, 0>>, #numera.scaling<absmax, float<8, 23>>>
// CHECK-LABEL: @parts
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>, %[[E:.*]]: tensor<4x!fixed_7_0>, %[[S:.*]]: tensor<f32>)
// CHECK-DAG: %[[C:.*]] = arith.constant dense<3.333330e-01> : tensor<f32>
// CHECK: numera.scaled_from_parts %[[E]], %[[S]] :
// CHECK: %[[PARTS:.*]]:2 = numera.scaled_parts {{.*}} -> (tensor<4x!fixed_7_0>, tensor<f32>)
// CHECK: %[[NUMBER:.*]] = numera.cast %[[PARTS]]#1 : tensor<f32> to tensor<!posit16>
// CHECK: numera.scaled_from_parts %[[PARTS]]#0, %[[C]] :
// CHECK: numera.add %[[NUMBER]], %[[NUMBER]]
func.func @parts(%x: tensor<4xf32>, %e: tensor<4x!numera.num<fixed<7, 0>>>, %s: tensor<f32>) -> (tensor<4xf32>, tensor<f32>) {
  %c = arith.constant dense<0.333333> : tensor<f32>
  %0 = numera.scaled_from_parts %e, %s : (tensor<4x!numera.num<fixed<7, 0>>>, tensor<f32>) -> !parts
  %codes, %scale = numera.scaled_parts %0 : (!parts) -> (tensor<4x!numera.num<fixed<7, 0>>>, tensor<f32>)
  %1 = numera.scaled_from_parts %codes, %c : (tensor<4x!numera.num<fixed<7, 0>>>, tensor<f32>) -> !parts
  %2 = numera.dequantize %1 : !parts to tensor<4xf32>
  %3 = arith.addf %scale, %scale : tensor<f32>
  return %2, %3 : tensor<4xf32>, tensor<f32>
}
