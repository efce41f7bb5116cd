// SPDX-License-Identifier: MIT
!lns = !numera.num<lns<5, 10>>
func.func @f() -> !lns {
  %0 = numera.constant 3.0 : !lns
  %1 = numera.constant code 0xffff : !lns
  %2 = numera.mul %0, %1 : !lns
  %3 = numera.sqrt %2 : !lns
  return %3 : !lns
}
