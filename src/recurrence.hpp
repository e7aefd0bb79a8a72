// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

#ifdef PSSA_ISA
#include "pack.hpp"
#else
#include "intrinsics.hpp"
#endif

/// The recurrence and its adjoint for one state, shared by every kernel. A enters as A2 = A log2(e), so that the decay
/// is one base-2 exponential.
namespace PSSA_NAMESPACE {

template <class S>
inline constexpr S log2_e = S(1.4426950408889634073599246810018921);
template <class S>
inline constexpr S ln_2 = S(0.6931471805599453094172321214581766);

/// exp(delta A). Bounded: of any delta A, else only of such as exp2_product says; devices know no difference.
template <bool Bounded = true, class S>
PSSA_INLINE S decay(S delta, S A2) {
#ifdef PSSA_ISA
  return exp2_product<Bounded>(delta, A2);
#else
  return fast_exp2(delta * A2);
#endif
}

/// h_t = a h_{t-1} + u b, with u = delta x.
template <class S>
PSSA_INLINE S advance(S a, S h, S u, S b) {
  return multiply_add(a, h, u * b);
}

/// What one state of one channel adds to the gradients at one token.
template <class S>
struct Adjoint {
  S g;        ///< dL/dh_t = dy c + carry
  S carry;    ///< a g, for the token before
  S decayed;  ///< g a h_{t-1}, by multiplication: as h_t - u b it loses its digits when the decay is strong

  PSSA_INLINE Adjoint(S dy, S c, S a, S h_before, S carry_after)
      : g(multiply_add(dy, c, carry_after)), carry(a * g), decayed(carry * h_before) {}
};

}  // namespace PSSA_NAMESPACE
