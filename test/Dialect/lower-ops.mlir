// SPDX-License-Identifier: MIT
// RUN: numera-opt %s --numera-lower-ops='target=cpu' --formats=%S/Inputs/library.yaml | FileCheck %s --implicit-check-not='numera.'

// clang's callee takes the upper bits of a narrow argument to be zero.
// CHECK-DAG: func.func private @numera_posit_add_8(i8 {llvm.zeroext}, i8 {llvm.zeroext}, i32, i32, i32, i32) -> (i8 {llvm.zeroext})
// CHECK-DAG: func.func private @numera_posit_add_32(i32, i32, i32, i32, i32, i32) -> i32
// CHECK-DAG: func.func private @mybf16_to_f32(i16 {llvm.zeroext}) -> f32
// CHECK-DAG: func.func private @numera_posit_unpack_16(i16 {llvm.zeroext}, i32, i32) -> i128

#posit8 = #numera.format<posit<8, 2>>
#posit16 = #numera.format<posit<16, 2>>
#posit32 = #numera.format<posit<32, 2>>
#f8 = #numera.format<float<4, 3, fn>>
#bf16 = #numera.format<float<8, 7>>
#f32 = #numera.format<float<8, 23>>
#mybf16 = #numera.format<opaque<"mybf16", 16>>
#byte12 = #numera.format<opaque<"byte12", 12>>

