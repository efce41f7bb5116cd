// SPDX-License-Identifier: MIT
func.func private @f(tensor<4x!unknown, #numera.packed>)
