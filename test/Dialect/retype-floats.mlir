// SPDX-License-Identifier: MIT
// Clauses: V8 V10 V11
// RUN: numera-opt %s --numera-retype=to=posit16 | FileCheck %s
// RUN: numera-opt %s --numera-retype='to=posit16 replace=f32,bf16' | FileCheck %s --check-prefix=BOTH
// RUN: numera-opt %s --numera-retype='to=f8E5M2 replace=bf16 output-as=storage' | FileCheck %s --check-prefix=ONE

// CHECK-DAG: ![[P:posit16]] = !numera.num<posit<16, 2>>
// CHECK-DAG: ![[B:bf16]] = !numera.num<float<8, 7>>

// Numbers of a type that is not replaced are in the format of its name.
// CHECK-LABEL: func.func @each_type_has_its_format(
// CHECK-SAME: %[[X:.*]]: tensor<4x!bf16> {numera.dtype = bf16}) -> (tensor<4x!bf16> {numera.dtype = bf16})
// CHECK-NEXT: %[[C:.*]] = numera.constant codes dense<[16256, 16384, 32640, 16128]> : tensor<4xi16> as tensor<4x!bf16>
// CHECK-NEXT: %[[S:.*]] = numera.add %[[X]], %[[C]] : tensor<4x!bf16>
// CHECK-NEXT: %[[W:.*]] = numera.cast %[[S]] : tensor<4x!bf16> to tensor<4x!posit16>
// CHECK-NEXT: %[[E:.*]] = numera.exp %[[W]] : tensor<4x!posit16>
// CHECK-NEXT: %[[R:.*]] = numera.cast %[[E]] : tensor<4x!posit16> to tensor<4x!bf16>
// CHECK-NEXT: return %[[R]]

// Conversions between types that are replaced are nothing.
// BOTH-LABEL: func.func @each_type_has_its_format(
// BOTH-NEXT: %[[X:.*]] = numera.cast %{{.*}} : tensor<4x!bf16> to tensor<4x!posit16>
// BOTH: %[[S:.*]] = numera.add %[[X]], %{{.*}} : tensor<4x!posit16>
// BOTH-NEXT: %[[E:.*]] = numera.exp %[[S]]
// BOTH-NEXT: %[[R:.*]] = numera.cast %[[E]] : tensor<4x!posit16> to tensor<4x!bf16>

// f32 is f32 then, and results are codes of the format.
// ONE-LABEL: func.func @each_type_has_its_format(
// ONE-SAME: tensor<4x!bf16> {numera.dtype = bf16}) -> tensor<4x!f8E5M2> {
// ONE: numera.exp %{{.*}} : tensor<4xf32>
// ONE-NEXT: %[[R:.*]] = numera.cast %{{.*}} : tensor<4xf32> to tensor<4x!f8E5M2>
// ONE-NEXT: return %[[R]]
func.func @each_type_has_its_format(%x: tensor<4xbf16>) -> tensor<4xbf16> {
  %c = arith.constant dense<[1.0, 2.0, 0x7f80, 0.5]> : tensor<4xbf16>
  %0 = arith.addf %x, %c : tensor<4xbf16>
  %1 = arith.extf %0 : tensor<4xbf16> to tensor<4xf32>
  %2 = math.exp %1 : tensor<4xf32>
  %3 = arith.truncf %2 : tensor<4xf32> to tensor<4xbf16>
  return %3 : tensor<4xbf16>
}

// A constant of f64 is rounded once: 1 + 2^-11 + 2^-30 is no tie.
// CHECK-LABEL: func.func @constants_are_rounded_once
// CHECK-SAME: -> f64
// CHECK: arith.constant 1.0004882821813226 : f64
// BOTH-LABEL: func.func @constants_are_rounded_once
func.func @constants_are_rounded_once() -> f64 {
  %c = arith.constant 1.0004882821813226 : f64
  return %c : f64
}

// What is kept accumulates as a model in that format does.
// CHECK-LABEL: func.func @contractions_of_what_is_kept
// CHECK: numera.mac %{{.*}}, %{{.*}}, %{{.*}} : (!bf16, !bf16, f32) -> f32
// CHECK: numera.cast %{{.*}} : tensor<2x2xf32> to tensor<2x2x!bf16>
// CHECK: numera.mac %{{.*}}, %{{.*}}, %{{.*}} : f64
// BOTH-LABEL: func.func @contractions_of_what_is_kept
// BOTH: numera.mac %{{.*}}, %{{.*}}, %{{.*}} : (!posit16, !posit16, f32) -> f32
func.func @contractions_of_what_is_kept(%a: tensor<2x2xbf16>, %b: tensor<2x2xf64>) -> (tensor<2x2xbf16>, tensor<2x2xf64>) {
  %0 = linalg.matmul ins(%a, %a : tensor<2x2xbf16>, tensor<2x2xbf16>) outs(%a : tensor<2x2xbf16>) -> tensor<2x2xbf16>
  %1 = linalg.matmul ins(%b, %b : tensor<2x2xf64>, tensor<2x2xf64>) outs(%b : tensor<2x2xf64>) -> tensor<2x2xf64>
  return %0, %1 : tensor<2x2xbf16>, tensor<2x2xf64>
}

