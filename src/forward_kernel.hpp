// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

#include "block.hpp"
#include "recurrence.hpp"
#include "registers.hpp"
#include "segments.hpp"
#include "tile.hpp"

#include <pssa/impl/call.hpp>

namespace pssa::impl {

/// The forward pass: a team walks one sequence of one tile of channels in blocks of tokens. States stay in registers;
/// the next block is fetched while the present one is computed.
/// Slabs: the state is larger than a tile's and takes turns in the registers.
template <class ExecutionSpace, class T, class Tile, bool Slabs>
struct ForwardKernel {
  using S = state_type<T>;
  using Policy = TeamPolicyOf<ExecutionSpace, Tile>;
  using Team = typename Policy::member_type;

  using OverStates = typename Place<Tile, false>::OverStates;

  static constexpr int NS = Tile::thread_states;
  static constexpr int ND = Tile::thread_channels;
  static constexpr int steps = Tile::steps;

  Sizes sizes;
  DenseSegments segments;
  Tensor<T const, 3> x, delta, b, c;
  Tensor<S const, 2> A;
  Tensor<S const, 3> h0;  ///< data null = zero
  Tensor<T, 3> y;
  Tensor<S, 3> hT;    ///< data null = not wanted
  Tensor<S, 4> tape;  ///< (batch, entry, channels, state), data null = inference
  std::int64_t interval = 1;

  using Tokens = Records<S, steps, Tile::channels, 2, Tile::interleaved>;        // (delta, delta x)
  using Vectors = Records<S, steps, Tile::states, 1, false>;                     // b or c
  using Results = Records<S, steps, Tile::channels, 1, false>;                   // y
  static constexpr int scratch_elements = Tile::buffers * (Tokens::size + 2 * Vectors::size + Results::size);
  static constexpr std::size_t scratch_bytes = scratch_elements * sizeof(S);
  static_assert(scratch_bytes <= 40000, "level-0 scratch is about 40 KiB before Kokkos 5.2");

  Policy policy(ExecutionSpace const& exec) const {
    return team_policy<Tile>(exec, segments.league(), scratch_bytes,
                             forward_waiting_bytes(size_of<Tile>(), sizes.state, sizeof(S)));
  }

  KOKKOS_FUNCTION void operator()(Team const& team) const {
    for (std::int64_t index = team.league_rank(); index < segments.count(); index += team.league_size()) {
      Walk(*this, team, segments(index)).run();
      barrier(team);  // the next segment reuses the scratch
    }
  }

 private:
  /// One thread's part in one segment.
  struct Walk {
    ForwardKernel const& k;
    Team const& team;
    Segment segment;
    int rank;
    Place<Tile, false> place;
    std::int64_t first_channel;
    int live_channels;
    int slabs;
    S* scratch;
    [[maybe_unused]] S* waiting = nullptr;

    using ChannelFetch = Fetch<T, steps, Tile::channels, Tile::threads>;
    using StateFetch = Fetch<T, steps, Tile::states, Tile::threads>;
    Rows<T const> x_rows, delta_rows, b_rows, c_rows;
    Rows<T> y_rows;
    ChannelFetch x, delta;
    StateFetch b, c;
    std::uint32_t kept = 0;          ///< the tokens of a block before which the state goes to the tape
    std::int64_t kept_entries = 0;   ///< tape entries before the block's first
    std::int64_t next_kept = 0;      ///< from the block's first token
    S A2[NS][ND];
    S h[NS][ND];

