// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

#include "ends.hpp"
#include "recurrence.hpp"

#include <pssa/impl/call.hpp>

namespace pssa::impl {

/// Replaces the end of every chunk by the state that the chunk begins with; Reverse, by the cotangent that reaches its
/// last token from later ones. One index is one state of one channel, walked over the chunks in order.
template <class ExecutionSpace, class S, class E, bool Reverse>
struct CarryKernel {
  using Policy = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>;
  static constexpr int ahead = 8;  ///< chunks loaded before the first of them is used

  Sizes sizes;
  DenseSegments segments;
  Tensor<S const, 2> A;
  Tensor<S const, 3> start;  ///< h0 or dhT; data null = zero
  Ends<S, E> ends;

  std::int64_t count() const { return sizes.batch * sizes.channels * sizes.state; }
  Policy policy(ExecutionSpace const& exec) const { return {exec, 0, count()}; }

  /// The first row of the chunk that is i-th in order.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t first(std::int64_t i) const {
    std::int64_t const chunk = Reverse ? segments.chunks - 1 - i : i;
    return ends.first(chunk, segments.begin(chunk));
  }

  KOKKOS_FUNCTION void operator()(std::int64_t index) const {
    std::int64_t const d = index % sizes.channels;
    std::int64_t const n = index / sizes.channels % sizes.state;
    std::int64_t const i = index / sizes.channels / sizes.state;
    S const A2 = A(d, n) * log2_e<S>;
    S h = start.absent() ? S(0) : start(i, d, n);
    // The last chunk in order has no end.
    for (std::int64_t done = 0; done < segments.chunks; done += ahead) {
      S end[ahead], total[ahead];
      for (int k = 0; k < ahead && done + k + 1 < segments.chunks; ++k) {
        end[k] = ends.load(i, first(done + k), n, d);
        total[k] = ends.load(i, first(done + k), sizes.state, d);
      }
      for (int k = 0; k < ahead && done + k < segments.chunks; ++k) {
        ends.store(i, first(done + k), n, d, h);
        if (done + k + 1 < segments.chunks) h = decay(total[k], A2) * h + end[k];
      }
    }
  }
};

}  // namespace pssa::impl
