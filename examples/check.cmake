# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: The pssa authors
#
# Runs a program and holds what it prints, and what it writes, to a file.
#   cmake -D expected=FILE (-D writes=FILE -D as=FILE) -P check.cmake -- PROGRAM ARG...
set(command)
set(after_dashes FALSE)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(i RANGE ${last})
  if(after_dashes)
    list(APPEND command "${CMAKE_ARGV${i}}")
  elseif(CMAKE_ARGV${i} STREQUAL "--")
    set(after_dashes TRUE)
  endif()
endforeach()

if(writes)
  file(REMOVE "${writes}")
endif()
execute_process(COMMAND ${command} OUTPUT_VARIABLE printed RESULT_VARIABLE status)
file(READ "${expected}" text)
if(NOT status EQUAL 0 OR NOT printed STREQUAL text)
  message(FATAL_ERROR "exit status ${status}, expected 0; it printed\n${printed}\nexpected (${expected})\n${text}")
endif()
if(writes)
  file(READ "${writes}" written)
  file(READ "${as}" text)
  if(NOT written STREQUAL text)
    message(FATAL_ERROR "${writes} differs from ${as}, expected no difference")
  endif()
endif()
message(STATUS "as expected:\n${printed}")
