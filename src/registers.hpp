// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

#include "intrinsics.hpp"

#include <cstdint>

/// The states x channels that one thread holds: where they belong, how they travel, and how lanes add what they share.
namespace pssa::impl {

/// Sums value over the Lanes lanes that stand Step apart. Register k of a lane must hold element k xor (place mod
/// Spread), place being the lane's number among them: then a lane keeps what it adds and sends the rest, without
/// selects. Afterwards register k, k a multiple of Spread, holds the sum of element k + (place mod Spread).
template <int Count, int Lanes, int Step>
struct ScatterSum {
  static constexpr int spread = Count < Lanes ? Count : Lanes;
  static_assert(Lanes == 1 || (spread & (spread - 1)) == 0);

  template <class S>
  KOKKOS_FORCEINLINE_FUNCTION static void scatter(S (&value)[Count]) {
    PSSA_UNROLL
    for (int m = 1; m < spread; m <<= 1) {
      PSSA_UNROLL
      for (int k = 0; k < Count; ++k)
        if ((k & (2 * m - 1)) == 0) value[k] += lane_xor(value[k | m], m * Step);
    }
  }

  /// The first element whose sum a lane owns.
  KOKKOS_FORCEINLINE_FUNCTION static int own(int place) { return place & (spread - 1); }

  /// Of Tokens sets that have been scattered, each lane takes the sum of one; lanes that are left over repeat others.
  template <int Tokens>
  struct OneEach {
    static constexpr int taken = Lanes / spread < Tokens ? Lanes / spread : Tokens;  ///< sets that lanes tell apart
    static_assert(Tokens % taken == 0);

    KOKKOS_FORCEINLINE_FUNCTION static int own_token(int place) { return place / spread & (taken - 1); }
    KOKKOS_FORCEINLINE_FUNCTION static bool owns(int place) {
      return Lanes == spread * taken || place < spread * taken;
    }

    template <class S>
    KOKKOS_FORCEINLINE_FUNCTION static S sum(S (&value)[taken], int place) {
      PSSA_UNROLL
      for (int m = 1; m < taken; m <<= 1) {
        bool const upper = place & m * spread;
        PSSA_UNROLL
        for (int g = 0; g < taken; g += 2 * m) {
          S const sent = upper ? value[g] : value[g | m];
          value[g] = (upper ? value[g | m] : value[g]) + lane_xor(sent, m * spread * Step);
        }
      }
      PSSA_UNROLL
      for (int m = taken; m < Lanes / spread; m <<= 1) value[0] += lane_xor(value[0], m * spread * Step);
      return value[0];
    }
  };

  /// The sums of one set that a lane owns.
  template <class S>
  struct Single {
    S sum[Count / spread];

    KOKKOS_FORCEINLINE_FUNCTION Single(S (&value)[Count]) {
      scatter(value);
      PSSA_UNROLL
      for (int k = 0; k < Count; k += spread) {
        PSSA_UNROLL
        for (int m = spread; m < Lanes; m <<= 1) value[k] += lane_xor(value[k], m * Step);
        sum[k / spread] = value[k];
      }
    }

    /// Calls store(k, sum) on one lane for each element, which is the k-th after own(place).
    template <class F>
    KOKKOS_FORCEINLINE_FUNCTION void each_owned(int place, F const& store) const {
      if (Lanes == spread || place < spread) {
        PSSA_UNROLL
        for (int k = 0; k < Count; k += spread) store(k, sum[k / spread]);
      }
    }
    /// Calls store(element, sum) on one lane for each element.
    template <class F>
    KOKKOS_FORCEINLINE_FUNCTION void each(int place, F const& store) const {
      each_owned(place, [&](int k, S value) { store(k + own(place), value); });
    }
  };

  /// The sums of two sets that a lane owns. Where lanes are left over, half of them take either set.
  template <class S>
  struct Pair {
    static constexpr bool divided = Lanes > spread;
    static constexpr int owned = divided ? 1 : Count / spread;
    static constexpr int sets = divided ? 1 : 2;  ///< that a lane has sums of
    S sum[sets][owned];

