# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: The pssa authors
#
# pssa as a part of the project: static by FetchContent, or shared by add_subdirectory. It brings the library only: no
# tests, no programs, nothing to install, no name in the cache that is not its own, and no say in the project's settings.
find_package(Kokkos REQUIRED)
include(GNUInstallDirs) # its names are everyone's
include(FetchContent)
FetchContent_Declare(pssa SOURCE_DIR "${PSSA_SOURCE_DIR}")

set(settings BUILD_TESTING CMAKE_BUILD_TYPE CMAKE_CXX_EXTENSIONS CMAKE_CXX_FLAGS CMAKE_CXX_STANDARD
             CMAKE_CXX_VISIBILITY_PRESET CMAKE_POSITION_INDEPENDENT_CODE PROJECT_NAME)
foreach(name IN LISTS settings)
  set(before_${name} "${${name}}")
endforeach()
get_cmake_property(before CACHE_VARIABLES)
if(BUILD_SHARED_LIBS)
  add_subdirectory("${PSSA_SOURCE_DIR}" pssa)
  set(pssa_SOURCE_DIR "${PSSA_SOURCE_DIR}")
else()
  FetchContent_MakeAvailable(pssa)
endif()
foreach(name IN LISTS settings)
  if(NOT "${${name}}" STREQUAL "${before_${name}}")
    message(FATAL_ERROR "pssa sets ${name} to '${${name}}', expected '${before_${name}}' as before")
  endif()
endforeach()
get_cmake_property(added CACHE_VARIABLES)

list(REMOVE_ITEM added ${before})
list(FILTER added EXCLUDE REGEX "^(PSSA|pssa|FETCHCONTENT|CMAKE_PROJECT)_") # the last two are CMake's own
if(added)
  message(FATAL_ERROR "pssa adds ${added} to the cache, expected names of its own only")
endif()

get_property(folders DIRECTORY "${pssa_SOURCE_DIR}" PROPERTY SUBDIRECTORIES)
set(targets)
foreach(folder IN ITEMS "${pssa_SOURCE_DIR}" LISTS folders)
  get_property(here DIRECTORY "${folder}" PROPERTY BUILDSYSTEM_TARGETS)
  list(APPEND targets ${here})
  get_property(here DIRECTORY "${folder}" PROPERTY TESTS)
  if(here)
    message(FATAL_ERROR "pssa adds the tests ${here}, expected none")
  endif()
endforeach()
list(SORT targets)
list(FILTER targets EXCLUDE REGEX "^pssa_host_") # parts of pssa_scan, by processor
if(NOT targets STREQUAL "pssa_scan;pssa_warnings")
  message(FATAL_ERROR "pssa adds the targets ${targets}, expected pssa_scan;pssa_warnings")
endif()
get_target_property(type pssa::scan TYPE)
if(BUILD_SHARED_LIBS)
  set(expected SHARED_LIBRARY)
else()
  set(expected STATIC_LIBRARY)
endif()
if(NOT type STREQUAL expected)
  message(FATAL_ERROR "pssa::scan is a ${type}, expected a ${expected}")
endif()
if(EXISTS "${pssa_BINARY_DIR}/pssa.pc")
  message(FATAL_ERROR "pssa would be installed along with the project, expected that only with PSSA_ENABLE_INSTALL")
endif()
