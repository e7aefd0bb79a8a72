// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

/// Where code stands that is compiled once for everybody and once more for every instruction set of a host. A file
/// host_<instruction set>.cpp defines PSSA_ISA: what it includes then stands in a namespace of that name, so that the
/// linker cannot take a function with instructions that a processor lacks for one of the rest of the program. For the
/// same reason such code includes neither Kokkos nor the standard library's functions.
#ifdef PSSA_ISA
#define PSSA_NAMESPACE pssa::impl::inline PSSA_ISA
#define PSSA_INLINE inline __attribute__((always_inline))
#else
#include <Kokkos_Core.hpp>
#define PSSA_NAMESPACE pssa::impl
#define PSSA_INLINE KOKKOS_FORCEINLINE_FUNCTION
#endif
