// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
//
// The smallest use: one sequence of six tokens, one channel, a state of two.
#include <pssa/scan.hpp>

#include <cmath>
#include <cstdio>

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard const kokkos(argc, argv);

  //! [views]
  int const batch = 1, length = 6, channels = 1, state = 2;
  Kokkos::View<float***> x("x", batch, length, channels), delta("delta", batch, length, channels);
  Kokkos::View<float***> b("b", batch, length, state), c("c", batch, length, state);
  Kokkos::View<float**> A("A", channels, state);
  Kokkos::View<float***> y("y", batch, length, channels), hT("hT", batch, channels, state);
  //! [views]

  // A pulse at the first token. One state halves with every token, the other one falls to a quarter.
  auto const host_x = Kokkos::create_mirror_view(x);
  host_x(0, 0, 0) = 1;
  Kokkos::deep_copy(x, host_x);
  auto const host_A = Kokkos::create_mirror_view(A);
  host_A(0, 0) = -std::log(2.f);
  host_A(0, 1) = -std::log(4.f);
  Kokkos::deep_copy(A, host_A);
  Kokkos::deep_copy(delta, 1.f);
  Kokkos::deep_copy(b, 1.f);
  Kokkos::deep_copy(c, 1.f);

  //! [call]
  pssa::ScanInputs<float> const in{.x = x, .delta = delta, .b = b, .c = c, .A = A};
  pssa::scan(in, pssa::ScanOutputs<float>{.y = y, .hT = hT});
  //! [call]

  auto const host_y = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, y);
  auto const host_hT = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, hT);
  for (int t = 0; t < length; ++t) std::printf("y(%d) = %.6f\n", t, host_y(0, t, 0));
  std::printf("hT   = (%.6f, %.6f)\n", host_hT(0, 0, 0), host_hT(0, 0, 1));
}
