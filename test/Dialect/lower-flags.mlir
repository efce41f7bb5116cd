// SPDX-License-Identifier: MIT
// RUN: numera-opt %s --numera-lower-ops=target=cpu | FileCheck %s
// RUN: numera-opt %s --numera-lower-ops=target=nvptx | FileCheck %s --check-prefix=GPU

// On a CPU, the status flags of operations of one kind are a function of
// scalars, of which loops call the vector form (lib/Target/Vectorize). The
// constant has it specialised. A zero that comes from a zero is not near an end.

// CHECK-LABEL: func.func private @numera_flags_mul_1(
// CHECK-SAME: %[[X:[^ ]*]]: i8 {{[^,]*}}, %[[Y:[^ ]*]]: i8 {{[^,]*}}, %[[Z:[^ ]*]]: i8 {{[^,]*}}, %{{[^ ]*}}: i32) -> (i8
// CHECK: call @numera_float_extreme_8(%[[Z]],
// CHECK: arith.cmpi eq
// CHECK: arith.cmpi eq
// CHECK: arith.ori
// CHECK: arith.cmpi eq
// CHECK: scf.if
// CHECK: func.call @numera_exact_mul_128
// CHECK-LABEL: @two_products
// CHECK: call @numera_flags_mul_1(%{{.*}}, %{{.*}}, %{{.*}}, %c0_i32{{.*}}) : (i8, i8, i8, i32) -> i8
// CHECK: call @numera_flags_mul_1(
// CHECK-NOT: scf.if
// GPU-NOT: @numera_flags
// GPU-LABEL: @two_products
// GPU-COUNT-2: scf.if
func.func @two_products(%x: i8, %y: i8, %z: i8) -> (i8, i8) {
  %a = numera.status_flags "mul"(%x, %y) gives %z {format = #numera.format<float<4, 3, fn>>, operand_formats = [#numera.format<float<4, 3, fn>>, #numera.format<float<4, 3, fn>>], rounding = #numera.rounding<"nearest-even">} : (i8, i8, i8) -> i8
  %b = numera.status_flags "mul"(%y, %z) gives %x {format = #numera.format<float<4, 3, fn>>, operand_formats = [#numera.format<float<4, 3, fn>>, #numera.format<float<4, 3, fn>>], rounding = #numera.rounding<"nearest-even">} : (i8, i8, i8) -> i8
  return %a, %b : i8, i8
}
