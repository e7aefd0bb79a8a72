// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

#include "host_walk.hpp"

namespace PSSA_NAMESPACE {

/// The sum of a pack's lanes, halves first.
template <int Count, class S>
PSSA_INLINE S sum_of(S const* values) {
  if constexpr (Count == 1) {
    return values[0];
  } else {
    S half[Count / 2];
    for (int i = 0; i < Count / 2; ++i) half[i] = values[i] + values[i + Count / 2];
    return sum_of<Count / 2>(half);
  }
}

/// The backward pass on a host: from the last span to the first, blocks of tokens whose states are computed again into
/// scratch, a few states at once, and swept back over.
template <class S>
struct HostSweepWalk : HostWalk<S, 1> {
  using Base = HostWalk<S, 1>;
  using Base::state;
  using Base::width;
  using typename Base::A;
  using typename Base::States;
  using typename Base::V;
  static constexpr int block = host_sweep_block;
  static constexpr int NS = host_states;

  HostSweep<S> const& k;
  V *A2, *carry, *dA;
  V* starts;  ///< the states before the blocks of a span
  V *largest, *longest;
  V *delta, *x, *dy, *gb, *gA;  ///< [pack][token]
  V *a, *h;                     ///< of a few states of a pack: [token][state]
  V *db, *dc;                   ///< the same, summed over packs
  S *b_copy, *c_copy;

  PSSA_INLINE explicit HostSweepWalk(HostSweep<S> const& segment) : Base{segment.channels, segment.state}, k(segment) {
    V* next = reinterpret_cast<V*>(k.scratch);
    auto const take = [&](std::int64_t elements) {
      V* const here = next;
      next += elements / width;
      return here;
    };
    A2 = take(k.tile * state);
    carry = take(k.tile * state);
    dA = take(k.tile * state);
    starts = take((k.span + block - 1) / block * k.tile * state);
    largest = take(k.tile);
    longest = take(k.tile);
    delta = take(block * k.tile);
    x = take(block * k.tile);
    dy = take(block * k.tile);
    gb = take(block * k.tile);
    gA = take(block * k.tile);
    a = take(block * NS * k.tile);
    h = take((block + 1) * NS * k.tile);
    db = take(block * NS * k.tile);
    dc = take(block * NS * k.tile);
    b_copy = reinterpret_cast<S*>(next);
    c_copy = b_copy + block * state;
  }

  /// The states of tokens of one pack, Count states of it: a and h when they are kept, and the last h.
  template <int Count, bool Bounded, bool Kept>
  __attribute__((noinline)) static void run_forward(V const* delta, V const* x, S const* b, std::int64_t b_stride,
                                                    V const* A2_of, V const* start, V* a, V* h, V* last, int tokens) {
    using States = Bundle<V, Count>;
    auto const load = [](V const* from) {
      States to;
#pragma GCC unroll 8
      for (int i = 0; i < Count; ++i) to.part[i] = from[i];
      return to;
    };
    auto const store = [](States const& from, V* to) {
#pragma GCC unroll 8
      for (int i = 0; i < Count; ++i) to[i] = from.part[i];
    };
    auto const repeat = [](V value) {
      States to;
#pragma GCC unroll 8
      for (int i = 0; i < Count; ++i) to.part[i] = value;
      return to;
    };
    States const A2 = load(A2_of);
    States now = load(start);
    if constexpr (Kept) store(now, h);
    for (int t = 0; t < tokens; ++t, b += b_stride) {
      States bs;
#pragma GCC unroll 8
      for (int i = 0; i < Count; ++i) bs.part[i] = A::all(b[i]);
      States const decayed = decay<Bounded>(repeat(delta[t]), A2);
      now = advance(decayed, now, repeat(delta[t] * x[t]), bs);
      if constexpr (Kept) {
        store(decayed, a + t * Count);
        store(now, h + (t + 1) * Count);
      }
    }
    if constexpr (!Kept) store(now, last);
  }

  /// Sweeps back over a block of one pack, Count states of it.
  template <int Count>
  __attribute__((noinline)) static void run_backward(V const* delta, V const* x, V const* dy, S const* b,
                                                     std::int64_t b_stride, S const* c, std::int64_t c_stride,
                                                     V const* A2, V const* a, V const* h, V* carry_of, V* dA_of, V* gb,
                                                     V* gA, V* db, V* dc, int tokens, bool first_states,
                                                     bool first_pack) {
    V carry[Count], dA[Count];
    for (int i = 0; i < Count; ++i) {
      carry[i] = carry_of[i];
      dA[i] = dA_of[i];
    }
    for (int t = tokens - 1; t >= 0; --t) {
      V const delta_t = delta[t];
      V const dy_t = dy[t];
      V const u = delta_t * x[t];
      V sum_b = first_states ? V{} : gb[t];
      V sum_A = first_states ? V{} : gA[t];
#pragma GCC unroll 8
      for (int i = 0; i < Count; ++i) {
        int const at = t * Count + i;
        V const c_i = A::all(c[t * c_stride + i]);
        Adjoint<V> const adjoint(dy_t, c_i, a[at], h[at], carry[i]);
        carry[i] = adjoint.carry;
        dA[i] = multiply_add(adjoint.decayed, delta_t, dA[i]);
        sum_A = multiply_add(adjoint.decayed, A2[i], sum_A);
        sum_b = multiply_add(adjoint.g, A::all(b[t * b_stride + i]), sum_b);
        db[at] = multiply_add(adjoint.g, u, first_pack ? V{} : db[at]);
        dc[at] = multiply_add(dy_t, h[at + Count], first_pack ? V{} : dc[at]);
      }
      gb[t] = sum_b;
      gA[t] = sum_A;
    }
    for (int i = 0; i < Count; ++i) {
      carry_of[i] = carry[i];
      dA_of[i] = dA[i];
    }
  }

