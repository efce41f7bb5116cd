# SPDX-License-Identifier: MIT
# One folder is one target, and a target knows its own layer and lower ones
# only (docs/Architecture.md). `add_numera_library` rejects an upward link at
# configure time.

# add_numera_library(NumeraX LAYER n SOURCES … [LINK NumeraY …]
#                    [EXTERNAL lib …] [DEPENDS target …])
function(add_numera_library name)
  cmake_parse_arguments(ARG "" "LAYER" "SOURCES;LINK;EXTERNAL;DEPENDS" ${ARGN})
  if(NOT DEFINED ARG_LAYER)
    message(FATAL_ERROR "${name}: add_numera_library needs LAYER")
  endif()
  if(ARG_SOURCES)
    add_library(${name} STATIC ${ARG_SOURCES})
    set(scope PUBLIC)
    if(ARG_LAYER GREATER 1)
      numera_precompile(${name})
    endif()
  else()
    add_library(${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  add_library(Numera::${name} ALIAS ${name})
  set_target_properties(${name} PROPERTIES NUMERA_LAYER ${ARG_LAYER})
  target_include_directories(${name} ${scope}
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
    $<INSTALL_INTERFACE:include>)
  foreach(lower ${ARG_LINK})
    numera_check_layer(${name} ${ARG_LAYER} ${lower})
    target_link_libraries(${name} ${scope} ${lower})
  endforeach()
  if(ARG_EXTERNAL)
    target_link_libraries(${name} ${scope} ${ARG_EXTERNAL})
  endif()
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  set_property(GLOBAL APPEND PROPERTY NUMERA_LIBRARIES ${name})
endfunction()

# Fails at configure time when `name` of layer `layer` links a higher layer.
function(numera_check_layer name layer lower)
  if(NOT TARGET ${lower})
    message(FATAL_ERROR "${name} links ${lower}, which is not defined before it")
  endif()
  get_target_property(below ${lower} NUMERA_LAYER)
  if(below GREATER layer)
    message(FATAL_ERROR
      "${name} (layer ${layer}) links ${lower} (layer ${below}): "
      "layers only look down")
  endif()
endfunction()

# add_numera_tool(numera-x SOURCES … LINK …): an executable of layer 5.
function(add_numera_tool name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK;EXTERNAL" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  numera_precompile(${name})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} ${ARG_EXTERNAL})
  install(TARGETS ${name} EXPORT NumeraTargets
          DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()

# numera_accept_plugins(NAME): the target has what families of plugins refer to,
# all of the registry, and shows it to them.
function(numera_accept_plugins name)
  set_target_properties(${name} PROPERTIES ENABLE_EXPORTS ON)
  target_link_options(${name} PRIVATE
    LINKER:--whole-archive $<TARGET_FILE:NumeraRegistry>
    LINKER:--no-whole-archive)
endfunction()
