// SPDX-License-Identifier: MIT
func.func @f(%x: !numera.num<float<99, "x", bias=>>) { return }
