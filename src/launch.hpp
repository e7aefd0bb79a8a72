// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

#include "tile.hpp"

#include <pssa/impl/dispatch.hpp>

#include <optional>
#include <string>

/// What the dispatch of both passes shares.
namespace pssa::impl {

/// The execution spaces that Kokkos has enabled, for explicit instantiation.
#ifdef KOKKOS_ENABLE_SERIAL
#define PSSA_IF_SERIAL(...) __VA_ARGS__
#else
#define PSSA_IF_SERIAL(...)
#endif
#ifdef KOKKOS_ENABLE_OPENMP
#define PSSA_IF_OPENMP(...) __VA_ARGS__
#else
#define PSSA_IF_OPENMP(...)
#endif
#ifdef KOKKOS_ENABLE_THREADS
#define PSSA_IF_THREADS(...) __VA_ARGS__
#else
#define PSSA_IF_THREADS(...)
#endif
#ifdef KOKKOS_ENABLE_CUDA
#define PSSA_IF_CUDA(...) __VA_ARGS__
#else
#define PSSA_IF_CUDA(...)
#endif
#ifdef KOKKOS_ENABLE_HIP
#define PSSA_IF_HIP(...) __VA_ARGS__
#else
#define PSSA_IF_HIP(...)
#endif
#ifdef KOKKOS_ENABLE_SYCL
#define PSSA_IF_SYCL(...) __VA_ARGS__
#else
#define PSSA_IF_SYCL(...)
#endif

#define PSSA_FOR_EACH_SPACE(MACRO, ...)              \
  PSSA_IF_SERIAL(MACRO(Kokkos::Serial, __VA_ARGS__))   \
  PSSA_IF_OPENMP(MACRO(Kokkos::OpenMP, __VA_ARGS__))   \
  PSSA_IF_THREADS(MACRO(Kokkos::Threads, __VA_ARGS__)) \
  PSSA_IF_CUDA(MACRO(Kokkos::Cuda, __VA_ARGS__))       \
  PSSA_IF_HIP(MACRO(Kokkos::HIP, __VA_ARGS__))         \
  PSSA_IF_SYCL(MACRO(Kokkos::SYCL, __VA_ARGS__))

/// Launches a kernel on the instance, unless there is nothing to do.
template <class ExecutionSpace, class Kernel>
void launch(ExecutionSpace const& exec, char const* label, std::int64_t work, Kernel const& kernel) {
  if (work > 0) Kokkos::parallel_for(label, kernel.policy(exec), kernel);
}

/// Makes view hold at least count elements; what it held is lost when it grows.
template <class ExecutionSpace, class S>
void grow(ExecutionSpace const& exec, char const* label,
          Kokkos::View<S*, typename ExecutionSpace::memory_space>& view, std::int64_t count) {
  using Memory = Kokkos::View<S*, typename ExecutionSpace::memory_space>;
  if (static_cast<std::int64_t>(view.size()) >= count) return;
  view = Memory();  // first, so that old and new memory are not held at once
  view = Memory(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, std::string(label)),
                static_cast<std::size_t>(count));
}

/// The Tensor of an optional argument, with data null when it is absent.
template <class T, int Rank>
Tensor<T, Rank> or_absent(std::optional<Tensor<T, Rank>> const& tensor) {
  return tensor ? *tensor : Tensor<T, Rank>{};
}

}  // namespace pssa::impl
