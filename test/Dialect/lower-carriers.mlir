// SPDX-License-Identifier: MIT
// What an opaque format has no function for is computed in its carrier.
// RUN: numera-opt %s --formats=%S/Inputs/carrier.yaml --numera-lower='target=cpu' --split-input-file --verify-diagnostics | FileCheck %s

!carried = !numera.num<opaque<"carried", 12>>
!f8 = !numera.num<float<4, 3, fn>>

// CHECK-LABEL: @sum_is_decoded_added_encoded
// CHECK: %[[X:.*]] = call @decode(%arg0) : (i16) -> f32
// CHECK: %[[Y:.*]] = call @decode(%arg1) : (i16) -> f32
// CHECK: call @numera_float_add_32(
// CHECK: %[[SUM:.*]] = arith.bitcast %{{.*}} : i32 to f32
// CHECK: %[[CODE:.*]] = call @encode(%[[SUM]]) : (f32) -> i16
// CHECK: arith.andi %[[CODE]], %c4095_i16
func.func @sum_is_decoded_added_encoded(%x: !carried, %y: !carried) -> !carried {
  %r = numera.add %x, %y : !carried
  return %r : !carried
}

// CHECK-LABEL: @a_registered_function_goes_first
// CHECK: call @negate(%arg0) : (i16) -> i16
// CHECK-NOT: @decode
func.func @a_registered_function_goes_first(%x: !carried) -> !carried {
  %r = numera.neg %x : !carried
  return %r : !carried
}

// CHECK-LABEL: @comparison_stays_in_the_carrier
// CHECK-COUNT-2: call @decode
// CHECK: call @numera_float_cmp_32
// CHECK-NOT: @encode
// CHECK: return
func.func @comparison_stays_in_the_carrier(%x: !carried, %y: !carried) -> i1 {
  %r = numera.cmp olt, %x, %y : !carried
  return %r : i1
}

// Each operation of the step rounds to the format.
// CHECK-LABEL: @step
// CHECK-COUNT-2: call @decode
// CHECK: call @encode
// CHECK-COUNT-2: call @decode
// CHECK: call @encode
func.func @step(%x: !carried, %y: !carried, %acc: !carried) -> !carried {
  %r = numera.mac %x, %y, %acc {product = #numera.format<opaque<"carried", 12>>} : !carried
  return %r : !carried
}

// CHECK-LABEL: @casts
// CHECK: call @decode(%arg0)
// CHECK: call @numera_float_encode_f32_8(
// CHECK: call @numera_float_decode_f32_8(
// CHECK: call @encode(
// CHECK: call @decode(%arg0)
// CHECK: call @numera_float_to_integer_32(
// CHECK: call @numera_float_from_i64_32(
// CHECK: call @encode(
func.func @casts(%x: !carried, %y: !f8, %n: i16) -> (!f8, !carried, i32, !carried) {
  %0 = numera.cast %x : !carried to !f8
  %1 = numera.cast %y : !f8 to !carried
  %2 = numera.cast %x : !carried to i32
  %3 = numera.cast %n : i16 to !carried
  return %0, %1, %2, %3 : !f8, !carried, i32, !carried
}

// -----

// Without a carrier nothing is done in another type.
!alone = !numera.num<opaque<"alone", 12>>
func.func @f(%x: !alone) -> !alone {
  // expected-error @+1 {{no lowering for 'sqrt' in format 'alone' on target 'cpu'}}
  %r = numera.sqrt %x : !alone
  return %r : !alone
}

// -----

// An i32 has more bits than f32 holds: two roundings that nobody asked for.
!carried = !numera.num<opaque<"carried", 12>>
func.func @f(%x: i32) -> !carried {
  // expected-error @+1 {{no lowering for 'cast' from 'i32' to 'carried' on target 'cpu'}}
  %r = numera.cast %x : i32 to !carried
  return %r : !carried
}

// -----

// The casts themselves must be registered.
!wider = !numera.num<opaque<"wider", 16>>
func.func @f(%x: !wider) -> !wider {
  // expected-error @+1 {{no lowering for 'cast' from 'wider' to 'f64' on target 'cpu'}}
  %r = numera.sqrt %x : !wider
  return %r : !wider
}

// -----

// f64 holds values that f32 does not.
!carried = !numera.num<opaque<"carried", 12>>
func.func @f(%x: f64) -> !carried {
  // expected-error @+1 {{no lowering for 'cast' from 'f64' to 'carried' on target 'cpu'}}
  %r = numera.cast %x : f64 to !carried
  return %r : !carried
}