    KOKKOS_FORCEINLINE_FUNCTION Walk(ForwardKernel const& kernel, Team const& member, Segment const& mine)
        : k(kernel),
          team(member),
          segment(mine),
          rank(opaque(member.team_rank())),
          place(rank),
          first_channel(mine.tile * Tile::channels),
          live_channels(static_cast<int>(
              Kokkos::min(std::int64_t(Tile::channels), kernel.sizes.channels - mine.tile * Tile::channels))),
          slabs(Slabs ? static_cast<int>(slabs_of(kernel.sizes.state, Tile::states)) : 1),
          scratch(in_scratch<S>(member.team_scratch(0).get_shmem_aligned(std::size_t{scratch_bytes}, 16))),
          x_rows(channel_rows(kernel.x)),
          delta_rows(channel_rows(kernel.delta)),
          b_rows(state_rows(kernel.b)),
          c_rows(state_rows(kernel.c)),
          y_rows(channel_rows(kernel.y)) {
      if constexpr (Slabs)
        waiting = static_cast<S*>(member.team_scratch(1).get_shmem_aligned(
            static_cast<std::size_t>(slabs) * Tile::states * Tile::channels * sizeof(S), 16));
    }

    KOKKOS_FORCEINLINE_FUNCTION Tokens tokens(int block) const {
      return {scratch + block % Tile::buffers * Tokens::size};
    }
    KOKKOS_FORCEINLINE_FUNCTION Vectors vectors(int item, int which) const {
      return {scratch + Tile::buffers * Tokens::size + (item % Tile::buffers * 2 + which) * Vectors::size};
    }
    KOKKOS_FORCEINLINE_FUNCTION Results results(int block) const {
      return {scratch + Tile::buffers * (Tokens::size + 2 * Vectors::size) + block % Tile::buffers * Results::size};
    }

    KOKKOS_FORCEINLINE_FUNCTION int live_states(int slab) const {
      return static_cast<int>(Kokkos::min(std::int64_t(Tile::states), k.sizes.state - std::int64_t(slab) * Tile::states));
    }
    KOKKOS_FORCEINLINE_FUNCTION int live_steps(int block) const {
      return static_cast<int>(
          Kokkos::min(std::int64_t(steps), segment.end - segment.begin - std::int64_t(block) * steps));
    }

    template <class R, class... Leading>
    KOKKOS_FORCEINLINE_FUNCTION Matrix<R> matrix(Tensor<R, 2 + sizeof...(Leading)> const& tensor, int slab,
                                                 Leading... leading) const {
      constexpr int axis = sizeof...(Leading);
      return {&tensor(leading..., first_channel, std::int64_t(slab) * Tile::states), tensor.stride[axis],
              tensor.stride[axis + 1], live_channels, live_states(slab)};
    }

    template <class R>
    KOKKOS_FORCEINLINE_FUNCTION Rows<R> channel_rows(Tensor<R, 3> const& tensor) const {
      return Rows<R>::template make<ChannelFetch::Mine::width>(&tensor(segment.batch, segment.begin, first_channel),
                                                               tensor.stride[1], tensor.stride[2]);
    }
    KOKKOS_FORCEINLINE_FUNCTION Rows<T const> state_rows(Tensor<T const, 3> const& tensor) const {
      return Rows<T const>::template make<StateFetch::Mine::width>(&tensor(segment.batch, segment.begin, 0),
                                                                   tensor.stride[1], tensor.stride[2]);
    }

    KOKKOS_FORCEINLINE_FUNCTION void fetch(int block, int slab) {
      std::int64_t const t = std::int64_t(block) * steps;
      int const rows = live_steps(block);
      if (slab == 0) {
        x.load(rank, x_rows, t, 0, rows, live_channels);
        delta.load(rank, delta_rows, t, 0, rows, live_channels);
      }
      std::int64_t const n = std::int64_t(slab) * Tile::states;
      b.load(rank, b_rows, t, n, rows, live_states(slab));
      c.load(rank, c_rows, t, n, rows, live_states(slab));
    }

    KOKKOS_FORCEINLINE_FUNCTION void stage(int block, int slab, int item) const {
      if (slab == 0) {
        auto const to = tokens(block);
        using Mine = typename decltype(x)::Mine;
        Mine::each(rank, [&](int slot, int row, int column) {
          S records[Mine::width][2];
          PSSA_UNROLL
          for (int i = 0; i < Mine::width; ++i) {
            records[i][0] = static_cast<S>(delta.value[slot][i]);
            records[i][1] = records[i][0] * static_cast<S>(x.value[slot][i]);
          }
          to.store(row, column, records);
        });
      }
      stage_vectors(b, vectors(item, 0), rank);
      stage_vectors(c, vectors(item, 1), rank);
    }