// Bits, es, the rounding and no random bits.
// CHECK-LABEL: @parameters_and_rounding_follow_as_constants
// CHECK-DAG: %[[BITS:.*]] = arith.constant 8 : i32
// CHECK-DAG: %[[ES:.*]] = arith.constant 2 : i32
// CHECK-DAG: %[[UP:.*]] = arith.constant 4 : i32
// CHECK-DAG: %[[NONE:.*]] = arith.constant 0 : i32
// CHECK: call @numera_posit_add_8(%{{.*}}, %{{.*}}, %[[BITS]], %[[ES]], %[[UP]], %[[NONE]]) : (i8, i8, i32, i32, i32, i32) -> i8
func.func @parameters_and_rounding_follow_as_constants(%x: i8) -> i8 {
  %0 = numera.add %x, %x {format = #posit8, rounding = #numera.rounding<up>} : i8
  return %0 : i8
}

// CHECK-LABEL: @the_width_of_the_storage_chooses_the_entry
// CHECK: call @numera_posit_add_32
func.func @the_width_of_the_storage_chooses_the_entry(%x: i32) -> i32 {
  %0 = numera.add %x, %x {format = #posit32} : i32
  return %0 : i32
}

// CHECK-LABEL: @what_is_exact_takes_no_rounding
// CHECK: call @numera_posit_neg_16(%{{.*}}, %{{.*}}, %{{.*}}) : (i16, i32, i32) -> i16
// CHECK: call @numera_posit_max_16(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : (i16, i16, i32, i32) -> i16
func.func @what_is_exact_takes_no_rounding(%x: i16) -> i16 {
  %0 = numera.neg %x {format = #posit16} : i16
  %1 = numera.max %0, %x {format = #posit16} : i16
  return %1 : i16
}

// Less is 4 and Unordered 8 (Numerics/Exact/Compare.h).
// CHECK-LABEL: @a_predicate_is_a_set_of_relations
// CHECK: %[[SET:.*]] = arith.constant 12 : i32
// CHECK: %[[C:.*]] = call @numera_posit_cmp_16(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[SET]]) : (i16, i16, i32, i32, i32) -> i8
// CHECK: arith.cmpi ne, %[[C]], %{{.*}} : i8
func.func @a_predicate_is_a_set_of_relations(%x: i16, %y: i16) -> i1 {
  %0 = numera.cmp ult, %x, %y {format = #posit16} : i16
  return %0 : i1
}

// CHECK-LABEL: @machine_numbers_go_in_as_their_bits
// CHECK: %[[B:.*]] = arith.bitcast %{{.*}} : f32 to i32
// CHECK: %[[E:.*]] = call @numera_float_exp_32(%[[B]],
// CHECK: arith.bitcast %[[E]] : i32 to f32
func.func @machine_numbers_go_in_as_their_bits(%x: f32) -> f32 {
  %0 = numera.exp %x : f32
  return %0 : f32
}

// CHECK-LABEL: @a_cast_goes_through_a_carrier_that_holds_the_operand
// CHECK: %[[F32:.*]] = call @numera_posit_decode_f32_16({{.*}}) : (i16, i32, i32) -> f32
// CHECK: call @numera_float_encode_f32_16(%[[F32]],
// CHECK: %[[F64:.*]] = call @numera_posit_decode_f64_32({{.*}}) : (i32, i32, i32) -> f64
// CHECK: call @numera_posit_encode_f64_16(%[[F64]],
func.func @a_cast_goes_through_a_carrier_that_holds_the_operand(
    %x: i16, %y: i32) -> (i16, i16) {
  %0 = numera.cast %x {format = #bf16, operand_formats = [#posit16]} : i16 to i16
  %1 = numera.cast %y {format = #posit16, operand_formats = [#posit32]}
    : i32 to i16
  return %0, %1 : i16, i16
}

// posit64 has more bits than f64.
// CHECK-LABEL: @a_cast_without_a_carrier_is_unpacked
// CHECK: %[[U:.*]] = call @numera_posit_unpack_64({{.*}}) : (i64, i32, i32) -> i128
// CHECK: call @numera_posit_pack_32(%[[U]], {{.*}}) : (i128, i32, i32, i32, i32) -> i32
func.func @a_cast_without_a_carrier_is_unpacked(%x: i64) -> i32 {
  %0 = numera.cast %x {format = #posit32,
                       operand_formats = [#numera.format<posit<64, 2>>]}
    : i64 to i32
  return %0 : i32
}

// To f32 a family may be quicker than that.
// CHECK-LABEL: @a_cast_to_f32_is_a_call
// CHECK: %[[F32:.*]] = call @numera_lns_decode_f32_32(%{{.*}}, {{.*}}) : (i32, i32, i32) -> f32
// CHECK: return %[[F32]]
func.func @a_cast_to_f32_is_a_call(%x: i32) -> f32 {
  %0 = numera.cast %x {format = #f32,
                       operand_formats = [#numera.format<lns<4, 11>>]}
    : i32 to f32
  return %0 : f32
}

// Rounded in another way, it is unpacked.
// CHECK-LABEL: @a_directed_cast_to_f32_is_unpacked
// CHECK: call @numera_lns_unpack_32
// CHECK: call @numera_float_pack_32
func.func @a_directed_cast_to_f32_is_unpacked(%x: i32) -> f32 {
  %0 = numera.cast %x {format = #f32, rounding = #numera.rounding<up>,
                       operand_formats = [#numera.format<lns<4, 11>>]}
    : i32 to f32
  return %0 : f32
}

// CHECK-LABEL: @integers_go_through_64_bits
// CHECK: %[[W:.*]] = arith.extui %{{.*}} : i8 to i64
// CHECK: %[[P:.*]] = call @numera_posit_from_u64_16(%[[W]],
// CHECK: %[[I:.*]] = call @numera_posit_to_integer_16(%[[P]], {{.*}}) : (i16, i32, i32, i32, i32) -> i64
// CHECK: arith.trunci %[[I]] : i64 to i8
func.func @integers_go_through_64_bits(%x: i8) -> i8 {
  %0 = numera.cast unsigned %x {format = #posit16, operand_formats = [i8]}
    : i8 to i16
  %1 = numera.cast %0 {format = i8, operand_formats = [#posit16]} : i16 to i8
  return %1 : i8
}

// CHECK-LABEL: @operands_that_embed_are_widened
// CHECK-COUNT-2: call @numera_float_decode_f32_8
// CHECK: %[[F:.*]] = call @numera_float_fma_32
// CHECK: arith.bitcast %[[F]] : i32 to f32
func.func @operands_that_embed_are_widened(%x: i8, %z: f32) -> f32 {
  %0 = numera.fma %x, %x, %z {format = #f32, operand_formats = [#f8, #f8, #f32]}
    : (i8, i8, f32) -> f32
  return %0 : f32
}

// CHECK-LABEL: @other_mixed_operands_are_unpacked
// CHECK: %[[X:.*]] = call @numera_posit_unpack_16
// CHECK: %[[Y:.*]] = call @numera_float_unpack_16
// CHECK: %[[S:.*]] = call @numera_exact_add_128(%[[X]], %[[Y]], %{{.*}}) : (i128, i128, i32) -> i128
// CHECK: call @numera_posit_pack_8(%[[S]],
func.func @other_mixed_operands_are_unpacked(%x: i16, %y: i16) -> i8 {
  %0 = numera.add %x, %y {format = #posit8, operand_formats = [#posit16, #bf16]}
    : (i16, i16) -> i8
  return %0 : i8
}

// A step in f32 is the machine's; its NaN is made canonical by the cast behind
// the contraction.
// CHECK-LABEL: @a_step_in_f32_is_an_instruction
// CHECK: math.fma %{{.*}}, %{{.*}}, %{{.*}} : f32
func.func @a_step_in_f32_is_an_instruction(%x: f32) -> f32 {
  %0 = numera.mac %x, %x, %x : f32
  return %0 : f32
}

// CHECK-LABEL: @a_product_that_is_rounded_first_is_two_calls
// CHECK: %[[P:.*]] = call @numera_posit_mul_8
// CHECK: call @numera_posit_add_8(%{{.*}}, %[[P]],
func.func @a_product_that_is_rounded_first_is_two_calls(%x: i8) -> i8 {
  %0 = numera.mac %x, %x, %x {format = #posit8, product = #posit8} : i8
  return %0 : i8
}

// CHECK-LABEL: @a_vector_operation_is_one_call
// CHECK: call @_ZGV_LLVM_N4vuu_numera_posit_neg_8(%{{.*}}, %{{.*}}, %{{.*}}) :
// CHECK-SAME: (vector<4xi8>, i32, i32) -> vector<4xi8>
func.func @a_vector_operation_is_one_call(%x: vector<4xi8>) -> vector<4xi8> {
  %0 = numera.neg %x {format = #posit8} : vector<4xi8>
  return %0 : vector<4xi8>
}

// CHECK-LABEL: @it_has_one_dimension
// CHECK: %[[X:.*]] = vector.shape_cast %{{.*}} : vector<2x4xi8> to vector<8xi8>
// CHECK: %[[R:.*]] = call @_ZGV_LLVM_N8vuu_numera_posit_neg_8(%[[X]],
// CHECK: vector.shape_cast %[[R]] : vector<8xi8> to vector<2x4xi8>
func.func @it_has_one_dimension(%x: vector<2x4xi8>) -> vector<2x4xi8> {
  %0 = numera.neg %x {format = #posit8} : vector<2x4xi8>
  return %0 : vector<2x4xi8>
}

// CHECK-LABEL: @comparisons_of_vectors_give_vectors_of_i1
// CHECK: %[[R:.*]] = call @_ZGV_LLVM_N4vv{{u+}}_numera_posit_cmp_8
// CHECK: %[[ZERO:.*]] = arith.constant dense<0> : vector<4xi8>
// CHECK: arith.cmpi ne, %[[R]], %[[ZERO]] : vector<4xi8>
func.func @comparisons_of_vectors_give_vectors_of_i1(%x: vector<4xi8>)
    -> vector<4xi1> {
  %0 = numera.cmp olt, %x, %x {format = #posit8} : vector<4xi8>
  return %0 : vector<4xi1>
}

// CHECK-LABEL: @vectors_go_through_a_carrier
// CHECK: %[[F:.*]] = call @_ZGV_LLVM_N4v{{u+}}_numera_posit_decode_f32_8
// CHECK-SAME: -> vector<4xf32>
// CHECK: call @_ZGV_LLVM_N4v{{u+}}_numera_posit_encode_f32_16(%[[F]],
func.func @vectors_go_through_a_carrier(%x: vector<4xi8>) -> vector<4xi16> {
  %0 = numera.cast %x {format = #posit16, operand_formats = [#posit8]} : vector<4xi8> to vector<4xi16>
  return %0 : vector<4xi16>
}

// CHECK-LABEL: @random_bits_are_one_a_lane
// CHECK: call @_ZGV_LLVM_N4vv{{u+}}v_numera_posit_add_8
func.func @random_bits_are_one_a_lane(%x: vector<4xi8>, %r: vector<4xi32>)
    -> vector<4xi8> {
  %0 = numera.add %x, %x random %r
      {format = #posit8, rounding = #numera.rounding<stochastic>} : vector<4xi8>
  return %0 : vector<4xi8>
}

// CHECK-LABEL: @registered_functions_have_vector_forms
// CHECK: %[[R:.*]] = call @_ZGV_LLVM_N4vv_byte12_add
// CHECK: %[[MASK:.*]] = arith.constant dense<4095> : vector<4xi16>
// CHECK: arith.andi %[[R]], %[[MASK]] : vector<4xi16>
func.func @registered_functions_have_vector_forms(%x: vector<4xi16>)
    -> vector<4xi16> {
  %0 = numera.add %x, %x {format = #byte12} : vector<4xi16>
  return %0 : vector<4xi16>
}

// CHECK-LABEL: @a_registered_function_goes_before_the_family
// CHECK: call @faster_mul(%{{.*}}, %{{.*}}) : (i16, i16) -> i16
func.func @a_registered_function_goes_before_the_family(%x: i16) -> i16 {
  %0 = numera.mul %x, %x {format = #posit16} : i16
  return %0 : i16
}

// CHECK-LABEL: @it_is_for_the_rounding_of_the_format
// CHECK: call @numera_posit_mul_16
func.func @it_is_for_the_rounding_of_the_format(%x: i16) -> i16 {
  %0 = numera.mul %x, %x {format = #posit16, rounding = #numera.rounding<down>} : i16
  return %0 : i16
}

// CHECK-LABEL: @an_exact_target_goes_before_any
// CHECK: call @mybf16_add_cpu
func.func @an_exact_target_goes_before_any(%x: i16) -> i16 {
  %0 = numera.add %x, %x {format = #mybf16} : i16
  return %0 : i16
}

// CHECK-LABEL: @what_a_library_returns_is_cut_to_the_width
// CHECK: %[[R:.*]] = call @byte12_add
// CHECK: %[[MASK:.*]] = arith.constant 4095 : i16
// CHECK: arith.andi %[[R]], %[[MASK]] : i16
// CHECK: %[[T:.*]] = call @byte12_isnan({{.*}}) : (i16) -> i8
// CHECK: arith.cmpi ne, %[[T]], %{{.*}} : i8
func.func @what_a_library_returns_is_cut_to_the_width(%x: i16) -> i1 {
  %0 = numera.add %x, %x {format = #byte12} : i16
  %1 = numera.isnan %0 {format = #byte12} : i16
  return %1 : i1
}

// CHECK-LABEL: @a_library_casts_from_and_to_integers
// CHECK: call @byte12_from_u16(%{{.*}}) : (i16) -> i16
// CHECK: call @byte12_to_i64(%{{.*}}) : (i16) -> i64
func.func @a_library_casts_from_and_to_integers(%x: i16) -> i64 {
  %0 = numera.cast unsigned %x {format = #byte12, operand_formats = [i16]}
    : i16 to i16
  %1 = numera.cast %0 {format = i64, operand_formats = [#byte12]} : i16 to i64
  return %1 : i64
}

// CHECK-LABEL: @a_mixed_function_serves_the_step
// CHECK: call @mybf16_step(%{{.*}}, %{{.*}}, %{{.*}}) : (i16, i16, f32) -> f32
func.func @a_mixed_function_serves_the_step(%x: i16, %z: f32) -> f32 {
  %0 = numera.mac %x, %x, %z {format = #f32,
                              operand_formats = [#mybf16, #mybf16, #f32]}
    : (i16, i16, f32) -> f32
  return %0 : f32
}

// Without one, the library's cast to f32 is the meaning of its values.
// CHECK-LABEL: @an_opaque_operand_is_cast_to_f32
// CHECK: %[[X:.*]] = call @mybf16_to_f32
// CHECK: arith.addf
func.func @an_opaque_operand_is_cast_to_f32(%x: i16, %z: f32) -> f32 {
  %0 = numera.mac %x, %x, %z {format = #f32, product = #f32,
                              operand_formats = [#mybf16, #mybf16, #f32]}
    : (i16, i16, f32) -> f32
  return %0 : f32
}
