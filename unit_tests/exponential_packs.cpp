// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
//
// Compiled once for every instruction set, PSSA_ISA, as the library's own code for it.
#include "exponential_packs.hpp"

#include "pack.hpp"

namespace pssa::tests {
namespace {

template <class S, bool Bounded>
void exp2_of(S const* a, S const* b, S* result, int count) {
  using V = typename impl::PackOf<S>::Pack;
  for (int i = 0; i < count; i += impl::Arithmetic<V>::width) {
    V first, second;
    __builtin_memcpy(&first, a + i, sizeof(V));
    __builtin_memcpy(&second, b + i, sizeof(V));
    V const value = impl::exp2_product<Bounded>(first, second);
    __builtin_memcpy(result + i, &value, sizeof(V));
  }
}

template <class S>
constexpr Exponential<S> exponential() {
  return {impl::Arithmetic<typename impl::PackOf<S>::Pack>::width, exp2_of<S, true>, exp2_of<S, false>};
}

}  // namespace

#define PSSA_JOIN_(a, b) a##b
#define PSSA_JOIN(a, b) PSSA_JOIN_(a, b)
#define PSSA_TEXT_(a) #a
#define PSSA_TEXT(a) PSSA_TEXT_(a)
constinit Exponentials const PSSA_JOIN(exponentials_, PSSA_ISA){PSSA_TEXT(PSSA_ISA), exponential<float>(),
                                                                exponential<double>()};

}  // namespace pssa::tests
