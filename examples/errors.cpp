// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
//
// What a wrong call says: one sentence, before anything is launched or written.
#include <pssa/scan.hpp>

#include <cstdio>

using Sequence = Kokkos::View<float***>;
using Matrix = Kokkos::View<float**>;

/// Prints what a call says; false when it says nothing.
template <class Call>
bool refused(Call const& call) {
  //! [catch]
  try {
    call();
  } catch (pssa::Error const& error) {
    std::printf("%s\n", error.what());
    return true;
  }
  //! [catch]
  return false;
}

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  int const batch = 2, length = 5, channels = 7, state = 3;
  Sequence const x("x", batch, length, channels), delta("delta", batch, length, channels);
  Sequence const b("b", batch, length, state), c("c", batch, length, state), y("y", batch, length, channels);
  Sequence const h0("h0", batch, channels, state);
  Matrix const A("A", channels, state);
  pssa::ScanInputs<float> const in{.x = x, .delta = delta, .b = b, .c = c, .A = A};
  pssa::ScanOutputs<float> const out{.y = y};
  pssa::Tape<float> tape;

  int said = 0;
  said += refused([&] {
    auto wrong = in;
    wrong.delta = Sequence("delta", batch, length, channels + 1);
    pssa::scan(wrong, out);
  });
  said += refused([&] {
    auto wrong = in;
    wrong.h0 = Sequence("h0", batch, state, channels);
    pssa::scan(wrong, out);
  });
  said += refused([&] { pssa::scan(in, pssa::ScanOutputs<float>{.y = x}); });
  said += refused([&] { pssa::scan(in, out, pssa::ScanOptions{.checkpoint_interval = 4}); });
  said += refused([&] {
    pssa::scan_backward(in, pssa::ScanCotangents<float>{.dy = y}, tape, pssa::ScanGradients<float>{.db = b});
  });
  said += refused([&] {
    pssa::scan_backward(in, pssa::ScanCotangents<float>{.dy = y}, tape, pssa::ScanGradients<float>{});
  });
  return said == 6 ? 0 : 1;
}
