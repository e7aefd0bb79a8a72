// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

#include "ends.hpp"
#include "walk.hpp"

#include <pssa/impl/call.hpp>

namespace pssa::impl {

/// What a backward pass is given.
template <class T>
struct BackwardArguments {
  using S = state_type<T>;

  Sizes sizes;
  DenseSegments segments;
  Tensor<T const, 3> x, delta, b, c, dy;
  Tensor<S const, 2> A;
  Tensor<S const, 3> dhT;   ///< data null = zero
  Tensor<S const, 4> tape;  ///< (batch, entry, channels, state)
  std::int64_t interval = 1;
  // What is not wanted has data null.
  Tensor<T, 3> dx, ddelta;
  Tensor<S, 3> dh0;
  Tensor<S, 5> token_parts{};  ///< (tile, batch, length, b or c, state): parts of db and dc
  Tensor<S, 4> A_parts{};      ///< (batch, chunk, channels, state): parts of dA
  Ends<S, S> carries{};        ///< where there are several chunks, the cotangent that reaches each from later tokens
};

/// The backward sweep: a team walks one segment backwards in blocks of tokens. From the state that the tape kept it
/// computes a block's decays and states again into registers, one exponential each, and sweeps back over them. db, dc
/// and dA leave as parts, one a tile or chunk, for ReduceKernel.
/// Waits: register tiles wait in level-1 scratch, since the state is larger than a tile's and takes turns in the
/// registers, or since the tape keeps states further apart than a block; this form also takes strides beyond is_near().
template <class T, class Tile, bool Waits, class Team>
struct BackwardWalk : Walk<T, Tile, true, Waits> {
  using Base = Walk<T, Tile, true, Waits>;
  using typename Base::ChannelStaging;
  using typename Base::Registers;
  using typename Base::S;
  using typename Base::StateStaging;
  using Base::blocks;
  using Base::each;
  using Base::live_channels;
  using Base::live_states;
  using Base::matrix;
  using Base::place;
  using Base::rank;
  using Base::segment;
  using OverStates = typename Base::TilePlace::OverStates;
  using OverChannels = typename Base::TilePlace::OverChannels;
  static constexpr int NS = Tile::thread_states;
  static constexpr int ND = Tile::thread_channels;
  static constexpr int steps = Tile::steps;

  using Tokens = Records<S, steps, Tile::channels, Tile::interleaved ? 4 : 3, Tile::interleaved>;  // (delta, x, dy)
  using Vectors = Records<S, steps, Tile::states, 1, false>;                                       // b or c
  using Results = Records<S, steps, Tile::channels, 1, false>;  // dx or ddelta, summed over slabs
  using Parts = Records<S, steps, Tile::states, 1, false>;      // db or dc of one warp
  /// The parts of a lone warp take the place of the b and c that they are made from.
  static constexpr bool parts_replace = Tile::warps == 1;
  static constexpr int block_elements =
      Tokens::size + 2 * Vectors::size + (parts_replace ? 0 : 2 * Tile::warps * Parts::size);
  /// Blocks in scratch: with two, the next is staged beside the present one, and teams meet once a block.
  static constexpr int buffers =
      Tile::buffers == 2 && !Waits && 2 * block_elements * sizeof(S) <= most_scratch ? 2 : 1;
  static constexpr int scratch_elements = buffers * block_elements + (Waits ? 2 * Results::size : 0);
  /// Elements that wait in level-1 scratch.
  KOKKOS_FORCEINLINE_FUNCTION static std::int64_t waiting_elements(BackwardArguments<T> const& arguments) {
    if constexpr (!Waits) return 0;
    return waiting_tiles(slabs_of(arguments.sizes.state, Tile::states),
                         span_of(arguments.sizes.length, arguments.interval, steps), steps) *
           Tile::states * Tile::channels;
  }
  /// True where offsets within a block have 32 bits.
  static bool is_near(BackwardArguments<T> const& k) {
    auto const near = [](auto const& tensor) { return tensor.absent() || impl::is_near(tensor, steps); };
    return near(k.x) && near(k.delta) && near(k.b) && near(k.c) && near(k.dy) && near(k.dx) && near(k.ddelta);
  }
  /// True when register tiles wait or a span is not one block: the walk must be the one with Waits.
  static bool waits(Sizes const& sizes, std::int64_t interval) {
    return sizes.state > Tile::states || steps % interval != 0;
  }

