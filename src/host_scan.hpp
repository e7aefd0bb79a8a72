// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

#include "host_walk.hpp"

namespace PSSA_NAMESPACE {

/// What a walk over a segment is for.
enum class Purpose { scan, end, end_in_reverse };

/// The forward pass on a host: blocks of tokens, whose channels take turns in groups of packs, whose states take turns
/// in the registers.
template <class S, Purpose Goal>
struct HostScanWalk : HostWalk<S, 2> {
  using Base = HostWalk<S, 2>;
  using Base::group_packs;
  using Base::state;
  using Base::width;
  using typename Base::A;
  using typename Base::States;
  using typename Base::V;
  static constexpr int block = host_scan_block;

  HostScan<S> const& k;
  V *A2, *h, *largest, *total;
  V *delta, *u, *y;  ///< of a group, [token][pack]
  S *b_copy, *c_copy;

  PSSA_INLINE explicit HostScanWalk(HostScan<S> const& segment) : Base{segment.channels, segment.state}, k(segment) {
    V* next = reinterpret_cast<V*>(k.scratch);
    auto const take = [&](std::int64_t elements) {
      V* const here = next;
      next += elements / width;
      return here;
    };
    A2 = take(k.tile * state);
    h = take(k.tile * state);
    largest = take(k.tile);
    total = take(k.tile);
    delta = take(block * k.tile);
    u = take(block * k.tile);
    y = take(block * k.tile);
    b_copy = reinterpret_cast<S*>(next);
    c_copy = b_copy + block * state;
  }

  /// Tokens of a group with NS of its states in registers: their part of y.
  template <int NS, int P, bool Bounded>
  __attribute__((noinline)) static void run(V const* delta, V const* u, V* y, S const* b, std::int64_t b_stride,
                                            S const* c, std::int64_t c_stride, V const* A2_of, V* h_of, int tokens,
                                            bool first) {
    // Part k of a bundle is pack k % P of its state k / P.
    constexpr int bundled = NS * P < host_bundle ? NS : host_bundle / P;
    using Packs = Bundle<V, bundled * P>;
    Packs A2[NS / bundled], h[NS / bundled];
    auto const each_part = [](auto const& f) {
#pragma GCC unroll 8
      for (int k = 0; k < bundled * P; ++k) f(k);
    };
#pragma GCC unroll 8
    for (int i = 0; i < NS / bundled; ++i)
      each_part([&](int k) {
        A2[i].part[k] = A2_of[i * bundled * P + k];
        h[i].part[k] = h_of[i * bundled * P + k];
      });
    for (int t = 0; t < tokens; ++t, b += b_stride, c += c_stride) {
      V ys[P];
      if constexpr (Goal == Purpose::scan)
        for (int p = 0; p < P; ++p) ys[p] = first ? V{} : y[t * P + p];
      Packs deltas, us;
      each_part([&](int k) {
        deltas.part[k] = delta[t * P + k % P];
        us.part[k] = u[t * P + k % P];
      });
#pragma GCC unroll 8
      for (int i = 0; i < NS / bundled; ++i) {
        Packs bs;
        each_part([&](int k) { bs.part[k] = A::all(b[i * bundled + k / P]); });
        Packs const a = decay<Bounded>(deltas, A2[i]);
        if constexpr (Goal == Purpose::end_in_reverse)
          h[i] = a * multiply_add(us, bs, h[i]);
        else
          h[i] = advance(a, h[i], us, bs);
        if constexpr (Goal == Purpose::scan)
          each_part([&](int k) { ys[k % P] = multiply_add(h[i].part[k], A::all(c[i * bundled + k / P]), ys[k % P]); });
      }
      if constexpr (Goal == Purpose::scan)
        for (int p = 0; p < P; ++p) y[t * P + p] = ys[p];
    }
#pragma GCC unroll 8
    for (int i = 0; i < NS / bundled; ++i) each_part([&](int k) { h_of[i * bundled * P + k] = h[i].part[k]; });
  }

  template <int P, bool Bounded>
  PSSA_INLINE void run_states(int group, States const& b, States const& c, int tokens) const {
    this->each_state([&]<int NS>(std::int64_t n) {
      run<NS, P, Bounded>(delta, u, y, b.data + n, b.stride, c.data + n, c.stride, this->at(A2, group, n, 0),
                          this->at(h, group, n, 0), tokens, n == 0);
    });
  }

  /// A block's tokens of one group.
  template <int P>
  PSSA_INLINE void run_group(int group, std::int64_t t, int tokens, States const& b, States const& c) const {
    bool safe = true;
    if (Goal == Purpose::scan && k.y.column_stride == 1)
      for (int i = 0; i < tokens; ++i) __builtin_prefetch(k.y.data + (t + i) * k.y.row_stride + group * width, 1);
    for (int p = 0; p < P; ++p) {
      this->load_tokens(k.delta, t, tokens, group + p, delta + p, P);
      this->load_tokens(k.x, t, tokens, group + p, u + p, P);
      V longest{};
      for (int i = p; i < tokens * P; i += P) {
        longest = A::largest(longest, delta[i]);
        if constexpr (Goal != Purpose::end_in_reverse) u[i] = delta[i] * u[i];
        if constexpr (Goal != Purpose::scan) total[group + p] += delta[i];
      }
      safe = safe && Base::is_safe(longest, largest[group + p]);
    }
    if (safe)
      run_states<P, false>(group, b, c, tokens);
    else
      run_states<P, true>(group, b, c, tokens);
    if constexpr (Goal == Purpose::scan)
      for (int p = 0; p < P; ++p) this->store_tokens(k.y, t, tokens, group + p, y + p, P);
  }

  PSSA_INLINE HostMatrix<S> entry(std::int64_t t) const {
    return {k.tape.data + t / k.interval * k.entry_stride, k.tape.row_stride, k.tape.column_stride};
  }

  PSSA_INLINE void walk() {
    this->load_A2(k.A, A2, largest);
    this->load_states(k.start, h);
    if constexpr (Goal != Purpose::scan)
      for (int pack = 0; pack < this->packs(); ++pack) total[pack] = V{};
    bool const keeps = k.tape.data != nullptr;
    for (std::int64_t t = 0; t < k.tokens;) {
      std::int64_t tokens = block;
      if (keeps) {
        if (t % k.interval == 0) this->store_states(entry(t), h);
        // A kept state begins a block.
        std::int64_t const until = k.interval - t % k.interval;
        tokens = tokens < until ? tokens : until;
      }
      int const now = static_cast<int>(tokens < k.tokens - t ? tokens : k.tokens - t);
      auto const b = this->states(k.b, t, now, b_copy);
      auto const c = Goal == Purpose::scan ? this->states(k.c, t, now, c_copy) : b;
      this->each_group([&](int group, int packs) {
        if (packs == group_packs)
          run_group<group_packs>(group, t, now, b, c);
        else
          run_group<1>(group, t, now, b, c);
      });
      t += now;
    }
    if (keeps && k.keeps_end) this->store_states(entry(k.tokens), h);
    if (k.end.data != nullptr) this->store_states(k.end, h);
    if constexpr (Goal != Purpose::scan)
      for (int pack = 0; pack < this->packs(); ++pack)
        this->store_rows(k.total.data, 0, k.total.column_stride, 1, pack, total + pack, 1);
  }
};

template <class S, Purpose Goal>
void host_scan(HostScan<S> const& segment) {
  HostScanWalk<S, Goal>(segment).walk();
}

}  // namespace PSSA_NAMESPACE
