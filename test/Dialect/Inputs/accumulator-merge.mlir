// SPDX-License-Identifier: MIT
!sum = !numera.quire<opaque<"zeros", 8>>
func.func @f(%q: !sum) -> !sum {
  %0 = numera.quire_neg %q : !sum
  return %0 : !sum
}
