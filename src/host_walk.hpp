// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

#include "host.hpp"
#include "recurrence.hpp"

/// What both passes on a host share: how channels and states come into packs and leave them.
namespace PSSA_NAMESPACE {

/// A tile's channels as packs: groups of them, of which the last may be smaller, are computed together.
template <class S, int GroupPacks>
struct HostWalk {
  using V = typename PackOf<S>::Pack;
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

  /// Fills an array from rows that are states; without data, with 0.
  PSSA_INLINE void load_states(HostMatrix<S const> const& from, V* array) const {
    each_group([&](int group, int packs_of_group) {
      for (int p = 0; p < packs_of_group; ++p)
        load_rows(from.data, from.row_stride, from.column_stride, state, group + p, at(array, group, 0, p),
                  packs_of_group);
    });
  }
  PSSA_INLINE void store_states(HostMatrix<S> const& to, V const* array) const {
    each_group([&](int group, int packs_of_group) {
      for (int p = 0; p < packs_of_group; ++p)
        store_rows(to.data, to.row_stride, to.column_stride, state, group + p, at(const_cast<V*>(array), group, 0, p),
                   packs_of_group);
    });
  }

  /// Brings a pack's channels of rows, tokens or states, together: to[row * stride]; 0 where there is no channel.
  PSSA_INLINE void load_rows(S const* from, std::int64_t row_stride, std::int64_t column_stride, std::int64_t rows,
                             int pack, V* to, int stride) const {
    int const lanes = from == nullptr ? 0 : live(pack);
    if (lanes < width)
      for (std::int64_t row = 0; row < rows; ++row) to[row * stride] = V{};
    if (lanes <= 0) return;
    S const* const data = from + pack * width * column_stride;
    if (column_stride == 1 && lanes >= width) {
      for (std::int64_t row = 0; row < rows; ++row)
        __builtin_memcpy(to + row * stride, data + row * row_stride, sizeof(V));
      return;
    }
    // Channel by channel, since it may be the rows that are contiguous.
    S* const out = reinterpret_cast<S*>(to);
    for (int lane = 0; lane < width && lane < lanes; ++lane)
      for (std::int64_t row = 0; row < rows; ++row)
        out[row * stride * width + lane] = data[row * row_stride + lane * column_stride];
  }
  PSSA_INLINE void store_rows(S* to, std::int64_t row_stride, std::int64_t column_stride, std::int64_t rows, int pack,
                              V const* from, int stride) const {
    int const lanes = live(pack);
    S* const data = to + pack * width * column_stride;
    if (column_stride == 1 && lanes >= width) {
      for (std::int64_t row = 0; row < rows; ++row)
        __builtin_memcpy(data + row * row_stride, from + row * stride, sizeof(V));
      return;
    }
    S const* const in = reinterpret_cast<S const*>(from);
    for (int lane = 0; lane < width && lane < lanes; ++lane)
      for (std::int64_t row = 0; row < rows; ++row)
        data[row * row_stride + lane * column_stride] = in[row * stride * width + lane];
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

  /// The same for a block of tokens. Those of the next block are asked for: they come from as many pages as there are
  /// tokens, which no processor foresees.
  PSSA_INLINE void load_tokens(HostMatrix<S const> const& from, std::int64_t t, int tokens, int pack, V* to,
                               int stride) const {
    S const* const data = from.data + t * from.row_stride;
    if (from.column_stride == 1)
      for (int u = tokens; u < 2 * tokens; ++u) __builtin_prefetch(data + u * from.row_stride + pack * width);
    load_rows(data, from.row_stride, from.column_stride, tokens, pack, to, stride);
  }
  PSSA_INLINE void store_tokens(HostMatrix<S> const& to, std::int64_t t, int tokens, int pack, V const* from,
                                int stride) const {
    store_rows(to.data + t * to.row_stride, to.row_stride, to.column_stride, tokens, pack, from, stride);
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
