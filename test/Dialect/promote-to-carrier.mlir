// SPDX-License-Identifier: MIT
// RUN: numera-opt %s --numera-promote-to-carrier --split-input-file | FileCheck %s

#f16 = #numera.format<float<5, 10>>
#f32 = #numera.format<float<8, 23>>
#posit16 = #numera.format<posit<16, 2>>
#takum16 = #numera.format<takum<16>>

// CHECK-LABEL: @a_product_stays_for_a_sum
// CHECK-SAME: %[[A:.*]]: i16, %[[B:.*]]: i16, %[[C:.*]]: i16
// CHECK-DAG: %[[X:.*]] = numera.decode %[[A]] {format = #[[F:.*]]} : i16 to f32
// CHECK-DAG: %[[Y:.*]] = numera.decode %[[B]] {format = #[[F]]} : i16 to f32
// CHECK: %[[P:.*]] = arith.mulf %[[X]], %[[Y]] : f32
// CHECK: %[[R:.*]] = numera.round_to %[[P]] {format = #[[F]]} : f32
// CHECK: %[[Z:.*]] = numera.decode %[[C]] {format = #[[F]]} : i16 to f32
// CHECK: %[[S:.*]] = arith.addf %[[R]], %[[Z]] : f32
// CHECK: %[[E:.*]] = numera.encode %[[S]] {format = #[[F]], rounding = #numera.rounding<"nearest-even">} : f32 to i16
// CHECK: return %[[E]]
func.func @a_product_stays_for_a_sum(%a: i16, %b: i16, %c: i16) -> i16 {
  %0 = numera.mul %a, %b {format = #f16} : i16
  %1 = numera.add %0, %c {format = #f16} : i16
  return %1 : i16
}

// A value that goes on and leaves is rounded once and encoded exactly.
// CHECK-LABEL: @a_value_used_in_both_places
// CHECK: %[[R:.*]] = numera.round_to
// CHECK: %[[E:.*]] = numera.encode %[[R]] {format = #numera.format<float<5, 10>>} : f32 to i16
// CHECK: arith.mulf %[[R]], %[[R]]
// CHECK: return %[[E]]
func.func @a_value_used_in_both_places(%a: i16, %b: i16) -> (i16, i16) {
  %0 = numera.add %a, %b {format = #f16} : i16
  %1 = numera.mul %0, %0 {format = #f16} : i16
  return %0, %1 : i16, i16
}

// CHECK-LABEL: @one_operation_stays_on_codes
// CHECK-NEXT: numera.add
// CHECK-NEXT: return
func.func @one_operation_stays_on_codes(%a: i16, %b: i16) -> i16 {
  %0 = numera.add %a, %b {format = #f16} : i16
  return %0 : i16
}

// CHECK-LABEL: @choices_alone_stay_on_codes
// CHECK-NEXT: numera.neg
// CHECK-NEXT: numera.max
// CHECK-NEXT: return
func.func @choices_alone_stay_on_codes(%a: i16) -> i16 {
  %0 = numera.neg %a {format = #f16} : i16
  %1 = numera.max %a, %0 {format = #f16} : i16
  return %1 : i16
}

// What f32 has not of a takum it is rounded to, so that f32 does for a cast and
// back; not where a code is seen, nor for what is computed in between.
// CHECK-LABEL: @f32_goes_through_a_format_that_it_lacks
// CHECK-NEXT: %[[R:.*]] = numera.round_to %{{.*}} {format = #{{.*}}} : f32
// CHECK-NEXT: return %[[R]]
func.func @f32_goes_through_a_format_that_it_lacks(%a: f32) -> f32 {
  %0 = numera.cast %a {format = #takum16, operand_formats = [#f32]} : f32 to i16
  %1 = numera.cast %0 {format = #f32, operand_formats = [#takum16]} : i16 to f32
  return %1 : f32
}
// CHECK-LABEL: @a_code_is_seen
// CHECK: numera.encode %{{.*}} {format = #{{.*}}} : f64 to i16
func.func @a_code_is_seen(%a: f32) -> (f32, i16) {
  %0 = numera.cast %a {format = #takum16, operand_formats = [#f32]} : f32 to i16
  %1 = numera.cast %0 {format = #f32, operand_formats = [#takum16]} : i16 to f32
  return %1, %0 : f32, i16
}
// CHECK-LABEL: @a_sum_in_between
// CHECK: arith.addf %{{.*}}, %{{.*}} : f64
// CHECK: numera.round_to %{{.*}} {format = #{{.*}}} : f64
func.func @a_sum_in_between(%a: f32) -> f32 {
  %0 = numera.cast %a {format = #takum16, operand_formats = [#f32]} : f32 to i16
  %1 = numera.add %0, %0 {format = #takum16} : i16
  %2 = numera.cast %1 {format = #f32, operand_formats = [#takum16]} : i16 to f32
  return %2 : f32
}

// CHECK-LABEL: @a_cast_and_back_is_one_rounding
// CHECK-NEXT: %[[R:.*]] = numera.round_to %{{.*}} {format = #{{.*}}} : f32
// CHECK-NEXT: return %[[R]]
func.func @a_cast_and_back_is_one_rounding(%a: f32) -> f32 {
  %0 = numera.cast %a {format = #f16, operand_formats = [#f32]} : f32 to i16
  %1 = numera.cast %0 {operand_formats = [#f16]} : i16 to f32
  return %1 : f32
}

// posit32 needs f64.
// CHECK-LABEL: @a_cast_to_a_wide_format_and_back
// CHECK-NEXT: %[[W:.*]] = arith.extf %{{.*}} : f32 to f64
// CHECK-NEXT: %[[R:.*]] = numera.round_to %[[W]] {format = #{{.*}}} : f64
// CHECK-NEXT: %[[T:.*]] = arith.truncf %[[R]] : f64 to f32
// CHECK-NEXT: return %[[T]]
func.func @a_cast_to_a_wide_format_and_back(%a: f32) -> f32 {
  %0 = numera.cast %a {format = #numera.format<posit<32, 2>>,
                       operand_formats = [#f32]} : f32 to i32
  %1 = numera.cast %0 {operand_formats = [#numera.format<posit<32, 2>>]}
    : i32 to f32
  return %1 : f32
}

// CHECK-LABEL: @casts_at_the_boundary
// CHECK: %[[X:.*]] = numera.round_to %arg0
// CHECK: %[[Y:.*]] = numera.round_to %arg1
// CHECK: %[[S:.*]] = arith.addf %[[X]], %[[Y]] : f32
// CHECK: %[[R:.*]] = numera.round_to %[[S]]
// CHECK: return %[[R]] : f32
func.func @casts_at_the_boundary(%a: f32, %b: f32) -> f32 {
  %0 = numera.cast %a {format = #f16, operand_formats = [#f32]} : f32 to i16
  %1 = numera.cast %b {format = #f16, operand_formats = [#f32]} : f32 to i16
  %2 = numera.add %0, %1 {format = #f16} : i16
  %3 = numera.cast %2 {operand_formats = [#f16]} : i16 to f32
  return %3 : f32
}

// Two formats in one carrier.
// CHECK-LABEL: @from_one_format_to_another
// CHECK: %[[X:.*]] = numera.round_to %{{.*}} {format = #[[F16:.*]]} : f32
// CHECK: numera.encode %[[X]] {format = #[[POSIT16:.*]], rounding = #numera.rounding<"nearest-even">} : f32 to i16
func.func @from_one_format_to_another(%a: i16) -> i16 {
  %0 = numera.mul %a, %a {format = #f16} : i16
  %1 = numera.cast %0 {format = #posit16, operand_formats = [#f16]} : i16 to i16
  return %1 : i16
}

// A quotient of posit16 is proven in f64 alone: the group runs there.
// CHECK-LABEL: @the_widest_carrier_of_a_group
// CHECK: numera.decode %{{.*}} : i16 to f64
// CHECK: arith.divf %{{.*}} : f64
// CHECK: arith.mulf %{{.*}} : f64
func.func @the_widest_carrier_of_a_group(%a: i16, %b: i16) -> i16 {
  %0 = numera.div %a, %b {format = #posit16} : i16
  %1 = numera.mul %0, %b {format = #posit16} : i16
  return %1 : i16
}

// Toward zero a sum of posit16 is rounded to odd in f32: Knuth's TwoSum, and the last bit.
// CHECK-LABEL: @a_sum_rounded_to_odd
// CHECK: %[[S:.*]] = arith.addf
// CHECK: arith.subf %[[S]]
// CHECK: arith.cmpf one
// CHECK: %[[ODD:.*]] = arith.ori
// CHECK: %[[B:.*]] = arith.bitcast %[[ODD]] : i32 to f32
// CHECK: numera.round_to %[[B]]
func.func @a_sum_rounded_to_odd(%a: i16, %b: i16) -> i16 {
  %0 = numera.add %a, %b {format = #posit16, rounding = #numera.rounding<"toward-zero">} : i16
  %1 = numera.mul %0, %b {format = #posit16, rounding = #numera.rounding<"toward-zero">} : i16
  return %1 : i16
}

// CHECK-LABEL: @choices_among_carriers
// CHECK: %[[R:.*]] = numera.round_to
// CHECK: %[[N:.*]] = arith.negf %[[R]]
// CHECK: %[[A:.*]] = math.absf %[[N]]
// CHECK: %[[MIN:.*]] = arith.minimumf %[[A]], %[[R]]
// CHECK: %[[MAX:.*]] = arith.maximumf %[[MIN]], %[[N]]
// CHECK: %[[C:.*]] = arith.cmpf olt, %[[MAX]], %[[R]]
// CHECK: %[[NAN:.*]] = arith.cmpf uno, %[[R]], %[[R]]
// CHECK: %[[S:.*]] = arith.select %[[C]], %[[MAX]], %[[N]]
// CHECK: %[[E:.*]] = numera.encode %[[S]] {format = #numera.format<float<5, 10>>} : f32 to i16
// CHECK: return %[[E]], %[[NAN]]
func.func @choices_among_carriers(%a: i16, %b: i16) -> (i16, i1) {
  %0 = numera.add %a, %b {format = #f16} : i16
  %1 = numera.neg %0 {format = #f16} : i16
  %2 = numera.abs %1 {format = #f16} : i16
  %3 = numera.min %2, %0 {format = #f16} : i16
  %4 = numera.max %3, %1 {format = #f16} : i16
  %5 = numera.cmp olt, %4, %0 {format = #f16} : i16
  %6 = numera.isnan %0 {format = #f16} : i16
  %7 = arith.select %5, %4, %1 : i16
  return %7, %6 : i16, i1
}

// A select between a code from elsewhere and ours is none of ours: the code may
// be no canonical one.
// CHECK-LABEL: @a_select_of_a_foreign_code
// CHECK: %[[E:.*]] = numera.encode
// CHECK: arith.select %{{.*}}, %[[E]], %{{.*}} : i16
func.func @a_select_of_a_foreign_code(%a: i16, %b: i16, %c: i1) -> i16 {
  %0 = numera.add %a, %b {format = #f16} : i16
  %1 = numera.mul %0, %b {format = #f16} : i16
  %2 = arith.select %c, %1, %a : i16
  return %2 : i16
}

// NaR equals itself and is below all.
// CHECK-LABEL: @order_of_posits
// CHECK: %[[R:.*]] = numera.round_to
// CHECK: %[[NAN:.*]] = arith.cmpf uno, %[[R]], %[[R]]
// CHECK: arith.select %[[NAN]], %{{.*}}, %[[R]] : f32
// CHECK: arith.cmpf ole
func.func @order_of_posits(%a: i16, %b: i16) -> i1 {
  %0 = numera.mul %a, %b {format = #posit16} : i16
  %1 = numera.cmp ole, %0, %b {format = #posit16} : i16
  return %1 : i1
}

// Posits have no -0: a carrier's becomes +0. NaN is made canonical where it
// becomes visible.
// CHECK-LABEL: @a_negative_that_becomes_visible
// CHECK: %[[N:.*]] = arith.negf
// CHECK: %[[ZERO:.*]] = arith.addf %[[N]], %{{.*}} : f32
// CHECK: %[[C:.*]] = numera.cast %[[ZERO]] : f32 to f32
// CHECK: return %[[C]]
func.func @a_negative_that_becomes_visible(%a: i16, %b: i16) -> f32 {
  %0 = numera.mul %a, %b {format = #posit16} : i16
  %1 = numera.neg %0 {format = #posit16} : i16
  %2 = numera.cast %1 {operand_formats = [#posit16]} : i16 to f32
  return %2 : f32
}

// CHECK-LABEL: @stochastic
// CHECK: %[[R:.*]] = numera.round_to %{{.*}} random %arg2 {format = #{{.*}}, random_bits = 8 : i32, rounding = #numera.rounding<stochastic>} : f32
// CHECK: return %[[R]]
func.func @stochastic(%a: f32, %b: f32, %r: i32) -> f32 {
  %0 = numera.cast %a random %r {format = #f16, operand_formats = [#f32],
                                 rounding = #numera.rounding<stochastic>,
                                 random_bits = 8 : i32} : f32 to i16
  %1 = numera.cast %0 {operand_formats = [#f16]} : i16 to f32
  return %1 : f32
}

// Rounding down, the sum is the negative of the sum of the negatives.
// CHECK-LABEL: @down
// CHECK: arith.negf
// CHECK: arith.negf
// CHECK: arith.addf
// CHECK: %[[N:.*]] = arith.negf
// CHECK: numera.round_to %[[N]] {format = #{{.*}}, rounding = #numera.rounding<down>} : f32
func.func @down(%a: i16, %b: i16) -> i16 {
  %0 = numera.add %a, %b {format = #f16, rounding = #numera.rounding<down>} : i16
  %1 = numera.mul %0, %b {format = #f16} : i16
  return %1 : i16
}

// CHECK-LABEL: @vectors
// CHECK: numera.decode %{{.*}} : vector<16xi16> to vector<16xf32>
// CHECK: numera.encode %{{.*}} : vector<16xf32> to vector<16xi16>
func.func @vectors(%a: vector<16xi16>, %b: vector<16xi16>) -> vector<16xi16> {
  %0 = numera.mul %a, %b {format = #posit16} : vector<16xi16>
  %1 = numera.add %0, %b {format = #posit16} : vector<16xi16>
  return %1 : vector<16xi16>
}

// The step of a contraction is left as it is.
// CHECK-LABEL: @contraction
// CHECK: numera.mac
// CHECK-NOT: numera.decode
// CHECK: return
func.func @contraction(%a: tensor<4x4xi16>, %b: tensor<4x4xi16>,
                       %c: tensor<4x4xi16>) -> tensor<4x4xi16> {
  %0 = linalg.generic {
    indexing_maps = [affine_map<(i, j, k) -> (i, k)>,
                     affine_map<(i, j, k) -> (k, j)>,
                     affine_map<(i, j, k) -> (i, j)>],
    iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %b : tensor<4x4xi16>, tensor<4x4xi16>)
    outs(%c : tensor<4x4xi16>) {
  ^bb0(%x: i16, %y: i16, %z: i16):
    %1 = numera.mac %x, %y, %z {format = #f16} : i16
    linalg.yield %1 : i16
  } -> tensor<4x4xi16>
  return %0 : tensor<4x4xi16>
}

// The blocks of a function may stand in any order.
// CHECK-LABEL: @blocks_in_any_order
// CHECK: numera.encode %{{.*}} : f32 to i16
// CHECK: numera.round_to
func.func @blocks_in_any_order(%a: i16) -> i16 {
  cf.br ^first
^second:
  %1 = numera.add %0, %a {format = #f16} : i16
  return %1 : i16
^first:
  %0 = numera.mul %a, %a {format = #f16} : i16
  cf.br ^second
}

// Values of flushed formats have no carrier.
// CHECK-LABEL: @without_a_carrier
// CHECK-NOT: numera.decode
// CHECK: return
func.func @without_a_carrier(%a: i8, %b: i8) -> i8 {
  %0 = numera.mul %a, %b {format = #numera.format<float<4, 3, flush>>} : i8
  %1 = numera.add %0, %b {format = #numera.format<float<4, 3, flush>>} : i8
  return %1 : i8
}

// A NaN of f32 need not be canonical where what follows makes it so; what is
// read in memory is.
// CHECK-LABEL: @nan_of_f32
// CHECK: %[[P:.*]] = arith.mulf %arg0, %arg1 : f32
// CHECK-NEXT: %[[R:.*]] = numera.round_to %[[P]]
// CHECK-NEXT: %[[Q:.*]] = arith.divf %[[R]], %arg1 : f32
// CHECK-NEXT: %[[Z:.*]] = numera.add %[[Q]], %arg1 : f32
// CHECK-NEXT: return %[[Z]]
func.func @nan_of_f32(%a: f32, %b: f32) -> f32 {
  %0 = numera.mul %a, %b : f32
  %1 = numera.cast %0 {format = #f16, operand_formats = [#numera.format<float<8, 23>>]} : f32 to i16
  %2 = numera.cast %1 {format = #numera.format<float<8, 23>>, operand_formats = [#f16]} : i16 to f32
  %3 = numera.div %2, %b : f32
  %4 = numera.add %3, %b : f32
  return %4 : f32
}

// A sum of f64 in f32 is rounded once, from its exact value.
// CHECK-LABEL: @sum_of_another_width
// CHECK: %[[S:.*]] = numera.add %arg0, %arg1 : (f32, f64) -> f32
// CHECK: %[[T:.*]] = numera.add %[[S]], %arg1 : (f32, f64) -> f32
func.func @sum_of_another_width(%a: f32, %b: f64) -> f32 {
  %0 = numera.add %a, %b : (f32, f64) -> f32
  %1 = numera.add %0, %b : (f32, f64) -> f32
  return %1 : f32
}
