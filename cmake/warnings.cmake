# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: The pssa authors

# The warnings of pssa's own builds; linked privately, so that nobody else gets them.
add_library(pssa_warnings INTERFACE)
set(pssa_warning_flags -Wall -Wextra -Wshadow)
if(NOT Kokkos_ENABLE_CUDA)
  # The code that nvcc generates is neither pedantic nor free of conversions.
  list(APPEND pssa_warning_flags -Wpedantic -Wconversion)
endif()
if(PSSA_WARNINGS_AS_ERRORS)
  list(APPEND pssa_warning_flags -Werror)
endif()
target_compile_options(pssa_warnings INTERFACE ${pssa_warning_flags})
