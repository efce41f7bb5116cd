// SPDX-License-Identifier: MIT
func.func private @types(%0: !numera.num<posit<16>>, %1: !numera.num<float<5, 7, bias=9, flush, saturate, up>>,
  %2: tensor<2x?x!numera.num<opaque<"mine", 16>>>, %3: !numera.quire<posit<16, 2>>) {
  return
}
