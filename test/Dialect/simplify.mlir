// SPDX-License-Identifier: MIT
// Clauses: V2 V3 R6.
// RUN: numera-opt %s --numera-simplify | FileCheck %s

#id = affine_map<(d0) -> (d0)>

!posit16 = !numera.num<posit<16, 2>>
!posit32 = !numera.num<posit<32, 2>>
!bf16 = !numera.num<float<8, 7>>
!f8E5M2 = !numera.num<float<5, 2>>
!f16_saturate = !numera.num<float<5, 10, saturate>>
!f8E4M3FN = !numera.num<float<4, 3, fn>>
!mybf16 = !numera.num<opaque<"mybf16", 16>>

// CHECK-LABEL: @a_cast_to_a_wider_format_and_back_is_nothing
// CHECK-SAME: (%[[X:.*]]: tensor<4x!posit16>)
// CHECK-NEXT: return %[[X]]
func.func @a_cast_to_a_wider_format_and_back_is_nothing(%x: tensor<4x!posit16>)
    -> tensor<4x!posit16> {
  %0 = numera.cast %x : tensor<4x!posit16> to tensor<4xf32>
  %1 = numera.cast %0 : tensor<4xf32> to tensor<4x!posit16>
  return %1 : tensor<4x!posit16>
}

// An argument may hold any NaN: one cast is left, which makes it canonical.
// CHECK-LABEL: @any_nan_becomes_the_canonical_one
// CHECK-SAME: (%[[X:.*]]: !bf16)
// CHECK-NEXT: %[[Y:.*]] = numera.cast %[[X]] : !bf16
// CHECK-NEXT: return %[[Y]]
func.func @any_nan_becomes_the_canonical_one(%x: !bf16) -> !bf16 {
  %0 = numera.cast %x : !bf16 to f32
  %1 = numera.cast %0 : f32 to !bf16
  return %1 : !bf16
}

// CHECK-LABEL: @what_an_operation_gives_is_canonical
// CHECK-NEXT: %[[Y:.*]] = numera.add
// CHECK-NEXT: return %[[Y]]
func.func @what_an_operation_gives_is_canonical(%x: !bf16) -> !bf16 {
  %0 = numera.add %x, %x : !bf16
  %1 = numera.cast %0 : !bf16 to f32
  %2 = numera.cast %1 : f32 to !bf16
  %3 = numera.cast %2 : !bf16 to !bf16
  return %3 : !bf16
}

// Through what moves elements and into bodies.
// CHECK-LABEL: @results_are_followed_through_tensors
// CHECK: linalg.generic
// CHECK: %[[SUM:.*]] = numera.add
// CHECK-NEXT: linalg.yield %[[SUM]]
// CHECK: linalg.generic
// CHECK-NEXT: ^bb0(%[[Y:.*]]: !bf16, %{{.*}}: !bf16):
// CHECK-NEXT: linalg.yield %[[Y]]
func.func @results_are_followed_through_tensors(%x: tensor<8x!bf16>)
    -> tensor<4x!bf16> {
  %e = tensor.empty() : tensor<8x!bf16>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<8x!bf16>) outs(%e : tensor<8x!bf16>) {
  ^bb0(%a: !bf16, %out: !bf16):
    %b = numera.add %a, %a : !bf16
    linalg.yield %b : !bf16
  } -> tensor<8x!bf16>
  %1 = tensor.extract_slice %0[0] [4] [1] : tensor<8x!bf16> to tensor<4x!bf16>
  %f = tensor.empty() : tensor<4x!bf16>
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%1 : tensor<4x!bf16>) outs(%f : tensor<4x!bf16>) {
  ^bb0(%a: !bf16, %out: !bf16):
    %b = numera.cast %a : !bf16 to f32
    %c = numera.cast %b : f32 to !bf16
    linalg.yield %c : !bf16
  } -> tensor<4x!bf16>
  return %2 : tensor<4x!bf16>
}