  /// A block of a span for one slab; the sweep visits them from the last block to the first, slab by slab.
  struct Item {
    int span;
    int block;
    int slab;
  };

  BackwardArguments<T> const& k;
  Team team;
  int span;
  int span_entries;          ///< tape entries a span
  std::int64_t first_entry;  ///< of the segment
  int slabs;

  Rows<T const> x_rows, delta_rows, dy_rows, b_rows, c_rows;
  static constexpr int parts_width = Tile::threads == 1 ? Tile::states : (Tile::states % 4 == 0 ? 4 : 1);
  using PartsDeal = Deal<steps, Tile::states, Tile::threads, parts_width>;
  Rows<S> parts_rows[2];       ///< of db and dc
  Matrix<S const> next_entry;  ///< of the tape, for the block before
  bool packs;                  ///< states come from the tape in packs
  ChannelStaging x, delta, dy;
  StateStaging b, c;
  Registers A2, carry, dA, start;

  using ChannelSums = typename OverStates::template Pair<S>;

  /// Where this thread writes its channels of dx and ddelta: of both, or of the one whose sums it owns.
  NearOutputs<T> channel_outputs[ChannelSums::sets];

  KOKKOS_FORCEINLINE_FUNCTION BackwardWalk(BackwardArguments<T> const& arguments, Team const& mates,
                                           Segment const& mine)
      : Base(mine, arguments.sizes.channels, arguments.sizes.state, mates.rank()),
        k(arguments),
        team(mates),
        span(Waits ? static_cast<int>(span_of(arguments.sizes.length, arguments.interval, steps)) : steps),
        span_entries(span == steps && steps % arguments.interval == 0 ? steps / static_cast<int>(arguments.interval) : 1),
        first_entry(mine.begin / arguments.interval),
        slabs(Waits ? static_cast<int>(slabs_of(arguments.sizes.state, Tile::states)) : 1),
        x_rows(this->channel_rows(arguments.x)),
        delta_rows(this->channel_rows(arguments.delta)),
        dy_rows(this->channel_rows(arguments.dy)),
        b_rows(this->state_rows(arguments.b)),
        c_rows(this->state_rows(arguments.c)),
        parts_rows{token_parts(0), token_parts(1)},
        next_entry(matrix(arguments.tape, 0, mine.batch, first_entry + (blocks - 1) * span_entries)),
        packs(place.packs(next_entry)) {
    if constexpr (ChannelSums::divided) {
      channel_outputs[0] = outputs_of(ChannelSums::which(place.lane));
    } else {
      channel_outputs[0] = outputs_of(false);
      channel_outputs[1] = outputs_of(true);
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION NearOutputs<T> outputs_of(bool which) const {
    return NearOutputs<T>::make(this->outputs(which ? k.ddelta : k.dx), ChannelSums::owns(place.lane));
  }
  KOKKOS_FORCEINLINE_FUNCTION Rows<S> token_parts(int which) const {
    return Rows<S>::template make<PartsDeal>(
        &k.token_parts(segment.tile, segment.batch, segment.begin, which, 0), k.token_parts.stride[2], 1, rank);
  }

  KOKKOS_FORCEINLINE_FUNCTION Tokens tokens(int buffer) const { return {team.scratch() + buffer * block_elements}; }
  KOKKOS_FORCEINLINE_FUNCTION Vectors vectors(int buffer, int which) const {
    return {team.scratch() + buffer * block_elements + Tokens::size + which * Vectors::size};
  }
  KOKKOS_FORCEINLINE_FUNCTION Parts parts(int buffer, int warp, int which) const {
    constexpr int before = Tokens::size + (parts_replace ? 0 : 2 * Vectors::size);
    return {team.scratch() + buffer * block_elements + before + (2 * warp + which) * Parts::size};
  }
  KOKKOS_FORCEINLINE_FUNCTION Results results(int which) const {
    return {team.scratch() + buffers * block_elements + which * Results::size};
  }

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t begin(Item const& item) const {
    return segment.begin + std::int64_t(item.span) * span + std::int64_t(item.block) * steps;
  }
  KOKKOS_FORCEINLINE_FUNCTION int live_steps(Item const& item) const {
    if constexpr (!Waits) return Base::live_steps(item.span);
    std::int64_t const end = Kokkos::min(segment.begin + (std::int64_t(item.span) + 1) * span, segment.end);
    return static_cast<int>(Kokkos::min(std::int64_t(steps), end - begin(item)));
  }
  KOKKOS_FORCEINLINE_FUNCTION int last_block(int which) const {
    if constexpr (!Waits) return 0;
    std::int64_t const tokens =
        Kokkos::min(std::int64_t(span), segment.end - segment.begin - std::int64_t(which) * span);
    return static_cast<int>((tokens + steps - 1) / steps) - 1;
  }

  /// The item after this one; its span is -1 after the last.
  KOKKOS_FORCEINLINE_FUNCTION Item next(Item const& item) const {
    if constexpr (!Waits) return {item.span - 1, 0, 0};
    if (item.slab + 1 < slabs) return {item.span, item.block, item.slab + 1};
    if (item.block > 0) return {item.span, item.block - 1, 0};
    return {item.span - 1, item.span > 0 ? last_block(item.span - 1) : 0, 0};
  }

  KOKKOS_FORCEINLINE_FUNCTION S& waiting_at(int tile, int i, int j) const {
    return team.waiting()[((std::int64_t(tile) * NS + i) * ND + j) * Tile::threads + rank];
  }
  KOKKOS_FORCEINLINE_FUNCTION void wait(int tile, Registers const& from) const {
    each([&](int i, int j) { waiting_at(tile, i, j) = from[i][j]; });
  }
  KOKKOS_FORCEINLINE_FUNCTION void resume(int tile, Registers& to) const {
    each([&](int i, int j) { to[i][j] = waiting_at(tile, i, j); });
  }
  /// Where the state before a block of the present span waits; block 0's is on the tape.
  KOKKOS_FORCEINLINE_FUNCTION int replayed(int block, int slab) const {
    return (slabs == 1 ? 0 : 2 * slabs) + (block - 1) * slabs + slab;
  }

  /// Loads the state before an item. From the tape its swizzle is left to compute(), when the loads have arrived.
  KOKKOS_FORCEINLINE_FUNCTION void load_start(Item const& item) {
    if constexpr (!Waits) {
      if (packs)
        load_packs<Tile>(place, next_entry, start);
      else
        load_elements<Tile>(place, next_entry, start);
      next_entry.data -= span_entries * k.tape.stride[1];
    } else if (item.block == 0) {
      std::int64_t const entry = first_entry + std::int64_t(item.span) * span_entries;
      load_registers<Tile>(place, matrix(k.tape, item.slab, segment.batch, entry), start);
    } else {
      resume(replayed(item.block, item.slab), start);
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION void begin_slab(int slab) {
    this->load_A2(k.A, slab, A2);
    each([&](int i, int j) { carry[i][j] = dA[i][j] = S(0); });
    // Chunks do not read dhT: it may be dh0, which the first of them writes.
    if (k.segments.chunks > 1)
      this->load_carry(k.carries, carry);
    else if (!k.dhT.absent())
      load_registers<Tile>(place, matrix(k.dhT, slab, segment.batch), carry);
  }

  KOKKOS_FORCEINLINE_FUNCTION void end_slab(int slab) const {
    if (!k.A_parts.absent()) store_registers<Tile>(place, matrix(k.A_parts, slab, segment.batch, segment.chunk), dA);
    if (!k.dh0.absent() && segment.chunk == 0)
      store_registers<Tile>(place, matrix(k.dh0, slab, segment.batch), carry);
  }

  KOKKOS_FORCEINLINE_FUNCTION void swap_in(int slab) {
    this->load_A2(k.A, slab, A2);
    resume(2 * slab, carry);
    resume(2 * slab + 1, dA);
  }
  KOKKOS_FORCEINLINE_FUNCTION void swap_out(int slab) const {
    wait(2 * slab, carry);
    wait(2 * slab + 1, dA);
  }

  /// Starts to bring an item into scratch: its b and c, and its block's x, delta and dy.
  KOKKOS_FORCEINLINE_FUNCTION void start_copies(Item const& item, int live, int buffer, bool with_channels) {
    std::int64_t const n = std::int64_t(item.slab) * Tile::states;
    auto const begin = [&](auto& staging, Rows<T const> const& rows, std::int64_t first, int columns,
                           auto const& to) {
      if constexpr (Waits) {  // a span need not be a multiple of a block
        Rows<T const> const at_span{rows.mine + std::int64_t(item.span) * span * rows.row_stride, rows.row_stride,
                                    rows.column_stride};
        staging.start(rank, at_span, false, item.block, first, live, columns, to);
      } else {
        staging.start(rank, rows, true, item.span, first, live, columns, to);
      }
    };
    if (with_channels) {
      begin(delta, delta_rows, 0, live_channels, tokens(buffer).field(0));
      begin(x, x_rows, 0, live_channels, tokens(buffer).field(1));
      begin(dy, dy_rows, 0, live_channels, tokens(buffer).field(2));
    }
    begin(b, b_rows, n, live_states(item.slab), vectors(buffer, 0).field(0));
    begin(c, c_rows, n, live_states(item.slab), vectors(buffer, 1).field(0));
  }
  KOKKOS_FORCEINLINE_FUNCTION void finish(int buffer, bool with_channels) const {
    if (with_channels) {
      delta.finish(rank, tokens(buffer).field(0));
      x.finish(rank, tokens(buffer).field(1));
      dy.finish(rank, tokens(buffer).field(2));
    }
    b.finish(rank, vectors(buffer, 0).field(0));
    c.finish(rank, vectors(buffer, 1).field(0));
    finish_copies();
  }

  /// One token of the recurrence: decays into a, states from before into after.
  KOKKOS_FORCEINLINE_FUNCTION void forward_step(int buffer, int t, int states, Registers const& before, Registers& a,
                                                Registers& after) const {
    auto const token = tokens(buffer);
    auto const token_b = vectors(buffer, 0);
    S record[ND][2], u[ND];
    PSSA_UNROLL
    for (int j = 0; j < ND; ++j) {
      token.load(t, place.channel(j), record[j]);
      u[j] = record[j][0] * record[j][1];
    }
    PSSA_UNROLL
    for (int i = 0; i < (Tile::padded ? NS : states); ++i) {
      S const b_i = token_b.at(t, place.state(i), 0);
      PSSA_UNROLL
      for (int j = 0; j < ND; ++j) {
        a[i][j] = decay(record[j][0], A2[i][j]);
        after[i][j] = advance(a[i][j], before[i][j], u[j], b_i);
      }
    }
  }

  /// Stores the state before every block of a span but the first, which the tape has.
  KOKKOS_FORCEINLINE_FUNCTION void replay(int which) {
    int const last = last_block(which);
    for (int slab = 0; slab < slabs; ++slab) {
      this->load_A2(k.A, slab, A2);
      load_start({which, 0, slab});
      for (int block = 0; block < last; ++block) {
        Item const item{which, block, slab};
        team.barrier();
        start_copies(item, live_steps(item), 0, true);
        finish(0, true);
        team.barrier();
        int const states = live_states(slab);
        for (int t = 0; t < steps; ++t) {
          Registers a;
          forward_step(0, t, states, start, a, start);
        }
        wait(replayed(block + 1, slab), start);
      }
    }
    team.barrier();
  }

  /// Sums over n channels that a thread holds, pairwise, so that a host adds vectors.
  template <int n>
  KOKKOS_FORCEINLINE_FUNCTION static S sum(S (&value)[n]) {
    static_assert((n & (n - 1)) == 0);
    PSSA_UNROLL
    for (int half = n / 2; half > 0; half /= 2) {
      PSSA_UNROLL
      for (int j = 0; j < half; ++j) value[j] += value[j + half];
    }
    return value[0];
  }

  /// One token of the sweep: its sums over states and over channels, and the carry to the token before.
  KOKKOS_FORCEINLINE_FUNCTION void backward_step(int buffer, int t, int states, Registers const& a,
                                                 Registers const& before, Registers const& after, S (&dx)[ND],
                                                 S (&ddelta)[ND], S (&db)[NS], S (&dc)[NS]) {
    auto const token = tokens(buffer);
    auto const token_b = vectors(buffer, 0);
    auto const token_c = vectors(buffer, 1);
    S record[ND][Tokens::fields];  // delta, x, dy
    S u[ND], gb[ND], gA[ND];
    PSSA_UNROLL
    for (int j = 0; j < ND; ++j) {
      token.load(t, place.channel(j), record[j]);
      u[j] = record[j][0] * record[j][1];
      gb[j] = gA[j] = S(0);
    }
    PSSA_UNROLL
    for (int i = 0; i < NS; ++i) {
      if (!Tile::padded && i >= states) {
        db[i] = dc[i] = S(0);
        continue;
      }
      S const b_i = token_b.at(t, place.state(i), 0);
      S const c_i = token_c.at(t, place.state(i), 0);
      S db_i[ND], dc_i[ND];
      PSSA_UNROLL
      for (int j = 0; j < ND; ++j) {
        Adjoint<S> const adjoint(record[j][2], c_i, a[i][j], before[i][j], carry[i][j]);
        carry[i][j] = adjoint.carry;
        dA[i][j] += adjoint.decayed * record[j][0];
        gA[j] += adjoint.decayed * A2[i][j];
        gb[j] += adjoint.g * b_i;
        db_i[j] = adjoint.g * u[j];
        dc_i[j] = record[j][2] * after[i][j];
      }
      db[i] = sum(db_i);
      dc[i] = sum(dc_i);
    }
    PSSA_UNROLL
    for (int j = 0; j < ND; ++j) {
      dx[j] = record[j][0] * gb[j];
      ddelta[j] = record[j][1] * gb[j] + gA[j] * ln_2<S>;
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION void put_channels(Item const& item, int t, int live, ChannelSums const& sums) const {
    if constexpr (Waits) {
      sums.each(place.lane, [&](int which, int j, S value) {
        S& result = results(which).at(t, place.first_channel + j, 0);
        result = item.slab == 0 ? value : result + value;
      });
    } else if constexpr (Tile::padded) {
      PSSA_UNROLL
      for (int set = 0; set < ChannelSums::sets; ++set) {
        // One comparison a store, which nvcc then predicates instead of branching.
        auto const to = channel_outputs[set].at_block(item.span, steps);
        int const rows = to.live > 0 ? live : 0;
        PSSA_UNROLL
        for (int n = 0; n < ChannelSums::owned; ++n)
          if (t < rows) {
            if (n == 0)
              to.put_first(t, sums.sum[set][0]);
            else
              to.put(t, n * OverStates::spread, sums.sum[set][n]);
          }
      }
    } else {
      this->outputs(k.dx).later(std::int64_t(item.span) * steps + t).put(sums.sum[0]);
      this->outputs(k.ddelta).later(std::int64_t(item.span) * steps + t).put(sums.sum[1]);
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION void put_states(int buffer, int t,
                                              typename OverChannels::template Pair<S> const& sums) const {
    sums.each(place.warp_group, [&](int which, int i, S value) {
      parts(buffer, place.warp, which).at(t, place.ordered_state(i), 0) = value;
    });
  }

  /// A block's decays, and the states before and after its tokens.
  struct Block {
    Registers a[steps], h[steps + 1];
  };

  /// Computes a block's states. Calls begun() once the registers of the state before it are free.
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION void run_forward(Item const& item, int live, int buffer, Block& block, F const& begun) {
    each([&](int i, int j) { block.h[0][i][j] = start[i][j]; });
    if constexpr (!Waits && Base::TilePlace::swizzles) swizzle<Tile>(place, block.h[0]);
    begun();
    PSSA_UNROLL
    for (int t = 0; t < (Tile::padded ? steps : live); ++t)
      forward_step(buffer, t, live_states(item.slab), block.h[t], block.a[t], block.h[t + 1]);
  }

  /// Sweeps over a block.
  KOKKOS_FORCEINLINE_FUNCTION void run_backward(Item const& item, int live, int buffer, Block const& block) {
    int const states = live_states(item.slab);
    // Sums wait in registers for a few tokens: the compiler may not move a load of scratch over a store.
    constexpr int held = Tile::padded ? Tile::unroll : 1;
    bool const wants_states = !k.token_parts.absent();
    PSSA_UNROLL
    for (int end = Tile::padded ? steps : live; end > 0; end -= held) {
      S dx[held][ND], ddelta[held][ND], db[held][NS], dc[held][NS];
      PSSA_UNROLL
      for (int u = held - 1; u >= 0; --u) {
        int const t = end - held + u;
        backward_step(buffer, t, states, block.a[t], block.h[t], block.h[t + 1], dx[u], ddelta[u], db[u], dc[u]);
      }
      PSSA_UNROLL
      for (int u = held - 1; u >= 0; --u)
        put_channels(item, end - held + u, live, {dx[u], ddelta[u], place.lane});
      if (wants_states) {
        if (parts_replace) warp_barrier();
        PSSA_UNROLL
        for (int u = 0; u < held; ++u) put_states(buffer, end - held + u, {db[u], dc[u], place.warp_group});
      }
    }
  }

  /// Writes an item's parts and, where they wait in scratch, its dx and ddelta.
  KOKKOS_FORCEINLINE_FUNCTION void write(Item const& item, int rows, int buffer) const {
    std::int64_t const t = begin(item) - segment.begin;
    if (!k.token_parts.absent()) {
      constexpr int width = PartsDeal::width;
      PSSA_UNROLL
      for (int which = 0; which < 2; ++which)
        write_block<PartsDeal>(
            rank, parts_rows[which], k.sizes.state % width == 0, t, std::int64_t(item.slab) * Tile::states, rows,
            live_states(item.slab), [&](int row, int column, auto& values) {
              parts(buffer, 0, which).take(row, column, values);
              PSSA_UNROLL
              for (int warp = 1; warp < Tile::warps; ++warp) {
                S more[width];
                parts(buffer, warp, which).take(row, column, more);
                PSSA_UNROLL
                for (int i = 0; i < width; ++i) values[i] += more[i];
              }
            });
    }
    if (parts_replace) warp_barrier();  // the next b and c replace them
    if constexpr (Waits) {
      if (item.slab + 1 == slabs) {
        write_channels(k.dx, 0, t, rows);
        write_channels(k.ddelta, 1, t, rows);
      }
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION void write_channels(Tensor<T, 3> const& to, int which, std::int64_t t, int live) const {
    if (to.absent()) return;
    auto const result = results(which);
    using Mine = typename ChannelStaging::Mine;
    auto const rows = this->channel_rows(to);
    write_block<Mine>(rank, rows, false, t, 0, live, live_channels,
                      [&](int row, int column, auto& values) { result.take(row, column, values); });
  }

  KOKKOS_FORCEINLINE_FUNCTION void run() {
    for (int slab = 0; slab < slabs; ++slab) {
      begin_slab(slab);
      if (slabs > 1) swap_out(slab);
    }
    int const spans = static_cast<int>((segment.end - segment.begin + span - 1) / span);
    Item item{spans - 1, spans > 0 ? last_block(spans - 1) : 0, 0};
    if (spans > 0) {
      if (item.block > 0) replay(item.span);
      start_copies(item, live_steps(item), 0, true);
      load_start(item);
      finish(0, true);
      team.barrier();
    }
    int buffer = 0;
    while (item.span >= 0) {
      Item const after = next(item);
      bool const more = after.span >= 0;
      if (slabs > 1) swap_in(item.slab);
      if (buffers == 2 && more) start_copies(after, live_steps(after), 1 - buffer, true);
      int const live = live_steps(item);
      Block states;
      run_forward(item, live, buffer, states, [&] {
        if (!Waits && more) load_start(after);
      });
      run_backward(item, live, buffer, states);
      if (slabs > 1) swap_out(item.slab);
      if constexpr (buffers == 2) {
        if (more) finish(1 - buffer, true);
        team.barrier();
        write(item, live, buffer);
        buffer = 1 - buffer;
      } else {
        team.barrier();
        write(item, live, buffer);
        if (Waits && more && after.span != item.span && after.block > 0) replay(after.span);
        if (more) {
          start_copies(after, live_steps(after), 0, after.slab == 0);
          if (Waits) load_start(after);
          finish(0, after.slab == 0);
        }
        team.barrier();
      }
      item = after;
    }
    for (int slab = 0; slab < slabs; ++slab) {
      if (slabs > 1) swap_in(slab);
      end_slab(slab);
    }
  }
};

}  // namespace pssa::impl
