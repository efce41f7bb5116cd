# SPDX-License-Identifier: MIT
# One folder is one target. A target knows its own layer and lower ones only
# (docs/Architecture.md), and of its own layer those that it names: what it links
# stands before it, so that there are no circles. Configuring fails otherwise,
# and where a source includes a header of a folder that its target does not link.

# add_numera_library(NumeraX LAYER n [FOLDERS folder …] SOURCES … [LINK NumeraY …]
#                    [EXTERNAL lib …] [DEPENDS target …])
# Its headers are those of FOLDERS, under lib and include/numera; by default the
# current one.
function(add_numera_library name)
  cmake_parse_arguments(ARG "" "LAYER" "FOLDERS;SOURCES;LINK;EXTERNAL;DEPENDS" ${ARGN})
  if(NOT DEFINED ARG_LAYER)
    message(FATAL_ERROR "${name}: add_numera_library needs LAYER")
  endif()
  if(ARG_SOURCES)
    add_library(${name} STATIC ${ARG_SOURCES})
    set(scope PUBLIC)
    # "Folder/Header.h" is a header of a folder beside this one.
    target_include_directories(${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/..)
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
  if(NOT ARG_FOLDERS AND ARG_SOURCES)
    file(RELATIVE_PATH ARG_FOLDERS ${PROJECT_SOURCE_DIR}/lib ${CMAKE_CURRENT_SOURCE_DIR})
  endif()
  numera_check_includes(${name} "${ARG_LINK}" ${ARG_FOLDERS})
  get_property(known GLOBAL PROPERTY NUMERA_KNOWN_BY_${name})
  if(ARG_SOURCES AND NumeraIR IN_LIST known)
    numera_precompile(${name} NumeraPrecompiledDialect)
  elseif(ARG_SOURCES AND ARG_LAYER GREATER 1)
    numera_precompile(${name})
  endif()
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

# numera_check_includes(NAME "LINKED…" FOLDER…): the headers of these folders are
# the target's; fails when a file there includes a header of a folder of Numera
# that the target neither owns nor links, perhaps through another.
function(numera_check_includes name links)
  set(known ${name})
  foreach(lower ${links})
    get_property(below GLOBAL PROPERTY NUMERA_KNOWN_BY_${lower})
    list(APPEND known ${lower} ${below})
  endforeach()
  list(REMOVE_DUPLICATES known)
  set_property(GLOBAL PROPERTY NUMERA_KNOWN_BY_${name} ${known})
  foreach(folder ${ARGN})
    set_property(GLOBAL PROPERTY NUMERA_OWNER_OF_${folder} ${name})
  endforeach()
  foreach(folder ${ARGN})
    get_filename_component(above ${folder} DIRECTORY)
    file(GLOB files ${PROJECT_SOURCE_DIR}/lib/${folder}/*.h
         ${PROJECT_SOURCE_DIR}/lib/${folder}/*.cpp
         ${PROJECT_SOURCE_DIR}/include/numera/${folder}/*.h)
    foreach(file ${files})
      file(STRINGS ${file} lines REGEX "^ *#include [\"<][A-Za-z/]+/[A-Za-z0-9]+\\.(h|def)[\">]")
      foreach(line ${lines})
        string(REGEX REPLACE "^.*[\"<](.*)/[^/]*$" "\\1" of "${line}")
        if(of MATCHES "^numera/(.*)")
          set(of ${CMAKE_MATCH_1})
        else()
          set(of ${above}/${of})
        endif()
        get_property(owner GLOBAL PROPERTY NUMERA_OWNER_OF_${of})
        if(owner AND NOT owner IN_LIST known)
          message(FATAL_ERROR "${file}: ${line}: ${name} does not link ${owner}")
        elseif(NOT owner AND (EXISTS ${PROJECT_SOURCE_DIR}/include/numera/${of}
                              OR EXISTS ${PROJECT_SOURCE_DIR}/lib/${of}))
          message(FATAL_ERROR "${file}: ${line}: no target that is defined "
                  "before ${name} has the headers of ${of}")
        endif()
      endforeach()
    endforeach()
  endforeach()
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
  target_link_options(${name} PRIVATE LINKER:--whole-archive
    $<TARGET_FILE:NumeraRegistry> $<TARGET_FILE:NumeraRegistryConfiguration>
    $<TARGET_FILE:NumeraRegistryFormats> $<TARGET_FILE:NumeraRegistryLowerings>
    $<TARGET_FILE:NumeraRegistryScaling> $<TARGET_FILE:NumeraRegistryTables>
    LINKER:--no-whole-archive)
endfunction()
