// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

#include "forward_walk.hpp"

namespace pssa::impl {

/// One token of a sequence, the step of a decoder: the state goes by once, so that memory bounds it. Nothing is staged;
/// each thread has all its loads under way at once, and there are many of them.
template <class T, class Tile>
struct ForwardStep : Walk<T, Tile, false, false> {
  using Base = Walk<T, Tile, false, false>;
  using Base::each;
  using Base::first_channel;
  using Base::live_channels;
  using Base::live_states;
  using Base::matrix;
  using Base::place;
  using Base::segment;
  using Base::state;
  using typename Base::Registers;
  using typename Base::S;
  static constexpr int NS = Tile::thread_states;
  static_assert(Tile::thread_channels == 1);

  ForwardArguments<T> const& k;

  KOKKOS_FORCEINLINE_FUNCTION ForwardStep(ForwardArguments<T> const& arguments, int team_rank, Segment const& mine)
      : Base(mine, arguments.sizes.channels, arguments.sizes.state, team_rank), k(arguments) {}

  /// The token's numbers of the thread's states.
  KOKKOS_FORCEINLINE_FUNCTION void load_row(Tensor<T const, 3> const& tensor, S (&to)[NS]) const {
    T const* const row = &tensor(segment.batch, 0, 0);
    T values[NS];
    if (tensor.stride[2] == 1 && state == Tile::states && Pack<T, NS>::fits(row)) {
      place.load_states(row, values);
    } else {
      PSSA_UNROLL
      for (int i = 0; i < NS; ++i) {
        int const n = place.ordered_state(i);
        values[i] = n < live_states(0) ? row[n * tensor.stride[2]] : T(0);
      }
    }
    PSSA_UNROLL
    for (int i = 0; i < NS; ++i) to[i] = static_cast<S>(values[i]);
  }

  KOKKOS_FORCEINLINE_FUNCTION void run() const {
    int const d = place.channel(0);
    bool const live = d < live_channels;
    S const delta = live ? static_cast<S>(k.delta(segment.batch, 0, first_channel + d)) : S(0);
    S const x = live ? static_cast<S>(k.x(segment.batch, 0, first_channel + d)) : S(0);
    Registers A2, h;
    S b[NS], c[NS];
    if (!k.h0.absent())
      load_registers<Tile>(place, matrix(k.h0, 0, segment.batch), h);
    else
      each([&](int i, int j) { h[i][j] = S(0); });
    this->load_A2(k.A, 0, A2);
    load_row(k.b, b);
    load_row(k.c, c);
    if (!k.tape.absent()) keep(0, h);
    S y[1] = {S(0)};
    PSSA_UNROLL
    for (int i = 0; i < NS; ++i) {
      h[i][0] = advance(decay(delta, A2[i][0]), h[i][0], delta * x, b[i]);
      y[0] += h[i][0] * c[i];
    }
    if (!k.hT.absent()) store_registers<Tile>(place, matrix(k.hT, 0, segment.batch), h);
    if (!k.tape.absent() && k.interval == 1) keep(1, h);
    typename Base::TilePlace::OverStates::template Single<S> const sum(y);
    auto const to = this->outputs(k.y);
    sum.each_owned(place.lane, [&](int j, S value) { to.put(j, value); });
  }

  KOKKOS_FORCEINLINE_FUNCTION void keep(std::int64_t entry, Registers const& h) const {
    store_registers<Tile>(place, matrix(k.tape, 0, segment.batch, entry), h);
  }
};

}  // namespace pssa::impl
