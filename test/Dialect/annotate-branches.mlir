// SPDX-License-Identifier: MIT
// RUN: numera-opt %s --convert-scf-to-cf --convert-to-llvm --numera-annotate-branches | FileCheck %s

#masks = #llvm.loop_vectorize<disable = false, predicateEnable = true>
#annotation = #llvm.loop_annotation<vectorize = #masks>

// CHECK: #[[MASKS:.*]] = #llvm.loop_vectorize<disable = false, predicateEnable = true>
// CHECK: #[[ANNOTATION:.*]] = #llvm.loop_annotation<vectorize = #[[MASKS]]>

// The attribute of the branch itself, which translation reads, is printed
// without the dialect's name.
// CHECK-LABEL: @the_annotation_becomes_the_own_one_of_the_branch
// CHECK: llvm.br ^bb1({{.*}}) {loop_annotation = #[[ANNOTATION]]}
// CHECK-NOT: llvm.loop_annotation
func.func @the_annotation_becomes_the_own_one_of_the_branch(%n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  scf.for %i = %zero to %n step %one {
  } {llvm.loop_annotation = #annotation}
  return
}

// CHECK-LABEL: @pointers_to_memory_apart
// CHECK-SAME: (%arg0: !llvm.ptr, %arg1: !llvm.ptr {llvm.noalias}, %arg2: i64)
// CHECK-NOT: numera.apart
llvm.func @pointers_to_memory_apart(%allocated: !llvm.ptr, %aligned: !llvm.ptr,
                                    %size: i64)
    attributes {numera.apart = array<i64: 1>} {
  llvm.return
}
