# SPDX-License-Identifier: MIT
# Every family of formats that has arithmetic, one a line, by the stem of its
# files: struct <Stem>Format in include/numera/Numerics/<Stem>.h, and
# <stem>Family() in lib/Registry/<Stem>Family.cpp. Nothing else names families.
set(NUMERA_FAMILIES
  Float
  Lns
  Posit
  Fixed
  Takum
)

# numera_family_facts(STEM name parameters): the name in spellings and symbols,
# and the number of i32 parameters that the struct declares.
function(numera_family_facts stem name parameters)
  set(header ${PROJECT_SOURCE_DIR}/include/numera/Numerics/${stem}.h)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${header})
  file(STRINGS ${header} line REGEX "parameterCount = [0-9]+")
  if(NOT line MATCHES "parameterCount = ([0-9]+)")
    message(FATAL_ERROR "${header} declares no parameterCount")
  endif()
  set(${parameters} ${CMAKE_MATCH_1} PARENT_SCOPE)
  string(TOLOWER ${stem} lower)
  set(${name} ${lower} PARENT_SCOPE)
endfunction()
