# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: The pssa authors
#
# pssa as a part of the project, by FetchContent and so by add_subdirectory. It brings the library only: no tests, no
# programs, nothing to install, and no name in the cache that is not its own.
find_package(Kokkos REQUIRED)
include(GNUInstallDirs) # its names are everyone's
include(FetchContent)
FetchContent_Declare(pssa SOURCE_DIR "${PSSA_SOURCE_DIR}")

get_cmake_property(before CACHE_VARIABLES)
FetchContent_MakeAvailable(pssa)
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
endforeach()
list(SORT targets)
if(NOT targets STREQUAL "pssa_scan;pssa_warnings")
  message(FATAL_ERROR "pssa adds the targets ${targets}, expected pssa_scan;pssa_warnings")
endif()
if(EXISTS "${CMAKE_BINARY_DIR}/_deps/pssa-build/pssa.pc")
  message(FATAL_ERROR "pssa would be installed along with the project, expected that only with PSSA_ENABLE_INSTALL")
endif()
