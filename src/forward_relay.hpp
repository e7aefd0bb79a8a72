// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

#include "exchange.hpp"
#include "forward_walk.hpp"

namespace pssa::impl {

/// The forward pass where batch and channels alone leave a processor idle: the warps of a team take consecutive blocks
/// of the same channels. Each runs its block from zero and keeps the decays; the carry then passes through scratch from
/// warp to warp; and each runs its block again from the state that it begins with, without another exponential.
/// Relay::tile is one warp's. All states fit it, and offsets within a block have 32 bits.
template <class T, class Relay, class Team>
struct ForwardRelay : Walk<T, typename Relay::tile, false, false> {
  using Tile = typename Relay::tile;
  using Base = Walk<T, Tile, false, false>;
  using typename Base::ChannelStaging;
  using typename Base::Registers;
  using typename Base::S;
  using typename Base::StateStaging;
  using Base::blocks;
  using Base::live_channels;
  using Base::live_states;
  using Base::matrix;
  using Base::place;
  using Base::rank;
  using Base::segment;
  static constexpr int NS = Tile::thread_states;
  static constexpr int steps = Tile::steps;
  static constexpr int warps = Relay::warps;
  static_assert(Tile::warps == 1 && Tile::thread_channels == 1);

  using TokenSums = typename Base::TilePlace::OverStates::template OneEach<steps>;
  using Tokens = Records<S, steps, Tile::channels, 2, Tile::interleaved>;  // (delta, x)
  using Vectors = Records<S, steps, Tile::states, 1, false>;               // b or c
  using Baton = Exchange<S, Relay>;
  static constexpr int warp_elements = Tokens::size + 2 * Vectors::size;
  static constexpr int scratch_elements = warps * warp_elements + Baton::elements;

  ForwardArguments<T> const& k;
  Team team;
  int warp;
  S* scratch;  ///< of the warp
  Rows<T const> x_rows, delta_rows, b_rows, c_rows;
  ChannelStaging x, delta;
  StateStaging b, c;
  NearOutputs<T> y;  ///< of the token among unrolled ones whose sum a lane owns
  int y_steps;       ///< the most tokens of a block that this thread writes, from its own among unrolled ones on
  Baton baton;
  Registers A2;

  KOKKOS_FORCEINLINE_FUNCTION ForwardRelay(ForwardArguments<T> const& arguments, Team const& mates,
                                           Segment const& mine)
      : Base(mine, arguments.sizes.channels, arguments.sizes.state, mates.rank() % Tile::threads),
        k(arguments),
        team(mates),
        warp(mates.rank() / Tile::threads),
        scratch(mates.scratch() + warp * warp_elements),
        x_rows(this->channel_rows(arguments.x)),
        delta_rows(this->channel_rows(arguments.delta)),
        b_rows(this->state_rows(arguments.b)),
        c_rows(this->state_rows(arguments.c)),
        y(NearOutputs<T>::make(this->outputs(arguments.y).later(TokenSums::own_token(place.lane)), true)),
        y_steps(TokenSums::owns(place.lane) && place.channel(0) < live_channels ? steps : 0),
        baton(mates.scratch() + warps * warp_elements, mates.rank()) {}

  KOKKOS_FORCEINLINE_FUNCTION Tokens tokens() const { return {scratch}; }
  KOKKOS_FORCEINLINE_FUNCTION Vectors token_b() const { return {scratch + Tokens::size}; }
  KOKKOS_FORCEINLINE_FUNCTION Vectors token_c() const { return {scratch + Tokens::size + Vectors::size}; }

  /// Of a block, which may be beyond the last.
  KOKKOS_FORCEINLINE_FUNCTION int live_steps(int block) const {
    return block < blocks ? Base::live_steps(block) : 0;
  }
  /// Starts to bring what the first run of a block reads into scratch; start_c, what the second does.
  KOKKOS_FORCEINLINE_FUNCTION void start(int block) {
    int const rows = live_steps(block);
    delta.start(rank, delta_rows, true, block, 0, rows, live_channels, tokens().field(0));
    x.start(rank, x_rows, true, block, 0, rows, live_channels, tokens().field(1));
    b.start(rank, b_rows, true, block, 0, rows, live_states(0), token_b().field(0));
    commit_copies();
  }
  KOKKOS_FORCEINLINE_FUNCTION void finish() const {
    delta.finish(rank, tokens().field(0));
    x.finish(rank, tokens().field(1));
    b.finish(rank, token_b().field(0));
    finish_copies();
  }
  KOKKOS_FORCEINLINE_FUNCTION void start_c(int block) {
    c.start(rank, c_rows, true, block, 0, live_steps(block), live_states(0), token_c().field(0));
    commit_copies();
  }

