# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: The pssa authors
#
# The tests of pssa as a whole, as a dependency and as a house; included by unit_tests/CMakeLists.txt when pssa is part of the same build.
set(pssa_consumer_source ${CMAKE_CURRENT_LIST_DIR})
set(pssa_consumer_work ${CMAKE_CURRENT_BINARY_DIR}/consumer)

# What the outside project has to share with this build.
set(pssa_consumer_cache ${pssa_consumer_work}/cache.cmake)
set(text)
foreach(name IN ITEMS CMAKE_BUILD_TYPE CMAKE_CXX_COMPILER CMAKE_CXX_COMPILER_LAUNCHER CMAKE_CXX_FLAGS
                      CMAKE_MAKE_PROGRAM Kokkos_DIR PSSA_WARNINGS_AS_ERRORS)
  string(APPEND text "set(${name} [==[${${name}}]==] CACHE STRING \"\")\n")
endforeach()
file(CONFIGURE OUTPUT ${pssa_consumer_cache} CONTENT "@text@" @ONLY)

function(pssa_add_consumer_test name)
  add_test(
    NAME unit.consumer_${name}
    COMMAND
      ${CMAKE_COMMAND} -E env "CMAKE_GENERATOR=${CMAKE_GENERATOR}" ${CMAKE_COMMAND} -D work=${pssa_consumer_work}/${name}
      -D cache=${pssa_consumer_cache} -D source=${pssa_consumer_source} -D config=$<CONFIG> ${ARGN} -P
      ${pssa_consumer_source}/run.cmake)
  # Two compilers at once; alone on the machine the library takes minutes without ccache.
  set_tests_properties(unit.consumer_${name} PROPERTIES LABELS unit PROCESSORS 2 TIMEOUT 1500)
endfunction()

pssa_add_consumer_test(installed -D build=${pssa_BINARY_DIR})
pssa_add_consumer_test(in_tree -D pssa=${pssa_SOURCE_DIR})

add_test(NAME unit.consumer_no_kernel
         COMMAND ${CMAKE_COMMAND} -D nm=${CMAKE_NM} -D library=$<TARGET_FILE:pssa_scan> -D
                 work=${pssa_consumer_work}/installed -P ${pssa_consumer_source}/no_kernel.cmake)
set_tests_properties(unit.consumer_installed PROPERTIES FIXTURES_SETUP pssa_consumer)
set_tests_properties(unit.consumer_no_kernel PROPERTIES LABELS unit FIXTURES_REQUIRED pssa_consumer)

# The floors of the house; CTest shows the test as skipped where Python is missing.
find_package(Python3 COMPONENTS Interpreter QUIET)
if(Python3_Interpreter_FOUND)
  add_test(NAME unit.layers COMMAND Python3::Interpreter ${pssa_SOURCE_DIR}/unit_tests/check_layers.py
                                    ${pssa_SOURCE_DIR})
else()
  add_test(NAME unit.layers COMMAND ${CMAKE_COMMAND} -E echo "skipped: Python 3 is missing")
  set_tests_properties(unit.layers PROPERTIES SKIP_REGULAR_EXPRESSION "skipped: Python 3 is missing")
endif()
set_tests_properties(unit.layers PROPERTIES LABELS unit)