  PSSA_INLINE V* start_of(int which) const { return starts + which * (k.tile / width) * state; }

  /// Brings a block's channels into scratch, and finds the largest |delta| of each.
  PSSA_INLINE void load_block(std::int64_t t, int tokens, bool whole) const {
    for (int pack = 0; pack < this->packs(); ++pack) {
      int const at = pack * block;
      this->load_tokens(k.delta, t, tokens, pack, delta + at, 1);
      this->load_tokens(k.x, t, tokens, pack, x + at, 1);
      if (whole) this->load_tokens(k.dy, t, tokens, pack, dy + at, 1);
      V most{};
      for (int u = 0; u < tokens; ++u) most = A::largest(most, delta[at + u]);
      longest[pack] = most;
    }
  }

  /// The states before the blocks of a span but the first, whose state is there.
  PSSA_INLINE void replay(std::int64_t t, int blocks) const {
    for (int which = 0; which + 1 < blocks; ++which) {
      std::int64_t const begin = t + which * block;
      load_block(begin, block, false);
      auto const b = this->states(k.b, begin, block, b_copy);
      for (int pack = 0; pack < this->packs(); ++pack) {
        bool const safe = Base::is_safe(longest[pack], largest[pack]);
        this->each_state([&]<int Count>(std::int64_t n) {
          V const* const from = this->at(start_of(which), pack, n, 0);
          V* const to = this->at(start_of(which + 1), pack, n, 0);
          auto const run = safe ? run_forward<Count, false, false> : run_forward<Count, true, false>;
          run(delta + pack * block, x + pack * block, b.data + n, b.stride, this->at(A2, pack, n, 0), from, nullptr,
              nullptr, to, block);
        });
      }
    }
  }

  /// Sweeps over a block that begins with the states start.
  PSSA_INLINE void sweep(std::int64_t t, int tokens, V* start) const {
    load_block(t, tokens, true);
    auto const b = this->states(k.b, t, tokens, b_copy);
    auto const c = this->states(k.c, t, tokens, c_copy);
    this->each_state([&]<int Count>(std::int64_t n) {
      for (int pack = 0; pack < this->packs(); ++pack) {
        int const at = pack * block;
        auto const run = Base::is_safe(longest[pack], largest[pack]) ? run_forward<Count, false, true>
                                                                     : run_forward<Count, true, true>;
        run(delta + at, x + at, b.data + n, b.stride, this->at(A2, pack, n, 0), this->at(start, pack, n, 0), a, h,
            nullptr, tokens);
        run_backward<Count>(delta + at, x + at, dy + at, b.data + n, b.stride, c.data + n, c.stride,
                            this->at(A2, pack, n, 0), a, h, this->at(carry, pack, n, 0), this->at(dA, pack, n, 0),
                            gb + at, gA + at, db, dc, tokens, n == 0, pack == 0);
      }
      if (k.db.data == nullptr) return;
      for (int u = 0; u < tokens; ++u)
        for (int i = 0; i < Count; ++i) {
          k.db.data[(t + u) * k.db.row_stride + n + i] = sum_of<width>(reinterpret_cast<S const*>(db + u * Count + i));
          k.dc.data[(t + u) * k.dc.row_stride + n + i] = sum_of<width>(reinterpret_cast<S const*>(dc + u * Count + i));
        }
    });
    for (int pack = 0; pack < this->packs(); ++pack) {
      int const at = pack * block;
      for (int u = at; u < at + tokens; ++u) {
        V const sum_b = gb[u];
        gb[u] = delta[u] * sum_b;
        gA[u] = multiply_add(x[u], sum_b, gA[u] * A::all(ln_2<S>));
      }
      if (k.dx.data != nullptr) this->store_tokens(k.dx, t, tokens, pack, gb + at, 1);
      if (k.ddelta.data != nullptr) this->store_tokens(k.ddelta, t, tokens, pack, gA + at, 1);
    }
  }

  PSSA_INLINE void walk() const {
    this->load_A2(k.A, A2, largest);
    this->load_states(k.start, carry);
    for (std::int64_t i = 0; i < this->packs() * state; ++i) dA[i] = V{};
    for (std::int64_t which = (k.tokens + k.span - 1) / k.span - 1; which >= 0; --which) {
      std::int64_t const begin = which * k.span;
      std::int64_t const tokens = k.span < k.tokens - begin ? k.span : k.tokens - begin;
      int const blocks = static_cast<int>((tokens + block - 1) / block);
      HostMatrix<S const> const entry{k.tape.data + begin / k.interval * k.entry_stride, k.tape.row_stride,
                                      k.tape.column_stride};
      this->load_states(entry, start_of(0));
      replay(begin, blocks);
      for (int i = blocks - 1; i >= 0; --i) {
        std::int64_t const left = tokens - i * block;
        sweep(begin + i * block, static_cast<int>(left < block ? left : block), start_of(i));
      }
    }
    if (k.dA.data != nullptr) this->store_states(k.dA, dA);
    if (k.end.data != nullptr) this->store_states(k.end, carry);
  }
};

template <class S>
void host_sweep(HostSweep<S> const& segment) {
  HostSweepWalk<S>(segment).walk();
}

}  // namespace PSSA_NAMESPACE
