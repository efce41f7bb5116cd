# SPDX-License-Identifier: MIT
# Families of formats out of tree, for `--load-plugin`.

# numera_add_family(STEM): the plugin numera-<stem>.so, from two files of the
# current folder, as in Numera itself: <Stem>.h, with struct <Stem>Format in
# namespace numera, and <Stem>Family.cpp, with numera::<stem>Family(). The
# arithmetic of the first is compiled to bitcode for each target.
function(numera_add_family stem)
  if(NOT NUMERA_CLANGXX)
    message(FATAL_ERROR "numera_add_family needs the LLVM that Numera was built "
            "with and its clang++: install llvm-22-dev and clang-22")
  endif()
  set(NUMERA_BITCODE_DIR ${CMAKE_CURRENT_BINARY_DIR})
  set(NUMERA_BITCODE_INCLUDES ${NUMERA_INCLUDE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  numera_family_definitions(${stem} ${stem}.h definitions)
  list(TRANSFORM definitions PREPEND -D OUTPUT_VARIABLE flags)
  set(bitcode)
  foreach(machine x86_64 nvptx64)
    numera_bitcode(${stem}-${machine} ${NUMERA_SOURCE_DIR}/Entries.cpp
                   ${NUMERA_ENTRY_FLAGS} ${flags} ${NUMERA_FLAGS_${machine}})
    list(APPEND bitcode ${CMAKE_CURRENT_BINARY_DIR}/${stem}-${machine}.bc)
  endforeach()

  add_library(${stem} MODULE ${stem}Family.cpp
              ${NUMERA_SOURCE_DIR}/PluginEntry.cpp)
  string(TOLOWER ${stem} family)
  set_target_properties(${stem} PROPERTIES PREFIX "" OUTPUT_NAME numera-${family}
                        CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON
                        CXX_VISIBILITY_PRESET hidden)
  target_include_directories(${stem} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}
                             ${NUMERA_INCLUDE_DIR})
  target_include_directories(${stem} SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS})
  # As Numera's own: folding rounds every operation as it is written.
  target_compile_options(${stem} PRIVATE -ffp-contract=off -fno-exceptions
                         $<$<CXX_COMPILER_ID:GNU>:-Wno-attributes>)
  target_compile_definitions(${stem} PRIVATE
    NUMERA_FAMILY=${family}Family NUMERA_VERSION="${Numera_VERSION}"
    NUMERA_BITCODE_PREFIX="${CMAKE_CURRENT_BINARY_DIR}/${stem}-")
  set_property(SOURCE ${NUMERA_SOURCE_DIR}/PluginEntry.cpp APPEND PROPERTY
               OBJECT_DEPENDS ${bitcode})
endfunction()
