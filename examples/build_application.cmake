# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: The pssa authors
#
# Installs a build of pssa and builds the application against it, as its user would.
#   cmake -D source=DIR -D work=DIR -D pssa=PSSA_BUILD_DIR -D generator=NAME -D config=TYPE -P build_application.cmake
function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ECHO STDOUT RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "exit status ${status}, expected 0")
  endif()
endfunction()

file(REMOVE_RECURSE "${work}/installed" "${work}/build")
run("${CMAKE_COMMAND}" --install "${pssa}" --config "${config}" --prefix "${work}/installed")
run("${CMAKE_COMMAND}" -G "${generator}" -S "${source}" -B "${work}/build" -C "${work}/cache.cmake"
    -D "CMAKE_PREFIX_PATH=${work}/installed" -D "CMAKE_RUNTIME_OUTPUT_DIRECTORY=${work}/$<1:>")
run("${CMAKE_COMMAND}" --build "${work}/build" --config "${config}")
