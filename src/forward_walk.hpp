// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

#include "ends.hpp"
#include "walk.hpp"

#include <pssa/impl/call.hpp>

namespace pssa::impl {

/// What a forward pass is given.
template <class T>
struct ForwardArguments {
  using S = state_type<T>;

  Sizes sizes;
  DenseSegments segments;
  Tensor<T const, 3> x, delta, b, c;
  Tensor<S const, 2> A;
  Tensor<S const, 3> h0;  ///< data null = zero
  Tensor<T, 3> y;
  Tensor<S, 3> hT;    ///< data null = not wanted
  Tensor<S, 4> tape;  ///< (batch, entry, channels, state), data null = inference
  std::int64_t interval = 1;
  Ends<S, T> carries;  ///< where there are several chunks, the state that each begins with
};

/// The forward pass: a team walks one segment in blocks of tokens. States stay in registers; the next block is fetched
/// while the present one is computed.
/// Slabs: the state is larger than a tile's and takes turns in the registers.
template <class T, class Tile, bool Slabs, class Team>
struct ForwardWalk : Walk<T, Tile, false, Slabs> {
  using Base = Walk<T, Tile, false, Slabs>;
  using typename Base::ChannelStaging;
  using typename Base::Registers;
  using typename Base::S;
  using typename Base::StateStaging;
  using Base::blocks;
  using Base::live_channels;
  using Base::live_states;
  using Base::live_steps;
  using Base::matrix;
  using Base::place;
  using Base::rank;
  using Base::segment;
  static constexpr int NS = Tile::thread_states;
  static constexpr int ND = Tile::thread_channels;
  static constexpr int steps = Tile::steps;

  using OverStates = typename Base::TilePlace::OverStates;
  using TokenSums = typename OverStates::template OneEach<Tile::unroll>;

  using Tokens = Records<S, steps, Tile::channels, 2, Tile::interleaved>;  // (delta, x)
  using Vectors = Records<S, steps, Tile::states, 1, false>;               // b or c
  using Results = Records<S, steps, Tile::channels, 1, false>;             // y, summed over slabs
  static constexpr int scratch_elements =
      Tile::buffers * (Tokens::size + 2 * Vectors::size + (Slabs ? Results::size : 0));
  /// Elements that wait in level-1 scratch: the states of all slabs, where there are several.
  KOKKOS_FORCEINLINE_FUNCTION static std::int64_t waiting_elements(ForwardArguments<T> const& arguments) {
    return Slabs ? slabs_of(arguments.sizes.state, Tile::states) * Tile::states * Tile::channels : 0;
  }

  ForwardArguments<T> const& k;
  Team team;
  int slabs;

  Rows<T const> x_rows, delta_rows, b_rows, c_rows;
  NearOutputs<T> y;  ///< of unrolled tokens: of a lane's own channel and its own token among them
  bool near;  ///< offsets within a block have 32 bits
  ChannelStaging x, delta;
  StateStaging b, c;
  std::uint32_t kept = 0;          ///< the tokens of a block before which the state goes to the tape
  std::int64_t kept_entries;       ///< tape entries before the block's first
  std::int64_t next_kept = 0;      ///< from the block's first token
  Matrix<S> next_entry;            ///< of the tape
  bool packs;                      ///< states go to the tape at once
  Registers A2, h;

  KOKKOS_FORCEINLINE_FUNCTION ForwardWalk(ForwardArguments<T> const& arguments, Team const& mates,
                                          Segment const& mine)
      : Base(mine, arguments.sizes.channels, arguments.sizes.state, mates.rank()),
        k(arguments),
        team(mates),
        slabs(Slabs ? static_cast<int>(slabs_of(arguments.sizes.state, Tile::states)) : 1),
        x_rows(this->channel_rows(arguments.x)),
        delta_rows(this->channel_rows(arguments.delta)),
        b_rows(this->state_rows(arguments.b)),
        c_rows(this->state_rows(arguments.c)),
        y(NearOutputs<T>::make(this->outputs(arguments.y).later(TokenSums::own_token(place.lane)),
                               TokenSums::owns(place.lane))),
        near(is_near(arguments.x, steps) && is_near(arguments.delta, steps) && is_near(arguments.b, steps) &&
             is_near(arguments.c, steps) && is_near(arguments.y, steps)),
        kept_entries(mine.begin / arguments.interval),
        next_entry(matrix(arguments.tape, 0, mine.batch, kept_entries)),
        packs(place.packs(next_entry)) {}

