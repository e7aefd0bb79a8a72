// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
//
// Two scans at once: two instances of the execution space, on CUDA two streams.
#include <pssa/scan.hpp>

#include <cstdio>
#include <cstring>

using Space = Kokkos::DefaultExecutionSpace;
using Sequence = Kokkos::View<float***, Kokkos::LayoutRight>;
using Matrix = Kokkos::View<float**, Kokkos::LayoutRight>;

constexpr int batch = 2, channels = 64, state = 16;

/// Everything that one training step reads and writes. A tape serves one scan at a time, so each has its own.
struct Layer {
  Sequence x, delta, b, c, y, dx;
  Matrix A, dA;
  pssa::Tape<float> tape{};

  Layer(int length, float pace)
      : x("x", batch, length, channels),
        delta("delta", batch, length, channels),
        b("b", batch, length, state),
        c("c", batch, length, state),
        y("y", batch, length, channels),
        dx("dx", batch, length, channels),
        A("A", channels, state),
        dA("dA", channels, state) {
    Kokkos::deep_copy(x, 1.f);
    Kokkos::deep_copy(delta, pace);
    Kokkos::deep_copy(b, 0.5f);
    Kokkos::deep_copy(c, 0.25f);
    Kokkos::deep_copy(A, -1.f);
  }

  //! [step]
  void step(Space const& exec) {
    pssa::ScanInputs<float> const in{.x = x, .delta = delta, .b = b, .c = c, .A = A};
    pssa::scan(exec, in, pssa::ScanOutputs<float>{.y = y}, tape);
    pssa::scan_backward(exec, in, pssa::ScanCotangents<float>{.dy = y}, tape,
                        pssa::ScanGradients<float>{.dx = dx, .dA = dA});
  }
  //! [step]
};

template <class ViewType>
bool same_bits(ViewType const& a, ViewType const& b) {
  auto const left = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, a);
  auto const right = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, b);
  return std::memcmp(left.data(), right.data(), left.span() * sizeof(float)) == 0;
}

bool same_bits(Layer const& a, Layer const& b) {
  return same_bits(a.y, b.y) && same_bits(a.dx, b.dx) && same_bits(a.dA, b.dA);
}

int run() {
  Layer long_one(200, 0.1f), short_one(50, 0.3f), long_alone(200, 0.1f), short_alone(50, 0.3f);
  Kokkos::fence();  // the inputs were filled on the default instance

  //! [two]
  auto const streams = Kokkos::Experimental::partition_space(Space{}, 1, 1);
  long_one.step(streams[0]);
  short_one.step(streams[1]);  // does not wait for the first: the calls do not fence
  streams[0].fence();
  streams[1].fence();
  //! [two]

  long_alone.step(Space{});
  short_alone.step(Space{});
  Kokkos::fence();
  bool const same = same_bits(long_one, long_alone) && same_bits(short_one, short_alone);
  std::printf("two instances at once: %s as one after the other\n", same ? "the same bits" : "other bits");
  return same ? 0 : 1;
}

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  return run();
}
