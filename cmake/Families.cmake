# SPDX-License-Identifier: MIT
# Every family of formats that has arithmetic, one a line, by the stem of its
# files: struct <Stem>Format in include/numera/Numerics/Formats/<Stem>.h, and
# <stem>Family() in lib/Registry/Formats/<Stem>Family.cpp. Nothing else names
# families.
set(NUMERA_FAMILIES
  Float
  Lns
  Posit
  Fixed
  Takum
)
