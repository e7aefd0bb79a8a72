// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

#include "backward_walk.hpp"
#include "exchange.hpp"

namespace pssa::impl {

/// One warp of a team, as a team of its own with a piece of the team's scratch.
template <class Team, class S, int Threads, int Elements>
class Warp {
 public:
  KOKKOS_FORCEINLINE_FUNCTION explicit Warp(Team const& team)
      : index(team.rank() / Threads), rank_(team.rank() % Threads), scratch_(team.scratch() + index * Elements) {}

  int const index;  ///< of the team's warps

  KOKKOS_FORCEINLINE_FUNCTION int rank() const { return rank_; }
  KOKKOS_FORCEINLINE_FUNCTION S* scratch() const { return scratch_; }
  KOKKOS_FORCEINLINE_FUNCTION S* waiting() const { return nullptr; }
  KOKKOS_FORCEINLINE_FUNCTION void barrier() const { warp_barrier(); }

 private:
  int rank_;
  S* scratch_;
};

/// The backward sweep where batch and channels alone leave a processor idle, as ForwardRelay: each warp computes its
/// block's decays and states again from the tape, then the cotangent that the block makes of zero; the carry passes
/// from warp to warp, from later blocks to earlier ones; and each sweeps over its block with what reaches it.
template <class T, class Relay, class Team>
struct BackwardRelay {
  using Tile = typename Relay::tile;
  using S = state_type<T>;
  static constexpr int warps = Relay::warps;
  static constexpr int NS = Tile::thread_states;
  static constexpr int ND = Tile::thread_channels;
  static constexpr int steps = Tile::steps;
  /// Of one warp; BackwardWalk asks its team for nothing but what Warp has.
  static constexpr int warp_elements =
      2 * (Records<S, steps, Tile::channels, 4, true>::size + 2 * Records<S, steps, Tile::states, 1, false>::size);
  using Mine = Warp<Team, S, Tile::threads, warp_elements>;
  using Walk = BackwardWalk<T, Tile, false, Mine>;
  using Item = typename Walk::Item;
  using Registers = typename Walk::Registers;
  using Baton = Exchange<S, Relay>;
  static_assert(Walk::scratch_elements == warp_elements);
  static constexpr int scratch_elements = warps * warp_elements + Baton::elements;

  BackwardArguments<T> const& k;
  Team team;
  Segment segment;
  Mine warp;
  Walk walk;
  Baton baton;

  /// True where the walk of a warp needs nothing that it does not have.
  static bool fits(BackwardArguments<T> const& k) {
    return Walk::is_near(k) && !Walk::waits(k.sizes, k.interval);
  }

  KOKKOS_FORCEINLINE_FUNCTION BackwardRelay(BackwardArguments<T> const& arguments, Team const& mates,
                                            Segment const& mine)
      : k(arguments),
        team(mates),
        segment(mine),
        warp(mates),
        walk(arguments, warp, mine),
        baton(mates.scratch() + warps * warp_elements, mates.rank()) {}

  /// Of a block, which may be before the first.
  KOKKOS_FORCEINLINE_FUNCTION int live_steps(Item const& item) const { return item.span < 0 ? 0 : walk.live_steps(item); }

  /// Moves the walk to a block that it has not come from.
  KOKKOS_FORCEINLINE_FUNCTION void load_start(Item const& item) {
    if (item.span < 0) return walk.each([&](int i, int j) { walk.start[i][j] = S(0); });
    walk.load_start(item);
    walk.next_entry.data -= (warps - 1) * walk.span_entries * k.tape.stride[1];
  }

  /// The cotangent that a block makes of zero.
  KOKKOS_FORCEINLINE_FUNCTION void run_from_zero(int buffer, typename Walk::Block const& block, Registers& g,
                                                 S (&total)[ND]) const {
    auto const token = walk.tokens(buffer);
    auto const token_c = walk.vectors(buffer, 1);
    walk.each([&](int i, int j) { g[i][j] = S(0); });
    PSSA_UNROLL
    for (int j = 0; j < ND; ++j) total[j] = S(0);
    PSSA_UNROLL
    for (int t = steps - 1; t >= 0; --t) {
      PSSA_UNROLL
      for (int j = 0; j < ND; ++j) {
        S const dy = token.at(t, walk.place.channel(j), 2);
        total[j] += token.at(t, walk.place.channel(j), 0);
        PSSA_UNROLL
        for (int i = 0; i < NS; ++i)
          g[i][j] = block.a[t][i][j] * (g[i][j] + dy * token_c.at(t, walk.place.state(i), 0));
      }
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION void run() {
    int const last = walk.blocks - 1;
    Item item{last - warp.index, 0, 0};
    walk.start_copies(item, live_steps(item), 0, true);  // before anything waits for memory
    walk.next_entry.data -= warp.index * walk.span_entries * k.tape.stride[1];
    load_start(item);
    walk.load_A2(k.A, 0, walk.A2);
    walk.each([&](int i, int j) { walk.dA[i][j] = S(0); });
    baton.start(walk.matrix(k.A, 0), [&](int n, int d) {
      if (k.segments.chunks > 1)
        return k.carries.load(segment.batch, k.carries.first(segment.chunk, segment.begin), n, walk.first_channel + d);
      return k.dhT.absent() ? S(0) : k.dhT(segment.batch, walk.first_channel + d, n);
    });
    int buffer = 0;
    for (int done = 0; done <= last; done += warps) {
      walk.finish(buffer, true);
      warp_barrier();
      Item const after{item.span - warps, 0, 0};
      walk.start_copies(after, live_steps(after), 1 - buffer, true);
      int const live = live_steps(item);
      typename Walk::Block block;
      walk.run_forward(item, live, buffer, block, [&] { load_start(after); });
      Registers g;
      S total[ND];
      run_from_zero(buffer, block, g, total);
      baton.store(walk.place, warp.index, g, total);
      team.barrier();
      baton.pass();
      team.barrier();
      baton.load(walk.place, warp.index, walk.carry);
      walk.run_backward(item, live, buffer, block);
      warp_barrier();
      walk.write(item, live, buffer);
      item = after;
      buffer = 1 - buffer;
    }
    if (!k.A_parts.absent())
      baton.add(walk.place, team, warp.index, walk.dA, walk.matrix(k.A_parts, 0, segment.batch, segment.chunk));
    if (!k.dh0.absent() && segment.chunk == 0) baton.finish(walk.matrix(k.dh0, 0, segment.batch));
  }
};

}  // namespace pssa::impl
