# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: The pssa authors
#
# A translation unit that calls pssa compiles none of its kernels: they are in the library.
#   cmake -D nm=NM -D library=ARCHIVE -D work=CONSUMER_WORK_DIR -P no_kernel.cmake
function(defined_symbols file result)
  execute_process(COMMAND "${nm}" -C --defined-only "${file}" OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX REPLACE "[][;]" "." text "${text}") # these three mean something in CMake lists
  string(REPLACE "\n" ";" lines "${text}")
  # A pssa functor in one of Kokkos' launches, or its body.
  list(FILTER lines INCLUDE REGEX "Kokkos::(Impl::)?[Pp]arallel_?([Ff]or|[Rr]educe|[Ss]can).*pssa::|pssa::impl::[A-Za-z]+(<.*>)?::operator\\(\\)\\(")
  set(${result} "${lines}" PARENT_SCOPE)
endfunction()

defined_symbols("${library}" in_library)
if(NOT in_library)
  message(FATAL_ERROR "${library}: no kernel found, expected some: this test looks for the wrong names")
endif()

file(GLOB_RECURSE object "${work}/build/CMakeFiles/consumer_call.dir/*call.cpp.o*")
list(FILTER object EXCLUDE REGEX "\\.d$")
list(LENGTH object count)
if(NOT count EQUAL 1)
  message(FATAL_ERROR "found ${count} objects of call.cpp in ${work}/build, expected 1")
endif()
execute_process(COMMAND "${nm}" -C --undefined-only "${object}" OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
if(NOT text MATCHES "pssa::impl::forward" OR NOT text MATCHES "pssa::impl::backward")
  message(FATAL_ERROR "${object} does not call pssa::impl::forward and backward, expected both")
endif()
defined_symbols("${object}" in_object)
if(in_object)
  list(JOIN in_object "\n  " in_object)
  message(FATAL_ERROR "${object} holds kernels of pssa, expected none:\n  ${in_object}")
endif()
list(LENGTH in_library count)
message(STATUS "${count} kernel symbols in the library, none in the consumer's object")
