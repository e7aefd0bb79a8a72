// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

#include <pssa/types.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>

namespace pssa::perf {

/// The four sizes of a scan.
struct Shape {
  std::int64_t batch, length, channels, state;

  double tokens() const { return static_cast<double>(batch * length); }
  double states() const { return tokens() * static_cast<double>(channels * state); }
};

/// to[i] = from[i % size of from].
template <class ExecutionSpace, class T>
struct Repeat {
  Kokkos::View<T*, typename ExecutionSpace::memory_space> to;
  Kokkos::View<T const*, typename ExecutionSpace::memory_space> from;

  auto policy(ExecutionSpace const& exec) const {
    return Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>(
        exec, 0, static_cast<std::int64_t>(to.extent(0)));
  }
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { to(i) = from(i % static_cast<std::int64_t>(from.extent(0))); }
};

/// What the numbers of a tensor are drawn from; v is standard normal.
enum class Draw {
  normal,    ///< v
  half,      ///< v / 2
  positive,  ///< softplus(v): step sizes
  negative   ///< -softplus(v): decay rates
};

/// All tensors of a scan and of its gradients, contiguous, filled from fixed seeds.
template <class T, class ExecutionSpace>
struct Problem {
  using S = state_type<T>;
  using Memory = typename ExecutionSpace::memory_space;
  template <class U>
  using Tensor3 = Kokkos::View<U***, Kokkos::LayoutRight, Memory>;
  template <class U>
  using Tensor2 = Kokkos::View<U**, Kokkos::LayoutRight, Memory>;

  Tensor3<T> x, delta, b, c, y;
  Tensor2<S> A;
  Tensor3<S> h0, hT;
  Tensor3<T> dy, dx, ddelta, db, dc;
  Tensor2<S> dA;
  Tensor3<S> dh0;

  Problem(ExecutionSpace const& exec, Shape const& shape, bool with_gradients)
      : x(wide<T>(exec, shape, "x")),
        delta(wide<T>(exec, shape, "delta")),
        b(narrow<T>(exec, shape, "b")),
        c(narrow<T>(exec, shape, "c")),
        y(wide<T>(exec, shape, "y")),
        A(rates(exec, shape, "A")),
        h0(ends(exec, shape, "h0")),
        hT(ends(exec, shape, "hT")) {
    fill(exec, x, Draw::normal, 1);
    fill(exec, delta, Draw::positive, 2);
    fill(exec, b, Draw::normal, 3);
    fill(exec, c, Draw::normal, 4);
    fill(exec, A, Draw::negative, 5);
    fill(exec, h0, Draw::half, 6);
    if (!with_gradients) return;
    dy = wide<T>(exec, shape, "dy");
    dx = wide<T>(exec, shape, "dx");
    ddelta = wide<T>(exec, shape, "ddelta");
    db = narrow<T>(exec, shape, "db");
    dc = narrow<T>(exec, shape, "dc");
    dA = rates(exec, shape, "dA");
    dh0 = ends(exec, shape, "dh0");
    fill(exec, dy, Draw::normal, 7);
  }

  ScanInputs<T, Memory> inputs() const { return {x, delta, b, c, A, h0}; }
  ScanOutputs<T, Memory> outputs() const { return {y, hT}; }
  ScanCotangents<T, Memory> cotangents() const { return {dy, {}}; }
  ScanGradients<T, Memory> gradients() const { return {dx, ddelta, db, dc, dA, dh0}; }

 private:
  // A prime, so that no two rows of a large tensor are alike.
  static constexpr std::size_t period = 65521;

  static auto allocation(ExecutionSpace const& exec, char const* name) {
    return Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, std::string("pssa::perf::") + name);
  }
  template <class U>
  static Tensor3<U> wide(ExecutionSpace const& exec, Shape const& shape, char const* name) {
    return Tensor3<U>(allocation(exec, name), shape.batch, shape.length, shape.channels);
  }
  template <class U>
  static Tensor3<U> narrow(ExecutionSpace const& exec, Shape const& shape, char const* name) {
    return Tensor3<U>(allocation(exec, name), shape.batch, shape.length, shape.state);
  }
  static Tensor3<S> ends(ExecutionSpace const& exec, Shape const& shape, char const* name) {
    return Tensor3<S>(allocation(exec, name), shape.batch, shape.channels, shape.state);
  }
  static Tensor2<S> rates(ExecutionSpace const& exec, Shape const& shape, char const* name) {
    return Tensor2<S>(allocation(exec, name), shape.channels, shape.state);
  }

  static double drawn(Draw draw, double v) {
    switch (draw) {
      case Draw::half:
        return 0.5 * v;
      case Draw::positive:
        return std::log1p(std::exp(v));
      case Draw::negative:
        return -std::log1p(std::exp(v));
      default:
        return v;
    }
  }

  template <class ViewType>
  static void fill(ExecutionSpace const& exec, ViewType const& view, Draw draw, unsigned seed) {
    using U = typename ViewType::non_const_value_type;
    using Block = Kokkos::View<U*, Memory>;
    Block const block(allocation(exec, "block"), std::min(view.size(), period));
    auto const on_host = Kokkos::create_mirror(block);
    std::mt19937 engine(seed);
    std::normal_distribution<double> normal;
    for (std::size_t i = 0; i < on_host.extent(0); ++i)
      on_host(i) = static_cast<U>(static_cast<state_type<U>>(drawn(draw, normal(engine))));
    Kokkos::deep_copy(exec, block, on_host);
    Repeat<ExecutionSpace, U> const repeat{Block(view.data(), view.size()), block};
    Kokkos::parallel_for("pssa::perf::repeat", repeat.policy(exec), repeat);
    exec.fence();  // block ends here
  }
};

}  // namespace pssa::perf
