// SPDX-License-Identifier: MIT
// RUN: numera-opt --formats=%S/Inputs/rounding.yaml %s --numera-promote-to-carrier | FileCheck %s
// RUN: numera-opt --formats=%S/Inputs/rounding.yaml %s --numera-promote-to-carrier=target=nvptx | FileCheck %s --check-prefix=NVPTX
// RUN: numera-opt --formats=%S/Inputs/rounding.yaml %s --numera-promote-to-carrier --numera-lower-ops | FileCheck %s --check-prefix=CALLS
// RUN: not numera-opt --formats=%S/Inputs/rounding.yaml %s --numera-promote-to-carrier=target=gpu 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: error: unknown target 'gpu'; expected cpu or nvptx

#own = #numera.format<opaque<"own", 16>>
#twice = #numera.format<opaque<"twice", 16>>
#back = #numera.format<opaque<"back", 16>>

// CHECK-LABEL: @a_rounding_names_its_operations
// CHECK: %[[X:.*]] = numera.decode %arg0 {format = #[[F:.*]]} : i16 to f32
// CHECK: %[[P:.*]] = arith.mulf
// CHECK: %[[R:.*]] = numera.round_to %[[P]] {format = #[[F]]} : f32
// CHECK: arith.addf %[[R]]
// CHECK: numera.encode %{{.*}} {format = #[[F]], rounding = #numera.rounding<"nearest-even">} : f32 to i16

// It is registered for the CPU, where alone its promise holds.
// NVPTX-LABEL: @a_rounding_names_its_operations
// NVPTX: numera.mul
// NVPTX: numera.add

// CALLS-LABEL: @a_rounding_names_its_operations
// CALLS: call @own_to
// CALLS: call @own_to
// CALLS: arith.mulf
// CALLS-NEXT: call @own_round
// CALLS: arith.addf
// CALLS-NEXT: call @own_from
// CALLS-NEXT: return
func.func @a_rounding_names_its_operations(%a: i16, %b: i16) -> i16 {
  %0 = numera.mul %a, %b {format = #own} : i16
  %1 = numera.add %0, %b {format = #own} : i16
  return %1 : i16
}

// CHECK-LABEL: @another_function_stays
// CHECK: numera.div
// CHECK: numera.div
func.func @another_function_stays(%a: i16, %b: i16) -> i16 {
  %0 = numera.div %a, %b {format = #own} : i16
  %1 = numera.div %0, %b {format = #own} : i16
  return %1 : i16
}

// Nothing else is registered: without a round_to it is the casts there and back.
// CHECK-LABEL: @casts_round
// CHECK: arith.negf
// CHECK: numera.round_to
// CHECK: arith.maximumf
// CHECK: numera.encode
// CALLS-LABEL: @casts_round
// CALLS: arith.negf
// CALLS: %[[NAN:.*]] = arith.constant 0x7FC00000 : f32
// CALLS: %[[IS:.*]] = arith.cmpf uno
// CALLS: arith.select %[[IS]], %[[NAN]]
// CALLS: call @twice_from
// CALLS: call @twice_to
// CALLS: arith.maximumf
// CALLS: call @twice_from
func.func @casts_round(%a: i16, %b: i16) -> i16 {
  %0 = numera.neg %a {format = #twice} : i16
  %1 = numera.max %0, %b {format = #twice} : i16
  %2 = numera.add %1, %b {format = #twice} : i16
  return %2 : i16
}

// A fallback's cast may round: its values do not stay.
// CHECK-LABEL: @a_fallback_is_no_carrier
// CHECK: numera.add
// CHECK: numera.add
func.func @a_fallback_is_no_carrier(%a: i16, %b: i16) -> i16 {
  %0 = numera.add %a, %b {format = #back} : i16
  %1 = numera.add %0, %b {format = #back} : i16
  return %1 : i16
}
