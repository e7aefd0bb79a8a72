// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

#include "ends.hpp"
#include "walk.hpp"

#include <pssa/impl/call.hpp>

namespace pssa::impl {

/// What the ends of chunks are made from. In reverse: dy in x's place and c in b's, and the tensors run backwards, token
/// 0 being the last.
template <class T, class E>
struct EndsArguments {
  using S = state_type<T>;

  Sizes sizes;
  DenseSegments segments;
  Tensor<T const, 3> x, delta, b;
  Tensor<S const, 2> A;
  Ends<S, E> ends;
};

/// The end of a chunk from zero, for the carry: forward, the state after its last token; Reverse, the cotangent carried
/// to before its first. All states fit the tile.
template <class T, class Tile, class E, bool Reverse, class Team>
struct EndsWalk : Walk<T, Tile, false, false> {
  using Base = Walk<T, Tile, false, false>;
  using typename Base::ChannelStaging;
  using typename Base::Registers;
  using typename Base::S;
  using typename Base::StateStaging;
  using Base::blocks;
  using Base::each;
  using Base::live_channels;
  using Base::live_states;
  using Base::live_steps;
  using Base::place;
  using Base::rank;
  static constexpr int NS = Tile::thread_states;
  static constexpr int ND = Tile::thread_channels;
  static constexpr int steps = Tile::steps;

  using Tokens = Records<S, steps, Tile::channels, 2, Tile::interleaved>;  // (delta, x)
  using Vectors = Records<S, steps, Tile::states, 1, false>;               // b
  static constexpr int scratch_elements = Tile::buffers * (Tokens::size + Vectors::size);

  EndsArguments<T, E> const& k;
  Team team;
  std::int64_t first_row;
  Rows<T const> x_rows, delta_rows, b_rows;
  bool near;              ///< offsets within a block have 32 bits
  ChannelStaging x, delta;
  StateStaging b;
  Registers A2, h;
  S total[ND];

  KOKKOS_FORCEINLINE_FUNCTION EndsWalk(EndsArguments<T, E> const& arguments, Team const& mates,
                                       Segment const& mine)
      : Base(walked(mine, arguments.sizes.length), arguments.sizes.channels, arguments.sizes.state, mates.rank()),
        k(arguments),
        team(mates),
        first_row(arguments.ends.first(mine.chunk, mine.begin)),
        x_rows(this->channel_rows(arguments.x)),
        delta_rows(this->channel_rows(arguments.delta)),
        b_rows(this->state_rows(arguments.b)),
        near(is_near(arguments.x, steps) && is_near(arguments.delta, steps) && is_near(arguments.b, steps)) {}

  /// The segment in the order in which it is walked.
  KOKKOS_FORCEINLINE_FUNCTION static Segment walked(Segment segment, [[maybe_unused]] std::int64_t length) {
    if constexpr (Reverse) {
      std::int64_t const begin = segment.begin;
      segment.begin = length - segment.end;
      segment.end = length - begin;
    }
    return segment;
  }

  KOKKOS_FORCEINLINE_FUNCTION Tokens tokens(int block) const {
    return {team.scratch() + block % Tile::buffers * Tokens::size};
  }
  KOKKOS_FORCEINLINE_FUNCTION Vectors vectors(int block) const {
    return {team.scratch() + Tile::buffers * Tokens::size + block % Tile::buffers * Vectors::size};
  }

  KOKKOS_FORCEINLINE_FUNCTION void start(int block) {
    int const rows = live_steps(block);
    delta.start(rank, delta_rows, near, block, 0, rows, live_channels, tokens(block).field(0));
    x.start(rank, x_rows, near, block, 0, rows, live_channels, tokens(block).field(1));
    b.start(rank, b_rows, near, block, 0, rows, live_states(0), vectors(block).field(0));
  }
  KOKKOS_FORCEINLINE_FUNCTION void finish(int block) const {
    delta.finish(rank, tokens(block).field(0));
    x.finish(rank, tokens(block).field(1));
    b.finish(rank, vectors(block).field(0));
    finish_copies();
  }

  KOKKOS_FORCEINLINE_FUNCTION void compute(int block) {
    auto const token = tokens(block);
    auto const token_b = vectors(block);
    int const live = Tile::padded ? steps : live_steps(block);
    int const states = live_states(0);
    PSSA_UNROLL
    for (int t = 0; t < (Tile::padded ? steps : live); ++t) {
      S bs[NS], record[ND][2], u[ND];
      place.load_states(&token_b.at(t, 0, 0), bs);
      PSSA_UNROLL
      for (int j = 0; j < ND; ++j) {
        token.load(t, place.channel(j), record[j]);
        u[j] = Reverse ? record[j][1] : record[j][0] * record[j][1];
        total[j] += record[j][0];
      }
      PSSA_UNROLL
      for (int i = 0; i < (Tile::padded ? NS : states); ++i) {
        PSSA_UNROLL
        for (int j = 0; j < ND; ++j) {
          S const a = decay(record[j][0], A2[i][j]);
          h[i][j] = Reverse ? a * (h[i][j] + u[j] * bs[i]) : advance(a, h[i][j], u[j], bs[i]);
        }
      }
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION void save() const {
    std::int64_t const batch = this->segment.batch;
    PSSA_UNROLL
    for (int j = 0; j < ND; ++j) {
      int const d = place.channel(j);
      if (d >= live_channels) continue;
      PSSA_UNROLL
      for (int i = 0; i < NS; ++i)
        if (place.state(i) < live_states(0))
          k.ends.store(batch, first_row, place.state(i), this->first_channel + d, h[i][j]);
      if (place.lane == 0) k.ends.store(batch, first_row, k.sizes.state, this->first_channel + d, total[j]);
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION void run() {
    this->load_A2(k.A, 0, A2);
    each([&](int i, int j) { h[i][j] = S(0); });
    PSSA_UNROLL
    for (int j = 0; j < ND; ++j) total[j] = S(0);
    start(0);
    finish(0);
    team.barrier();
    for (int block = 0; block < blocks; ++block) {
      bool const more = block + 1 < blocks;
      if (Tile::buffers == 2 && more) start(block + 1);
      compute(block);
      if (Tile::buffers == 1 && more) start(block + 1);
      if (more) finish(block + 1);
      team.barrier();
    }
    save();
  }
};

}  // namespace pssa::impl
