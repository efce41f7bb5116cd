// SPDX-License-Identifier: MIT
func.func private @f(tensor<4x!unknown, #numera.scaling<range, float<8, 23>>>)
