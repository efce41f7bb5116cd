// SPDX-License-Identifier: MIT
// Clauses: Q1 Q2 Q6.
// RUN: numera-opt %s | numera-opt | FileCheck %s
// RUN: numera-opt %s --numera-lower-types | FileCheck %s --check-prefix=STORAGE --implicit-check-not='!numera'

!posit16 = !numera.num<posit<16, 2>>
!quire_posit16 = !numera.quire<posit<16, 2>>
!posit12 = !numera.quire<posit<12, 1>>
!f8 = !numera.quire<float<4, 3, fn>>
!f64 = !numera.quire<float<11, 52>>
!bf16 = !numera.quire<float<8, 7>>
!takum16 = !numera.quire<takum<16>>

// The standard's 256 bits; whole words; no flags without infinities; the widest.
// Above 128 bits multiples of 256, so that a GPU's memory has them at the same
// distances as the host's.
// STORAGE-LABEL: func.func private @storage_is_whole_words
// STORAGE-SAME: (i256, i128, i128, i4352, i768, i1280, tensor<2x?xi256>, memref<4xi256, strided<[2]>>)
func.func private @storage_is_whole_words(
    !quire_posit16, !posit12, !f8, !f64, !bf16, !takum16, tensor<2x?x!quire_posit16>,
    memref<4x!quire_posit16, strided<[2]>>)

// CHECK-LABEL: @every_operation
// CHECK-SAME: (%[[A:.*]]: !posit16, %[[B:.*]]: !posit16, %[[Q:.*]]: !quire_posit16)
// CHECK: %[[ZERO:.*]] = numera.quire_zero : !quire_posit16
// CHECK: %[[MAC:.*]] = numera.quire_mac %[[A]], %[[B]], %[[ZERO]] : !posit16, !quire_posit16
// CHECK: %[[ADD:.*]] = numera.quire_add %[[MAC]], %[[A]] : !quire_posit16, !posit16
// CHECK: %[[SUB:.*]] = numera.quire_sub %[[ADD]], %[[B]] : !quire_posit16, !posit16
// CHECK: %[[NEG:.*]] = numera.quire_neg %[[SUB]] : !quire_posit16
// CHECK: %[[MERGE:.*]] = numera.quire_merge %[[NEG]], %[[Q]] : !quire_posit16
// CHECK: numera.quire_round %[[MERGE]] : !quire_posit16 to !posit16
// CHECK: numera.quire_round %[[MERGE]] {rounding = #numera.rounding<up>} : !quire_posit16 to f32
// STORAGE-LABEL: @every_operation
// STORAGE: %[[ZERO:.*]] = arith.constant 0 : i256
// STORAGE: numera.quire_mac %{{.*}}, %{{.*}}, %[[ZERO]] {format = #numera.format<posit<16, 2>>} : i16, i256
// STORAGE: numera.quire_round %{{.*}} {format = #numera.format<posit<16, 2>>} : i256 to i16
// STORAGE: numera.quire_round %{{.*}} {format = #numera.format<posit<16, 2>>, result_format = #numera.format<float<8, 23>>, rounding = #numera.rounding<up>} : i256 to f32
func.func @every_operation(%a: !posit16, %b: !posit16, %q: !quire_posit16)
    -> (!posit16, f32) {
  %0 = numera.quire_zero : !quire_posit16
  %1 = numera.quire_mac %a, %b, %0 : !posit16, !quire_posit16
  %2 = numera.quire_add %1, %a : !quire_posit16, !posit16
  %3 = numera.quire_sub %2, %b : !quire_posit16, !posit16
  %4 = numera.quire_neg %3 : !quire_posit16
  %5 = numera.quire_merge %4, %q : !quire_posit16
  %6 = numera.quire_round %5 : !quire_posit16 to !posit16
  %7 = numera.quire_round %5 {rounding = #numera.rounding<up>} : !quire_posit16 to f32
  return %6, %7 : !posit16, f32
}

// CHECK-LABEL: @tensors_of_quires
// CHECK: numera.quire_round %{{.*}} : tensor<?x!quire_posit16> to tensor<?x!posit16>
func.func @tensors_of_quires(%q: tensor<?x!quire_posit16>)
    -> tensor<?x!posit16> {
  %0 = numera.quire_round %q : tensor<?x!quire_posit16> to tensor<?x!posit16>
  return %0 : tensor<?x!posit16>
}

// The machine's numbers stay as they are.
// STORAGE-LABEL: @a_quire_of_f32
// STORAGE: numera.quire_mac %{{.*}}, %{{.*}}, %{{.*}} {format = #numera.format<float<8, 23>>} : f32, i768
func.func @a_quire_of_f32(%x: f32, %q: !numera.quire<float<8, 23>>)
    -> !numera.quire<float<8, 23>> {
  %0 = numera.quire_mac %x, %x, %q : f32, !numera.quire<float<8, 23>>
  return %0 : !numera.quire<float<8, 23>>
}

// CHECK-LABEL: @words
// CHECK: numera.quire_word %{{.*}}[3] : !quire_posit16
// CHECK: numera.quire_from_words %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : tensor<2x!quire_posit16>
// STORAGE-LABEL: @words
// STORAGE: %[[BITS:.*]] = arith.constant 192 : i256
// STORAGE: %[[WORD:.*]] = arith.shrui %{{.*}}, %[[BITS]] : i256
// STORAGE: arith.trunci %[[WORD]] : i256 to i64
// STORAGE: arith.extui %{{.*}} : tensor<2xi64> to tensor<2xi256>
// STORAGE: arith.shli
// STORAGE: arith.ori
func.func @words(%q: !quire_posit16, %w: tensor<2xi64>)
    -> (i64, tensor<2x!quire_posit16>) {
  %0 = numera.quire_word %q[3] : !quire_posit16
  %1 = numera.quire_from_words %w, %w, %w, %w : tensor<2x!quire_posit16>
  return %0, %1 : i64, tensor<2x!quire_posit16>
}
