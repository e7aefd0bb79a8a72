// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

#include "ground.hpp"

#include <cstdint>

/// The base-2 exponential of processors that have no instruction for it, on numbers and on packs of numbers.
namespace PSSA_NAMESPACE {

/// The operations that differ between a number and a pack of them.
template <class V>
struct Arithmetic;

#ifndef PSSA_ISA
/// Of a number: Bits are as wide as it.
template <class S, class Bits, int Mantissa, int Least>
struct NumberArithmetic {
  using Element = S;

  KOKKOS_FORCEINLINE_FUNCTION static S all(S value) { return value; }
  KOKKOS_FORCEINLINE_FUNCTION static S multiply_add(S a, S b, S c) { return a * b + c; }
  /// p 2^k, with k in the low bits of shifted.
  KOKKOS_FORCEINLINE_FUNCTION static S scaled(S p, S shifted) {
    auto const exponent = static_cast<Bits>(Kokkos::bit_cast<Bits>(shifted) << Mantissa);
    return Kokkos::bit_cast<S>(static_cast<Bits>(Kokkos::bit_cast<Bits>(p) + exponent));
  }
  /// result, where x is neither too small for it, too large nor NaN.
  KOKKOS_FORCEINLINE_FUNCTION static S bounded(S x, S result) {
    S const finite = x <= S(Least) ? S(0) : (x >= S(2 - Least) ? Kokkos::Experimental::infinity_v<S> : result);
    return x == x ? finite : x;
  }
};
template <>
struct Arithmetic<float> : NumberArithmetic<float, std::uint32_t, 23, -126> {};
template <>
struct Arithmetic<double> : NumberArithmetic<double, std::uint64_t, 52, -1022> {};
#endif

/// a b + c: of packs, rounded as the instruction set does it, whatever the compiler; of numbers, as the compiler does.
template <class V>
PSSA_INLINE V multiply_add(V a, V b, V c) {
  return Arithmetic<V>::multiply_add(a, b, c);
}

/// sum_k coefficient_k f^k, from the highest k to k = 0.
template <class V>
PSSA_INLINE V polynomial(V, V value) {
  return value;
}
template <class V, class... More>
PSSA_INLINE V polynomial(V f, V value, typename Arithmetic<V>::Element next, More... more) {
  return polynomial(f, multiply_add(value, f, Arithmetic<V>::all(next)), more...);
}

/// 2^(a b), branch-free so that loops over it vectorise. Float: at most 1.3 ulp of 2^(a b), 1.1 with fused
/// multiply-add; double: at most 2.4 ulp (both but for the rounding of a b where it is not fused). Bounded: 0 where
/// a b <= -126 (double: -1022), infinity where a b >= 128 (1024), NaN where it is NaN. Without, a b must be closer to 0
/// than 126 (1022).
template <bool Bounded, class V>
PSSA_INLINE V exp2_product(V a, V b) {
  using A = Arithmetic<V>;
  using S = typename A::Element;
  constexpr bool wide = sizeof(S) == 8;
  // Adding 1.5 * 2^(bits of the mantissa) rounds to an integer and leaves it in the low bits of the sum.
  V const shift = A::all(wide ? S(6755399441055744.) : S(12582912.));
  V const shifted = multiply_add(a, b, shift);
  V const f = multiply_add(a, b, shift - shifted);
  V p;
  if constexpr (wide)  // Minimax in the relative error on [-1/2, 1/2]: 1.8e-17.
    p = polynomial(f, A::all(4.0780717860928704e-10), 7.0725703945407994e-9, 1.0180647660573069e-7,
                   1.3215442675452855e-6, 1.5252727385189775e-5, 1.5403530440571850e-4, 1.3333558153433970e-3,
                   9.6181291076070026e-3, 5.5504108664790395e-2, 0.24022650695910098, 0.69314718055994570, 1.);
  else  // 2.6e-9.
    p = polynomial(f, A::all(0.000155946770f), 0.00134066438f, 0.00961769298f, 0.0555031055f, 0.240226528f,
                   0.693147215f, 1.f);
  V const result = A::scaled(p, shifted);
  if constexpr (Bounded) return A::bounded(a * b, result);
  return result;
}

}  // namespace PSSA_NAMESPACE
