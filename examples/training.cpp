// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
//
// Training with a tape: gradient descent finds A, b and c of a system from its outputs y and its last states hT. From y
// alone only the products of b and c could be known.
#include <pssa/scan.hpp>

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

using T = double;  // float would do; in double the printed digits are the same on every machine
using Memory = Kokkos::DefaultExecutionSpace::memory_space;
using Sequence = Kokkos::View<T***, Memory>;
using Matrix = Kokkos::View<T**, Memory>;

constexpr int batch = 8, length = 32, channels = 1, state = 2;

/// The parameters: the same A, b and c at every token.
struct System {
  std::vector<T> A, b, c;
};

/// A number in [-1, 1), the same ones on every machine.
T noise(unsigned& seed) {
  seed = seed * 1664525u + 1013904223u;
  return static_cast<T>(seed >> 8) / 8388608 - 1;
}

Sequence random_sequence(std::string const& label, unsigned seed, T low, T high) {
  Sequence const sequence(label, batch, length, channels);
  auto const host = Kokkos::create_mirror_view(sequence);
  for (int i = 0; i < batch; ++i)
    for (int t = 0; t < length; ++t) host(i, t, 0) = low + (high - low) * (noise(seed) + 1) / 2;
  Kokkos::deep_copy(sequence, host);
  return sequence;
}

/// Fills A, and the same b and c at every token.
void set(System const& system, Matrix const& A, Sequence const& b, Sequence const& c) {
  auto const host_A = Kokkos::create_mirror_view(A);
  auto const host_b = Kokkos::create_mirror_view(b);
  auto const host_c = Kokkos::create_mirror_view(c);
  for (int n = 0; n < state; ++n) {
    auto const k = static_cast<std::size_t>(n);
    host_A(0, n) = system.A[k];
    for (int i = 0; i < batch; ++i)
      for (int t = 0; t < length; ++t) {
        host_b(i, t, n) = system.b[k];
        host_c(i, t, n) = system.c[k];
      }
  }
  Kokkos::deep_copy(A, host_A);
  Kokkos::deep_copy(b, host_b);
  Kokkos::deep_copy(c, host_c);
}

//! [loss]
/// L = half the squared distance, per sequence. Returns L and leaves dL/dvalue in gradient.
T loss(Sequence const& value, Sequence const& wanted, Sequence const& gradient) {
  T sum = 0;
  Kokkos::parallel_reduce(
      "loss", Kokkos::MDRangePolicy<Kokkos::Rank<3>>({0, 0, 0}, {value.extent(0), value.extent(1), value.extent(2)}),
      KOKKOS_LAMBDA(int i, int t, int d, T& partial) {
        T const difference = value(i, t, d) - wanted(i, t, d);
        gradient(i, t, d) = difference / batch;
        partial += difference * difference / (2 * batch);
      },
      sum);
  return sum;
}
//! [loss]

/// The gradient with respect to a parameter that every token shares: the sum over batch and tokens.
std::vector<T> over_tokens(Sequence const& gradient) {
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, gradient);
  std::vector<T> sum(state);
  for (int i = 0; i < batch; ++i)
    for (int t = 0; t < length; ++t)
      for (int n = 0; n < state; ++n) sum[static_cast<std::size_t>(n)] += host(i, t, n);
  return sum;
}

int run() {
  System const truth{.A = {-0.2, -1.5}, .b = {1.0, -0.5}, .c = {0.5, 1.5}};
  System guess{.A = {-0.5, -1.0}, .b = {0.5, -0.8}, .c = {0.8, 0.8}};

  auto const x = random_sequence("x", 1, -1, 1);
  auto const delta = random_sequence("delta", 2, 0.1, 1.5);
  Matrix const A("A", channels, state), dA("dA", channels, state);
  Sequence const b("b", batch, length, state), db("db", batch, length, state);
  Sequence const c("c", batch, length, state), dc("dc", batch, length, state);
  Sequence const y("y", batch, length, channels), dy("dy", batch, length, channels);
  Sequence const hT("hT", batch, channels, state), dhT("dhT", batch, channels, state);
  Sequence const wanted_y("wanted y", batch, length, channels), wanted_hT("wanted hT", batch, channels, state);
  pssa::ScanInputs<T> const in{.x = x, .delta = delta, .b = b, .c = c, .A = A};

  set(truth, A, b, c);
  pssa::scan(in, pssa::ScanOutputs<T>{.y = wanted_y, .hT = wanted_hT});

  pssa::Tape<T> tape;  // grows once and is used again in every step
  System speed{.A = {0, 0}, .b = {0, 0}, .c = {0, 0}};
  T first = 0, last = 0;
  for (int step = 0; step <= 400; ++step) {
    set(guess, A, b, c);
    //! [step]
    pssa::scan(in, pssa::ScanOutputs<T>{.y = y, .hT = hT}, tape);
    last = loss(y, wanted_y, dy) + loss(hT, wanted_hT, dhT);
    pssa::scan_backward(in, pssa::ScanCotangents<T>{.dy = dy, .dhT = dhT}, tape,
                        pssa::ScanGradients<T>{.db = db, .dc = dc, .dA = dA});
    //! [step]
    if (step == 0) first = last;
    if (step % 50 == 0) std::printf("step %3d  loss %.2e\n", step, last);

    // Gradient descent with momentum; A by its logarithm, so that it stays negative.
    auto const host_dA = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, dA);
    auto const sum_b = over_tokens(db), sum_c = over_tokens(dc);
    for (std::size_t n = 0; n < state; ++n) {
      auto const descend = [](T& parameter, T& velocity, T gradient) {
        velocity = 0.9 * velocity - 0.03 * gradient;
        parameter += velocity;
      };
      T rate = std::log(-guess.A[n]);
      descend(rate, speed.A[n], host_dA(0, static_cast<int>(n)) * guess.A[n]);
      guess.A[n] = -std::exp(rate);
      descend(guess.b[n], speed.b[n], sum_b[n]);
      descend(guess.c[n], speed.c[n], sum_c[n]);
    }
  }
  std::printf("A = (%.3f, %.3f)  b = (%.3f, %.3f)  c = (%.3f, %.3f)\n", guess.A[0], guess.A[1], guess.b[0], guess.b[1],
              guess.c[0], guess.c[1]);
  bool const fell = last < 1e-6 * first;
  std::printf("the loss fell %s\n", fell ? "a millionfold" : "too little");
  return fell ? 0 : 1;
}

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  return run();
}