    KOKKOS_FORCEINLINE_FUNCTION void load_A(int slab) {
      load_registers<true, Tile>(place, matrix(k.A, slab), A2);
      PSSA_UNROLL
      for (int i = 0; i < NS; ++i) {
        PSSA_UNROLL
        for (int j = 0; j < ND; ++j) A2[i][j] *= log2_e<S>;
      }
    }

    KOKKOS_FORCEINLINE_FUNCTION void load_h0(int slab) {
      if (k.h0.absent()) {
        PSSA_UNROLL
        for (int i = 0; i < NS; ++i) {
          PSSA_UNROLL
          for (int j = 0; j < ND; ++j) h[i][j] = S(0);
        }
      } else {
        load_registers<true, Tile>(place, matrix(k.h0, slab, segment.batch), h);
      }
    }

    KOKKOS_FORCEINLINE_FUNCTION S& waiting_at(int slab, int i, int j) const {
      return waiting[((slab * NS + i) * ND + j) * Tile::threads + rank];
    }

    KOKKOS_FORCEINLINE_FUNCTION void keep(int slab, std::int64_t entry) const {
      store_registers<true, Tile>(place, matrix(k.tape, slab, segment.batch, entry), h);
    }

    /// Finds the tokens of the next block before which the state is kept.
    KOKKOS_FORCEINLINE_FUNCTION void find_kept(int live) {
      if (k.tape.absent()) return;
      kept_entries += Kokkos::popcount(kept);
      kept = 0;
      for (; next_kept < live; next_kept += k.interval) kept |= std::uint32_t{1} << next_kept;
      next_kept -= steps;
    }

    /// The tape entry of token t of the block.
    KOKKOS_FORCEINLINE_FUNCTION std::int64_t entry(int t) const {
      return kept_entries + Kokkos::popcount(kept & ((std::uint32_t{1} << t) - 1));
    }

    /// One token, all registers: this thread's part of y.
    KOKKOS_FORCEINLINE_FUNCTION void step(int t, Tokens const& token, Vectors const& token_b, Vectors const& token_c,
                                          int states, S (&ys)[ND]) {
      S bs[NS], cs[NS], du[ND][2];
      load_pack<NS>(&token_b.at(t, place.first_state, 0), bs);
      load_pack<NS>(&token_c.at(t, place.first_state, 0), cs);
      PSSA_UNROLL
      for (int j = 0; j < ND; ++j) {
        token.load(t, place.channel(j), du[j]);
        ys[j] = S(0);
      }
      PSSA_UNROLL
      for (int i = 0; i < (Tile::padded ? NS : states); ++i) {
        PSSA_UNROLL
        for (int j = 0; j < ND; ++j) {
          h[i][j] = advance(decay(du[j][0], A2[i][j]), h[i][j], du[j][1], bs[i]);
          ys[j] += h[i][j] * cs[i];
        }
      }
    }

