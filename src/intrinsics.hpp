// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

#include "exponential.hpp"

#include <Kokkos_Core.hpp>

#include <cstdint>

/// What a backend can do better than portable code: a fast form per backend beside a portable one.

#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDA_ARCH__)
#define PSSA_ON_CUDA 1
#define PSSA_UNROLL _Pragma("unroll")
#else
#define PSSA_ON_CUDA 0
#define PSSA_UNROLL
#endif

namespace pssa::impl {

/// 2^x. On CUDA one instruction in float: at most 2.06 ulp on an H200 over all floats of size 1e-9 or more, subnormals
/// are 0; the CUDA library's exp2 in double.
template <class S>
KOKKOS_FORCEINLINE_FUNCTION S fast_exp2(S x) {
#if PSSA_ON_CUDA
  if constexpr (sizeof(S) == 4) {
    float result;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
  } else {
    return ::exp2(x);
  }
#else
  return exp2_product<true>(x, S(1));
#endif
}

/// The value that lane (own lane xor mask) of the warp holds. Tiles of one-lane warps never call it.
template <class S>
KOKKOS_FORCEINLINE_FUNCTION S lane_xor(S value, [[maybe_unused]] int mask) {
#if PSSA_ON_CUDA
  return __shfl_xor_sync(0xffffffffu, value, mask);
#else
  return value;
#endif
}

/// Team barrier. Kokkos' own asks at run time how the team was launched, which the inner loops feel.
template <class Team>
KOKKOS_FORCEINLINE_FUNCTION void barrier([[maybe_unused]] Team const& team) {
#if PSSA_ON_CUDA
  __syncthreads();
#else
  team.team_barrier();
#endif
}

/// Barrier of a warp: what its lanes have written to scratch, all of them see afterwards.
KOKKOS_FORCEINLINE_FUNCTION void warp_barrier() {
#if PSSA_ON_CUDA
  __syncwarp();
#endif
}

/// The same pointer into level-0 scratch, which the compiler then knows to be shared memory: through Kokkos' scratch
/// handle it sees a generic address, whose accesses are slower and twice as wide.
template <class S>
KOKKOS_FORCEINLINE_FUNCTION S* in_scratch(void* pointer) {
#if PSSA_ON_CUDA
  extern __shared__ double shared_memory[];
  auto const offset = __cvta_generic_to_shared(pointer) - __cvta_generic_to_shared(shared_memory);
  return reinterpret_cast<S*>(reinterpret_cast<char*>(shared_memory) + offset);
#else
  return static_cast<S*>(pointer);
#endif
}

/// Copies an element into scratch, 0 where it is not live. On CUDA the copy goes on until finish_copies(), and holds no
/// register meanwhile.
template <class S>
KOKKOS_FORCEINLINE_FUNCTION void start_copy(S* to, S const* from, bool live) {
#if PSSA_ON_CUDA
  auto const destination = static_cast<unsigned>(__cvta_generic_to_shared(to));
  int const bytes = live ? static_cast<int>(sizeof(S)) : 0;
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(destination), "l"(from), "n"(sizeof(S)), "r"(bytes)
               : "memory");
#else
  *to = live ? *from : S(0);
#endif
}

/// Makes one group of the copies that this thread has started since the last.
KOKKOS_FORCEINLINE_FUNCTION void commit_copies() {
#if PSSA_ON_CUDA
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/// Waits for this thread's copies but those of its last group.
KOKKOS_FORCEINLINE_FUNCTION void finish_copies_but_last() {
#if PSSA_ON_CUDA
  asm volatile("cp.async.wait_group 1;" ::: "memory");
#endif
}

/// Waits for this thread's copies.
KOKKOS_FORCEINLINE_FUNCTION void finish_copies() {
#if PSSA_ON_CUDA
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

/// The same number, of which the compiler knows nothing. nvcc trades registers for address arithmetic when it knows a
/// rank's range, and holds in registers through a whole loop what a rare branch computes from numbers it knows.
KOKKOS_FORCEINLINE_FUNCTION int opaque(int value) {
#if PSSA_ON_CUDA
  asm volatile("" : "+r"(value));
#endif
  return value;
}
KOKKOS_FORCEINLINE_FUNCTION std::int64_t opaque(std::int64_t value) {
#if PSSA_ON_CUDA
  asm volatile("" : "+l"(value));
#endif
  return value;
}

/// N consecutive elements as the widest accesses that their number allows.
template <class S, int N>
struct alignas(N * sizeof(S) % 16 == 0 ? 16 : (N * sizeof(S) % 8 == 0 ? 8 : sizeof(S))) Pack {
  S value[N];

  /// True when load_pack and store_pack may access p.
  KOKKOS_FORCEINLINE_FUNCTION static bool fits([[maybe_unused]] S const* p) {
#if PSSA_ON_CUDA
    return reinterpret_cast<std::uintptr_t>(p) % alignof(Pack) == 0;
#else
    return true;
#endif
  }
};

/// Loads N consecutive elements from a place where Pack fits.
template <int N, class S>
KOKKOS_FORCEINLINE_FUNCTION void load_pack(S const* from, S (&to)[N]) {
#if PSSA_ON_CUDA
  constexpr int width = static_cast<int>(alignof(Pack<S, N>) / sizeof(S));
  PSSA_UNROLL
  for (int i = 0; i < N; i += width) {
    auto const chunk = *reinterpret_cast<Pack<S, width> const*>(from + i);
    PSSA_UNROLL
    for (int k = 0; k < width; ++k) to[i + k] = chunk.value[k];
  }
#else
  for (int i = 0; i < N; ++i) to[i] = from[i];
#endif
}

/// Stores N consecutive elements to a place where Pack fits.
template <int N, class S>
KOKKOS_FORCEINLINE_FUNCTION void store_pack(S* to, S const (&from)[N]) {
#if PSSA_ON_CUDA
  constexpr int width = static_cast<int>(alignof(Pack<S, N>) / sizeof(S));
  PSSA_UNROLL
  for (int i = 0; i < N; i += width) {
    Pack<S, width> chunk;
    PSSA_UNROLL
    for (int k = 0; k < width; ++k) chunk.value[k] = from[i + k];
    *reinterpret_cast<Pack<S, width>*>(to + i) = chunk;
  }
#else
  for (int i = 0; i < N; ++i) to[i] = from[i];
#endif
}

}  // namespace pssa::impl