    /// Where lanes are divided, the set that a lane owns sums of.
    KOKKOS_FORCEINLINE_FUNCTION static bool which(int place) { return place & spread; }

    KOKKOS_FORCEINLINE_FUNCTION Pair(S (&first)[Count], S (&second)[Count], int place) {
      scatter(first);
      scatter(second);
      if constexpr (divided) {
        bool const upper = which(place);
        S total = upper ? second[0] : first[0];
        S const sent = upper ? first[0] : second[0];
        total += lane_xor(sent, spread * Step);
        PSSA_UNROLL
        for (int m = 2 * spread; m < Lanes; m <<= 1) total += lane_xor(total, m * Step);
        sum[0][0] = total;
      } else {
        PSSA_UNROLL
        for (int k = 0; k < owned; ++k) {
          sum[0][k] = first[k * spread];
          sum[1][k] = second[k * spread];
        }
      }
    }

    /// Whether no other lane stands for this one.
    KOKKOS_FORCEINLINE_FUNCTION static bool owns(int place) { return !divided || place < 2 * spread; }

    /// Calls store(set, element, sum) on one lane for each element of each set.
    template <class F>
    KOKKOS_FORCEINLINE_FUNCTION void each(int place, F const& store) const {
      if constexpr (divided) {
        if (owns(place)) store(which(place) ? 1 : 0, own(place), sum[0][0]);
      } else {
        PSSA_UNROLL
        for (int k = 0; k < owned; ++k) {
          store(0, k * spread + own(place), sum[0][k]);
          store(1, k * spread + own(place), sum[1][k]);
        }
      }
    }
  };
};

/// A channels x states matrix in memory from which a team takes a tile and a slab: rows from the first, if live.
template <class S>
struct Matrix {
  S* data;  ///< at the tile's first channel and the slab's first state
  std::int64_t channel_stride;
  std::int64_t state_stride;
  int live_channels;
  int live_states;

  /// Whether the states of channels below end, all of a slab's live, may be accessed in packs of Count.
  template <int Count>
  KOKKOS_FORCEINLINE_FUNCTION bool packs([[maybe_unused]] int states, [[maybe_unused]] int end_channel) const {
#if PSSA_ON_CUDA
    using Wide = Pack<std::remove_const_t<S>, Count>;
    return state_stride == 1 && end_channel <= live_channels && states == live_states &&
           Wide::fits(data) && Wide::fits(data + channel_stride);
#else
    return false;
#endif
  }
};

/// Where a thread's registers belong in its team's tile. Register (i, j) holds state(i) of the slab and channel(j) of
/// the tile; the numbers are swizzled as ScatterSum wants them: channels for sums over the lanes of a channel, states,
/// where SwizzleStates, for sums over the lanes of a state.
template <class Tile, bool SwizzleStates>
struct Place {
  static constexpr int lanes = Tile::lanes;
  static constexpr int warp_groups = Tile::warp_groups;
  /// States that are neighbours: as many as one access takes, so that the lanes' accesses together fill whole sectors.
  static constexpr int pack = lanes > 1 && Tile::thread_states % 4 == 0 ? 4 : Tile::thread_states;
  using OverStates = ScatterSum<Tile::thread_channels, lanes, 1>;
  using OverChannels = ScatterSum<Tile::thread_states, warp_groups, lanes>;
  static constexpr bool swizzles = SwizzleStates && OverChannels::spread > 1;

  int warp;        ///< of the team
  int lane;        ///< among those that share a channel
  int warp_group;  ///< among the warp's lanes that share a state
  int first_channel;
  int first_state;  ///< the first of its packs of states; a pack of each lane in turn, then the lanes' next ones

  KOKKOS_FORCEINLINE_FUNCTION explicit Place(int rank)
      : warp(rank / Tile::warp),
        lane(rank % lanes),
        warp_group(rank % Tile::warp / lanes),
        first_channel(rank / lanes * Tile::thread_channels),
        first_state(rank % lanes * pack) {}

