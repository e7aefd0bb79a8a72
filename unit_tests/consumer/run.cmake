# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: The pssa authors
#
# Builds and runs the consumer from nothing.
#   cmake -D work=DIR -D cache=FILE -D source=CONSUMER_DIR -D config=TYPE
#         (-D build=PSSA_BUILD_DIR against its install
#          | -D pssa=PSSA_SOURCE_DIR -D shared=ON against the install of a shared build
#          | -D pssa=PSSA_SOURCE_DIR as a part of it, by FetchContent
#          | -D pssa=PSSA_SOURCE_DIR -D part_shared=ON as a shared part of it, by add_subdirectory) -P run.cmake
function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ECHO STDOUT RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    list(JOIN ARGV " " line)
    message(FATAL_ERROR "exit status ${status}: ${line}")
  endif()
endfunction()

function(build source build)
  run("${CMAKE_COMMAND}" -S "${source}" -B "${build}" -C "${cache}" ${ARGN} --no-warn-unused-cli)
  run("${CMAKE_COMMAND}" --build "${build}" --config "${config}" --parallel 2)
endfunction()

file(REMOVE_RECURSE "${work}")
if(shared)
  set(build "${work}/pssa")
  build("${pssa}" "${build}" -D BUILD_SHARED_LIBS=ON -D CMAKE_INSTALL_RPATH_USE_LINK_PATH=ON
        -D PSSA_ENABLE_TESTS=OFF -D PSSA_ENABLE_PERF_TESTS=OFF)
endif()
if(build)
  # Moved after installing: nothing in the package may name the place that it was installed to.
  run("${CMAKE_COMMAND}" --install "${build}" --config "${config}" --prefix "${work}/installed")
  file(RENAME "${work}/installed" "${work}/moved")
  file(GLOB_RECURSE files "${work}/moved/*.cmake" "${work}/moved/*.pc")
  foreach(file IN LISTS files)
    file(STRINGS "${file}" lines REGEX "${work}|${build}")
    if(lines)
      message(FATAL_ERROR "${file} names the place of its build or install: ${lines}")
    endif()
  endforeach()
  set(where -D "CMAKE_PREFIX_PATH=${work}/moved")
else()
  set(where -D "PSSA_SOURCE_DIR=${pssa}" -D "BUILD_SHARED_LIBS=${part_shared}")
endif()

# A consumer that hides its own symbols finds those of the library.
build("${source}" "${work}/build" ${where} -D CMAKE_CXX_VISIBILITY_PRESET=hidden)
find_program(consumer consumer PATHS "${work}/build" "${work}/build/${config}" NO_DEFAULT_PATH REQUIRED)
run("${consumer}")
if(shared)
  run("${work}/moved/bin/pssa_selftest")
endif()
