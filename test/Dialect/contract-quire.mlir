// SPDX-License-Identifier: MIT
// RUN: numera-opt %s --numera-contract --canonicalize \
// RUN:     --split-input-file | FileCheck %s

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func.func @sums_in_quires_have_a_kernel
// CHECK-NOT:     linalg.generic
// CHECK:         llvm.call @numera.contraction.0(
// CHECK:       llvm.func @numera.contraction.0.row(
// CHECK-SAME:    -> f64
// CHECK:         %[[CODE:.*]] = llvm.load {{.*}} -> i16
// CHECK:         call @numera_posit_decode_f64_16(%[[CODE]],
// CHECK:       llvm.func @numera.contraction.0.column(
// CHECK:       llvm.func @numera.contraction.0.span(
// CHECK:         call @numera_posit_slices_span_f64_64(
// CHECK:       llvm.func @numera.contraction.0.add(
// CHECK:         %[[SUM:.*]] = llvm.getelementptr {{.*}}, i256
// CHECK:         call @numera_posit_slice_products_add_f64_64(%[[SUM]],
// CHECK:       llvm.func @numera.contraction.0.mac(
// CHECK:         call @numera_posit_quire_mac_16(
// CHECK:       llvm.func @numera.contraction.0(
// CHECK-SAME:    attributes {numera.kernel = "quire"}
func.func @sums_in_quires_have_a_kernel(
    %a: memref<8x16xi16>, %b: memref<16x32xi16>, %c: memref<8x32xi256>) {
  linalg.generic {indexing_maps = [#a, #b, #c],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<8x16xi16>, memref<16x32xi16>)
      outs(%c : memref<8x32xi256>) {
  ^bb0(%x: i16, %y: i16, %sum: i256):
    %next = numera.quire_mac %x, %y, %sum {
        format = #numera.format<posit<16, 2>>} : i16, i256
    linalg.yield %next : i256
  }
  return
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// A machine number is its own code.
// CHECK-LABEL: func.func @quires_of_f32
// CHECK:         llvm.call @numera.contraction.0(
// CHECK:       llvm.func @numera.contraction.0.row(
// CHECK:         arith.extf %{{.*}} : f32 to f64
// CHECK:       llvm.func @numera.contraction.0.mac(
// CHECK-COUNT-2: arith.bitcast %{{.*}} : f32 to i32
func.func @quires_of_f32(
    %a: memref<8x16xf32>, %b: memref<16x32xf32>, %c: memref<8x32xi768>) {
  linalg.generic {indexing_maps = [#a, #b, #c],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<8x16xf32>, memref<16x32xf32>)
      outs(%c : memref<8x32xi768>) {
  ^bb0(%x: f32, %y: f32, %sum: i768):
    %next = numera.quire_mac %x, %y, %sum {
        format = #numera.format<float<8, 23>>} : f32, i768
    linalg.yield %next : i768
  }
  return
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// f64 holds 53 of the 59 bits that a factor may have.
// CHECK-LABEL: func.func @factors_that_are_no_f64_stay
// CHECK:         linalg.generic
func.func @factors_that_are_no_f64_stay(
    %a: memref<8x16xi64>, %b: memref<16x32xi64>, %c: memref<8x32xi1024>) {
  linalg.generic {indexing_maps = [#a, #b, #c],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<8x16xi64>, memref<16x32xi64>)
      outs(%c : memref<8x32xi1024>) {
  ^bb0(%x: i64, %y: i64, %sum: i1024):
    %next = numera.quire_mac %x, %y, %sum {
        format = #numera.format<posit<64, 2>>} : i64, i1024
    linalg.yield %next : i1024
  }
  return
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// What is cut off a factor is cut off its code.
// CHECK-LABEL: func.func @truncated_factors_stay
// CHECK:         linalg.generic
func.func @truncated_factors_stay(
    %a: memref<8x16xi16>, %b: memref<16x32xi16>, %c: memref<8x32xi256>) {
  linalg.generic {indexing_maps = [#a, #b, #c],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<8x16xi16>, memref<16x32xi16>)
      outs(%c : memref<8x32xi256>) {
  ^bb0(%x: i16, %y: i16, %sum: i256):
    %next = numera.quire_mac %x, %y, %sum {
        format = #numera.format<posit<16, 2, "mac.truncate-operands=2">>}
        : i16, i256
    linalg.yield %next : i256
  }
  return
}
