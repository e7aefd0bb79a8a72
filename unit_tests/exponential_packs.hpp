// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

/// The library's exponential of one instruction set, 2^(a b) of count numbers, a multiple of width.
namespace pssa::tests {

template <class S>
struct Exponential {
  int width;
  void (*bounded)(S const* a, S const* b, S* result, int count);
  void (*unbounded)(S const* a, S const* b, S* result, int count);
};

struct Exponentials {
  char const* isa;
  Exponential<float> of_float;
  Exponential<double> of_double;
};

extern Exponentials const exponentials_baseline;
extern Exponentials const exponentials_avx2;
extern Exponentials const exponentials_avx512;

}  // namespace pssa::tests
