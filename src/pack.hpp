// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

#include "exponential.hpp"

#ifdef __FMA__
#include <immintrin.h>  // nothing but inline functions that are never functions of their own
#endif

#include <cstdint>

/// Packs of neighbouring channels as wide as the vector registers of the instruction set, PSSA_PACK_BYTES.
namespace PSSA_NAMESPACE {

#define PSSA_PACK __attribute__((vector_size(PSSA_PACK_BYTES)))
typedef float FloatPack PSSA_PACK;
typedef double DoublePack PSSA_PACK;
typedef std::int32_t IntPack PSSA_PACK;
typedef std::int64_t LongPack PSSA_PACK;
#undef PSSA_PACK

template <class S, class Pack, class BitsPack, class Bits, int Mantissa, int Least>
struct PackArithmetic {
  using Element = S;
  using Integers = BitsPack;

  static constexpr int width = PSSA_PACK_BYTES / static_cast<int>(sizeof(S));
  /// a b may be closer to 0 than this for exp2_product without bounds, however it is rounded.
  static constexpr S safe = S(-Least - 1);

  PSSA_INLINE static Pack all(S value) { return value - Pack{}; }
  PSSA_INLINE static Pack scaled(Pack p, Pack shifted) {
    return reinterpret_cast<Pack>(reinterpret_cast<BitsPack>(p) + (reinterpret_cast<BitsPack>(shifted) << Mantissa));
  }
  PSSA_INLINE static Pack bounded(Pack x, Pack result) {
    Pack const finite =
        choose(x <= all(S(Least)), Pack{}, choose(x >= all(S(2 - Least)), all(__builtin_huge_val()), result));
    return choose(x == x, finite, x);
  }
  /// In every lane first where mask is set, else second.
  PSSA_INLINE static Pack choose(BitsPack mask, Pack first, Pack second) {
    return reinterpret_cast<Pack>((reinterpret_cast<BitsPack>(first) & mask) |
                                  (reinterpret_cast<BitsPack>(second) & ~mask));
  }
  /// The larger of most and |value|, in every lane; NaN is the largest.
  PSSA_INLINE static Pack largest(Pack most, Pack value) {
    constexpr Bits sign = static_cast<Bits>(Bits(1) << (8 * sizeof(S) - 1));
    auto const size = reinterpret_cast<BitsPack>(value) & ~(sign - BitsPack{});
    auto const before = reinterpret_cast<BitsPack>(most);
    BitsPack const more = size > before;
    return reinterpret_cast<Pack>((size & more) | (before & ~more));
  }
};

template <>
struct Arithmetic<FloatPack> : PackArithmetic<float, FloatPack, IntPack, std::int32_t, 23, -126> {
  PSSA_INLINE static FloatPack multiply_add(FloatPack a, FloatPack b, FloatPack c) {
#if !defined(__FMA__)
    return a * b + c;
#elif PSSA_PACK_BYTES == 64
    return _mm512_fmadd_ps(a, b, c);
#elif PSSA_PACK_BYTES == 32
    return _mm256_fmadd_ps(a, b, c);
#else
    return _mm_fmadd_ps(a, b, c);
#endif
  }
};

template <>
struct Arithmetic<DoublePack> : PackArithmetic<double, DoublePack, LongPack, std::int64_t, 52, -1022> {
  PSSA_INLINE static DoublePack multiply_add(DoublePack a, DoublePack b, DoublePack c) {
#if !defined(__FMA__)
    return a * b + c;
#elif PSSA_PACK_BYTES == 64
    return _mm512_fmadd_pd(a, b, c);
#elif PSSA_PACK_BYTES == 32
    return _mm256_fmadd_pd(a, b, c);
#else
    return _mm_fmadd_pd(a, b, c);
#endif
  }
};

/// Count packs that are computed side by side: what a processor issues together then stands together, since its queues
/// are shorter than a few exponentials after each other.
template <class V, int Count>
struct Bundle {
  V part[Count];
};
template <class V, int Count>
PSSA_INLINE Bundle<V, Count> operator*(Bundle<V, Count> const& a, Bundle<V, Count> const& b) {
  Bundle<V, Count> result;
  for (int k = 0; k < Count; ++k) result.part[k] = a.part[k] * b.part[k];
  return result;
}
template <class V, int Count>
PSSA_INLINE Bundle<V, Count> operator-(Bundle<V, Count> const& a, Bundle<V, Count> const& b) {
  Bundle<V, Count> result;
  for (int k = 0; k < Count; ++k) result.part[k] = a.part[k] - b.part[k];
  return result;
}
template <class V, int Count>
struct Arithmetic<Bundle<V, Count>> {
  using Element = typename Arithmetic<V>::Element;
  using Packs = Bundle<V, Count>;

  /// Loaded once: compilers would let every part load it, and loads are what there is too few of.
  PSSA_INLINE static Packs all(Element value) {
    V one = Arithmetic<V>::all(value);
#if PSSA_PACK_BYTES == 64
    asm volatile("" : "+v"(one));
#elif defined(__SSE2__)
    asm volatile("" : "+x"(one));
#endif
    Packs result;
    for (int k = 0; k < Count; ++k) result.part[k] = one;
    return result;
  }
  PSSA_INLINE static Packs multiply_add(Packs const& a, Packs const& b, Packs const& c) {
    Packs result;
    for (int k = 0; k < Count; ++k) result.part[k] = Arithmetic<V>::multiply_add(a.part[k], b.part[k], c.part[k]);
    return result;
  }
  PSSA_INLINE static Packs scaled(Packs const& p, Packs const& shifted) {
    Packs result;
    for (int k = 0; k < Count; ++k) result.part[k] = Arithmetic<V>::scaled(p.part[k], shifted.part[k]);
    return result;
  }
  PSSA_INLINE static Packs bounded(Packs const& x, Packs const& value) {
    Packs result;
    for (int k = 0; k < Count; ++k) result.part[k] = Arithmetic<V>::bounded(x.part[k], value.part[k]);
    return result;
  }
};

/// The pack of an element type.
template <class S>
struct PackOf;
template <>
struct PackOf<float> {
  using Pack = FloatPack;
};
template <>
struct PackOf<double> {
  using Pack = DoublePack;
};

}  // namespace PSSA_NAMESPACE
