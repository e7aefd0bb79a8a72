// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

#include <Kokkos_Core.hpp>

/// Applies MACRO to every element type that this Kokkos tells apart: half_t and bhalf_t are float in host-only builds.
#if defined(KOKKOS_HALF_T_IS_FLOAT) && !KOKKOS_HALF_T_IS_FLOAT
#define PSSA_IF_HALF(...) __VA_ARGS__
#else
#define PSSA_IF_HALF(...)
#endif
#if defined(KOKKOS_BHALF_T_IS_FLOAT) && !KOKKOS_BHALF_T_IS_FLOAT
#define PSSA_IF_BHALF(...) __VA_ARGS__
#else
#define PSSA_IF_BHALF(...)
#endif

#define PSSA_FOR_EACH_ELEMENT(MACRO)                 \
  MACRO(float)                                       \
  MACRO(double)                                      \
  PSSA_IF_HALF(MACRO(Kokkos::Experimental::half_t)) \
  PSSA_IF_BHALF(MACRO(Kokkos::Experimental::bhalf_t))
