# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: The pssa authors
#
# A shared pssa shows what its headers call and nothing else of its own; its soname has major and minor version.
#   cmake -D nm=NM -D readelf=READELF -D version=MAJOR.MINOR -D work=CONSUMER_WORK_DIR -P exports.cmake
file(GLOB_RECURSE library "${work}/moved/*/libpssa_scan.so")
execute_process(COMMAND "${nm}" -DC --defined-only "${library}" OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
string(REGEX REPLACE "[][;]" "." text "${text}") # these three mean something in CMake lists
string(REPLACE "\n" ";" lines "${text}")
list(FILTER lines INCLUDE REGEX "pssa::")
set(others "${lines}")
set(calls "pssa::impl::(check::[a-z_]+|(reference_)?(forward|backward))[<(]")
list(FILTER lines INCLUDE REGEX "${calls}")
list(FILTER others EXCLUDE REGEX "${calls}|(typeinfo|typeinfo name|vtable) for pssa::Error$")
if(NOT lines OR others)
  list(LENGTH lines count)
  list(JOIN others "\n  " others)
  message(FATAL_ERROR "${library} exports ${count} calls, and, expected to be hidden:\n  ${others}")
endif()
execute_process(COMMAND "${readelf}" -d "${library}" OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
if(NOT text MATCHES "SONAME[^\n]*\\[libpssa_scan\\.so\\.${version}\\]")
  message(FATAL_ERROR "${library} has no soname libpssa_scan.so.${version}")
endif()
list(LENGTH lines count)
message(STATUS "${count} calls exported, nothing else of pssa")
