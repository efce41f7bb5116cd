// SPDX-License-Identifier: MIT
// RUN: numera-opt %s | numera-opt | FileCheck %s
// RUN: numera-opt %s -mlir-print-op-generic | numera-opt | FileCheck %s

// A format is printed under its name in the registry, else by its spelling with
// the punctuation taken out.
// CHECK-DAG: !bf16 = !numera.num<float<8, 7>>
// CHECK-DAG: !f6E3M2FN = !numera.num<float<3, 2, finite>>
// CHECK-DAG: !f8E4M3FN = !numera.num<float<4, 3, fn>>
// CHECK-DAG: !f8E5M2FNUZ = !numera.num<float<5, 2, fnuz>>
// CHECK-DAG: !float_5_7 = !numera.num<float<5, 7>>
// CHECK-DAG: !float_5_7_bias_9_flush_saturate_up = !numera.num<float<5, 7, bias=9, flush, saturate, up>>
// CHECK-DAG: !mybf16 = !numera.num<opaque<"mybf16", 16>>
// CHECK-DAG: !posit16 = !numera.num<posit<16, 2>>

// CHECK-LABEL: @a_name_stands_for_a_spelling
// CHECK-SAME: !posit16, %{{.*}}: !bf16, %{{.*}}: !f8E4M3FN, %{{.*}}: !f8E5M2FNUZ, %{{.*}}: !f6E3M2FN
func.func private @a_name_stands_for_a_spelling(
    %0: !numera.num<posit<16, 2>>, %1: !numera.num<float<8, 7>>,
    %2: !numera.num<float<4, 3, fn>>, %3: !numera.num<float<5, 2, fnuz>>,
    %4: !numera.num<float<3, 2, finite>>) {
  return
}

// What is a default is left out, and the words come in one order.
// CHECK-LABEL: @one_format_has_one_spelling
// CHECK-SAME: !posit16, %{{.*}}: !float_5_7, %{{.*}}: !float_5_7_bias_9_flush_saturate_up
func.func private @one_format_has_one_spelling(
    %0: !numera.num<posit<16>>,
    %1: !numera.num<float<5, 7, ieee, bias=15, "nearest-even", infinity>>,
    %2: !numera.num<float<5, 7, saturate, up, flush, bias=9>>) {
  return
}

// A word with a hyphen is no MLIR token.
// CHECK-LABEL: @a_hyphenated_word_stands_in_quotes
// CHECK-SAME: !posit_12_1_toward_zero
func.func private @a_hyphenated_word_stands_in_quotes(
    %0: !numera.num<posit<12, 1, "toward-zero">>) {
  return
}

// CHECK-LABEL: @a_bias_may_be_negative
// CHECK-SAME: !float_2_5_bias_3
func.func private @a_bias_may_be_negative(
    %0: !numera.num<float<2, 5, bias=-3>>) {
  return
}

// CHECK-LABEL: @an_opaque_format_is_its_name_and_bits
// CHECK-SAME: !mybf16
func.func private @an_opaque_format_is_its_name_and_bits(
    %0: !numera.num<opaque<"mybf16", 16>>) {
  return
}

// CHECK-LABEL: @it_is_an_element_of_tensors_memrefs_and_vectors
// CHECK-SAME: tensor<2x?x!posit16>, %{{.*}}: memref<4x!posit16, strided<[2]>>, %{{.*}}: vector<8x!posit16>
func.func private @it_is_an_element_of_tensors_memrefs_and_vectors(
    %0: tensor<2x?x!numera.num<posit<16, 2>>>,
    %1: memref<4x!numera.num<posit<16, 2>>, strided<[2]>>,
    %2: vector<8x!numera.num<posit<16, 2>>>) {
  return
}

// CHECK-LABEL: @it_moves_through_other_dialects
// CHECK: memref.load %{{.*}} : memref<4x!posit16>
// CHECK: tensor.from_elements %{{.*}}, %{{.*}} : tensor<2x!posit16>
// CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : !posit16
func.func private @it_moves_through_other_dialects(
    %m: memref<4x!numera.num<posit<16, 2>>>, %i: index, %c: i1,
    %x: !numera.num<posit<16, 2>>)
    -> (tensor<2x!numera.num<posit<16, 2>>>, !numera.num<posit<16, 2>>) {
  %0 = memref.load %m[%i] : memref<4x!numera.num<posit<16, 2>>>
  %1 = tensor.from_elements %0, %x : tensor<2x!numera.num<posit<16, 2>>>
  %2 = arith.select %c, %0, %x : !numera.num<posit<16, 2>>
  return %1, %2 : tensor<2x!numera.num<posit<16, 2>>>, !numera.num<posit<16, 2>>
}
