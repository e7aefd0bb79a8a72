// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

#include "ends.hpp"
#include "walk.hpp"

#include <pssa/impl/call.hpp>

namespace pssa::impl {

/// The end of every chunk from zero, for CarryKernel: forward, the state after its last token; Reverse, the cotangent
/// carried to before its first, from dy in x's place and c in b's. All states fit the tile.
template <class ExecutionSpace, class T, class Tile, class E, bool Reverse>
struct EndsKernel {
  using S = state_type<T>;
  using Policy = TeamPolicyOf<ExecutionSpace, Tile>;
  using Team = typename Policy::member_type;
  using Base = Walk<T, Tile, false, false>;

  static constexpr int NS = Tile::thread_states;
  static constexpr int ND = Tile::thread_channels;
  static constexpr int steps = Tile::steps;

  Sizes sizes;
  DenseSegments segments;
  // Reverse: the tensors run backwards, token 0 being the last.
  Tensor<T const, 3> x, delta, b;
  Tensor<S const, 2> A;
  Ends<S, E> ends;

  using Tokens = Records<S, steps, Tile::channels, 2, Tile::interleaved>;  // (delta, x)
  using Vectors = Records<S, steps, Tile::states, 1, false>;               // b
  static constexpr int scratch_elements = Tile::buffers * (Tokens::size + Vectors::size);
  static constexpr std::size_t scratch_bytes = scratch_elements * sizeof(S);

  Policy policy(ExecutionSpace const& exec) const {
    return team_policy<Tile>(exec, segments.league(), scratch_bytes, 0);
  }

  KOKKOS_FUNCTION void operator()(Team const& team) const {
    for (std::int64_t index = team.league_rank(); index < segments.count(); index += team.league_size()) {
      auto const segment = segments(index);
      if (Reverse ? segment.chunk == 0 : segments.last(segment.chunk)) continue;  // nobody needs its end
      Thread(*this, team, segment).run();
      barrier(team);  // the next segment reuses the scratch
    }
  }

 private:
  /// The segment in the order in which it is walked.
  KOKKOS_FORCEINLINE_FUNCTION Segment walked(Segment segment) const {
    if constexpr (Reverse) {
      std::int64_t const begin = segment.begin;
      segment.begin = sizes.length - segment.end;
      segment.end = sizes.length - begin;
    }
    return segment;
  }

  struct Thread : Base {
    using typename Base::ChannelStaging;
    using typename Base::Registers;
    using typename Base::StateStaging;
    using Base::each;
    using Base::live_channels;
    using Base::live_states;
    using Base::place;
    using Base::rank;

    EndsKernel const& k;
    Team const& team;
    std::int64_t first_row;
    S* scratch;
    Rows<T const> x_rows, delta_rows, b_rows;
    bool near;              ///< offsets within a block have 32 bits
    int blocks, last_live;  ///< blocks of the segment, tokens of the last
    ChannelStaging x, delta;
    StateStaging b;
    Registers A2, h;
    S total[ND];

    KOKKOS_FORCEINLINE_FUNCTION Thread(EndsKernel const& kernel, Team const& member, Segment const& mine)
        : Base(kernel.walked(mine), kernel.sizes.channels, kernel.sizes.state, member.team_rank()),
          k(kernel),
          team(member),
          first_row(kernel.ends.first(mine.chunk, mine.begin)),
          scratch(in_scratch<S>(member.team_scratch(0).get_shmem_aligned(std::size_t{scratch_bytes}, 16))),
          x_rows(this->channel_rows(kernel.x)),
          delta_rows(this->channel_rows(kernel.delta)),
          b_rows(this->state_rows(kernel.b)),
          near(is_near(kernel.x, steps) && is_near(kernel.delta, steps) && is_near(kernel.b, steps)),
          blocks(this->block_count()),
          last_live(static_cast<int>(this->tokens_in_segment() - std::int64_t(blocks - 1) * steps)) {}

    KOKKOS_FORCEINLINE_FUNCTION Tokens tokens(int block) const {
      return {scratch + block % Tile::buffers * Tokens::size};
    }
    KOKKOS_FORCEINLINE_FUNCTION Vectors vectors(int block) const {
      return {scratch + Tile::buffers * Tokens::size + block % Tile::buffers * Vectors::size};
    }
    KOKKOS_FORCEINLINE_FUNCTION int live_steps(int block) const {
      return block + 1 < blocks ? steps : last_live;
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
      barrier(team);
      for (int block = 0; block < blocks; ++block) {
        bool const more = block + 1 < blocks;
        if (Tile::buffers == 2 && more) start(block + 1);
        compute(block);
        if (Tile::buffers == 1 && more) start(block + 1);
        if (more) finish(block + 1);
        barrier(team);
      }
      save();
    }
  };
};

}  // namespace pssa::impl
