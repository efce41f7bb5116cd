// SPDX-License-Identifier: MIT
// RUN: numera-opt --formats=%S/Inputs/accumulator.yaml %s --numera-lower-types | FileCheck %s --check-prefix=TYPES
// RUN: numera-opt --formats=%S/Inputs/accumulator.yaml %s --numera-lower | FileCheck %s
// RUN: not numera-opt --formats=%S/Inputs/accumulator.yaml %S/Inputs/accumulator-none.mlir 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not numera-opt --formats=%S/Inputs/accumulator.yaml %S/Inputs/accumulator-merge.mlir --numera-lower 2>&1 | FileCheck %s --check-prefix=MERGE

!begun = !numera.num<opaque<"begun", 16>>
!sum = !numera.quire<opaque<"begun", 16>>
!zeros = !numera.num<opaque<"zeros", 8>>
!sum8 = !numera.quire<opaque<"zeros", 8>>

// Three words take the place of four: so far apart they lie in memory.
// TYPES-LABEL: @a_sum_is_begun_by_its_library
// TYPES: numera.quire_zero {format = #numera.format<opaque<"begun", 16>>} : i256
// CHECK-LABEL: @a_sum_is_begun_by_its_library
// CHECK: call @begin(%[[SLOT:.*]]) : (!llvm.ptr) -> ()
// CHECK: call @multiply(%{{.*}}, %arg0, %arg1) : (!llvm.ptr, i16, i16) -> ()
// CHECK: %[[CODE:.*]] = call @finish(%{{.*}}) : (!llvm.ptr) -> i16
// CHECK: return %[[CODE]]
func.func @a_sum_is_begun_by_its_library(%a: !begun, %b: !begun) -> !begun {
  %0 = numera.quire_zero : !sum
  %1 = numera.quire_mac %a, %b, %0 : !begun, !sum
  %2 = numera.quire_round %1 : !sum to !begun
  return %2 : !begun
}

// TYPES-LABEL: @a_sum_of_zeros
// TYPES: arith.constant 0 : i64
// CHECK-LABEL: @a_sum_of_zeros
// CHECK: call @zeros_add
// CHECK: call @zeros_round
func.func @a_sum_of_zeros(%a: !zeros) -> !zeros {
  %0 = numera.quire_zero : !sum8
  %1 = numera.quire_add %0, %a : !sum8, !zeros
  %2 = numera.quire_round %1 : !sum8 to !zeros
  return %2 : !zeros
}

// NONE: accumulator-none.mlir:3:{{[0-9]+}}: error: format 'none' has no quire: expected 'accumulator: {storage: BYTES, mac: SYMBOL, round: SYMBOL}' in its entry
// MERGE: error: 'numera.quire_neg' is no part of the accumulator of format 'zeros', expected quire_mac, quire_add or quire_round
