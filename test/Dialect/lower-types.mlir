// SPDX-License-Identifier: MIT
// RUN: numera-opt %s --numera-lower-types | FileCheck %s --implicit-check-not='!numera.num'

!posit16 = !numera.num<posit<16, 2>>
!posit12 = !numera.num<posit<12, 1>>
!f6 = !numera.num<float<3, 2, finite>>
!f8 = !numera.num<float<4, 3, fn>>
!wide = !numera.num<float<11, 20>>
!posit64 = !numera.num<posit<64, 2>>

// CHECK-LABEL: func.func private @storage_is_the_smallest_integer_that_holds_the_format
// CHECK-SAME: (i8, i16, i16, i32, i64)
func.func private @storage_is_the_smallest_integer_that_holds_the_format(
    !f6, !posit12, !posit16, !wide, !posit64)

// CHECK-LABEL: @types_of_types_are_lowered
// CHECK-SAME: (%{{.*}}: tensor<2x?xi16>, %{{.*}}: memref<4xi16, strided<[2]>>, %{{.*}}: vector<4xi16>, %{{.*}}: tuple<i8, i16>)
func.func @types_of_types_are_lowered(
    %0: tensor<2x?x!posit16>, %1: memref<4x!posit16, strided<[2]>>,
    %2: vector<4x!posit16>, %3: tuple<!f8, !posit16>) {
  return
}

// CHECK-LABEL: @an_operation_says_what_its_integers_mean
// CHECK: numera.add %{{.*}}, %{{.*}} {format = #numera.format<posit<16, 2>>} : i16
// CHECK: numera.sqrt %{{.*}} {format = #numera.format<posit<16, 2>>, rounding = #numera.rounding<up>} : i16
// CHECK: numera.fma {{.*}} {format = #numera.format<float<8, 23>>, operand_formats = [#numera.format<float<4, 3, fn>>, #numera.format<float<4, 3, fn>>, #numera.format<float<8, 23>>]} : (i8, i8, f32) -> f32
func.func @an_operation_says_what_its_integers_mean(
    %x: !posit16, %y: !f8, %z: f32) -> (!posit16, f32) {
  %0 = numera.add %x, %x : !posit16
  %1 = numera.sqrt %0 {rounding = #numera.rounding<up>} : !posit16
  %2 = numera.fma %y, %y, %z : (!f8, !f8, f32) -> f32
  return %1, %2 : !posit16, f32
}

// CHECK-LABEL: @a_cast_says_which_integer_is_one
// CHECK: numera.cast %{{.*}} {format = #numera.format<posit<16, 2>>, operand_formats = [i16]} : i16 to i16
// CHECK: numera.cast unsigned %{{.*}} {format = i8, operand_formats = [#numera.format<posit<16, 2>>]} : i16 to i8
func.func @a_cast_says_which_integer_is_one(%x: i16) -> i8 {
  %0 = numera.cast %x : i16 to !posit16
  %1 = numera.cast unsigned %0 : !posit16 to i8
  return %1 : i8
}

// CHECK-LABEL: @a_comparison_carries_the_format_of_its_operands
// CHECK: numera.cmp olt, %{{.*}}, %{{.*}} {format = #numera.format<posit<16, 2>>} : tensor<4xi16>
// CHECK: numera.isnan %{{.*}} {format = #numera.format<posit<16, 2>>} : tensor<4xi16>
func.func @a_comparison_carries_the_format_of_its_operands(
    %x: tensor<4x!posit16>) -> (tensor<4xi1>, tensor<4xi1>) {
  %0 = numera.cmp olt, %x, %x : tensor<4x!posit16>
  %1 = numera.isnan %x : tensor<4x!posit16>
  return %0, %1 : tensor<4xi1>, tensor<4xi1>
}

// CHECK-LABEL: @a_constant_is_its_codes
// CHECK: arith.constant 16384 : i16
// CHECK: arith.constant dense<[1, 2]> : tensor<2xi16>
func.func @a_constant_is_its_codes() -> (!posit16, tensor<2x!posit16>) {
  %0 = numera.constant 1.0 : !posit16
  %1 = numera.constant codes dense<[1, 2]> : tensor<2xi16>
       as tensor<2x!posit16>
  return %0, %1 : !posit16, tensor<2x!posit16>
}

// CHECK-LABEL: @other_dialects_are_rebuilt_with_their_regions
// CHECK: scf.for {{.*}} iter_args(%[[ACC:.*]] = %{{.*}}) -> (i16) {
// CHECK: memref.load %{{.*}} : memref<?xi16>
// CHECK: scf.yield %{{.*}} : i16
// CHECK: call @callee(%{{.*}}) : (i16) -> i16
func.func private @callee(!posit16) -> !posit16
func.func @other_dialects_are_rebuilt_with_their_regions(
    %m: memref<?x!posit16>, %n: index, %x: !posit16) -> !posit16 {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %sum = scf.for %i = %zero to %n step %one iter_args(%acc = %x) -> (!posit16) {
    %0 = memref.load %m[%i] : memref<?x!posit16>
    %1 = numera.add %acc, %0 : !posit16
    scf.yield %1 : !posit16
  }
  %2 = func.call @callee(%sum) : (!posit16) -> !posit16
  return %2 : !posit16
}

// CHECK-LABEL: @arguments_of_blocks_are_lowered
// CHECK: cf.br ^bb1(%{{.*}} : i16)
// CHECK: ^bb1(%[[X:.*]]: i16):
// CHECK: return %[[X]] : i16
func.func @arguments_of_blocks_are_lowered(%x: !posit16) -> !posit16 {
  cf.br ^next(%x : !posit16)
^next(%y: !posit16):
  return %y : !posit16
}

// CHECK-LABEL: @a_contraction_keeps_its_product
// CHECK: ^bb0(%{{.*}}: i16, %{{.*}}: i16, %{{.*}}: i16):
// CHECK: numera.mac {{.*}} {format = #numera.format<posit<16, 2>>, product = #numera.format<posit<16, 2>>} : i16
func.func @a_contraction_keeps_its_product(
    %a: tensor<4x!posit16>, %init: tensor<!posit16>) -> tensor<!posit16> {
  %0 = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>,
                       affine_map<(i) -> ()>],
      iterator_types = ["reduction"]}
      ins(%a, %a : tensor<4x!posit16>, tensor<4x!posit16>)
      outs(%init : tensor<!posit16>) {
  ^bb0(%x: !posit16, %y: !posit16, %acc: !posit16):
    %1 = numera.mac %x, %y, %acc {product = #numera.format<posit<16, 2>>}
      : !posit16
    linalg.yield %1 : !posit16
  } -> tensor<!posit16>
  return %0 : tensor<!posit16>
}

// CHECK-LABEL: module @an_attribute_of_the_module
// CHECK-SAME: test.type = i16
module @an_attribute_of_the_module attributes {test.type = !posit16} {}
