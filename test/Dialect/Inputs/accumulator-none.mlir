// SPDX-License-Identifier: MIT
!none = !numera.num<opaque<"none", 16>>
!sum = !numera.quire<opaque<"none", 16>>
func.func @f(%a: !none, %q: !sum) -> !sum {
  %0 = numera.quire_add %q, %a : !sum, !none
  return %0 : !sum
}
