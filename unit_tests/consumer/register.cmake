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

# A test that CTest shows as skipped, because something that it needs is missing.
function(pssa_skip_test name why)
  add_test(NAME unit.${name} COMMAND ${CMAKE_COMMAND} -E echo "skipped: ${why}")
  set_tests_properties(unit.${name} PROPERTIES LABELS unit SKIP_REGULAR_EXPRESSION "skipped: ")
endfunction()

pssa_add_consumer_test(installed -D build=${pssa_BINARY_DIR})
pssa_add_consumer_test(in_tree -D pssa=${pssa_SOURCE_DIR})
get_target_property(kokkos_type Kokkos::kokkoscore TYPE)
if(NOT kokkos_type STREQUAL SHARED_LIBRARY)
  # It would come into every program twice, and need not be position independent.
  pssa_skip_test(consumer_shared "this Kokkos is not a shared library")
  pssa_skip_test(consumer_in_tree_shared "this Kokkos is not a shared library")
else()
  pssa_add_consumer_test(in_tree_shared -D pssa=${pssa_SOURCE_DIR} -D part_shared=ON)
  pssa_add_consumer_test(shared -D pssa=${pssa_SOURCE_DIR} -D shared=ON)
  add_test(
    NAME unit.consumer_exports
    COMMAND
      ${CMAKE_COMMAND} -D nm=${CMAKE_NM} -D readelf=${CMAKE_READELF} -D
      version=${pssa_VERSION_MAJOR}.${pssa_VERSION_MINOR} -D work=${pssa_consumer_work}/shared -P
      ${pssa_consumer_source}/exports.cmake)
  set_tests_properties(unit.consumer_shared PROPERTIES FIXTURES_SETUP pssa_shared_consumer)
  set_tests_properties(unit.consumer_exports PROPERTIES FIXTURES_REQUIRED pssa_shared_consumer)
  set(shared_tests unit.consumer_in_tree_shared unit.consumer_shared unit.consumer_exports)
endif()
# For those to whom building pssa once more is too long: ctest -LE rebuild.
set_tests_properties(unit.consumer_in_tree ${shared_tests} PROPERTIES LABELS "unit;rebuild")

add_test(NAME unit.consumer_no_kernel
         COMMAND ${CMAKE_COMMAND} -D nm=${CMAKE_NM} -D library=$<TARGET_FILE:pssa_scan> -D
                 work=${pssa_consumer_work}/installed -P ${pssa_consumer_source}/no_kernel.cmake)
set_tests_properties(unit.consumer_installed PROPERTIES FIXTURES_SETUP pssa_consumer)
set_tests_properties(unit.consumer_no_kernel PROPERTIES LABELS unit FIXTURES_REQUIRED pssa_consumer)

# By hand with pkg-config; what Kokkos needs, the user has to know, and this test asks CMake.
find_program(PSSA_PKG_CONFIG NAMES pkg-config pkgconf)
mark_as_advanced(PSSA_PKG_CONFIG)
if(NOT PSSA_PKG_CONFIG)
  pssa_skip_test(consumer_pkgconfig "pkg-config is missing")
elseif(Kokkos_ENABLE_CUDA OR Kokkos_ENABLE_HIP OR Kokkos_ENABLE_SYCL)
  pssa_skip_test(consumer_pkgconfig "the flags of a device compiler are not known here")
else()
  set(pssa_kokkos_flags "-I$<JOIN:$<TARGET_PROPERTY:Kokkos::kokkoscore,INTERFACE_INCLUDE_DIRECTORIES>, -I>"
                        "-L$<TARGET_FILE_DIR:Kokkos::kokkoscore>" "-Wl,-rpath,$<TARGET_FILE_DIR:Kokkos::kokkoscore>"
                        ${OpenMP_CXX_FLAGS} ${CMAKE_CXX_FLAGS} -ldl)
  list(JOIN pssa_kokkos_flags " " pssa_kokkos_flags)
  add_test(
    NAME unit.consumer_pkgconfig
    COMMAND
      ${CMAKE_COMMAND} -D pkgconfig=${PSSA_PKG_CONFIG} -D compiler=${CMAKE_CXX_COMPILER} -D
      kokkos=${pssa_kokkos_flags} -D installed=${pssa_consumer_work}/installed/moved -D
      source=${pssa_consumer_source} -D program=${pssa_consumer_work}/by_hand -P
      ${pssa_consumer_source}/pkgconfig.cmake)
  set_tests_properties(unit.consumer_pkgconfig PROPERTIES LABELS unit FIXTURES_REQUIRED pssa_consumer)
endif()

# The floors of the house, the SPDX lines, the recipe of Spack, and the version.
find_package(Python3 COMPONENTS Interpreter QUIET)
foreach(name IN ITEMS layers:check_layers spdx:check_spdx spack:test_spack versions:check_versions)
  string(REGEX REPLACE ":.*" "" test ${name})
  string(REGEX REPLACE ".*:" "" script ${name})
  if(Python3_Interpreter_FOUND)
    add_test(NAME unit.${test} COMMAND Python3::Interpreter ${pssa_SOURCE_DIR}/unit_tests/${script}.py ${pssa_SOURCE_DIR})
    set_tests_properties(unit.${test} PROPERTIES LABELS unit SKIP_REGULAR_EXPRESSION "^skipped: ")
  else()
    pssa_skip_test(${test} "Python 3 is missing")
  endif()
endforeach()

# What needs a program that the environment lacks says so when it skips. Installing with Spack may build Kokkos first, so
# it has a label of its own: ctest -L spack.
add_test(NAME unit.spack_audit COMMAND sh ${pssa_SOURCE_DIR}/unit_tests/test_spack.sh audit ${pssa_SOURCE_DIR})
add_test(NAME spack.install COMMAND sh ${pssa_SOURCE_DIR}/unit_tests/test_spack.sh install ${pssa_SOURCE_DIR})
add_test(NAME unit.format COMMAND sh ${pssa_SOURCE_DIR}/unit_tests/check_changed.sh format ${pssa_SOURCE_DIR})
add_test(NAME unit.names COMMAND sh ${pssa_SOURCE_DIR}/unit_tests/check_changed.sh names ${pssa_SOURCE_DIR}
                               ${pssa_BINARY_DIR})
set_tests_properties(unit.spack_audit unit.format unit.names PROPERTIES LABELS unit SKIP_REGULAR_EXPRESSION "^skipped: ")
# Two clang-tidy at once.
set_tests_properties(unit.names PROPERTIES PROCESSORS 2)
set_tests_properties(spack.install PROPERTIES LABELS spack TIMEOUT 7200 SKIP_REGULAR_EXPRESSION "^skipped: ")
