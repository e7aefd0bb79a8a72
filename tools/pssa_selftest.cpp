// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#include <pssa/reference.hpp>

#include "arguments.hpp"
#include "replay.hpp"

#include <cstdio>
#include <exception>
#include <random>

namespace {

using namespace pssa::tools;

constexpr char const* help = R"(Runs the scan and its gradients on random inputs, for every backend and element
type that is built in, and compares them with sequential loops in double.

  pssa_selftest [--kokkos-...]

One line each: the largest error of every result, relative to its channel's
largest value, and the widest of the results' bounds. Exit status: 0 all within
their bounds, 1 one beyond, 2 bad usage.
)";

/// Standard normal numbers, the same on every system: std::normal_distribution is not.
class Normal {
 public:
  double operator()() {
    auto const uniform = [&] { return (static_cast<double>(m_engine() >> 11) + 0.5) * 0x1p-53; };
    constexpr double two_pi = 6.283185307179586;
    double const radius = std::sqrt(-2 * std::log(uniform()));
    return radius * std::cos(two_pi * uniform());
  }

 private:
  std::mt19937_64 m_engine{1};
};

double softplus(double value) { return std::max(value, 0.0) + std::log1p(std::exp(-std::fabs(value))); }

/// x, b, c, dy, dhT normal, h0 half of that, delta = softplus(normal), A = -softplus(normal).
Tensors random_case(Sizes const& sizes) {
  Tensors tensors;
  Normal normal;
  for (auto const* name : {"x", "delta", "b", "c", "A", "h0", "dy", "dhT"}) {
    Tensor tensor{shape_of(axes_of(name), sizes), {}};
    std::int64_t values = 1;
    for (auto const extent : tensor.shape) values *= extent;
    for (std::int64_t i = 0; i < values; ++i) tensor.data.push_back(normal());
    for (auto& value : tensor.data) {
      if (std::string(name) == "delta") value = softplus(value);
      if (std::string(name) == "A") value = -softplus(value);
      if (std::string(name) == "h0") value *= 0.5;
    }
    tensors[name] = std::move(tensor);
  }
  return tensors;
}

/// The results in double by the sequential loops.
Tensors reference(Tensors const& tensors, Sizes const& sizes) {
  using Space = Kokkos::HostSpace;
  ForwardBuffers<double, Space> const forward(tensors, sizes);
  BackwardBuffers<double, Space> const backward(tensors, sizes);
  pssa::ScanInputs<double, Space> const in{
      .x = forward.x, .delta = forward.delta, .b = forward.b, .c = forward.c, .A = forward.A, .h0 = *forward.h0};
  pssa::scan_reference(in, pssa::ScanOutputs<double, Space>{.y = forward.y, .hT = forward.hT});
  pssa::scan_reference_backward(in, pssa::ScanCotangents<double, Space>{.dy = backward.dy, .dhT = *backward.dhT},
                                pssa::ScanGradients<double, Space>{.dx = backward.dx,
                                                                   .ddelta = backward.ddelta,
                                                                   .db = backward.db,
                                                                   .dc = backward.dc,
                                                                   .dA = backward.dA,
                                                                   .dh0 = backward.dh0});
  auto results = forward.download_outputs();
  results.merge(backward.download_gradients());
  return results;
}

/// Prints the errors of one backend, element type and shape; true when all are within their bounds.
template <class T, class ExecutionSpace>
bool selftest(Sizes const& sizes, char const* type, Precision const& element) {
  // The reference sees the inputs as T stores them, so only what the scan itself rounds is measured.
  auto const tensors = rounded<T>(random_case(sizes));
  auto const expected = reference(tensors, sizes);
  Replay<T, ExecutionSpace> replay(tensors, sizes, 0);
  replay.forward_with_tape();
  replay.backward();
  replay.fence();
  auto results = replay.outputs();
  results.merge(replay.gradients());

  Roundings const roundings{element, precision_of_sums<T>()};
  bool all_within = true;
  double widest = 0;
  std::printf("scan selftest rel errs:");
  for (auto const& [name, label] : {std::pair("y", "fwd"), {"hT", "hT"}, {"dx", "dx"}, {"ddelta", "dd"}, {"db", "db"},
                                    {"dc", "dc"}, {"dA", "dA"}, {"dh0", "dh0"}}) {
    auto const axes = axes_of(name);
    auto const& stored = is_of_element_type(axes) ? roundings.element : roundings.sums;
    auto const error = largest_error(results.at(name), expected.at(name), axes, stored, roundings.sums);
    auto const bound = error_bound(name, sizes, roundings);
    std::printf(" %s=%.1e", label, error);
    if (!(error <= bound)) std::printf(" (beyond %.1e)", bound);
    all_within = all_within && error <= bound;
    widest = std::max(widest, bound);
  }
  std::printf("  [%s %s (%lld,%lld,%lld,%lld)] bound %.1e %s\n", ExecutionSpace::name(), type,
              static_cast<long long>(sizes.batch), static_cast<long long>(sizes.length),
              static_cast<long long>(sizes.channels), static_cast<long long>(sizes.state), widest,
              all_within ? "ok" : "FAIL");
  return all_within;
}

}  // namespace

int main(int argc, char* argv[]) try {
  KokkosArguments kokkos_arguments(argc, argv);
  for (auto const& argument : kokkos_arguments.others()) {
    bool const is_help = argument == "--help";
    if (is_help)
      std::fputs(help, stdout);
    else
      std::fprintf(stderr, "pssa_selftest: unexpected argument '%s', expected --help or Kokkos' own\n",
                   argument.c_str());
    return is_help ? 0 : 2;
  }
  Kokkos::ScopeGuard const kokkos(kokkos_arguments.argc(), kokkos_arguments.argv());
  bool passed = true;
  for (Sizes const& sizes : {Sizes{2, 7, 64, 16}, Sizes{3, 33, 50, 17}})
    for_each_backend([&](auto space) {
      using ExecutionSpace = typename decltype(space)::type;
      for_each_element_type([&](auto element, char const* type, Precision const& precision) {
        using T = typename decltype(element)::type;
        passed = selftest<T, ExecutionSpace>(sizes, type, precision) && passed;
      });
    });
  return passed ? 0 : 1;
} catch (std::exception const& error) {
  std::fprintf(stderr, "pssa_selftest: %s\n", error.what());
  return 2;
}
