// SPDX-License-Identifier: MIT
// RUN: numera-opt %s -split-input-file -verify-diagnostics --numera-annotate-branches

// expected-error@+1 {{'numera.apart' of function 'beyond' names argument 1000000 of 1; expected that of a pointer}}
llvm.func @beyond(%x: !llvm.ptr) attributes {numera.apart = array<i64: 1000000>} {
  llvm.return
}

// -----

// expected-error@+1 {{'numera.apart' of function 'negative' names argument -1 of 1; expected that of a pointer}}
llvm.func @negative(%x: !llvm.ptr) attributes {numera.apart = array<i64: 0, -1>} {
  llvm.return
}

// -----

// expected-error@+1 {{'numera.apart' of function 'number' names argument 1 of 2; expected that of a pointer}}
llvm.func @number(%x: !llvm.ptr, %n: i64) attributes {numera.apart = array<i64: 1>} {
  llvm.return
}
