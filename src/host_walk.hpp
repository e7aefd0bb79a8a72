// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

#include "host.hpp"
#include "recurrence.hpp"

/// What both passes on a host share: how channels and states come into packs and leave them.
namespace PSSA_NAMESPACE {

/// Copies a pack, or its first live lanes.
template <class V, class S>
PSSA_INLINE V load_lanes(S const* from, std::int64_t stride, int live) {
  constexpr int width = Arithmetic<V>::width;
  V value{};
  if (stride == 1 && live >= width)
    __builtin_memcpy(&value, from, sizeof(V));
  else
    for (int lane = 0; lane < width && lane < live; ++lane) value[lane] = from[lane * stride];
  return value;
}
template <class V, class S>
PSSA_INLINE void store_lanes(S* to, std::int64_t stride, int live, V value) {
  constexpr int width = Arithmetic<V>::width;
  if (stride == 1 && live >= width)
    __builtin_memcpy(to, &value, sizeof(V));
  else
    for (int lane = 0; lane < width && lane < live; ++lane) to[lane * stride] = value[lane];
}

/// A tile's channels as packs: groups of them, of which the last may be smaller, are computed together.
template <class S, int GroupPacks>
struct HostWalk {
  using V = typename PackOf<S>::type;
  using A = Arithmetic<V>;
  static constexpr int width = A::width;
  static constexpr int group_packs = GroupPacks;

  int channels;
  std::int64_t state;

  PSSA_INLINE int packs() const { return (channels + width - 1) / width; }
  /// Packs of the group that begins with a pack.
  PSSA_INLINE int of_group(int pack) const { return pack + group_packs <= packs() ? group_packs : packs() - pack; }
  PSSA_INLINE int live(int pack) const { return channels - pack * width; }

  /// Calls f(first pack, packs) for the groups in order; packs is a compile-time number where the group is whole.
  template <class F>
  PSSA_INLINE void each_group(F const& f) const {
    for (int pack = 0; pack < packs(); pack += group_packs) f(pack, of_group(pack));
  }

  /// Where state n of pack p of a group stands in an array of all states.
  PSSA_INLINE V* at(V* array, int group, std::int64_t n, int p) const {
    return array + group * state + n * of_group(group) + p;
  }

  /// Fills an array from rows that are states.
  PSSA_INLINE void load_states(HostMatrix<S const> const& from, V* array) const {
    each_group([&](int group, int packs_of_group) {
      for (std::int64_t n = 0; n < state; ++n)
        for (int p = 0; p < packs_of_group; ++p)
          *at(array, group, n, p) =
              from.data == nullptr
                  ? V{}
                  : load_lanes<V>(from.data + n * from.row_stride + (group + p) * width * from.column_stride,
                                  from.column_stride, live(group + p));
    });
  }
  PSSA_INLINE void store_states(HostMatrix<S> const& to, V* array) const {
    each_group([&](int group, int packs_of_group) { store_group(to, array, group, packs_of_group); });
  }
  PSSA_INLINE void store_group(HostMatrix<S> const& to, V* array, int group, int packs_of_group) const {
    for (std::int64_t n = 0; n < state; ++n)
      for (int p = 0; p < packs_of_group; ++p)
        store_lanes(to.data + n * to.row_stride + (group + p) * width * to.column_stride, to.column_stride,
                    live(group + p), *at(array, group, n, p));
  }

  /// A in base 2, and the largest |A2| of every channel.
  PSSA_INLINE void load_A2(HostMatrix<S const> const& from, V* A2, V* largest) const {
    load_states(from, A2);
    each_group([&](int group, int packs_of_group) {
      for (int p = 0; p < packs_of_group; ++p) largest[group + p] = V{};
      for (std::int64_t n = 0; n < state; ++n)
        for (int p = 0; p < packs_of_group; ++p) {
          V* const value = at(A2, group, n, p);
          *value = *value * A::all(log2_e<S>);
          largest[group + p] = A::largest(largest[group + p], *value);
        }
    });
  }

  /// Brings a pack's tokens together: to[token * stride].
  PSSA_INLINE void load_tokens(HostMatrix<S const> const& from, std::int64_t t, int tokens, int pack, V* to,
                               int stride) const {
    S const* const data = from.data + t * from.row_stride + pack * width * from.column_stride;
    int const lanes = live(pack);
    if (from.column_stride == 1 && lanes >= width) {
      for (int u = 0; u < tokens; ++u) __builtin_memcpy(to + u * stride, data + u * from.row_stride, sizeof(V));
      return;
    }
    if (lanes < width)
      for (int u = 0; u < tokens; ++u) to[u * stride] = V{};
    // Channel by channel, since tokens may be what is contiguous.
    S* const out = reinterpret_cast<S*>(to);
    for (int lane = 0; lane < width && lane < lanes; ++lane)
      for (int u = 0; u < tokens; ++u)
        out[u * stride * width + lane] = data[u * from.row_stride + lane * from.column_stride];
  }
  PSSA_INLINE void store_tokens(HostMatrix<S> const& to, std::int64_t t, int tokens, int pack, V const* from,
                                int stride) const {
    S* const data = to.data + t * to.row_stride + pack * width * to.column_stride;
    int const lanes = live(pack);
    if (to.column_stride == 1 && lanes >= width) {
      for (int u = 0; u < tokens; ++u) __builtin_memcpy(data + u * to.row_stride, from + u * stride, sizeof(V));
      return;
    }
    S const* const in = reinterpret_cast<S const*>(from);
    for (int lane = 0; lane < width && lane < lanes; ++lane)
      for (int u = 0; u < tokens; ++u)
        data[u * to.row_stride + lane * to.column_stride] = in[u * stride * width + lane];
  }

  /// A block's b or c with contiguous states: from's own, or a copy.
  struct States {
    S const* data;
    std::int64_t stride;
  };
  PSSA_INLINE States states(HostMatrix<S const> const& from, std::int64_t t, int tokens, S* copy) const {
    S const* const data = from.data + t * from.row_stride;
    if (from.column_stride == 1) return {data, from.row_stride};
    for (int u = 0; u < tokens; ++u)
      for (std::int64_t n = 0; n < state; ++n) copy[u * state + n] = data[u * from.row_stride + n * from.column_stride];
    return {copy, state};
  }

  /// Whether exp2_product needs no bounds, for all states of a pack at tokens of which |delta| is at most longest.
  PSSA_INLINE static bool is_safe(V longest, V largest_A2) {
    V const product = longest * largest_A2;
    bool safe = true;
    for (int lane = 0; lane < width; ++lane) safe = safe && product[lane] <= A::safe;
    return safe;
  }

  /// Calls f(n) and f's template argument for the states in turn, host_states at once while there are so many.
  template <class F>
  PSSA_INLINE void each_state(F const& f) const {
    std::int64_t n = 0;
    for (; n + host_states <= state; n += host_states) f.template operator()<host_states>(n);
    static_assert(host_states == 4);
    if (state & 2) {
      f.template operator()<2>(n);
      n += 2;
    }
    if (state & 1) f.template operator()<1>(n);
  }
};

}  // namespace PSSA_NAMESPACE
