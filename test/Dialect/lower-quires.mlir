// SPDX-License-Identifier: MIT
// Clauses: Q7.
// RUN: numera-opt %s --numera-lower-types --numera-lower-ops --canonicalize --cse | FileCheck %s --implicit-check-not=numera.quire
// RUN: numera-opt %s --numera-lower | FileCheck %s --check-prefix=LOWER --implicit-check-not='{{ }}numera.'

#posit16 = #numera.format<posit<16, 2>>

// A reduction's sum stays in its buffer: no quire is loaded or stored.
// CHECK-LABEL: @a_sum_stays_in_place
// CHECK-SAME: (%[[SUMS:.*]]: memref<8xi256>, %[[I:.*]]: index, %[[A:.*]]: i16, %[[B:.*]]: i16)
// CHECK-NOT: memref.load
// CHECK: %[[BASE:.*]] = memref.extract_aligned_pointer_as_index %[[SUMS]]
// CHECK: %[[PLACE:.*]] = llvm.getelementptr %{{.*}}[%{{.*}}] : (!llvm.ptr, i64) -> !llvm.ptr, i256
// CHECK-NEXT: call @numera_posit_quire_mac_16(%[[PLACE]], %[[A]], %[[B]], %{{.*}}, %{{.*}})
// CHECK-NEXT: call @numera_posit_quire_sub_16(%[[PLACE]], %[[B]], %{{.*}}, %{{.*}})
// CHECK-NOT: memref.store
// CHECK: return
func.func @a_sum_stays_in_place(%sums: memref<8xi256>, %i: index, %a: i16,
                                %b: i16) {
  %0 = memref.load %sums[%i] : memref<8xi256>
  %1 = numera.quire_mac %a, %b, %0 {format = #posit16} : i16, i256
  %2 = numera.quire_sub %1, %b {format = #posit16} : i256, i16
  memref.store %2, %sums[%i] : memref<8xi256>
  return
}

// Where it goes elsewhere, or what it was is asked for, it does not.
// CHECK-LABEL: @a_sum_that_moves_goes_through_the_stack
// CHECK: %[[SLOT:.*]] = llvm.alloca %{{.*}} x i256
// CHECK: %[[Q:.*]] = memref.load
// CHECK: llvm.store %[[Q]], %[[SLOT]]
// CHECK: call @numera_posit_quire_add_16(%[[SLOT]],
// CHECK: %[[R:.*]] = llvm.load %[[SLOT]] : !llvm.ptr -> i256
// CHECK: memref.store %[[R]]
func.func @a_sum_that_moves_goes_through_the_stack(
    %sums: memref<8xi256>, %i: index, %j: index, %a: i16) {
  %0 = memref.load %sums[%i] : memref<8xi256>
  %1 = numera.quire_add %0, %a {format = #posit16} : i256, i16
  memref.store %1, %sums[%j] : memref<8xi256>
  return
}

// CHECK-LABEL: @memory_that_is_read_in_between
// CHECK: llvm.alloca
func.func @memory_that_is_read_in_between(%sums: memref<8xi256>, %i: index,
                                          %a: i16) -> i256 {
  %0 = memref.load %sums[%i] : memref<8xi256>
  %1 = numera.quire_add %0, %a {format = #posit16} : i256, i16
  %old = memref.load %sums[%i] : memref<8xi256>
  memref.store %1, %sums[%i] : memref<8xi256>
  return %old : i256
}

// CHECK-LABEL: @memory_that_is_written_in_between
// CHECK: llvm.alloca
func.func @memory_that_is_written_in_between(%sums: memref<8xi256>, %i: index,
                                             %a: i16, %q: i256) {
  %0 = memref.load %sums[%i] : memref<8xi256>
  memref.store %q, %sums[%i] : memref<8xi256>
  %1 = numera.quire_add %0, %a {format = #posit16} : i256, i16
  memref.store %1, %sums[%i] : memref<8xi256>
  return
}

// The slot of a loop is its function's.
// CHECK-LABEL: @a_slot_is_made_once
// CHECK: llvm.alloca
// CHECK: scf.for
// CHECK-NOT: llvm.alloca
func.func @a_slot_is_made_once(%n: index, %a: i16, %start: i256) -> i256 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%q = %start) -> i256 {
    %1 = numera.quire_mac %a, %a, %q {format = #posit16} : i16, i256
    scf.yield %1 : i256
  }
  return %0 : i256
}

// CHECK-LABEL: @what_is_read_is_read_where_it_is
// CHECK-SAME: (%[[X:.*]]: memref<i256>, %[[Y:.*]]: memref<i256>)
// CHECK-NOT: memref.load
// CHECK-NOT: llvm.alloca
// CHECK: call @numera_posit_quire_merge_16(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : (!llvm.ptr, !llvm.ptr, i32, i32) -> ()
// CHECK: %[[CODE:.*]] = call @numera_posit_quire_round_16(%{{.*}}) : (!llvm.ptr, i32, i32, i32, i32) -> i16
// CHECK: return %[[CODE]]
func.func @what_is_read_is_read_where_it_is(%x: memref<i256>, %y: memref<i256>)
    -> i16 {
  %0 = memref.load %x[] : memref<i256>
  %1 = memref.load %y[] : memref<i256>
  %2 = numera.quire_merge %0, %1 {format = #posit16} : i256
  memref.store %2, %x[] : memref<i256>
  %3 = memref.load %x[] : memref<i256>
  %4 = numera.quire_round %3 {format = #posit16} : i256 to i16
  return %4 : i16
}

// Another format's code comes through the unpacked value.
// CHECK-LABEL: @rounding_to_another_format
// CHECK: %[[VALUE:.*]] = call @numera_posit_quire_unpack_16(%{{.*}}) : (!llvm.ptr, i32, i32) -> i128
// CHECK: call @numera_float_pack_32(%[[VALUE]],
func.func @rounding_to_another_format(%q: i256) -> f32 {
  %0 = numera.quire_round %q {format = #posit16, result_format = #numera.format<float<8, 23>>} : i256 to f32
  return %0 : f32
}

// LOWER-LABEL: @values_are_lowered_in_one_step
// LOWER: call @numera_float_quire_mac_8(
// LOWER: call @numera_float_quire_round_8(
func.func @values_are_lowered_in_one_step(
    %a: !numera.num<float<4, 3, fn>>, %q: !numera.quire<float<4, 3, fn>>)
    -> !numera.num<float<4, 3, fn>> {
  %0 = numera.quire_mac %a, %a, %q : !numera.num<float<4, 3, fn>>, !numera.quire<float<4, 3, fn>>
  %1 = numera.quire_round %0 : !numera.quire<float<4, 3, fn>> to !numera.num<float<4, 3, fn>>
  return %1 : !numera.num<float<4, 3, fn>>
}
