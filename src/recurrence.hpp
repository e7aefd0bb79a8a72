// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

#include "intrinsics.hpp"

/// The recurrence and its adjoint for one state, shared by every kernel. A enters as A2 = A log2(e), so that the decay
/// is one base-2 exponential.
namespace pssa::impl {

template <class S>
inline constexpr S log2_e = S(1.4426950408889634073599246810018921);
template <class S>
inline constexpr S ln_2 = S(0.6931471805599453094172321214581766);

/// exp(delta A).
template <class S>
KOKKOS_FORCEINLINE_FUNCTION S decay(S delta, S A2) {
  return fast_exp2(delta * A2);
}

/// h_t = a h_{t-1} + u b, with u = delta x.
template <class S>
KOKKOS_FORCEINLINE_FUNCTION S advance(S a, S h, S u, S b) {
  return a * h + u * b;
}

/// What one state of one channel adds to the gradients at one token.
template <class S>
struct Adjoint {
  S g;        ///< dL/dh_t = dy c + carry
  S carry;    ///< a g, for the token before
  S decayed;  ///< g a h_{t-1}, by multiplication: as h_t - u b it loses its digits when the decay is strong

  KOKKOS_FORCEINLINE_FUNCTION Adjoint(S dy, S c, S a, S h_before, S carry_after)
      : g(dy * c + carry_after), carry(a * g), decayed(carry * h_before) {}
};

}  // namespace pssa::impl
