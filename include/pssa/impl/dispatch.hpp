// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

#include <pssa/impl/call.hpp>
#include <pssa/impl/export.hpp>
#include <pssa/tape.hpp>

namespace pssa::impl {

/// True for the execution spaces that the library is compiled for: all that Kokkos has enabled.
template <class ExecutionSpace>
inline constexpr bool is_compiled_v = false
#ifdef KOKKOS_ENABLE_SERIAL
                                      || std::is_same_v<ExecutionSpace, Kokkos::Serial>
#endif
#ifdef KOKKOS_ENABLE_OPENMP
                                      || std::is_same_v<ExecutionSpace, Kokkos::OpenMP>
#endif
#ifdef KOKKOS_ENABLE_THREADS
                                      || std::is_same_v<ExecutionSpace, Kokkos::Threads>
#endif
#ifdef KOKKOS_ENABLE_CUDA
                                      || std::is_same_v<ExecutionSpace, Kokkos::Cuda>
#endif
#ifdef KOKKOS_ENABLE_HIP
                                      || std::is_same_v<ExecutionSpace, Kokkos::HIP>
#endif
#ifdef KOKKOS_ENABLE_SYCL
                                      || std::is_same_v<ExecutionSpace, Kokkos::SYCL>
#endif
    ;

/// Launches the forward pass on checked arguments; tape is null for inference.
template <class ExecutionSpace, class T>
PSSA_EXPORT void forward(ExecutionSpace const& exec, char const* call, Sizes const& sizes, InputTensors<T> const& in,
                         OutputTensors<T> const& out,
                         TapeStorage<state_type<T>, typename ExecutionSpace::memory_space>* tape,
                         ScanOptions const& options);

/// Launches the backward pass on checked arguments.
template <class ExecutionSpace, class T>
PSSA_EXPORT void backward(ExecutionSpace const& exec, char const* call, Sizes const& sizes, InputTensors<T> const& in,
                          CotangentTensors<T> const& cotangents, GradientTensors<T> const& gradients,
                          TapeStorage<state_type<T>, typename ExecutionSpace::memory_space>& tape,
                          ScanOptions const& options);

}  // namespace pssa::impl