  KOKKOS_FORCEINLINE_FUNCTION int channel(int j) const { return first_channel + (j ^ (lane & (OverStates::spread - 1))); }
  KOKKOS_FORCEINLINE_FUNCTION int state(int i) const {
    if constexpr (SwizzleStates) return ordered_state(i ^ (warp_group & (OverChannels::spread - 1)));
    return ordered_state(i);
  }
  /// The i-th of the thread's states in their order in memory.
  KOKKOS_FORCEINLINE_FUNCTION int ordered_state(int i) const {
    return i / pack * pack * lanes + first_state + i % pack;
  }
  /// Whether the thread's states of the matrix may be accessed by load_states and store_states.
  template <class S>
  KOKKOS_FORCEINLINE_FUNCTION bool packs(Matrix<S> const& matrix) const {
    return matrix.template packs<pack>(Tile::states, first_channel + Tile::thread_channels);
  }
  /// Loads the thread's states of one row of states, in their order in memory.
  template <class S>
  KOKKOS_FORCEINLINE_FUNCTION void load_states(S const* row, S (&to)[Tile::thread_states]) const {
    PSSA_UNROLL
    for (int i = 0; i < Tile::thread_states; i += pack) {
      S values[pack];
      load_pack<pack>(row + ordered_state(i), values);
      PSSA_UNROLL
      for (int k = 0; k < pack; ++k) to[i + k] = values[k];
    }
  }
  template <class S>
  KOKKOS_FORCEINLINE_FUNCTION void store_states(S* row, S const (&from)[Tile::thread_states]) const {
    PSSA_UNROLL
    for (int i = 0; i < Tile::thread_states; i += pack) {
      S values[pack];
      PSSA_UNROLL
      for (int k = 0; k < pack; ++k) values[k] = from[i + k];
      store_pack<pack>(row + ordered_state(i), values);
    }
  }
  /// Brings the states of a channel from their order in memory to that of the registers, or back.
  template <class S>
  KOKKOS_FORCEINLINE_FUNCTION void swizzle(S (&values)[Tile::thread_states]) const {
    if constexpr (swizzles) {
      PSSA_UNROLL
      for (int m = 1; m < OverChannels::spread; m <<= 1) {
        bool const swap = warp_group & m;
        PSSA_UNROLL
        for (int i = 0; i < Tile::thread_states; ++i)
          if ((i & m) == 0) {
            S const low = values[i];
            values[i] = swap ? values[i | m] : low;
            values[i | m] = swap ? low : values[i | m];
          }
      }
    }
  }
};

/// Fills a thread's registers from memory where Place::packs allows it, its states in their order in memory: swizzle()
/// is left to be done, once the loads have arrived.
template <class Tile, class Place, class S, class R>
KOKKOS_FORCEINLINE_FUNCTION void load_packs(Place const& place, Matrix<S> const& from,
                                            R (&to)[Tile::thread_states][Tile::thread_channels]) {
  PSSA_UNROLL
  for (int j = 0; j < Tile::thread_channels; ++j) {
    R values[Tile::thread_states];
    place.load_states(const_cast<R const*>(from.data + place.channel(j) * from.channel_stride), values);
    PSSA_UNROLL
    for (int i = 0; i < Tile::thread_states; ++i) to[i][j] = values[i];
  }
}

/// The same one by one or, on a host, by rows of channels, with 0 beyond the edges.
template <class Tile, class Place, class S, class R>
KOKKOS_FORCEINLINE_FUNCTION void load_elements(Place const& place, Matrix<S> const& from,
                                               R (&to)[Tile::thread_states][Tile::thread_channels]) {
  constexpr int NS = Tile::thread_states;
  constexpr int ND = Tile::thread_channels;
  if constexpr (!Tile::padded) {
    if (from.channel_stride == 1 && from.live_channels >= ND) {
      for (int i = 0; i < NS; ++i)
        for (int j = 0; j < ND; ++j) to[i][j] = i < from.live_states ? from.data[i * from.state_stride + j] : R(0);
      return;
    }
  }
  std::int64_t const channel_stride = opaque(from.channel_stride);
  std::int64_t const state_stride = opaque(from.state_stride);
  PSSA_UNROLL
  for (int j = 0; j < ND; ++j) {
    int const d = place.channel(j);
    PSSA_UNROLL
    for (int i = 0; i < NS; ++i) {
      int const n = place.ordered_state(i);
      bool const live = d < from.live_channels && n < from.live_states;
      to[i][j] = live ? from.data[d * channel_stride + n * state_stride] : R(0);
    }
  }
}

/// Brings a thread's registers from their order in memory to their own.
template <class Tile, class Place, class S>
KOKKOS_FORCEINLINE_FUNCTION void swizzle(Place const& place, S (&registers)[Tile::thread_states][Tile::thread_channels]) {
  constexpr int NS = Tile::thread_states;
  PSSA_UNROLL
  for (int j = 0; j < Tile::thread_channels; ++j) {
    S values[NS];
    PSSA_UNROLL
    for (int i = 0; i < NS; ++i) values[i] = registers[i][j];
    place.swizzle(values);
    PSSA_UNROLL
    for (int i = 0; i < NS; ++i) registers[i][j] = values[i];
  }
}

/// Fills a thread's registers from the memory they belong to, with 0 beyond its edges.
template <class Tile, class Place, class S, class R>
KOKKOS_FORCEINLINE_FUNCTION void load_registers(Place const& place, Matrix<S> const& from,
                                                R (&to)[Tile::thread_states][Tile::thread_channels]) {
  if (place.packs(from))
    load_packs<Tile>(place, from, to);
  else
    load_elements<Tile>(place, from, to);
  if constexpr (Place::swizzles) swizzle<Tile>(place, to);
}

/// Writes a thread's registers where Matrix::packs allows it.
template <class Tile, class Place, class S>
KOKKOS_FORCEINLINE_FUNCTION void store_packs(Place const& place, Matrix<S> const& to,
                                             S const (&from)[Tile::thread_states][Tile::thread_channels]) {
  constexpr int NS = Tile::thread_states;
  PSSA_UNROLL
  for (int j = 0; j < Tile::thread_channels; ++j) {
    S values[NS];
    PSSA_UNROLL
    for (int i = 0; i < NS; ++i) values[i] = from[i][j];
    place.swizzle(values);
    place.store_states(to.data + place.channel(j) * to.channel_stride, values);
  }
}

/// Writes a thread's registers within the edges, one by one or, on a host, by rows of channels.
template <class Tile, class Place, class S>
KOKKOS_FORCEINLINE_FUNCTION void store_elements(Place const& place, Matrix<S> const& to,
                                                S const (&from)[Tile::thread_states][Tile::thread_channels]) {
  constexpr int NS = Tile::thread_states;
  constexpr int ND = Tile::thread_channels;
  if constexpr (!Tile::padded) {
    if (to.channel_stride == 1 && to.live_channels >= ND) {
      for (int i = 0; i < NS && i < to.live_states; ++i)
        for (int j = 0; j < ND; ++j) to.data[i * to.state_stride + j] = from[i][j];
      return;
    }
  }
  std::int64_t const channel_stride = opaque(to.channel_stride);
  std::int64_t const state_stride = opaque(to.state_stride);
  PSSA_UNROLL
  for (int j = 0; j < ND; ++j) {
    int const d = place.channel(j);
    PSSA_UNROLL
    for (int i = 0; i < NS; ++i) {
      int const n = place.state(i);
      if (d < to.live_channels && n < to.live_states) to.data[d * channel_stride + n * state_stride] = from[i][j];
    }
  }
}

/// Writes a thread's registers to the memory they belong to.
template <class Tile, class Place, class S>
KOKKOS_FORCEINLINE_FUNCTION void store_registers(Place const& place, Matrix<S> const& to,
                                                 S const (&from)[Tile::thread_states][Tile::thread_channels]) {
  if (place.packs(to))
    store_packs<Tile>(place, to, from);
  else
    store_elements<Tile>(place, to, from);
}

}  // namespace pssa::impl