    KOKKOS_FORCEINLINE_FUNCTION void compute(int block, int slab, int item) {
      auto const token = tokens(block);
      auto const token_b = vectors(item, 0);
      auto const token_c = vectors(item, 1);
      auto const result = results(block);
      int const live = live_steps(block);
      int const states = live_states(slab);
      if (slab == 0) find_kept(live);
      auto const put = [&](int t, typename OverStates::template Single<S> const& sums) {
        sums.each(place.lane, [&](int j, S sum) {
          S& y = result.at(t, place.first_channel + j, 0);
          y = !Slabs || slab == 0 ? sum : y + sum;
        });
      };
      // Unrolled code asks for a kept state at every stride-th token only; intervals that need others take the loop.
      constexpr int stride = Tile::unroll < 8 ? Tile::unroll : 8;
      for (int t0 = 0; t0 < live; t0 += Tile::unroll) {
        std::uint32_t const asked =
            kept >> t0 & static_cast<std::uint32_t>((std::uint64_t{1} << Tile::unroll) - 1);
        if ((asked & ~multiples(stride)) == 0) {
          // The sums are stored after the last load: the compiler may not move a load of scratch over a store.
          S ys[Tile::unroll][ND];
          PSSA_UNROLL
          for (int u = 0; u < Tile::unroll; ++u) {
            if (u % stride == 0 && (asked >> u & 1)) keep(slab, entry(t0 + u));
            step(t0 + u, token, token_b, token_c, states, ys[u]);
          }
          PSSA_UNROLL
          for (int u = 0; u < Tile::unroll; ++u) put(t0 + u, ys[u]);
        } else {
          for (int u = 0; u < Tile::unroll; ++u) {
            S ys[ND];
            if (asked >> u & 1) keep(slab, entry(t0 + u));
            step(t0 + u, token, token_b, token_c, states, ys);
            put(t0 + u, ys);
          }
        }
      }
    }

    /// The bits 0, stride, 2 stride, ...
    KOKKOS_FORCEINLINE_FUNCTION static constexpr std::uint32_t multiples(int stride) {
      std::uint32_t bits = 0;
      for (int bit = 0; bit < 32; bit += stride) bits |= std::uint32_t{1} << bit;
      return bits;
    }

    KOKKOS_FORCEINLINE_FUNCTION void write(int block) const {
      auto const result = results(block);
      write_block<steps, Tile::channels, Tile::threads>(
          rank, y_rows, std::int64_t(block) * steps, 0, live_steps(block), live_channels,
          [&](int row, int column, auto& values) { result.take(row, column, values); });
    }

    KOKKOS_FORCEINLINE_FUNCTION void save(int slab) {
      if (!k.tape.absent() && segment.end % k.interval == 0) keep(slab, segment.end / k.interval);
      if (!k.hT.absent()) store_registers<true, Tile>(place, matrix(k.hT, slab, segment.batch), h);
    }

    KOKKOS_FORCEINLINE_FUNCTION void swap_in(int slab) {
      load_A(slab);
      PSSA_UNROLL
      for (int i = 0; i < NS; ++i) {
        PSSA_UNROLL
        for (int j = 0; j < ND; ++j) h[i][j] = waiting_at(slab, i, j);
      }
    }

    KOKKOS_FORCEINLINE_FUNCTION void swap_out(int slab) const {
      PSSA_UNROLL
      for (int i = 0; i < NS; ++i) {
        PSSA_UNROLL
        for (int j = 0; j < ND; ++j) waiting_at(slab, i, j) = h[i][j];
      }
    }

    KOKKOS_FORCEINLINE_FUNCTION void run() {
      int const blocks = static_cast<int>((segment.end - segment.begin + steps - 1) / steps);
      if constexpr (!Slabs) {
        load_A(0);
        load_h0(0);
      } else {
        for (int slab = 0; slab < slabs; ++slab) {
          load_h0(slab);
          swap_out(slab);
        }
      }
      if (blocks > 0) {
        fetch(0, 0);
        stage(0, 0, 0);
      }
      barrier(team);
      int item = 0;
      for (int block = 0; block < blocks; ++block) {
        for (int slab = 0; slab < slabs; ++slab, ++item) {
          bool const last_slab = slab + 1 == slabs;
          int const next_block = last_slab ? block + 1 : block;
          int const next_slab = last_slab ? 0 : slab + 1;
          if (next_block < blocks) fetch(next_block, next_slab);
          if constexpr (Slabs) swap_in(slab);
          compute(block, slab, item);
          if constexpr (Slabs) swap_out(slab);
          if (next_block < blocks) stage(next_block, next_slab, item + 1);
          barrier(team);
          if (last_slab) write(block);
        }
      }
      for (int slab = 0; slab < slabs; ++slab) {
        if constexpr (Slabs) swap_in(slab);
        save(slab);
      }
    }
  };
};

}  // namespace pssa::impl
