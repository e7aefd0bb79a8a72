# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: The pssa authors
#
# Compiles the consumer by hand, with the flags that pkg-config has for an installed and moved pssa.
#   cmake -D pkgconfig=PROGRAM -D compiler=CXX -D kokkos=FLAGS -D installed=PREFIX -D source=CONSUMER_DIR
#         -D program=FILE -P pkgconfig.cmake
file(GLOB_RECURSE pc "${installed}/*/pssa.pc")
cmake_path(GET pc PARENT_PATH folder)
set(ENV{PKG_CONFIG_PATH} "${folder}")
execute_process(COMMAND "${pkgconfig}" --static --cflags --libs "pssa >= 0.1" OUTPUT_VARIABLE flags
                COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(flags UNIX_COMMAND "${flags}")
separate_arguments(kokkos UNIX_COMMAND "${kokkos}")
execute_process(COMMAND "${compiler}" -std=c++20 "${source}/main.cpp" ${flags} ${kokkos} -o "${program}"
                COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
cmake_path(GET folder PARENT_PATH libraries)
set(ENV{LD_LIBRARY_PATH} "${libraries}") # pkg-config names no run path for a shared pssa
execute_process(COMMAND "${program}" COMMAND_ERROR_IS_FATAL ANY)
