// SPDX-License-Identifier: MIT
// RUN: numera-opt %s --numera-store-carriers | FileCheck %s
// RUN: numera-opt %s --numera-store-carriers --numera-promote-to-carrier --canonicalize | FileCheck %s --check-prefix=CARRIED

#posit16 = #numera.format<posit<16, 2>>
#f32 = #numera.format<float<8, 23>>
#posit32 = #numera.format<posit<32, 2>>
#id = affine_map<(d0) -> (d0)>

// Sums, which a contraction reads and a maximum, are stored as f32, and so is
// the maximum, which nothing reads as a code. No code is left in between.
// CHECK-LABEL: @sums
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<64xf32>)
// CHECK: numera.add
// CHECK-NEXT: %[[NUMBER:.*]] = numera.cast {{.*}} : i16 to f32
// CHECK-NEXT: linalg.yield %[[NUMBER]] : f32
// CHECK: %[[MAX:.*]] = linalg.generic {{.*}} ins(%[[SUM]] : tensor<64xf32>) outs(%{{.*}} : tensor<64xf32>)
// CHECK: numera.encode
// CHECK-NEXT: numera.max
// CHECK-NEXT: numera.cast
// CHECK: return %[[SUM]], %[[MAX]], %[[MAX]]
// CARRIED-LABEL: @sums
// CARRIED: arith.addf
// CARRIED-NEXT: %[[SUM:.*]] = numera.round_to
// CARRIED-NEXT: linalg.yield %[[SUM]] : f32
// CARRIED-NOT: numera.encode
// CARRIED: %[[MAX:.*]] = arith.maximumf
// CARRIED-NEXT: %[[NUMBER:.*]] = numera.cast %[[MAX]] : f32 to f32
// CARRIED-NEXT: linalg.yield %[[NUMBER]] : f32
func.func @sums(%x: tensor<64xi16>, %y: tensor<64xi16>) -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) {
  %zero = arith.constant 0 : i16
  %codes = tensor.empty() : tensor<64xi16>
  %numbers = tensor.empty() : tensor<64xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<64xi16>, tensor<64xi16>) outs(%codes : tensor<64xi16>) {
  ^bb0(%a: i16, %b: i16, %out: i16):
    %5 = numera.add %a, %b {format = #posit16} : i16
    linalg.yield %5 : i16
  } -> tensor<64xi16>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%0 : tensor<64xi16>) outs(%numbers : tensor<64xf32>) {
  ^bb0(%a: i16, %out: f32):
    %5 = numera.cast %a {format = #f32, operand_formats = [#posit16]} : i16 to f32
    linalg.yield %5 : f32
  } -> tensor<64xf32>
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%0 : tensor<64xi16>) outs(%codes : tensor<64xi16>) {
  ^bb0(%a: i16, %out: i16):
    %5 = numera.max %a, %zero {format = #posit16} : i16
    linalg.yield %5 : i16
  } -> tensor<64xi16>
  %3 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%2 : tensor<64xi16>) outs(%numbers : tensor<64xf32>) {
  ^bb0(%a: i16, %out: f32):
    %5 = numera.cast %a {format = #f32, operand_formats = [#posit16]} : i16 to f32
    linalg.yield %5 : f32
  } -> tensor<64xf32>
  %4 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%2 : tensor<64xi16>) outs(%numbers : tensor<64xf32>) {
  ^bb0(%a: i16, %out: f32):
    %5 = numera.cast %a {format = #f32, operand_formats = [#posit16]} : i16 to f32
    linalg.yield %5 : f32
  } -> tensor<64xf32>
  return %1, %3, %4 : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
}

// f32 has not all numbers of posit32.
// CHECK-LABEL: @wide
// CHECK: numera.sqrt
// CHECK-NEXT: linalg.yield {{.*}} : i32
func.func @wide(%x: tensor<64xi32>) -> tensor<64xf32> {
  %codes = tensor.empty() : tensor<64xi32>
  %numbers = tensor.empty() : tensor<64xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<64xi32>) outs(%codes : tensor<64xi32>) {
  ^bb0(%a: i32, %out: i32):
    %2 = numera.sqrt %a {format = #posit32} : i32
    linalg.yield %2 : i32
  } -> tensor<64xi32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%0 : tensor<64xi32>) outs(%numbers : tensor<64xf32>) {
  ^bb0(%a: i32, %out: f32):
    %2 = numera.cast %a {format = #f32, operand_formats = [#posit32]} : i32 to f32
    linalg.yield %2 : f32
  } -> tensor<64xf32>
  return %1 : tensor<64xf32>
}

// Codes that the function returns stay codes.
// CHECK-LABEL: @returned
// CHECK: numera.sqrt
// CHECK-NEXT: linalg.yield {{.*}} : i16
func.func @returned(%x: tensor<64xi16>) -> (tensor<64xf32>, tensor<64xi16>) {
  %codes = tensor.empty() : tensor<64xi16>
  %numbers = tensor.empty() : tensor<64xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<64xi16>) outs(%codes : tensor<64xi16>) {
  ^bb0(%a: i16, %out: i16):
    %2 = numera.sqrt %a {format = #posit16} : i16
    linalg.yield %2 : i16
  } -> tensor<64xi16>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%0 : tensor<64xi16>) outs(%numbers : tensor<64xf32>) {
  ^bb0(%a: i16, %out: f32):
    %2 = numera.cast %a {format = #f32, operand_formats = [#posit16]} : i16 to f32
    linalg.yield %2 : f32
  } -> tensor<64xf32>
  return %1, %0 : tensor<64xf32>, tensor<64xi16>
}
