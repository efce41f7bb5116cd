# SPDX-License-Identifier: MIT
# The runtime's sources as bitcode: for runtime/ and for families of plugins
# (NumeraFamily.cmake). The includer sets NUMERA_BITCODE_DIR, where files are
# written, NUMERA_BITCODE_INCLUDES and NUMERA_CLANGXX.

# No -ffreestanding: it adds "no-builtins", and the inliner then refuses.
# Nor errno: sqrt would be a call. The baseline CPU: attributes of the target are
# set where programs are made.
set(NUMERA_BITCODE_FLAGS -std=c++20 -O2 -fno-exceptions -fno-rtti
    -fno-math-errno -fno-vectorize -fno-slp-vectorize -ffp-contract=off -fPIC
    -DNUMERA_BITCODE -Wall -Wextra)
# Entries are inlined whole, but for other entries, so that constant parameters prune them
# (lib/Target/Vectorize/Specialize.cpp). Exact.cpp's are called. What makes code
# fast is done there, with the constants: -O2 here takes half as long again and
# gives the same code.
set(NUMERA_ENTRY_FLAGS -O1 -mllvm -inline-threshold=1000000)
# _Float16 is binary16 after every operation, as on a machine that has it.
set(NUMERA_FLAGS_x86_64 -nostdlib --target=x86_64-linux-gnu
    -fexcess-precision=16)
set(NUMERA_FLAGS_nvptx64 --target=nvptx64-nvidia-cuda -nostdlibinc)

# numera_bitcode(NAME SOURCE flags…): one bitcode file.
function(numera_bitcode name source)
  get_filename_component(source ${source} ABSOLUTE)
  list(TRANSFORM NUMERA_BITCODE_INCLUDES PREPEND -I OUTPUT_VARIABLE includes)
  add_custom_command(
    OUTPUT ${NUMERA_BITCODE_DIR}/${name}.bc
    COMMAND ${CMAKE_CXX_COMPILER_LAUNCHER} ${NUMERA_CLANGXX}
            ${NUMERA_BITCODE_FLAGS} ${includes} ${ARGN}
            -MD -MF ${CMAKE_CURRENT_BINARY_DIR}/${name}.d
            -MT ${NUMERA_BITCODE_DIR}/${name}.bc
            -emit-llvm -c ${source}
            -o ${NUMERA_BITCODE_DIR}/${name}.bc
    DEPENDS ${source}
    DEPFILE ${CMAKE_CURRENT_BINARY_DIR}/${name}.d
    COMMENT "Compiling ${source} to ${name}.bc" VERBATIM)
endfunction()

# numera_family_definitions(STEM header result): what Entries.cpp needs for a
# family whose struct <Stem>Format, with its number of i32 parameters, stands in
# `header`, a path as #include has it.
function(numera_family_definitions stem header result)
  find_file(path ${header} PATHS ${NUMERA_BITCODE_INCLUDES} NO_DEFAULT_PATH
            NO_CACHE REQUIRED)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
  file(STRINGS ${path} line REGEX "parameterCount = [0-9]+")
  if(NOT line MATCHES "parameterCount = ([0-9]+)")
    message(FATAL_ERROR "${path} declares no parameterCount")
  endif()
  string(TOLOWER ${stem} family)
  set(${result} NUMERA_FAMILY_NAME=${family} NUMERA_FORMAT=${stem}Format
      NUMERA_PARAMETERS=${CMAKE_MATCH_1}
      NUMERA_FAMILY_HEADER=<${header}> PARENT_SCOPE)
endfunction()
