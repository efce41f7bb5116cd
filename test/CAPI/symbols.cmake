# SPDX-License-Identifier: MIT
# Fails if LIBRARY lacks a C function of LIST, or has one that LIST does not
# have: a program that was linked against an earlier library needs each of them.
execute_process(COMMAND ${NM} --dynamic --defined-only --format=posix ${LIBRARY}
                OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "(^|\n)numera[A-Z][A-Za-z]*" found "${symbols}")
list(TRANSFORM found STRIP)
list(SORT found COMPARE STRING)
file(STRINGS ${LIST} expected)
if(NOT found STREQUAL expected)
  message(FATAL_ERROR "${LIBRARY} exports\n${found}\nexpected\n${expected}")
endif()
