// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

#include <pssa/types.hpp>

#include "accuracy.hpp"

#include <type_traits>

namespace pssa::tools {

/// Calls visit(std::type_identity<ExecutionSpace>) for every backend that this Kokkos has enabled.
template <class Visitor>
void for_each_backend(Visitor&& visit) {
#ifdef KOKKOS_ENABLE_SERIAL
  visit(std::type_identity<Kokkos::Serial>{});
#endif
#ifdef KOKKOS_ENABLE_OPENMP
  visit(std::type_identity<Kokkos::OpenMP>{});
#endif
#ifdef KOKKOS_ENABLE_THREADS
  visit(std::type_identity<Kokkos::Threads>{});
#endif
#ifdef KOKKOS_ENABLE_CUDA
  visit(std::type_identity<Kokkos::Cuda>{});
#endif
#ifdef KOKKOS_ENABLE_HIP
  visit(std::type_identity<Kokkos::HIP>{});
#endif
#ifdef KOKKOS_ENABLE_SYCL
  visit(std::type_identity<Kokkos::SYCL>{});
#endif
}

/// Calls visit(std::type_identity<T>, name, precision) for every element type that this Kokkos tells apart: half_t and
/// bhalf_t are float where no GPU backend defines them.
template <class Visitor>
void for_each_element_type(Visitor&& visit) {
  visit(std::type_identity<float>{}, "float", precision_of_float);
  visit(std::type_identity<double>{}, "double", precision_of_double);
#if defined(KOKKOS_HALF_T_IS_FLOAT) && !KOKKOS_HALF_T_IS_FLOAT
  visit(std::type_identity<Kokkos::Experimental::half_t>{}, "half", precision_of_half);
#endif
#if defined(KOKKOS_BHALF_T_IS_FLOAT) && !KOKKOS_BHALF_T_IS_FLOAT
  visit(std::type_identity<Kokkos::Experimental::bhalf_t>{}, "bfloat16", precision_of_bfloat16);
#endif
}

/// The type in which T's states are kept and its sums formed.
template <class T>
Precision const& precision_of_sums() {
  return std::is_same_v<T, double> ? precision_of_double : precision_of_float;
}

/// value as T stores it; T's own conversions go through state_type<T>, as the library's do.
template <class T>
T to_element(double value) {
  return static_cast<T>(static_cast<state_type<T>>(value));
}

template <class T>
double to_double(T value) {
  return static_cast<double>(static_cast<state_type<T>>(value));
}

/// The tensors as T and state_type<T> store them.
template <class T>
Tensors rounded(Tensors tensors) {
  for (auto& [name, tensor] : tensors)
    for (auto& value : tensor.data)
      value = is_of_element_type(axes_of(name)) ? to_double(to_element<T>(value))
                                                : static_cast<double>(static_cast<state_type<T>>(value));
  return tensors;
}

}  // namespace pssa::tools