  /// The block from zero: its decays and inputs, the state after it, and its sum of delta.
  KOKKOS_FORCEINLINE_FUNCTION S run_from_zero(S (&a)[steps][NS], S (&ub)[steps][NS], Registers& h) const {
    S total = S(0);
    PSSA_UNROLL
    for (int i = 0; i < NS; ++i) h[i][0] = S(0);
    PSSA_UNROLL
    for (int t = 0; t < steps; ++t) {
      S bs[NS], record[2];
      tokens().load(t, place.channel(0), record);
      place.load_states(&token_b().at(t, 0, 0), bs);
      S const u = record[0] * record[1];
      total += record[0];
      PSSA_UNROLL
      for (int i = 0; i < NS; ++i) {
        a[t][i] = decay(record[0], A2[i][0]);
        ub[t][i] = u * bs[i];
        h[i][0] = a[t][i] * h[i][0] + ub[t][i];
      }
    }
    return total;
  }

  /// The block from the state h before it, and its y. Calls half_way() there.
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION void run_from(Registers& h, int block, S const (&a)[steps][NS],
                                            S const (&ub)[steps][NS], F const& half_way) const {
    auto const to = y.at_block(block, steps);
    int const live = Kokkos::min(live_steps(block), y_steps) - TokenSums::own_token(place.lane);
    constexpr int group = TokenSums::taken;
    PSSA_UNROLL
    for (int first = 0; first < steps; first += group) {
      S sums[group];
      PSSA_UNROLL
      for (int g = 0; g < group; ++g) {
        int const t = first + g;
        if (2 * t == steps) half_way();
        S cs[NS];
        place.load_states(&token_c().at(t, 0, 0), cs);
        sums[g] = S(0);
        PSSA_UNROLL
        for (int i = 0; i < NS; ++i) {
          h[i][0] = a[t][i] * h[i][0] + ub[t][i];
          sums[g] += h[i][0] * cs[i];
        }
      }
      S const sum = TokenSums::sum(sums, place.lane);
      if (first < live) to.put_first(first, sum);
    }
  }

  /// The tape's entries before a warp's blocks.
  struct Entries {
    std::int64_t next = 0;      ///< the first entry at or after the block
    std::int64_t distance = 0;  ///< from the block to its token
    std::int64_t interval = 0, entries_a_round = 0, tokens_over = 0;

    Entries() = default;
    KOKKOS_FORCEINLINE_FUNCTION Entries(std::int64_t token, std::int64_t every)
        : next((token + every - 1) / every),
          distance(next * every - token),
          interval(every),
          entries_a_round(steps * warps / every),
          tokens_over(steps * warps % every) {}
    KOKKOS_FORCEINLINE_FUNCTION void next_round() {
      next += entries_a_round;
      distance -= tokens_over;
      if (distance < 0) {
        distance += interval;
        ++next;
      }
    }
  };

  KOKKOS_FORCEINLINE_FUNCTION void keep(std::int64_t entry, Registers const& h) const {
    store_registers<Tile>(place, matrix(k.tape, 0, segment.batch, entry), h);
  }

  /// True where offsets have 32 bits and the tape keeps no state within a block but half way.
  static bool fits(ForwardArguments<T> const& k) {
    bool const near = is_near(k.x, steps) && is_near(k.delta, steps) && is_near(k.b, steps) && is_near(k.c, steps) &&
                      is_near(k.y, steps);
    return near && (k.tape.absent() || k.interval % steps == 0 || 2 * k.interval == steps);
  }

  KOKKOS_FORCEINLINE_FUNCTION void run() {
    int block = warp;
    start(block);  // before anything waits for memory
    this->load_A2(k.A, 0, A2);
    baton.start(matrix(k.A, 0), [&](int n, int d) {
      if (k.segments.chunks > 1)
        return k.carries.load(segment.batch, k.carries.first(segment.chunk, segment.begin), n, this->first_channel + d);
      return k.h0.absent() ? S(0) : k.h0(segment.batch, this->first_channel + d, n);
    });
    bool const keeps = !k.tape.absent();
    Entries entries;
    if (keeps) entries = Entries(segment.begin + std::int64_t(block) * steps, k.interval);
    for (int done = 0; done < blocks; done += warps) {
      finish();
      warp_barrier();
      start_c(block);
      S a[steps][NS], ub[steps][NS];
      Registers h;
      S const total[1] = {run_from_zero(a, ub, h)};
      baton.store(place, warp, h, total);
      warp_barrier();
      start(block + warps);
      team.barrier();
      baton.pass();
      c.finish(rank, token_c().field(0));
      finish_copies_but_last();
      team.barrier();
      baton.load(place, warp, h);
      int const live = keeps ? live_steps(block) : 0;
      if (entries.distance == 0 && live > 0) keep(entries.next, h);
      run_from(h, block, a, ub, [&] {
        if (2 * entries.interval == steps && 2 * live > steps) keep(entries.next + 1, h);
      });
      block += warps;
      entries.next_round();
    }
    save();
  }

  KOKKOS_FORCEINLINE_FUNCTION void save() const {
    if (!k.segments.last(segment.chunk)) return;  // the next chunk keeps the state it begins with
    if (!k.tape.absent() && segment.end % k.interval == 0)
      baton.finish(matrix(k.tape, 0, segment.batch, segment.end / k.interval));
    if (!k.hT.absent()) baton.finish(matrix(k.hT, 0, segment.batch));
  }
};

}  // namespace pssa::impl
