// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#include <pssa/pssa.hpp>

#include <cmath>
#include <cstdio>
#include <limits>
#include <string>

namespace {

using Memory = Kokkos::DefaultExecutionSpace::memory_space;
using Sequence = Kokkos::View<float***, Memory>;
using Matrix = Kokkos::View<float**, Memory>;

// Before Kokkos 5 a label is not taken from a pointer.
Sequence filled(std::string const& label, float value) {
  Sequence sequence(label, 1, 2, 1);
  Kokkos::deep_copy(sequence, value);
  return sequence;
}

/// True when the number is as expected. Bound: an exponential of 2 ulp and fewer than 6 roundings, of values below 2.
bool is(char const* name, float actual, double expected) {
  if (std::abs(actual - expected) <= 16 * std::numeric_limits<float>::epsilon()) return true;
  std::printf("%s is %.9g, expected %.9g\n", name, actual, expected);
  return false;
}

bool scan_two_tokens() {
  Sequence const ones = filled("ones", 1), y = filled("y", 0), dx = filled("dx", 0);
  Matrix const A("A", 1, 1), dA("dA", 1, 1);
  Kokkos::deep_copy(A, -std::log(2.0F));  // the state halves with every token

  pssa::Tape<float, Memory> tape;
  pssa::ScanInputs<float> const in{.x = ones, .delta = ones, .b = ones, .c = ones, .A = A};
  pssa::scan(in, pssa::ScanOutputs<float>{.y = y}, tape);
  pssa::scan_backward(in, pssa::ScanCotangents<float>{.dy = ones}, tape,
                      pssa::ScanGradients<float>{.dx = dx, .dA = dA});

  auto const host_y = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, y);
  auto const host_dx = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, dx);
  auto const host_dA = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, dA);
  bool good = is("y(0, 0, 0)", host_y(0, 0, 0), 1.0);
  good = is("y(0, 1, 0)", host_y(0, 1, 0), 1.5) && good;
  good = is("dx(0, 0, 0)", host_dx(0, 0, 0), 1.5) && good;
  good = is("dx(0, 1, 0)", host_dx(0, 1, 0), 1.0) && good;
  return is("dA(0, 0)", host_dA(0, 0), 0.5) && good;
}

}  // namespace

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  std::printf("pssa %s, Kokkos %d\n", PSSA_VERSION_STRING, KOKKOS_VERSION);
  return scan_two_tokens() ? 0 : 1;
}
