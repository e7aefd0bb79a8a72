// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

#include "block.hpp"
#include "ends.hpp"
#include "recurrence.hpp"
#include "registers.hpp"
#include "segments.hpp"
#include "tile.hpp"

namespace pssa::impl {

/// One thread's part in one segment, as both passes see it: where its tile and its registers belong in memory.
/// Slabs: there may be several.
template <class T, class Tile, bool SwizzleStates, bool Slabs>
struct Walk {
  using S = state_type<T>;
  using TilePlace = Place<Tile, SwizzleStates>;
  static constexpr int NS = Tile::thread_states;
  static constexpr int ND = Tile::thread_channels;
  static constexpr int steps = Tile::steps;
  using Registers = S[NS][ND];
  using ChannelStaging = Staging<T, S, steps, Tile::channels, Tile::threads>;
  using StateStaging = Staging<T, S, steps, Tile::states, Tile::threads>;

  Segment segment;
  std::int64_t state;
  int rank;
  TilePlace place;
  std::int64_t first_channel;
  int live_channels;
  [[maybe_unused]] int all_states;  ///< of the only slab
  int blocks;     ///< of the segment; a segment fits a length of 2^31 blocks
  int last_live;  ///< tokens of the last

  KOKKOS_FORCEINLINE_FUNCTION Walk(Segment const& mine, std::int64_t channels, std::int64_t states, int team_rank)
      : segment(mine),
        state(states),
        rank(opaque(team_rank)),
        place(rank),
        first_channel(mine.tile * Tile::channels),
        live_channels(static_cast<int>(
            Kokkos::min(std::int64_t(Tile::channels), channels - mine.tile * Tile::channels))),
        all_states(static_cast<int>(states)),
        blocks(static_cast<int>((length() + steps - 1) / steps)),
        last_live(static_cast<int>(length() - std::int64_t(blocks - 1) * steps)) {}

  /// Of the segment.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t length() const { return segment.end - segment.begin; }
  /// Of a block.
  KOKKOS_FORCEINLINE_FUNCTION int live_steps(int block) const { return block + 1 < blocks ? steps : last_live; }

  KOKKOS_FORCEINLINE_FUNCTION int live_states([[maybe_unused]] int slab) const {
    if constexpr (!Slabs) return all_states;
    return static_cast<int>(Kokkos::min(std::int64_t(Tile::states), state - std::int64_t(slab) * Tile::states));
  }

  /// The tile's channels and a slab's states of a tensor whose last axes they are.
  template <class R, class... Leading>
  KOKKOS_FORCEINLINE_FUNCTION Matrix<R> matrix(Tensor<R, 2 + sizeof...(Leading)> const& tensor, int slab,
                                               Leading... leading) const {
    constexpr int axis = sizeof...(Leading);
    return {&tensor(leading..., first_channel, std::int64_t(slab) * Tile::states), tensor.stride[axis],
            tensor.stride[axis + 1], live_channels, live_states(slab)};
  }

  /// The segment's tokens of the tile's channels. Of an absent tensor they must not be used: a null pointer among the
  /// values would hide from nvcc that the others are not in scratch, whose loads then keep their order with the stores.
  template <class R>
  KOKKOS_FORCEINLINE_FUNCTION Rows<R> channel_rows(Tensor<R, 3> const& tensor) const {
    return Rows<R>::template make<typename ChannelStaging::Mine>(&tensor(segment.batch, segment.begin, first_channel), tensor.stride[1],
                                        tensor.stride[2], rank);
  }
  /// The segment's tokens of all states.
  KOKKOS_FORCEINLINE_FUNCTION Rows<T const> state_rows(Tensor<T const, 3> const& tensor) const {
    return Rows<T const>::template make<typename StateStaging::Mine>(&tensor(segment.batch, segment.begin, 0),
                                                                   tensor.stride[1], tensor.stride[2], rank);
  }
  /// Where this thread writes those of its channels whose sums it owns, for the segment's first token.
  KOKKOS_FORCEINLINE_FUNCTION Outputs<T> outputs(Tensor<T, 3> const& tensor) const {
    int const first = place.first_channel + TilePlace::OverStates::own(place.lane);
    return {&tensor(segment.batch, segment.begin, first_channel + first), tensor.stride[1], tensor.stride[2],
            tensor.absent() ? 0 : live_channels - first};
  }

  /// Calls f on every register of a thread: f(state, channel).
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION static void each(F const& f) {
    PSSA_UNROLL
    for (int i = 0; i < NS; ++i) {
      PSSA_UNROLL
      for (int j = 0; j < ND; ++j) f(i, j);
    }
  }

  /// What a chunk has been left: the state that it begins with, or the cotangent of the one that it ends with.
  template <class E>
  KOKKOS_FORCEINLINE_FUNCTION void load_carry(Ends<S, E> const& ends, Registers& to) const {
    each([&](int i, int j) {
      int const n = place.state(i);
      int const d = place.channel(j);
      to[i][j] = n < live_states(0) && d < live_channels
                     ? ends.load(segment.batch, ends.first(segment.chunk, segment.begin), n, first_channel + d)
                     : S(0);
    });
  }

  /// A in base 2: A log2(e), so that the decay is one base-2 exponential.
  KOKKOS_FORCEINLINE_FUNCTION void load_A2(Tensor<S const, 2> const& A, int slab, Registers& A2) const {
    load_registers<Tile>(place, matrix(A, slab), A2);
    each([&](int i, int j) { A2[i][j] *= log2_e<S>; });
  }
};

}  // namespace pssa::impl
