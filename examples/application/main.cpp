// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
//
// An existing Kokkos application: a bank of leaky integrators over many signals. Its own kernel, one thread a signal
// and filter, is kept here to show that pssa::scan takes its place with the Views and the instance that were there.
#include <Kokkos_Core.hpp>
#include <pssa/scan.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

using Space = Kokkos::DefaultExecutionSpace;
using Signals = Kokkos::View<float***>;  // (signal, time, filter)
using Table = Kokkos::View<float**>;     // (filter, pole)

constexpr int signals = 3, times = 400, filters = 20, poles = 4;

struct Bank {
  Signals input{"input", signals, times, filters}, step{"step", signals, times, filters};
  Signals in_weight{"in weight", signals, times, poles}, out_weight{"out weight", signals, times, poles};
  Table rate{"rate", filters, poles};
  Signals state{"state", signals, filters, poles};
};

//! [before]
/// The application as it was.
void filter_by_hand(Space const& exec, Bank const& bank, Signals const& output) {
  Kokkos::parallel_for(
      "filter", Kokkos::MDRangePolicy<Space, Kokkos::Rank<2>>(exec, {0, 0}, {signals, filters}),
      KOKKOS_LAMBDA(int i, int d) {
        float h[poles];
        for (int n = 0; n < poles; ++n) h[n] = bank.state(i, d, n);
        for (int t = 0; t < times; ++t) {
          float sum = 0;
          for (int n = 0; n < poles; ++n) {
            float const u = bank.step(i, t, d);
            h[n] = Kokkos::exp(u * bank.rate(d, n)) * h[n] + u * bank.in_weight(i, t, n) * bank.input(i, t, d);
            sum += h[n] * bank.out_weight(i, t, n);
          }
          output(i, t, d) = sum;
        }
        for (int n = 0; n < poles; ++n) bank.state(i, d, n) = h[n];
      });
}
//! [before]

//! [after]
/// The application with pssa.
void filter(Space const& exec, Bank const& bank, Signals const& output) {
  pssa::scan(exec,
             pssa::ScanInputs<float>{.x = bank.input,
                                     .delta = bank.step,
                                     .b = bank.in_weight,
                                     .c = bank.out_weight,
                                     .A = bank.rate,
                                     .h0 = bank.state},
             pssa::ScanOutputs<float>{.y = output, .hT = bank.state});
}
//! [after]

template <class ViewType>
void fill(ViewType const& view, unsigned seed, float low, float high) {
  auto const host = Kokkos::create_mirror_view(view);
  for (std::size_t i = 0; i < host.span(); ++i) {
    seed = seed * 1664525u + 1013904223u;
    host.data()[i] = low + (high - low) * static_cast<float>(seed >> 8) / 16777216;
  }
  Kokkos::deep_copy(view, host);
}

/// The largest difference, relative to the largest value.
template <class ViewType>
double difference(ViewType const& a, ViewType const& b) {
  auto const left = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, a);
  auto const right = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, b);
  double apart = 0, largest = 0;
  for (std::size_t i = 0; i < left.span(); ++i) {
    apart = std::max(apart, std::abs(static_cast<double>(left.data()[i]) - static_cast<double>(right.data()[i])));
    largest = std::max(largest, std::abs(static_cast<double>(left.data()[i])));
  }
  return apart / largest;
}

int run() {
  Bank bank;
  fill(bank.input, 1, 0.f, 1.f);
  fill(bank.step, 2, 0.f, 0.2f);
  fill(bank.in_weight, 3, 0.f, 1.f);
  fill(bank.out_weight, 4, 0.f, 1.f);
  fill(bank.rate, 5, -2.f, -0.05f);
  Signals const output("output", signals, times, filters), by_hand("output by hand", signals, times, filters);
  Signals const state_by_hand("state by hand", signals, filters, poles);

  Space const exec;
  for (int part = 0; part < 2; ++part) filter_by_hand(exec, bank, by_hand);
  Kokkos::deep_copy(exec, state_by_hand, bank.state);
  Kokkos::deep_copy(exec, bank.state, 0.f);
  for (int part = 0; part < 2; ++part) filter(exec, bank, output);
  exec.fence();

  // Bound: all terms are positive; about six roundings a step that stays in memory for at most 20 / 0.1 steps.
  bool const same = difference(output, by_hand) < 1e-5 && difference(bank.state, state_by_hand) < 1e-5;
  std::printf("pssa::scan and the kernel by hand %s\n", same ? "agree" : "differ");
  return same ? 0 : 1;
}

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  return run();
}
