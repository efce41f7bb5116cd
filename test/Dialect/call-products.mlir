// SPDX-License-Identifier: MIT
// RUN: numera-opt %s --formats=%S/../Execution/Inputs/products/formats.yaml --numera-contract | FileCheck %s

// Contractions of formats for which a library has a product become calls of it.

#lhs = affine_map<(i, j, k) -> (i, k)>
#rhs = affine_map<(i, j, k) -> (k, j)>
#transposed = affine_map<(i, j, k) -> (j, k)>
#result = affine_map<(i, j, k) -> (i, j)>
#f32 = #numera.format<float<8, 23>>
#my = #numera.format<opaque<"my", 16>>
#dotted = #numera.format<opaque<"dotted", 16>>

// CHECK-LABEL: @matrices_are_passed_as_they_lie
// CHECK: memref.alloc() : memref<4x6xi16>
// CHECK-NOT: memref.alloc
// CHECK-NOT: linalg
// CHECK: call @my_matmul(%{{.*}}, %{{.*}}, %{{.*}}, %c4_i64{{.*}}, %c6_i64{{.*}}, %c5_i64{{.*}})
// CHECK-NOT: scf.for
// CHECK: return
func.func @matrices_are_passed_as_they_lie(%a: memref<4x5xi16>, %b: memref<5x6xi16>) -> memref<4x6xi16> {
  %zero = arith.constant 0.0 : f32
  %code = numera.cast %zero {format = #my, operand_formats = [#f32]} : f32 to i16
  %c = memref.alloc() : memref<4x6xi16>
  linalg.fill ins(%code : i16) outs(%c : memref<4x6xi16>)
  linalg.generic {indexing_maps = [#lhs, #rhs, #result], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %b : memref<4x5xi16>, memref<5x6xi16>) outs(%c : memref<4x6xi16>) {
  ^bb0(%x: i16, %y: i16, %acc: i16):
    %s = numera.mac %x, %y, %acc {format = #my} : i16
    linalg.yield %s : i16
  }
  return %c : memref<4x6xi16>
}

// CHECK-LABEL: @another_layout_is_copied
// CHECK: %[[COPY:.*]] = memref.alloc(%{{.*}}) : memref<?xi16>
// CHECK: scf.for
// CHECK: call @my_matmul
// CHECK: memref.dealloc %[[COPY]]
func.func @another_layout_is_copied(%a: memref<4x5xi16>, %b: memref<6x5xi16>) -> memref<4x6xi16> {
  %zero = arith.constant 0.0 : f32
  %code = numera.cast %zero {format = #my, operand_formats = [#f32]} : f32 to i16
  %c = memref.alloc() : memref<4x6xi16>
  linalg.fill ins(%code : i16) outs(%c : memref<4x6xi16>)
  linalg.generic {indexing_maps = [#lhs, #transposed, #result], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %b : memref<4x5xi16>, memref<6x5xi16>) outs(%c : memref<4x6xi16>) {
  ^bb0(%x: i16, %y: i16, %acc: i16):
    %s = numera.mac %x, %y, %acc {format = #my} : i16
    linalg.yield %s : i16
  }
  return %c : memref<4x6xi16>
}

// CHECK-LABEL: @a_sum_for_each_element
// CHECK: scf.for
// CHECK: scf.for
// CHECK: %[[SUM:.*]] = func.call @my_dot(%{{.*}}, %{{.*}}, %c5_i64{{.*}})
// CHECK: llvm.store %[[SUM]]
func.func @a_sum_for_each_element(%a: memref<4x5xi16>, %b: memref<6x5xi16>) -> memref<4x6xi16> {
  %zero = arith.constant 0.0 : f32
  %code = numera.cast %zero {format = #dotted, operand_formats = [#f32]} : f32 to i16
  %c = memref.alloc() : memref<4x6xi16>
  linalg.fill ins(%code : i16) outs(%c : memref<4x6xi16>)
  linalg.generic {indexing_maps = [#lhs, #transposed, #result], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %b : memref<4x5xi16>, memref<6x5xi16>) outs(%c : memref<4x6xi16>) {
  ^bb0(%x: i16, %y: i16, %acc: i16):
    %s = numera.mac %x, %y, %acc {format = #dotted} : i16
    linalg.yield %s : i16
  }
  return %c : memref<4x6xi16>
}