// A product of bf16 in f32 multiplies what it reads, where the cast is exact.
// CHECK-LABEL: func.func @products_of_two_types
// CHECK: numera.mac %{{.*}}, %{{.*}}, %{{.*}} : (!posit16, !posit16, f32) -> f32
// ONE-LABEL: func.func @products_of_two_types
// ONE: numera.mac %{{.*}}, %{{.*}}, %{{.*}} : (!f8E5M2, !f8E5M2, f32) -> f32
func.func @products_of_two_types(%a: tensor<2x2xbf16>, %c: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = linalg.matmul ins(%a, %a : tensor<2x2xbf16>, tensor<2x2xbf16>) outs(%c : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// Memory and other functions have the numbers of the model.
// CHECK-LABEL: func.func private @callee(%{{.*}}: !bf16, %{{.*}}: memref<2x!bf16>) -> !bf16
// CHECK: memref.load %{{.*}} : memref<2x!bf16>
// CHECK: func.func @calls_and_memory(%{{.*}}: !bf16 {numera.dtype = bf16}, %{{.*}}: memref<2x!bf16> {numera.dtype = bf16})
// CHECK: call @callee(%{{.*}}, %{{.*}}) : (!bf16, memref<2x!bf16>) -> !bf16
// BOTH-LABEL: func.func private @callee(%{{.*}}: !bf16, %{{.*}}: memref<2x!bf16>) -> !bf16
// BOTH: numera.add %{{.*}}, %{{.*}} : !posit16
func.func private @callee(%x: bf16, %m: memref<2xbf16>) -> bf16 {
  %c0 = arith.constant 0 : index
  %0 = memref.load %m[%c0] : memref<2xbf16>
  %1 = arith.addf %x, %0 : bf16
  memref.store %1, %m[%c0] : memref<2xbf16>
  return %1 : bf16
}
func.func @calls_and_memory(%x: bf16, %m: memref<2xbf16>) -> bf16 {
  %0 = func.call @callee(%x, %m) : (bf16, memref<2xbf16>) -> bf16
  return %0 : bf16
}

// Bits are those of the model's type.
// CHECK-LABEL: func.func @bits
// CHECK: %[[F:.*]] = numera.cast %{{.*}} : !posit16 to f32
// CHECK-NEXT: %[[I:.*]] = arith.bitcast %[[F]] : f32 to i32
// CHECK: %[[G:.*]] = arith.bitcast %{{.*}} : i32 to f32
// CHECK-NEXT: numera.cast %[[G]] : f32 to !posit16
// CHECK: numera.cast %{{.*}} {format = #numera.format<float<8, 7>>, operand_formats = [#numera.format<float<8, 7>>]} : !bf16 to i16
// CHECK: numera.cast %{{.*}} {operand_formats = [#numera.format<float<5, 10>>]} : i16 to !f16
func.func @bits(%x: f32, %i: i32, %b: bf16, %h: i16) -> (i32, f32, i16, f16) {
  %0 = arith.bitcast %x : f32 to i32
  %1 = arith.bitcast %i : i32 to f32
  %2 = arith.bitcast %b : bf16 to i16
  %3 = arith.bitcast %h : i16 to f16
  return %0, %1, %2, %3 : i32, f32, i16, f16
}

// CHECK-LABEL: func.func @operations_of_several
// CHECK: %[[M:.*]] = numera.max %[[X:.*]], %[[Y:.*]] : tensor<?x!posit16>
// CHECK-NEXT: numera.min %[[M]], %[[Z:.*]] : tensor<?x!posit16>
// CHECK-NEXT: numera.sin %[[X]]
// CHECK-NEXT: numera.cos %[[X]]
// CHECK-NEXT: %[[N:.*]] = numera.cast %{{.*}} : tensor<?xi32> to tensor<?xf64>
// CHECK-NEXT: numera.pow %[[X]], %[[N]] : (tensor<?x!posit16>, tensor<?xf64>) -> tensor<?x!posit16>
// CHECK-NEXT: %[[D:.*]] = numera.sub %[[X]], %[[X]]
// CHECK-NEXT: %[[U:.*]] = numera.isnan %[[D]]
// CHECK-NEXT: %[[FALSE:.*]] = arith.xori %[[U]], %[[U]]
// CHECK-NEXT: arith.cmpi eq, %[[U]], %[[FALSE]]
func.func @operations_of_several(%x: tensor<?xf32>, %y: tensor<?xf32>, %z: tensor<?xf32>, %n: tensor<?xi32>)
    -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xi1>) {
  %0 = math.clampf %x to [%y, %z] : tensor<?xf32>
  %1, %2 = math.sincos %x : tensor<?xf32>
  %3 = math.fpowi %x, %n : tensor<?xf32>, tensor<?xi32>
  %4 = math.isfinite %x : tensor<?xf32>
  return %0, %1, %2, %3, %4 : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xi1>
}

// Modes of truncations are those of their rounding.
// CHECK-LABEL: func.func @a_truncation_has_its_mode(
// CHECK: %[[X:.*]] = numera.cast %{{.*}} : f32 to !posit16
// CHECK-NEXT: %[[Z:.*]] = numera.cast %[[X]] : !posit16 to ![[ZERO:.*toward_zero]]
// CHECK-NEXT: %[[R:.*]] = numera.cast %[[Z]] : ![[ZERO]] to !f16
// CHECK-NEXT: %[[N:.*]] = numera.cast %[[X]] : !posit16 to !f16
// CHECK-NEXT: return %[[R]], %[[N]]
// BOTH-LABEL: func.func @a_truncation_has_its_mode(
// ONE-LABEL: func.func @a_truncation_has_its_mode(
func.func @a_truncation_has_its_mode(%x: f32) -> (f16, f16) {
  %0 = arith.truncf %x toward_zero : f32 to f16
  %1 = arith.truncf %x to_nearest_even : f32 to f16
  return %0, %1 : f16, f16
}