  KOKKOS_FORCEINLINE_FUNCTION Tokens tokens(int block) const {
    return {team.scratch() + block % Tile::buffers * Tokens::size};
  }
  KOKKOS_FORCEINLINE_FUNCTION Vectors vectors(int item, int which) const {
    return {team.scratch() + Tile::buffers * Tokens::size + (item % Tile::buffers * 2 + which) * Vectors::size};
  }
  KOKKOS_FORCEINLINE_FUNCTION Results results(int block) const {
    return {team.scratch() + Tile::buffers * (Tokens::size + 2 * Vectors::size) + block % Tile::buffers * Results::size};
  }

  /// Starts to bring a block into scratch: b and c of a slab, and x and delta, which its later slabs find there.
  KOKKOS_FORCEINLINE_FUNCTION void start(int block, int slab, int item) {
    std::int64_t const n = std::int64_t(slab) * Tile::states;
    int const rows = live_steps(block);
    if (slab == 0) {
      delta.start(rank, delta_rows, near, block, 0, rows, live_channels, tokens(block).field(0));
      x.start(rank, x_rows, near, block, 0, rows, live_channels, tokens(block).field(1));
    }
    b.start(rank, b_rows, near, block, n, rows, live_states(slab), vectors(item, 0).field(0));
    c.start(rank, c_rows, near, block, n, rows, live_states(slab), vectors(item, 1).field(0));
  }
  KOKKOS_FORCEINLINE_FUNCTION void finish(int block, int slab, int item) const {
    if (slab == 0) {
      delta.finish(rank, tokens(block).field(0));
      x.finish(rank, tokens(block).field(1));
    }
    b.finish(rank, vectors(item, 0).field(0));
    c.finish(rank, vectors(item, 1).field(0));
    finish_copies();
  }

  /// The state before the segment. Chunks do not read h0: it may be hT, which the last of them writes.
  KOKKOS_FORCEINLINE_FUNCTION void load_start(int slab) {
    if (k.segments.chunks > 1)
      this->load_carry(k.carries, h);
    else if (!k.h0.absent())
      load_registers<Tile>(place, matrix(k.h0, slab, segment.batch), h);
    else
      this->each([&](int i, int j) { h[i][j] = S(0); });
  }
  KOKKOS_FORCEINLINE_FUNCTION S& waiting_at(int slab, int i, int j) const {
    return team.waiting()[((slab * NS + i) * ND + j) * Tile::threads + rank];
  }

  /// Keeps the state before token t of the block.
  KOKKOS_FORCEINLINE_FUNCTION void keep(int slab, int t) {
    if constexpr (Slabs) {
      store_registers<Tile>(place, matrix(k.tape, slab, segment.batch, entry(t)), h);
    } else {
      if (packs)
        store_packs<Tile>(place, next_entry, h);
      else
        store_elements<Tile>(place, next_entry, h);
      next_entry.data += k.tape.stride[1];
    }
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
    S bs[NS], cs[NS], record[ND][2], u[ND];
    place.load_states(&token_b.at(t, 0, 0), bs);
    place.load_states(&token_c.at(t, 0, 0), cs);
    PSSA_UNROLL
    for (int j = 0; j < ND; ++j) {
      token.load(t, place.channel(j), record[j]);
      u[j] = record[j][0] * record[j][1];
      ys[j] = S(0);
    }
    PSSA_UNROLL
    for (int i = 0; i < (Tile::padded ? NS : states); ++i) {
      PSSA_UNROLL
      for (int j = 0; j < ND; ++j) {
        h[i][j] = advance(decay(record[j][0], A2[i][j]), h[i][j], u[j], bs[i]);
        ys[j] += h[i][j] * cs[i];
      }
    }
  }

  using Sums = typename OverStates::template Single<S>;

  KOKKOS_FORCEINLINE_FUNCTION void put(int block, int slab, int t, Sums const& sums) const {
    if constexpr (Slabs) {
      auto const result = results(block);
      sums.each(place.lane, [&](int j, S sum) {
        S& total = result.at(t, place.first_channel + j, 0);
        total = slab == 0 ? sum : total + sum;
      });
    } else {
      auto const to = this->outputs(k.y).later(std::int64_t(block) * steps + t);
      if constexpr (Tile::padded)
        sums.each_owned(place.lane, [&](int j, S sum) { to.put(j, sum); });
      else
        to.put(sums.sum);
    }
  }