// CHECK-LABEL: @a_cast_through_a_wider_format_is_one_cast
// CHECK-SAME: (%[[X:.*]]: !posit16)
// CHECK-NEXT: %[[Y:.*]] = numera.cast %[[X]] {rounding = #numera.rounding<up>} : !posit16 to !bf16
// CHECK-NEXT: return %[[Y]]
func.func @a_cast_through_a_wider_format_is_one_cast(%x: !posit16) -> !bf16 {
  %0 = numera.cast %x : !posit16 to !posit32
  %1 = numera.cast %0 {rounding = #numera.rounding<up>} : !posit32 to !bf16
  return %1 : !bf16
}

// The bits of a number, read as those of another format, are another number.
// CHECK-LABEL: @bits_of_another_format_are_not_a_number_of_it
// CHECK-COUNT-2: numera.cast
func.func @bits_of_another_format_are_not_a_number_of_it(%x: !f8E5M2) -> !f8E4M3FN {
  %0 = numera.cast %x {format = #numera.format<float<5, 2>>, operand_formats = [#numera.format<float<5, 2>>]} : !f8E5M2 to i8
  %1 = numera.cast %0 {operand_formats = [#numera.format<float<4, 3, fn>>]} : i8 to !f8E4M3FN
  return %1 : !f8E4M3FN
}

// CHECK-LABEL: @a_cast_that_rounds_stays
// CHECK: numera.cast %{{.*}} : f32 to !bf16
// CHECK: numera.cast %{{.*}} : !bf16 to f32
func.func @a_cast_that_rounds_stays(%x: f32) -> f32 {
  %0 = numera.cast %x : f32 to !bf16
  %1 = numera.cast %0 : !bf16 to f32
  return %1 : f32
}

// f32 and back makes NaN canonical: one cast of the two is enough.
// CHECK-LABEL: @f32_through_f64_is_a_cast_to_itself
// CHECK-NEXT: %[[Y:.*]] = numera.cast %{{.*}} : f32 to f32
// CHECK-NEXT: return %[[Y]]
func.func @f32_through_f64_is_a_cast_to_itself(%x: f32) -> f32 {
  %0 = numera.cast %x : f32 to f64
  %1 = numera.cast %0 : f64 to f32
  return %1 : f32
}

// bf16 has a -0, which no posit has.
// CHECK-LABEL: @a_format_that_lacks_a_zero_does_not_embed
// CHECK-COUNT-2: numera.cast
func.func @a_format_that_lacks_a_zero_does_not_embed(%x: !f8E5M2) -> f32 {
  %0 = numera.cast %x : !f8E5M2 to !posit32
  %1 = numera.cast %0 : !posit32 to f32
  return %1 : f32
}

// CHECK-LABEL: @a_cast_that_saturates_infinity_stays
// CHECK-COUNT-2: numera.cast
func.func @a_cast_that_saturates_infinity_stays(%x: !f8E5M2) -> f32 {
  %0 = numera.cast %x : !f8E5M2 to !f16_saturate
  %1 = numera.cast %0 : !f16_saturate to f32
  return %1 : f32
}

// What a library's casts compute is its own affair.
// CHECK-LABEL: @casts_of_opaque_formats_stay
// CHECK-COUNT-2: numera.cast
func.func @casts_of_opaque_formats_stay(%x: !mybf16) -> !mybf16 {
  %0 = numera.cast %x : !mybf16 to f32
  %1 = numera.cast %0 : f32 to !mybf16
  return %1 : !mybf16
}

// CHECK-LABEL: @on_storage_the_formats_move_along
// CHECK-NEXT: %[[Y:.*]] = numera.cast %{{.*}} {format = #numera.format<float<8, 7>>, operand_formats = [#numera.format<posit<16, 2>>]} : i16 to i16
// CHECK-NEXT: return %[[Y]]
func.func @on_storage_the_formats_move_along(%x: i16) -> i16 {
  %0 = numera.cast %x {format = #numera.format<float<8, 23>>,
                       operand_formats = [#numera.format<posit<16, 2>>]}
    : i16 to f32
  %1 = numera.cast %0 {format = #numera.format<float<8, 7>>,
                       operand_formats = [#numera.format<float<8, 23>>]}
    : f32 to i16
  return %1 : i16
}

// Where casts cut bits off, none of them is nothing.
!cut = !numera.num<float<8, 10, "cast.truncate-operands=3">>
// CHECK-LABEL: @a_cast_that_cuts_stays
// CHECK-COUNT-4: numera.cast
func.func @a_cast_that_cuts_stays(%x: !bf16, %y: !cut) -> (!bf16, !cut, !cut) {
  %0 = numera.cast %x : !bf16 to !cut
  %1 = numera.cast %0 : !cut to !bf16
  %2 = numera.cast %y : !cut to f32
  %3 = numera.cast %2 : f32 to !cut
  %4 = numera.cast %y : !cut to !cut
  return %1, %3, %4 : !bf16, !cut, !cut
}

// CHECK-LABEL: @a_cast_that_saturates_by_itself_stays
// CHECK-COUNT-2: numera.cast
func.func @a_cast_that_saturates_by_itself_stays(%x: !f8E5M2) -> f32 {
  %0 = numera.cast %x {overflow = #numera.overflow<saturate>} : !f8E5M2 to !bf16
  %1 = numera.cast %0 : !bf16 to f32
  return %1 : f32
}

// CHECK-LABEL: @what_padding_cuts_off_is_sliced_off
// CHECK-SAME: (%[[X:.*]]: tensor<4x8x!bf16>
// CHECK: %[[KEPT:.*]] = tensor.extract_slice %[[X]][0, 3] [3, 5] [1, 1]
// CHECK: tensor.pad %[[KEPT]] low[1, 0] high[0, 2] {
// CHECK: : tensor<3x5x!bf16> to tensor<4x7x!bf16>
func.func @what_padding_cuts_off_is_sliced_off(%x: tensor<4x8x!bf16>, %zero: !bf16) -> tensor<4x7x!bf16> {
  %0 = tensor.pad %x low[1, -3] high[-1, 2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : !bf16
  } : tensor<4x8x!bf16> to tensor<4x7x!bf16>
  return %0 : tensor<4x7x!bf16>
}

// The type stays, which MLIR takes for no padding.
// CHECK-LABEL: @padding_that_moves
// CHECK-SAME: (%[[X:.*]]: tensor<5x!bf16>
// CHECK: %[[KEPT:.*]] = tensor.extract_slice %[[X]][0] [4] [1]
// CHECK: tensor.pad %[[KEPT]] low[1] high[0] {
func.func @padding_that_moves(%x: tensor<5x!bf16>, %zero: !bf16) -> tensor<5x!bf16> {
  %0 = tensor.pad %x low[1] high[-1] {
  ^bb0(%i: index):
    tensor.yield %zero : !bf16
  } : tensor<5x!bf16> to tensor<5x!bf16>
  return %0 : tensor<5x!bf16>
}

// CHECK-LABEL: @at_run_time
// CHECK-SAME: %[[X:.*]]: tensor<?x!bf16>, %[[AMOUNT:.*]]: index
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : index
// CHECK: %[[PADDING:.*]] = arith.maxsi %[[AMOUNT]], %[[ZERO]]
// CHECK: %[[CUT:.*]] = arith.subi %[[PADDING]], %[[AMOUNT]]
// CHECK: %[[KEPT:.*]] = tensor.extract_slice %[[X]][%[[CUT]]]
// CHECK: tensor.pad %[[KEPT]] low[%[[PADDING]]] high[1]
func.func @at_run_time(%x: tensor<?x!bf16>, %amount: index, %zero: !bf16) -> tensor<?x!bf16> {
  %0 = tensor.pad %x low[%amount] high[1] {
  ^bb0(%i: index):
    tensor.yield %zero : !bf16
  } : tensor<?x!bf16> to tensor<?x!bf16>
  return %0 : tensor<?x!bf16>
}
