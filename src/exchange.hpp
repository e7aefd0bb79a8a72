// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

#include "recurrence.hpp"
#include "registers.hpp"

namespace pssa::impl {

/// How the warps of a relay hand the state, or its cotangent, on through scratch. A block is an affine map of it, which
/// its end from zero and its sum of delta describe. Each warp stores its own, in the order in which the blocks are
/// walked; pass() then gives each warp what its block begins with.
template <class S, class Relay>
class Exchange {
  using Tile = typename Relay::tile;
  static constexpr int warps = Relay::warps;
  static constexpr int NS = Tile::thread_states;
  static constexpr int ND = Tile::thread_channels;
  static constexpr int numbers = Tile::states * Tile::channels;         ///< of a state
  static constexpr int slots = (numbers + Relay::threads - 1) / Relay::threads;  ///< numbers that one thread passes on

 public:
  static constexpr int elements = warps * (numbers + Tile::channels);

  KOKKOS_FORCEINLINE_FUNCTION Exchange(S* scratch, int team_rank)
      : ends_(scratch), totals_(scratch + warps * numbers), rank_(team_rank) {}

  /// The state before the first block: begin(state, channel), for those that A has.
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION void start(Matrix<S const> const& A, F const& begin) {
    each([&](int slot, int number) {
      int const n = number % Tile::states;
      int const d = number / Tile::states;
      bool const live = n < A.live_states && d < A.live_channels;
      carry_[slot] = live ? begin(n, d) : S(0);
      A2_[slot] = live ? A.data[d * A.channel_stride + n * A.state_stride] * log2_e<S> : S(0);
    });
  }

  /// What a warp's block has made of zero, and its sum of delta.
  template <class Place>
  KOKKOS_FORCEINLINE_FUNCTION void store(Place const& place, int warp, S const (&end)[NS][ND],
                                         S const (&total)[ND]) const {
    store_packs<Tile>(place, ends_of(warp), end);
    PSSA_UNROLL
    for (int j = 0; j < ND; ++j)
      if (place.lane == 0) totals_[warp * Tile::channels + place.channel(j)] = total[j];
  }

  /// Composes the blocks of a round, all of which have been stored.
  KOKKOS_FORCEINLINE_FUNCTION void pass() {
    each([&](int slot, int number) {
      S end[warps], a[warps];
      PSSA_UNROLL
      for (int warp = 0; warp < warps; ++warp) {
        end[warp] = ends_[warp * numbers + number];
        a[warp] = decay(totals_[warp * Tile::channels + number / Tile::states], A2_[slot]);
      }
      PSSA_UNROLL
      for (int warp = 0; warp < warps; ++warp) {
        ends_[warp * numbers + number] = carry_[slot];
        carry_[slot] = a[warp] * carry_[slot] + end[warp];
      }
    });
  }

  /// What a warp's block begins with, once all have been passed.
  template <class Place>
  KOKKOS_FORCEINLINE_FUNCTION void load(Place const& place, int warp, S (&begin)[NS][ND]) const {
    load_packs<Tile>(place, ends_of(warp), begin);
    if constexpr (Place::swizzles) swizzle<Tile>(place, begin);
  }

  /// Writes the sums over all warps of what each has stored. All threads of the team call it.
  template <class Place, class Team>
  KOKKOS_FORCEINLINE_FUNCTION void add(Place const& place, Team const& team, int warp, S const (&value)[NS][ND],
                                       Matrix<S> const& to) const {
    team.barrier();
    store_packs<Tile>(place, ends_of(warp), value);
    team.barrier();
    each([&](int, int number) {
      S sum = ends_[number];
      PSSA_UNROLL
      for (int other = 1; other < warps; ++other) sum += ends_[other * numbers + number];
      put(to, number, sum);
    });
  }

  /// Writes the state after the last block.
  KOKKOS_FORCEINLINE_FUNCTION void finish(Matrix<S> const& to) const {
    each([&](int slot, int number) { put(to, number, carry_[slot]); });
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION Matrix<S> ends_of(int warp) const {
    return {ends_ + warp * numbers, Tile::states, 1, Tile::channels, Tile::states};
  }
  KOKKOS_FORCEINLINE_FUNCTION static void put(Matrix<S> const& to, int number, S value) {
    int const n = number % Tile::states;
    int const d = number / Tile::states;
    if (n < to.live_states && d < to.live_channels) to.data[d * to.channel_stride + n * to.state_stride] = value;
  }
  /// Calls f(slot, number) for the numbers that this thread passes on.
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION void each(F const& f) const {
    PSSA_UNROLL
    for (int slot = 0; slot < slots; ++slot) {
      int const number = slot * Relay::threads + rank_;
      if (numbers % Relay::threads == 0 || number < numbers) f(slot, number);
    }
  }

  S* ends_;    ///< [warp][channel][state], then what each block begins with
  S* totals_;  ///< [warp][channel]
  int rank_;
  S carry_[slots], A2_[slots];
};

}  // namespace pssa::impl