  /// Tile::unroll tokens from t0 on, all of them live. before(u) is called before each.
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION void compute_unrolled(int block, int slab, int item, int t0, F const& before) {
    auto const token = tokens(block);
    auto const token_b = vectors(item, 0);
    auto const token_c = vectors(item, 1);
    int const states = live_states(slab);
    if constexpr (Slabs || !Tile::padded) {
      PSSA_UNROLL
      for (int u = 0; u < Tile::unroll; ++u) {
        before(u);
        S ys[ND];
        step(t0 + u, token, token_b, token_c, states, ys);
        put(block, slab, t0 + u, ys);
      }
    } else {
      constexpr int group = TokenSums::taken;
      auto const to = y.at_block(block * (steps / Tile::unroll) + t0 / Tile::unroll, Tile::unroll);
      PSSA_UNROLL
      for (int u = 0; u < Tile::unroll; u += group) {
        S ys[group][ND];
        PSSA_UNROLL
        for (int g = 0; g < group; ++g) {
          before(u + g);
          step(t0 + u + g, token, token_b, token_c, states, ys[g]);
          OverStates::scatter(ys[g]);
        }
        PSSA_UNROLL
        for (int j = 0; j < ND; j += OverStates::spread) {
          S sums[group];
          PSSA_UNROLL
          for (int g = 0; g < group; ++g) sums[g] = ys[g][j];
          to.put(u, j, TokenSums::sum(sums, place.lane));
        }
      }
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION void compute(int block, int slab, int item) {
    int const live = live_steps(block);
    if (slab == 0) find_kept(live);
    // Unrolled code keeps no state, or every stride-th; what else is asked for takes the loop.
    constexpr int stride = Tile::unroll < 8 ? Tile::unroll : 8;
    constexpr auto every = static_cast<std::uint32_t>((std::uint64_t{1} << Tile::unroll) - 1);
    for (int t0 = 0; t0 < live; t0 += Tile::unroll) {
      std::uint32_t const asked = kept >> t0 & every;
      bool const whole = near && t0 + Tile::unroll <= live;
      if (whole && asked == 0) {
        compute_unrolled(block, slab, item, t0, [](int) {});
      } else if (whole && asked == (multiples(stride) & every)) {
        compute_unrolled(block, slab, item, t0, [&](int u) {
          if (u % stride == 0) keep(slab, t0 + u);
        });
      } else {
        for (int t = t0; t < t0 + Tile::unroll && t < live; ++t) {
          if (kept >> t & 1) keep(slab, t);
          S ys[ND];
          step(t, tokens(block), vectors(item, 0), vectors(item, 1), live_states(slab), ys);
          put(block, slab, t, ys);
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
    using Mine = typename ChannelStaging::Mine;
    auto const rows = this->channel_rows(k.y);
    write_block<Mine>(rank, rows, false, std::int64_t(block) * steps, 0, live_steps(block), live_channels,
                      [&](int row, int column, auto& values) { result.take(row, column, values); });
  }

  KOKKOS_FORCEINLINE_FUNCTION void save(int slab) {
    if (!k.segments.last(segment.chunk)) return;  // the next chunk keeps the state it begins with
    if (!k.tape.absent() && segment.end % k.interval == 0)
      store_registers<Tile>(place, matrix(k.tape, slab, segment.batch, segment.end / k.interval), h);
    if (!k.hT.absent()) store_registers<Tile>(place, matrix(k.hT, slab, segment.batch), h);
  }

  KOKKOS_FORCEINLINE_FUNCTION void swap_in(int slab) {
    this->load_A2(k.A, slab, A2);
    this->each([&](int i, int j) { h[i][j] = waiting_at(slab, i, j); });
  }

  KOKKOS_FORCEINLINE_FUNCTION void swap_out(int slab) const {
    this->each([&](int i, int j) { waiting_at(slab, i, j) = h[i][j]; });
  }

  KOKKOS_FORCEINLINE_FUNCTION void run() {
    if constexpr (!Slabs) {
      this->load_A2(k.A, 0, A2);
      load_start(0);
    } else {
      for (int slab = 0; slab < slabs; ++slab) {
        load_start(slab);
        swap_out(slab);
      }
    }
    if (blocks > 0) {
      start(0, 0, 0);
      finish(0, 0, 0);
    }
    team.barrier();
    int item = 0;
    for (int block = 0; block < blocks; ++block) {
      for (int slab = 0; slab < slabs; ++slab, ++item) {
        bool const last_slab = slab + 1 == slabs;
        int const next_block = last_slab ? block + 1 : block;
        int const next_slab = last_slab ? 0 : slab + 1;
        bool const more = next_block < blocks;
        if (Tile::buffers == 2 && more) start(next_block, next_slab, item + 1);
        if constexpr (Slabs) swap_in(slab);
        compute(block, slab, item);
        if constexpr (Slabs) swap_out(slab);
        if (Tile::buffers == 1 && more) start(next_block, next_slab, item + 1);
        if (more) finish(next_block, next_slab, item + 1);
        team.barrier();
        if (Slabs && last_slab) write(block);
      }
    }
    for (int slab = 0; slab < slabs; ++slab) {
      if constexpr (Slabs) swap_in(slab);
      save(slab);
    }
  }
};

}  // namespace pssa::impl
