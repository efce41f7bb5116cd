// SPDX-License-Identifier: MIT
!posit16 = !numera.num<posit<16, 2>>
!f8 = !numera.num<float<4, 3, fn>>
func.func @f(%x: !posit16, %y: tensor<2x!posit16>) -> (!f8, i1) {
  %0 = numera.constant 1.5 : !posit16
  %1 = numera.constant codes dense<[0x4000, 0x4800]> : tensor<2xi16> as tensor<2x!posit16>
  %2 = numera.fma %x, %0, %0 : !posit16
  %3 = numera.add %y, %1 : tensor<2x!posit16>
  %4 = numera.cast %2 {rounding = #numera.rounding<"toward-zero">} : !posit16 to !f8
  %5 = numera.cmp olt, %0, %2 : !posit16
  return %4, %5 : !f8, i1
}
