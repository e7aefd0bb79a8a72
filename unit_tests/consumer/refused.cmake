# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: The pssa authors
#
# Requests that an installed pssa 0.1 has to refuse: before 1.0 every minor version may change the interface.
foreach(version IN ITEMS 0.0 0.1.99 0.2 1.0)
  find_package(pssa ${version} QUIET)
  if(pssa_FOUND)
    message(FATAL_ERROR "pssa ${pssa_VERSION} is found as version ${version}, expected a refusal")
  endif()
endforeach()

find_package(pssa 0.1 QUIET COMPONENTS scan fft)
set(expected "pssa: component is fft, expected one of: scan")
if(pssa_FOUND OR TARGET pssa::scan OR NOT pssa_NOT_FOUND_MESSAGE STREQUAL expected)
  message(FATAL_ERROR "pssa_FOUND is ${pssa_FOUND} with '${pssa_NOT_FOUND_MESSAGE}', expected FALSE with '${expected}'")
endif()
unset(pssa_NOT_FOUND_MESSAGE)
