// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

#include "intrinsics.hpp"
#include "tile.hpp"

#include <pssa/impl/call.hpp>

namespace pssa::impl {

/// Adds the backward sweep's parts in a fixed order: those of db and dc over the tiles of channels, those of dA over
/// the chunks. Each index is a strip of neighbouring sums, one on a device, a cache line or more on a host.
template <class ExecutionSpace, class T, class Machine>
struct ReduceKernel {
  using S = state_type<T>;
  using Policy = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>;
  static constexpr int strip = Machine::padded ? 1 : 64;

  Sizes sizes;
  std::int64_t tiles = 0;
  std::int64_t chunks = 0;  ///< of all sequences
  // What is not wanted has data null.
  S const* token_parts = nullptr;  ///< (tile, batch, length, b or c, state), contiguous
  S const* A_parts = nullptr;       ///< (chunk, channels, state)
  Tensor<T, 3> db, dc;
  Tensor<S, 2> dA;

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t token_sums() const {
    return db.absent() && dc.absent() ? 0 : sizes.batch * sizes.length * 2 * sizes.state;
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t A_sums() const { return dA.absent() ? 0 : sizes.channels * sizes.state; }
  KOKKOS_FORCEINLINE_FUNCTION static std::int64_t strips(std::int64_t sums) { return (sums + strip - 1) / strip; }

  Policy policy(ExecutionSpace const& exec) const { return {exec, 0, strips(token_sums()) + strips(A_sums())}; }

  KOKKOS_FUNCTION void operator()(std::int64_t index) const {
    std::int64_t const first = index * strip;
    if (index < strips(token_sums())) {
      if constexpr (strip == 1) {
        add(token_parts, token_sums(), tiles, first, [&](std::int64_t which, S sum) {
          std::int64_t const n = which % sizes.state;
          std::int64_t const token = which / sizes.state / 2;
          auto const& to = which / sizes.state % 2 == 0 ? db : dc;
          if (!to.absent()) to(token / sizes.length, token % sizes.length, n) = static_cast<T>(sum);
        });
      } else {
        Place place(first, sizes);
        add(token_parts, token_sums(), tiles, first, [&](std::int64_t, S sum) {
          auto const& to = place.of_c ? dc : db;
          if (!to.absent()) to(place.batch, place.t, place.n) = static_cast<T>(sum);
          place.next(sizes);
        });
      }
    } else {
      add(A_parts, A_sums(), chunks, first - strips(token_sums()) * strip,
          [&](std::int64_t which, S sum) { dA(which / sizes.state, which % sizes.state) = sum; });
    }
  }

 private:
  /// Where a sum of db or dc belongs, and its neighbours, without a division each: a host would spend its time on them.
  struct Place {
    std::int64_t n, t, batch;
    bool of_c;

    KOKKOS_FORCEINLINE_FUNCTION Place(std::int64_t which, Sizes const& sizes)
        : n(which % sizes.state),
          t(which / sizes.state / 2 % sizes.length),
          batch(which / sizes.state / 2 / sizes.length),
          of_c(which / sizes.state % 2 != 0) {}
    KOKKOS_FORCEINLINE_FUNCTION void next(Sizes const& sizes) {
      if (++n < sizes.state) return;
      n = 0;
      of_c = !of_c;
      if (of_c || ++t < sizes.length) return;
      t = 0;
      ++batch;
    }
  };

  /// Adds count parts, total apart, of the strip at first.
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION static void add(S const* parts, std::int64_t total, std::int64_t count,
                                              std::int64_t first, F const& store) {
    S sum[strip] = {};
    int const live = static_cast<int>(Kokkos::min(std::int64_t(strip), total - first));
    for (std::int64_t part = 0; part < count; ++part) {
      S const* const from = parts + part * total + first;
      if (live == strip)
        for (int i = 0; i < strip; ++i) sum[i] += from[i];
      else
        for (int i = 0; i < live; ++i) sum[i] += from[i];
    }
    for (int i = 0; i < live; ++i) store(first + i, sum[i]);
  }
};

}  // namespace pssa::impl
