// SPDX-License-Identifier: MIT
func.func @sum(%x: !numera.num<bposit<24, 6, 5, up>>,
               %y: !numera.num<bposit<24, 6, 5, up>>)
    -> !numera.num<bposit<24, 6, 5, up>> {
  %z = numera.add %x, %y : !numera.num<bposit<24, 6, 5, up>>
  return %z : !numera.num<bposit<24, 6, 5, up>>
}
